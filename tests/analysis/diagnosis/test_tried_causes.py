# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Trials refute causes, and confirm those that facts support."""

from tried_workers import trials, tried

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, Sides
from io_benchmark.analysis.diagnosis.separation import Judged
from io_benchmark.analysis.diagnosis.tried_causes import confirm
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.model import Diagnosis, State
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.statements import statement
from io_benchmark.analysis.trials.trial_model import TrialOutcome, TrialState
from io_benchmark.report.blocks import plain
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.sections.causes import explanation
from io_benchmark.results.trials import TrialKind

CONFIRMED, SUPPORTED, NOT_SEPARABLE = State.CONFIRMED, State.SUPPORTED, State.NOT_SEPARABLE
PACE, UNLINK = TrialKind.PACE, TrialKind.UNLINK
NORMAL = (66.0, 65.0, 67.0)


def said(found: Diagnosis) -> list[str]:
    return [plain(item.line) for item in explanation(found)]


def judged(name: str, state: State, kind: TrialKind | None = PACE) -> Judged:
    def judge(_case: object) -> CauseJudgement:
        raise NotImplementedError

    evidence = Sides(lambda: (Evidence(), Evidence()))
    judgement = CauseJudgement(state, evidence, (statement("A fact."),))
    return Judged(CauseRule(name, "A hypothesis.", judge, tried_by=kind), judgement)


def after(*causes: Judged, confirmed: tuple[TrialKind, ...] = (PACE,)) -> dict[str, Judged]:
    outcomes = {
        kind: TrialOutcome(kind, TrialState.CONFIRMED, statement("It is so."), 0.9)
        for kind in confirmed
    }
    return {each.rule.name: each for each in confirm(causes, outcomes)}


def states(found: dict[str, Judged]) -> dict[str, State]:
    return {name: each.judgement.state for name, each in found.items()}


def test_the_only_supported_cause_is_confirmed() -> None:
    """Causes that another trial tries, or none, and those that do not hold stay as they are."""
    found = after(
        judged("disks", SUPPORTED),
        judged("load", SUPPORTED, None),
        judged("flush", SUPPORTED, UNLINK),
        judged("limit", State.RULED_OUT),
    )
    assert states(found) == {
        "disks": CONFIRMED,
        "load": SUPPORTED,
        "flush": SUPPORTED,
        "limit": State.RULED_OUT,
    }
    assert [text_of(each) for each in found["disks"].judgement.explanation] == [
        "A fact.",
        "Trial pace: It is so. It explains 90 % of the gap.",
    ]


def test_a_trial_does_not_tell_two_causes_of_one_mechanism_apart() -> None:
    """Both stay supported, and say what would separate them."""
    found = after(judged("disks", SUPPORTED), judged("limit", SUPPORTED))
    assert states(found) == {"disks": SUPPORTED, "limit": SUPPORTED}
    assert text_of(found["limit"].judgement.explanation[-1]) == (
        "The trial does not tell this from disks: only a run with one of them changed would."
    )


def test_a_setting_that_is_not_separable_does_not_prevent_a_confirmation() -> None:
    """The confirmed cause names it; it stays not separable."""
    found = after(judged("disks", SUPPORTED), judged("scheduler", NOT_SEPARABLE))
    assert states(found) == {"disks": CONFIRMED, "scheduler": NOT_SEPARABLE}
    assert text_of(found["disks"].judgement.explanation[-1]) == (
        "The trial does not tell this from scheduler."
    )
    assert len(found["scheduler"].judgement.explanation) == 1


def test_settings_alone_are_not_confirmed() -> None:
    """Without a supported cause, the trial says that one of them is it."""
    found = after(judged("options", NOT_SEPARABLE), judged("scheduler", NOT_SEPARABLE))
    assert states(found) == {"options": NOT_SEPARABLE, "scheduler": NOT_SEPARABLE}
    assert len(found["options"].judgement.explanation) == 3


def test_a_flush_that_differs_explains_what_a_pace_adds() -> None:
    """A side that does not write at all becomes as slow as a disk, if it is held to that."""
    found = after(
        judged("flush", SUPPORTED, UNLINK), judged("disks", SUPPORTED), confirmed=(PACE, UNLINK)
    )
    assert states(found) == {"flush": CONFIRMED, "disks": SUPPORTED}


def diagnosis(paced_ms: float) -> Diagnosis:
    """The seed's case, with a run of intel that was held to one disk's rate."""
    slow = {"normal": (126, 127, 125)}
    fast = {"normal": NORMAL, "pace": (paced_ms, paced_ms + 1, paced_ms - 1)}
    workers = [
        *tried("amd-16", trials(slow, ceilings=(391,))),
        *tried("intel", trials(fast, ceilings=(782,), pace_mib_per_s=391)),
    ]
    plan = Plan("", "intel", "", (("amd-16", "intel"),))
    (found,) = compare(plan, workers, Options()).diagnoses
    return found


def test_a_confirmed_cause_leads_the_answer() -> None:
    """Its remedy comes first."""
    found = diagnosis(126)
    (cause,) = [each for each in found.causes if each.state.holds]
    assert (cause.name, cause.state) == ("device-count", CONFIRMED)
    sentence, advice = said(found)
    claim = "1 disk against 2 disks, striped, which explains 100 %"
    assert sentence == f"Cause (confirmed by a trial): {claim}."
    assert advice.startswith("Try: use a machine type with more local SSDs, striped")
    assert found.remedies[0].cause == "device-count"


def test_a_refuted_cause_has_no_remedy() -> None:
    """Whatever facts differ; the number is with it."""
    found = diagnosis(67)
    (cause,) = [each for each in found.causes if each.name == "device-count"]
    assert (cause.state, cause.predicted_ratio, cause.share) == (State.REFUTED, None, None)
    assert text_of(cause.explanation[-1]) == (
        "Trial pace: Limited to 391 MiB/s, intel takes 0.53× the time of amd-16: write bandwidth does "
        "not make the difference. It explains 1.7 % of the gap."
    )
    assert "device-count" not in {remedy.cause for remedy in found.remedies}
    assert said(found)[0] == "Cause: none is supported by the observations."
