# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Hypotheses and remedies, as reports for people say them."""

from collections import Counter
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import Cause, Diagnosis, Remedy, State, Subject
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content import answers, measures
from io_benchmark.report.content.units import ratio
from io_benchmark.text import clean, name

STATES = (State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE)


@dataclass(frozen=True)
class CauseRow:
    state: State
    name: str
    hypothesis: str
    candidate_evidence: str
    baseline_evidence: str
    explanation: str
    share: str


@dataclass(frozen=True)
class RemedyRow:
    cause: str
    action: str
    gain: str
    evidence: str


@dataclass(frozen=True)
class DiagnosisPart:
    title: str
    candidate: str
    baseline: str
    decided: bool  # a difference was found, so that there is something to explain
    causes: tuple[CauseRow, ...]
    remedies: tuple[RemedyRow, ...]
    leading: bool = True  # the candidate's first; further ones are of other workloads

    @property
    def told(self) -> tuple[CauseRow, ...]:
        """Where there is nothing to explain, what is not supported is counted, not listed.

        So it is where another workload's difference is explained.
        """
        supported = tuple(row for row in self.causes if row.state is State.SUPPORTED)
        listed = self.decided and (self.leading or not supported)
        return self.causes if listed else supported

    @property
    def counted(self) -> str:
        left_out = Counter(row.state for row in self.causes if row not in self.told)
        counts = (f"{left_out[state]:,} {state}" for state in STATES if left_out[state])
        return f"Hypotheses: {', '.join(counts)}." if left_out else ""


def diagnosis_part(diagnosis: Diagnosis, report: Report) -> DiagnosisPart:
    compared = answers.compared_on(report, diagnosis)
    comparison = None if compared is None else compared[1]
    candidate = name(diagnosis.candidate)
    baseline = name(report.baseline if comparison is None else comparison.baseline)
    decided = comparison is not None and comparison.verdict in answers.DIFFERENT
    if comparison is not None and decided:
        title = f"Why {candidate} is {comparison.verdict} than {baseline}"
    else:
        title = f"Causes looked for, {candidate} against {baseline}"
    if comparison is not None:
        title += _measurement(comparison.subject, report)
    causes = [
        cause
        for state in STATES
        for cause in answers.by_share([cause for cause in diagnosis.causes if cause.state is state])
    ]
    return DiagnosisPart(
        title=title,
        candidate=candidate,
        baseline=baseline,
        decided=decided,
        causes=tuple(_cause(cause) for cause in causes),
        remedies=tuple(_remedy(remedy) for remedy in diagnosis.remedies),
        leading=diagnosis
        == next(one for one in report.diagnoses if one.candidate == diagnosis.candidate),
    )


def _cause(cause: Cause) -> CauseRow:
    explanation = _sentence(cause.explanation)
    if cause.predicted_ratio is not None and ratio(cause.predicted_ratio) not in explanation:
        explanation = f"Predicts {ratio(cause.predicted_ratio)}. {explanation}".strip()
    if cause.workload is not None and cause.workload not in explanation:
        explanation = f"{explanation} The workload {name(cause.workload)} would tell.".strip()
    return CauseRow(
        cause.state,
        name(cause.name),
        clean(cause.hypothesis),
        clean(cause.candidate_evidence),
        clean(cause.baseline_evidence),
        explanation,
        "" if cause.share is None else answers.share_in_words(cause),
    )


def _remedy(remedy: Remedy) -> RemedyRow:
    gain = answers.gain_in_words(remedy).strip(" ()")
    action = _sentence(remedy.action).removesuffix(".")
    return RemedyRow(name(remedy.cause), action, gain, _sentence(remedy.evidence))


def _sentence(text: str) -> str:
    """With a capital and a full stop, for text that stands by itself."""
    line = clean(text)
    stop = "." if line and line[-1] not in ".!?…" else ""
    first = line.split(" ", 1)[0]
    # A pool's name is written as it is.
    return (line if "-" in first else line[:1].upper() + line[1:]) + stop


def _measurement(subject: Subject, report: Report) -> str:
    """' on metadata, stat, 4 at once in container', as far as there are others."""
    workload = subject.workload
    alike = [part.subject for part in report.subjects if part.subject.workload == workload]
    if workload not in workloads.IN_BATCHES and len(alike) == 1:
        return ""
    placed = workload not in measures.WITHOUT_PLACE and len({one.place for one in alike}) > 1
    where = f" in {name(subject.place)}" if placed else ""
    return f" on {name(workload)}, {measures.label(subject)}{where}"
