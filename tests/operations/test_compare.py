# SPDX-License-Identifier: MPL-2.0
"""What a comparison reads beside the results: where the earlier pushes of a pool are."""

from io_benchmark.analysis.model.run import Worker
from io_benchmark.operations.compare import _histories
from io_benchmark.sources.gather import Gathered
from io_benchmark.sources.taskcluster.addresses import IndexAddress

FIRST, SECOND, THIRD = (IndexAddress("https://tc.example", name) for name in ("a.b", "a.c", "a.d"))


def test_one_history_counts() -> None:
    """That of the pool after a change.

    Of several the first by name, in whatever order they come.
    """
    before, after = (
        Gathered[Worker]((), (), (), (), (), pasts)
        for pasts in ({"amd-16": {FIRST}, "intel": {SECOND}}, {"amd-16": {THIRD, SECOND}})
    )
    assert _histories([before, after]) == {"amd-16": SECOND, "intel": SECOND}
