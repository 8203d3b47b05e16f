# SPDX-License-Identifier: MPL-2.0
"""The command history on a folder, as a user types it; documentation shows its report."""

from pathlib import Path

import past
import program
import pytest

HISTORY = ("history", "amd-16", "results")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that `fetch` filled with twenty weeks; a mean needs so many retrieves."""
    past.write(tmp_path / "results", list(past.pushes(20, change_at=12, retrieves=200)))
    return tmp_path


def test_the_newest_points(folder: Path) -> None:
    """--last and --since, in a folder as in the index."""
    last = program.document(*HISTORY, "--last", "5", folder=folder)
    assert len(last["series"][0]["points"]) == 5
    (remark,) = last["remarks"]
    assert remark["text"] == "15 older points are left out; --last N takes more"
    since = program.document(*HISTORY, "--since", "2026-08-31", folder=folder)
    days = [point["time"][:10] for point in since["series"][0]["points"]]
    assert (days, since["remarks"]) == (["2026-08-31", "2026-09-07"], [])
