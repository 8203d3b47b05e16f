# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Possible causes of a difference, and what to try."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

from msgspec import Struct

from io_benchmark.analysis.leftover_model import Leftover
from io_benchmark.analysis.model import DIFFERENT, Cause, Diagnosis, Remedy, State, Subject
from io_benchmark.analysis.report_model import SingleWorker
from io_benchmark.number_text import percent, ratio, times
from io_benchmark.report.content.part_rows import part_name
from io_benchmark.report.content.report_index import DiagnosedCandidate
from io_benchmark.report.content.statement_text import FACT_LENGTH, evidence_text, text_of
from io_benchmark.report.content.subject_text import Distinction
from io_benchmark.report.content.trial_rows import TrialRow
from io_benchmark.results import workloads

# Longer evidence would hide the sentence around it; the table of hypotheses has it.
_EVIDENCE_LENGTH = 120
# A sentence about causes says how much they leave over from this share of the difference on.
_LARGE_LEFTOVER = 0.2


class CauseRow(Struct, frozen=True):
    state: State
    name: str
    hypothesis: str
    candidate_evidence: str
    baseline_evidence: str
    explanation: str
    share: str


class _RemedyRow(Struct, frozen=True):
    cause: str
    action: str
    gain: str
    evidence: str


class DiagnosisPart(Struct, frozen=True):
    title: str
    candidate: str
    baseline: str
    decided: bool  # a difference was found, so that there is something to explain
    causes: tuple[CauseRow, ...]
    remedies: tuple[_RemedyRow, ...]
    leftover: str = ""  # what the supported causes do not explain
    trials: tuple[TrialRow, ...] = ()
    leading: bool = True  # the candidate's first; further ones are of other workloads

    @property
    def listed(self) -> tuple[CauseRow, ...]:
        """The causes to list; the others are counted.

        A cause that does not hold is only counted where nothing differs, or where another
        workload's difference is explained first.
        """
        holding = tuple(row for row in self.causes if row.state.holds)
        list_all = self.decided and (self.leading or not holding)
        return self.causes if list_all else holding

    @property
    def counted(self) -> str:
        left_out = Counter(row.state for row in self.causes if row not in self.listed)
        counts = (f"{left_out[state]:,} {state}" for state in State if left_out[state])
        return f"Hypotheses: {', '.join(counts)}." if left_out else ""

    @classmethod
    def of(cls, diagnosed: DiagnosedCandidate) -> Self:
        """Write the possible causes of one candidate's difference."""
        diagnosis, comparison = diagnosed.diagnosis, diagnosed.comparison
        candidate, baseline = diagnosis.candidate, diagnosed.baseline
        decided = comparison is not None and comparison.verdict in DIFFERENT
        if comparison is not None and decided:
            title = f"Why {candidate} is {comparison.verdict} than {baseline}"
        else:
            title = f"Possible causes, {candidate} compared with {baseline}"
        if comparison is not None:
            title += _measurement(comparison.subject, diagnosed.siblings)
        return cls._written(title, diagnosis, baseline, decided=decided, leading=diagnosed.leading)

    @classmethod
    def of_single_workers(cls, workers: Iterable[SingleWorker]) -> tuple[Self, ...]:
        """Write why workers differ from the rest of their pools."""
        return tuple(
            cls._written(
                f"Why {each.division.candidate} is {each.verdict} than {each.division.baseline}",
                each.diagnosis,
                each.division.baseline,
                decided=True,
                leading=False,
            )
            for each in workers
            if each.diagnosis is not None
        )

    @classmethod
    def _written(
        cls, title: str, diagnosis: Diagnosis, baseline: str, *, decided: bool, leading: bool
    ) -> Self:
        causes = [
            cause
            for state in State
            for cause in _by_share([cause for cause in diagnosis.causes if cause.state is state])
        ]
        return cls(
            title=title,
            candidate=diagnosis.candidate,
            baseline=baseline,
            decided=decided,
            causes=tuple(_cause(cause) for cause in causes),
            remedies=tuple(_remedy(remedy) for remedy in diagnosis.remedies),
            trials=tuple(TrialRow.of(outcome) for outcome in diagnosis.trials),
            leftover=_leftover(diagnosis),
            leading=leading,
        )


class Explanation(Struct, frozen=True):
    """The causes of a difference in a sentence, confirmed and large ones first, and what to try."""

    sentence: str  # without a full stop
    standing: str  # of the first cause: "confirmed by a trial", "supported"; nothing without one
    claim: str  # the sentence without the standing
    steps: tuple[tuple[str, str], ...]  # "Try", "To confirm", each with its sentence

    @classmethod
    def of(cls, diagnosis: Diagnosis, to_confirm: str = "", to_change: str | None = "") -> Self:
        """Write what a diagnosis found, and what to do next.

        `to_change` is the baseline if that is the slower side; None if nothing is to be changed.
        """
        holding = sorted(
            _by_share([each for each in diagnosis.causes if each.state.holds]),
            key=lambda cause: cause.state is not State.CONFIRMED,
        )
        not_separable = [each for each in diagnosis.causes if each.state is State.NOT_SEPARABLE]
        open_causes = ", ".join(each.name for each in not_separable)
        steps = {
            "Try": _remedy_text(diagnosis, to_change),
            "To confirm": to_confirm and f"{to_confirm}.",
        }
        labelled = tuple((label, text) for label, text in steps.items() if text)
        if not holding and len(not_separable) == 1:
            claim = (
                f"{_difference(not_separable[0])} ({open_causes}), of which nothing shows the cost"
            )
            return cls(claim, State.NOT_SEPARABLE.value, claim, labelled)
        if not holding and open_causes:
            text = f"the observations cannot separate {open_causes}"
            return cls(text, State.NOT_SEPARABLE.value, open_causes, labelled)
        if not holding:
            text = "no cause is supported by the observations"
            return cls(text, "", "none is supported by the observations", labelled)
        first, *others = holding
        confirmed = first.state is State.CONFIRMED
        further = "; also supported: " + ", ".join(each.name for each in others) if others else ""
        further += f"; not separable from that: {open_causes}" if open_causes else ""
        further += _unexplained(diagnosis)
        text = _explained_text(first)
        claim = f"{_difference(first)} ({first.name})" if first.share is None else text
        standing = ", confirmed by a trial" if confirmed else f" ({first.state})"
        return cls(
            text + (standing if first.share is not None else "") + further,
            "confirmed by a trial" if confirmed else first.state.value,
            claim + further,
            labelled,
        )


