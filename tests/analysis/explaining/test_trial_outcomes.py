# SPDX-License-Identifier: MPL-2.0
"""Each trial is confirmed, refuted or undecided, by the gap that it takes away."""

from collections.abc import Sequence
from typing import Any

import pytest
from tried_workers import Times, subject_of, trials, tried

from io_benchmark.analysis.explaining.trial_outcomes import _held_to_blocked, outcomes
from io_benchmark.analysis.model.cause import TrialOutcome, TrialState
from io_benchmark.analysis.model.statements import statement
from io_benchmark.report.content import text_of
from io_benchmark.results.workloads.cache_retrieve import TrialKind

CONFIRMED, REFUTED = TrialState.CONFIRMED, TrialState.REFUTED
UNDECIDED, NOT_RUN = TrialState.UNDECIDED, TrialState.NOT_RUN
# The normal gap is 60 ms.
SLOW: dict[str, Sequence[float]] = {"normal": (126, 127, 125)}
FAST: dict[str, Sequence[float]] = {"normal": (66, 65, 67)}
STEADY = (66, 66.5, 65.5)
# Blocks between paced ones: the pace leaves the disks idle.
AFTER_PACE = {"normal": (20, 40, 66), "lookup": (66, 20, 40)}
LOW, HIGH = (390, 391, 392), (780, 784, 782)


def by_kind(
    slow: Sequence[dict[str, Any] | None], fast: Sequence[dict[str, Any] | None]
) -> dict[TrialKind, TrialOutcome]:
    """Return all outcomes; `amd-16` is the slower side."""
    slower, faster = tried("amd-16", *slow), tried("intel", *fast)
    return {each.kind: each for each in outcomes(subject_of(slower), slower, faster)}


def outcome(kind: str, slow: Times, fast: Times) -> TrialOutcome:
    return by_kind([trials({**SLOW, **slow})], [trials({**FAST, **fast})])[TrialKind(kind)]


def paced(times: Sequence[float], rate: float = 391) -> TrialOutcome:
    found = by_kind(
        [trials(SLOW, ceilings=LOW)],
        [
            trials(FAST, ceilings=HIGH),
            trials(AFTER_PACE | {"pace": times}, ceilings=HIGH, pace_mib_per_s=rate),
        ],
    )
    return found[TrialKind.PACE]


@pytest.mark.parametrize(
    ("time_ms", "state", "share"),
    [
        (66, CONFIRMED, 1.0),
        (77.4, CONFIRMED, 0.81),
        (78.6, UNDECIDED, 0.79),
        (113.4, UNDECIDED, 0.21),
        (114.6, REFUTED, 0.19),
        (200, REFUTED, -1.23),
    ],
)
@pytest.mark.parametrize("kind", ["lookup", "unlink"])
def test_the_gap_goes_or_stays(kind: str, time_ms: float, state: TrialState, share: float) -> None:
    """The faster side takes 66 ms with the change, too."""
    found = outcome(kind, {kind: (time_ms, time_ms + 0.5, time_ms - 0.5)}, {kind: STEADY})
    assert (found.state, found.repetitions) == (state, 3)
    assert found.share == pytest.approx(share, abs=0.01)


def test_repetitions_that_scatter() -> None:
    """The mean says that the gap goes, but one repetition says that nearly half of it stays.

    What the slower side gains is known all the same: whether a remedy is worth it.
    """
    found = outcome("lookup", {"lookup": (96, 50, 60)}, {"lookup": STEADY})
    assert found.state is UNDECIDED
    assert found.gain_ratio == pytest.approx(378 / 206, abs=0.001)
    assert (
        text_of(found.meaning) == "The repetitions or workers differ by ±101 %, too much to tell."
    )


LOOKUPS = {"lookup": STEADY}
SMALL_GAP = (
    "While the trials ran, the slower side took 1.09× the faster side's time: too little to find"
)
OTHER_FILES = "The sides did not copy the same files."


