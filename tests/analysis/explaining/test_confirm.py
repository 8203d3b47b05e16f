# SPDX-License-Identifier: MPL-2.0
"""The pool that is faster runs once more, limited to what the slower pool's disks can write."""

from collections.abc import Sequence

import pytest
from seed_workers import report_of
from tried_workers import MIB, trials, tried

from io_benchmark.analysis.model.cause import Pace
from io_benchmark.analysis.model.run import Worker
from io_benchmark.report.content import text_of

SLOW_CEILINGS = (390, 391, 392)


def proposed(slow: Sequence[Worker], fast: Sequence[Worker], baseline: str = "intel"):
    return report_of([*slow, *fast], baseline).confirming.paces


@pytest.mark.parametrize("baseline", ["intel", "amd-16"])
def test_the_faster_pool_is_paced(baseline: str) -> None:
    """Whichever of the two is the baseline; the pace is the mean over the slower pool's workers."""
    ceilings = ((400,), SLOW_CEILINGS, (395.5,))
    slow = tried("amd-16", *[trials({}, ceilings=each) for each in ceilings])
    fast = tried("intel", *[trials({}, ceilings=(782,))] * 3)
    assert proposed(slow, fast, baseline) == (Pace("intel", round(395.5 * MIB), "amd-16"),)


NOT_MEASURED = "What the disks of intel can write was not measured"
FAST = trials({}, ceilings=(782,))


@pytest.mark.parametrize(
    ("candidate", "fast", "expected"),
    [
        ("amd-16", None, f"{NOT_MEASURED}."),
        ("amd-16", trials({}), f"{NOT_MEASURED}."),
        ("amd-16", trials({}, reason="no time."), f"{NOT_MEASURED}: no time."),
        (
            "amd-16",
            trials({}, ceilings=(468,)),
            (
                "The disks of amd-16 can write 391 MiB/s, those of intel 468 MiB/s: a pace is "
                "tried where they can write 1.2 times less."
            ),
        ),
        (
            "amd-16",
            trials({}, ceilings=(782,), pace_mib_per_s=400),
            "intel was limited to the ceiling of amd-16 already.",
        ),
        ("amd-30", FAST, "amd-30 against intel is inconclusive: measure more workers first."),
        ("unknown", FAST, "No pools with trials are compared."),
        (
            "unknown",
            None,
            "No result has trials: measure again with `trials: auto` or `always` in the kind.",
        ),
    ],
)
def test_nothing_to_confirm(candidate: str, fast, expected: str) -> None:
    """No run is missing, or none would show anything; the reason is the comparison's own."""
    sides = () if candidate == "unknown" else tried(candidate, trials({}, ceilings=SLOW_CEILINGS))
    confirming = report_of([*sides, *tried("intel", fast)]).confirming
    assert (confirming.paces, " ".join(map(text_of, confirming.reasons))) == ((), expected)


def test_no_pace_of_zero() -> None:
    """A task cannot be limited to nothing, however slow the disks of a hostile result are."""
    ceiling = {"written_bytes": 1, "duration_ns": 10**16}
    slow = tried("amd-16", {**trials({}), "ceilings": [ceiling]})
    assert proposed(slow, tried("intel", trials({}, ceilings=(782,)))) == (
        Pace("intel", 1, "amd-16"),
    )


def test_another_pace_does_not_count() -> None:
    """A pool that was limited to another pool's ceiling runs once more for this one."""
    slow = tried("amd-16", trials({}, ceilings=SLOW_CEILINGS))
    fast = tried("intel", trials({}, ceilings=(470,), pace_mib_per_s=300))
    assert proposed(slow, fast) == (Pace("intel", 391 * MIB, "amd-16"),)