def _remedy_text(diagnosis: Diagnosis, to_change: str | None) -> str:
    if not diagnosis.remedies or to_change is None:
        return ""
    remedy = diagnosis.remedies[0]
    gain = _gain_text(remedy)
    on = f"on {to_change}, " if to_change else ""
    return f"{on}{_clause(text_of(remedy.action))}{f' ({gain})' if gain else ''}."


def _difference(cause: Cause) -> str:
    """Return both sides' summaries, or where they are equal or long, the hypothesis."""
    summaries = (cause.candidate_evidence.summary, cause.baseline_evidence.summary)
    candidate, baseline = (each and text_of(each, FACT_LENGTH) for each in summaries)
    differ = candidate and baseline and candidate != baseline
    if differ and len(f"{candidate}{baseline}") <= _EVIDENCE_LENGTH:
        return f"{candidate} against {baseline}"
    return _clause(cause.hypothesis) or cause.name


def _clause(sentence: str) -> str:
    """Return the sentence without its full stop, as a part of a longer one."""
    return sentence.removesuffix(".")


def _share_text(cause: Cause) -> str:
    """Return how much of the difference a cause explains that holds."""
    if cause.share is None or not math.isfinite(cause.share):
        return f"({cause.name}, {cause.state})"
    return f"explains {percent(cause.share)}"


def _explained_text(cause: Cause) -> str:
    """Return '1 disk against 2 disks, striped, which explains 97 %'."""
    if cause.share is None or not math.isfinite(cause.share):
        return f"{_difference(cause)} {_share_text(cause)}"
    return f"{_difference(cause)}, which {_share_text(cause)}"


def _by_share(causes: Sequence[Cause]) -> list[Cause]:
    """Sort causes, the largest share first; causes without a share keep their order at the end."""
    return sorted(causes, key=lambda cause: math.inf if cause.share is None else -cause.share)


def _gain_text(remedy: Remedy) -> str:
    """Return '1.90× faster, measured', or nothing without a known gain."""
    if remedy.gain_ratio is None or not math.isfinite(remedy.gain_ratio):
        return ""
    return f"{ratio(remedy.gain_ratio)} faster, {'measured' if remedy.measured else 'predicted'}"


def _cause(cause: Cause) -> CauseRow:
    explanation = [*map(text_of, cause.explanation)]
    if cause.predicted_ratio is not None and cause.share is None:
        explanation.insert(0, f"Predicts {ratio(cause.predicted_ratio)}.")
    if cause.workload is not None:
        explanation.append(f"The workload {cause.workload} would show it.")
    return CauseRow(
        cause.state,
        cause.name,
        cause.hypothesis,
        evidence_text(cause.candidate_evidence),
        evidence_text(cause.baseline_evidence),
        " ".join(filter(None, explanation)),
        "" if cause.share is None else _share_text(cause),
    )


def _leftover(diagnosis: Diagnosis) -> str:
    """Write what the supported causes leave over, or nothing."""
    left = diagnosis.leftover
    if left is None:
        return ""
    where = " and ".join(part_name(part.phase, part.kind) for part in left.parts)
    text = f"{percent(left.share)} of the difference ({_time_left(diagnosis, left)})"
    return f"{text} is not explained by these causes" + (f"; it is in {where}." if where else ".")


def _unexplained(diagnosis: Diagnosis) -> str:
    """Write what the supported causes leave over, where that is large."""
    left = diagnosis.leftover
    if left is None or left.share < _LARGE_LEFTOVER:
        return ""
    return f"; not explained: {_time_left(diagnosis, left)} ({percent(left.share)})"


def _time_left(diagnosis: Diagnosis, left: Leftover) -> str:
    """Return '24.5 ms per retrieve'."""
    workload = diagnosis.subject.workload if diagnosis.subject else "cache-retrieve"
    return f"{times([left.difference_ns])[0]} per {workloads.of(workload).operation}"


def _remedy(remedy: Remedy) -> _RemedyRow:
    action = _capitalised(_clause(text_of(remedy.action)))
    evidence = " ".join(map(text_of, remedy.evidence))
    return _RemedyRow(remedy.cause, action, _gain_text(remedy), evidence)


def _capitalised(line: str) -> str:
    """Start with a capital; a pool's name is written as it is."""
    first = line.split(" ", 1)[0]
    return line if "-" in first else line[:1].upper() + line[1:]


def _measurement(subject: Subject, siblings: tuple[Subject, ...]) -> str:
    """Return ' on metadata, stat, 4 at once in container', if there are other measurements."""
    if subject.workload not in workloads.IN_BATCHES and len(siblings) == 1:
        return ""
    place = f" in {subject.place}" if Distinction.between(siblings).place else ""
    return f" on {subject.workload}, {subject.label}{place}"