@pytest.mark.parametrize(
    ("slow", "state", "reason"),
    [
        (
            trials(SLOW | {"lookup": (66, 66)}),
            UNDECIDED,
            "There are fewer than 3 repetitions.",
        ),
        (trials({"normal": (72.1,) * 3, **LOOKUPS}), NOT_RUN, SMALL_GAP),
        (trials({"normal": (72.7,) * 3, **LOOKUPS}), CONFIRMED, "The gap"),
        # A worker's own reason.
        (trials({}, reason="too little time: 0.2 s"), NOT_RUN, "too little time: 0.2 s."),
        # It tried all others: another time it would not try this one either.
        (trials(SLOW, reason="no files"), NOT_RUN, "It is not possible there: no files."),
        (None, NOT_RUN, "amd-16 did not run lookup."),
        (trials(SLOW | LOOKUPS, files=(2, 1, 3)), NOT_RUN, OTHER_FILES),
    ],
)
def test_what_can_be_judged(slow: dict[str, Any] | None, state: TrialState, reason: str) -> None:
    """The outcome says why."""
    found = by_kind([slow], [trials(FAST | LOOKUPS)])[TrialKind.LOOKUP]
    assert (found.state, text_of(found.meaning)[: len(reason)]) == (state, reason)


def test_only_common_files_are_compared() -> None:
    """A side with time for more files is compared over those that both have."""
    longer = trials(SLOW | {"lookup": STEADY}, files=(3, 1, 2, 4, 5))
    for block in longer["blocks"]:
        block["copy_ns"][3:] = [10**12, 10**12]
    found = by_kind([longer], [trials(FAST | {"lookup": STEADY})])[TrialKind.LOOKUP]
    assert found.state is CONFIRMED
    assert found.share == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    ("time_ms", "state", "ratio", "meaning"),
    [
        (138, CONFIRMED, 1.10, ": write bandwidth makes the difference."),
        (139, UNDECIDED, 1.10, "."),
        (115.2, CONFIRMED, 0.91, ": write bandwidth makes the difference."),
        (113.5, UNDECIDED, 0.90, "."),
        (81.6, UNDECIDED, 0.65, "."),
        (80.4, REFUTED, 0.64, ": write bandwidth does not make the difference."),
    ],
)
def test_pace(time_ms: float, state: TrialState, ratio: float, meaning: str) -> None:
    """The pace is on another worker; what it ran besides the pace does not count."""
    found = paced((time_ms, time_ms + 1, time_ms - 1))
    meant = f"Limited to 391 MiB/s, intel takes {ratio:.2f}× the time of amd-16{meaning}"
    assert (found.state, text_of(found.meaning)) == (state, meant)


@pytest.mark.parametrize(
    ("blocked_share", "meaning"),
    [
        (None, "The gap."),
        (0.5, "The gap."),
        (0.49, "As slow at that pace, but blocked copies make up only 49 % of the difference: "),
        (-0.1, "As slow at that pace, but blocked copies make up only 0 % of the difference: "),
    ],
)
def test_a_pace_of_copies_that_are_hardly_blocked(blocked_share, meaning):
    """It confirms nothing: what slows the copies slows the measurement of the disks as well."""
    paced = TrialOutcome(TrialKind.PACE, CONFIRMED, statement("The gap."))
    found = _held_to_blocked(paced, blocked_share)
    assert text_of(found.meaning).startswith(meaning)
    assert found.state is (CONFIRMED if found == paced else UNDECIDED)


def test_what_is_not_paced() -> None:
    """The faster side was not limited to the right ceiling; test_confirm has other reasons."""
    recorded = trials(SLOW, ceilings=LOW), trials(FAST, ceilings=HIGH)
    found = by_kind(recorded[:1], recorded[1:])[TrialKind.PACE]
    assert found.state is NOT_RUN
    assert text_of(found.meaning) == (
        "The disks of amd-16 can write 391 MiB/s, and intel was not limited to that yet; --confirm "
        "does it."
    )
    # Nearer than 1.1×, a pace is that of the ceiling.
    assert paced((126, 126, 126), rate=354).state is NOT_RUN
    assert paced((126, 126, 126), rate=357).state is CONFIRMED


@pytest.mark.parametrize(
    ("slow", "fast", "kinds"),
    [
        # Lookups and the flush; the flush, but no storage.
        ({"lookup": STEADY, "unlink": STEADY}, {"lookup": STEADY}, ("lookup", "unlink")),
        ({"memory": (126, 127, 125), "unlink": STEADY}, {"memory": STEADY}, ("memory", "unlink")),
    ],
)
def test_contradictions(slow: Times, fast: Times, kinds: tuple[str, str]) -> None:
    """Trials that contradict each other are undecided, and name each other."""
    found = by_kind([trials({**SLOW, **slow})], [trials({**FAST, **fast, "unlink": STEADY})])
    undecided = {
        kind.value: text_of(each.meaning) for kind, each in found.items() if each.state is UNDECIDED
    }
    first, second = kinds
    assert undecided == {first: f"{second} contradicts this.", second: f"{first} contradicts this."}


