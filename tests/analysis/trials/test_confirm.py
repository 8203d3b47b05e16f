# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The pool that is faster runs once more, limited to what the slower pool's disks can write."""

from collections.abc import Sequence

import pytest
from tried_workers import MIB, trials, tried

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.model import Worker
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.trials.confirm import Pace

SLOW_CEILINGS = (390, 391, 392)


def proposed(slow: Sequence[Worker], fast: Sequence[Worker], baseline: str = "intel"):
    candidate = {"intel": "amd-16", "amd-16": "intel"}[baseline]
    plan = Plan("", baseline, "", ((candidate, baseline),))
    return compare(plan, [*slow, *fast], Options()).confirming


@pytest.mark.parametrize("baseline", ["intel", "amd-16"])
def test_the_faster_pool_is_paced(baseline: str) -> None:
    """Whichever of the two is the baseline; the pace is the mean over the slower pool's workers."""
    ceilings = ((400,), SLOW_CEILINGS, (395.5,))
    slow = tried("amd-16", *[trials({}, ceilings=each) for each in ceilings])
    fast = tried("intel", *[trials({}, ceilings=(782,))] * 3)
    assert proposed(slow, fast, baseline) == (Pace("intel", round(395.5 * MIB), "amd-16"),)


@pytest.mark.parametrize(
    "fast",
    [
        pytest.param(None, id="no trials"),
        pytest.param(trials({}), id="no ceilings"),
        pytest.param(trials({}, ceilings=(460,)), id="ceilings nearly equal"),
        pytest.param(trials({}, ceilings=(200,)), id="the slower pool has faster disks"),
        pytest.param(trials({}, ceilings=(782,), pace_mib_per_s=400), id="paced already"),
    ],
)
def test_nothing_to_confirm(fast) -> None:
    """No run is missing, or none would show anything."""
    slow = tried("amd-16", trials({}, ceilings=SLOW_CEILINGS))
    assert proposed(slow, tried("intel", fast)) == ()


def test_another_pace_does_not_count() -> None:
    """A pool that was limited to another pool's ceiling runs once more for this one."""
    slow = tried("amd-16", trials({}, ceilings=SLOW_CEILINGS))
    fast = tried("intel", trials({}, ceilings=(782,), pace_mib_per_s=300))
    assert proposed(slow, fast) == (Pace("intel", 391 * MIB, "amd-16"),)


def test_equal_pools_need_no_run() -> None:
    """Without a difference there is no cause to confirm."""
    slow = tried("intel", trials({}, ceilings=SLOW_CEILINGS))
    plan = Plan("", "intel", "", ())
    assert compare(plan, slow, Options()).confirming == ()
