# SPDX-License-Identifier: MPL-2.0
"""What decides a cause besides its facts: the difference, and trials."""

import pytest
from cause_thresholds import ENOUGH_SHARE, around
from seed_facts import (
    Facts,
    further_option,
    more_cpu_time,
    options,
    pressed,
    slower_lookups,
    stolen,
)
from seed_workers import causes_of, explanation_text

from io_benchmark.analysis.explaining import case as cases
from io_benchmark.analysis.model.cause import State, TrialOutcome, TrialState
from io_benchmark.analysis.model.statements import statement
from io_benchmark.results.workloads.cache_retrieve import TrialKind

SUPPORTED, RULED_OUT, NOT_SEPARABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_SEPARABLE
CONFIRMED, REFUTED = TrialState.CONFIRMED, TrialState.REFUTED
BUSY: Facts = {"host.cpu_model": "same"} | more_cpu_time(2) | stolen(500)
LEAST_RATIO = cases._NOTHING_TO_EXPLAIN_RATIO
# Half as many disks explain log(2) of log(ratio).
LARGEST_RATIO = 2 ** (1 / ENOUGH_SHARE)


@pytest.mark.parametrize(
    ("ratio", "smaller", "larger"),
    [
        pytest.param(LEAST_RATIO, State.NOT_JUDGED, SUPPORTED, id="enough to explain"),
        pytest.param(1 / LEAST_RATIO, RULED_OUT, State.NOT_JUDGED, id="faster"),
        pytest.param(LARGEST_RATIO, SUPPORTED, RULED_OUT, id="enough is predicted"),
    ],
)
def test_ratios(ratio: float, smaller: State, larger: State) -> None:
    """The difference that is to be explained decides, too."""
    states = [causes_of(ratio=near)["device-count"].state for near in around(ratio)]
    assert states == [smaller, larger]


@pytest.mark.parametrize(
    ("cause", "kind", "outcome", "facts", "state"),
    [
        ("device-count", TrialKind.PACE, REFUTED, {}, State.REFUTED),
        ("device-count", TrialKind.PACE, CONFIRMED, {}, State.CONFIRMED),
        ("device-count", TrialKind.PACE, TrialState.UNDECIDED, {}, SUPPORTED),
        ("device-count", TrialKind.MEMORY, REFUTED, {}, State.REFUTED),
        ("device-count", TrialKind.MEMORY, CONFIRMED, {}, SUPPORTED),
        ("lookup-cost", TrialKind.LOOKUP, CONFIRMED, slower_lookups(40), State.CONFIRMED),
        ("lookup-cost", TrialKind.LOOKUP, REFUTED, slower_lookups(40), State.REFUTED),
        ("cpu", TrialKind.MEMORY, CONFIRMED, BUSY, State.REFUTED),
        ("cpu", TrialKind.MEMORY, REFUTED, BUSY, SUPPORTED),
        # A copy that waits for each write is slow at any pace.
        ("mount-options", TrialKind.PACE, REFUTED, options("rw,sync"), NOT_SEPARABLE),
        # It acts through waiting for a CPU as well, which stays in memory.
        ("other-load", TrialKind.MEMORY, REFUTED, pressed(0.2), SUPPORTED),
    ],
)
@pytest.mark.parametrize("share", [None, 0.4])
def test_trials(cause, kind, outcome, facts, state, share):
    """A cause's own trial decides; the trial memory refutes storage, or whatever is not storage."""
    trials = (TrialOutcome(kind, outcome, statement("The gap."), share),)
    judged = causes_of({"amd-16": facts}, trials=trials)[cause]
    assert judged.state is state
    if state in (State.CONFIRMED, State.REFUTED):
        remark = f"Trial {kind.value}: The gap." + (
            " It explains 40 % of the gap." if share else ""
        )
        assert remark in explanation_text(judged)
        assert ("It explains" in explanation_text(judged)) is (share is not None)


@pytest.mark.parametrize(
    ("outcome", "state"), [(CONFIRMED, State.CONFIRMED), (REFUTED, NOT_SEPARABLE)]
)
def test_the_trial_of_a_remedy(outcome: TrialState, state: State) -> None:
    """Removing the destination first may not help, although the flush makes the difference."""
    trial = TrialOutcome(TrialKind.UNLINK, outcome, statement("The gap."), None)
    change = {"intel": further_option("noauto_da_alloc")}
    found = causes_of(change, trials=(trial,))["ext4-flush"]
    assert found.state is state
    is_refuted = "This refutes the remedy only" in explanation_text(found)
    assert is_refuted is (outcome is REFUTED)