def test_memory_has_no_share() -> None:
    """It shows whether storage is involved, and never how much."""
    found = outcome("memory", {"memory": STEADY}, {"memory": STEADY})
    assert (found.state, found.share, found.low_share) == (CONFIRMED, None, None)
    assert text_of(found.meaning) == "The gap goes: storage is involved."


@pytest.mark.parametrize(
    ("ceiling", "state"), [(440, NOT_RUN), (465, REFUTED), (500, REFUTED), (391, NOT_RUN)]
)
def test_ceilings_that_explain_little(ceiling: float, state: TrialState) -> None:
    """Disks of 500 against 545 MiB/s make at most a quarter of a gap of 1.41 times."""
    found = by_kind(
        [trials({"normal": (126, 127, 125)}, ceilings=(ceiling,) * 3)],
        [trials({"normal": (90, 91, 89)}, ceilings=(500,) * 3)],
    )[TrialKind.PACE]
    assert found.state is state
    words = "write bandwidth does not make the difference."
    assert text_of(found.meaning).endswith(words) is (state is REFUTED)


@pytest.mark.parametrize("normal", [FAST, AFTER_PACE], ids=["without others", "with others"])
def test_other_trials_of_a_paced_run(normal: Times) -> None:
    """They count only where the side has no run without a pace."""
    run = trials({"lookup": STEADY, **normal, "pace": STEADY}, pace_mib_per_s=391)
    unpaced = [trials({**FAST, "lookup": STEADY})] if normal is AFTER_PACE else []
    found = by_kind([trials(SLOW | {"lookup": SLOW["normal"]})], [*unpaced, run])[TrialKind.LOOKUP]
    assert found.state is REFUTED
    assert found.share == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("slow", "fast", "half_width"),
    [
        pytest.param((126,), (66,), 0.22, id="one worker each, as far as is assumed"),
        pytest.param((90,), (66,), 0.39, id="one worker each, and a smaller gap"),
        pytest.param((90, 90, 90), (66, 66, 66), 0, id="workers that are alike"),
    ],
)
def test_how_far_workers_differ(slow, fast, half_width):
    """The paced run is on one more worker, and the verdict takes workers to differ as far."""
    times = ((ms, ms + 0.1, ms - 0.1) for ms in (*slow, *fast, slow[0]))
    *normal, held = ({"normal": each} for each in times)
    paced = trials(AFTER_PACE | {"pace": held["normal"]}, ceilings=HIGH, pace_mib_per_s=391)
    found = by_kind(
        [trials(each, ceilings=LOW) for each in normal[: len(slow)]],
        [*(trials(each, ceilings=HIGH) for each in normal[len(slow) :]), paced],
    )[TrialKind.PACE]
    assert found.state is (CONFIRMED if half_width <= 0.25 else UNDECIDED)
    assert (found.share, found.high_share) == pytest.approx((1, 1 + half_width), abs=0.01)


@pytest.mark.parametrize(
    ("share", "state"),
    [
        (1.0, CONFIRMED),
        (0.25, CONFIRMED),
        (0.2, UNDECIDED),
        (0.15, REFUTED),
        (-0.5, REFUTED),
    ],
)
def test_copies_to_an_excluded_folder(share: float, state: TrialState) -> None:
    """Nothing but Defender's scans changes: what surely goes with them is theirs."""
    excluded = [time - 60 * share for time in SLOW["normal"]]
    found = by_kind([trials({**SLOW, "excluded": excluded})], [trials(FAST)])
    assert found[TrialKind.EXCLUDED].state is state


def test_nothing_is_said_of_a_trial_that_was_not_made() -> None:
    """Only a worker with a folder that Defender excludes makes it; `copy-file` tries no cause."""
    made = {**SLOW, "copy-file": SLOW["normal"]}
    assert {TrialKind.EXCLUDED, TrialKind.COPY_FILE}.isdisjoint(
        by_kind([trials(made)], [trials(FAST)])
    )
