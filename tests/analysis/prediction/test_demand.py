# SPDX-License-Identifier: MPL-2.0
"""Which windows of a profile sync."""

import json

import numpy as np
import pytest
from predicted_tasks import (
    DISK,
    profile_document,
)

from io_benchmark.analysis.prediction.demand import Demand, PlaceDemand
from io_benchmark.results.reader import parse_profile


def test_flushes_of_a_file_system() -> None:
    """A window with four flushes may be a file system's own commits; with more, the task syncs."""
    nothing = np.zeros(2)
    flushes = np.array([4.0, 5.0])
    place = PlaceDemand("workspace", *(nothing,) * 3, flushes, nothing, None)
    assert place.is_synced.tolist() == [False, True]


@pytest.mark.parametrize(
    ("commits", "flushes", "is_synced"), [(3, 11, True), (3, 12, False), (None, 11, False)]
)
def test_whose_flushes(commits: int | None, flushes: int, is_synced: bool) -> None:
    """A few flushes of a window are syncs where requested commits explain most flushes."""
    counts = {"flushes": flushes, "commits": commits}
    made = profile_document(syncs=counts)
    made["timeline"]["devices"][DISK]["flushes"] = [0, 2, 2, 2, 2]
    demand = Demand.of_command(parse_profile(json.dumps(made).encode(), "profile"))
    assert isinstance(demand, Demand)
    assert demand.places[0].is_synced.tolist() == [is_synced, False, False, False]
