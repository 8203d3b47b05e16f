# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What every report for people says, in plain text and in order; each medium only sets it.

All text is harmless here (`io_benchmark.text`), and still unescaped: a medium escapes its own markup.
"""

from collections import Counter
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import Problem, Severity
from io_benchmark.analysis.report_model import Report, WorkerLine
from io_benchmark.report.content import answers, cautions, folding, measures, replication, sections
from io_benchmark.report.content import place_tables as places
from io_benchmark.report.content.cautions import ENDED_BADLY, how_it_ended
from io_benchmark.report.content.folding import Folded
from io_benchmark.report.content.footnotes import Footnote, Footnotes, alike, where
from io_benchmark.report.content.hypotheses import DiagnosisPart, diagnosis_part
from io_benchmark.report.content.place_tables import PlacesPart
from io_benchmark.report.content.replication import UNKNOWN, Replication, Standing
from io_benchmark.report.content.sections import Section
from io_benchmark.report.content.units import percent
from io_benchmark.text import clean, name

NEITHER = "Neither slower nor faster, as far as these data decide"
UNDECIDED = "Not decided"
UNDECIDED_MEANS = (
    "Measurements on which no pool is slower or faster, over all pools; --details, the HTML page and "
    "the JSON have each in full."
)
REPLICATION_HEADS = ("Runs", "Workers", "For a verdict")


@dataclass(frozen=True)
class Refusal:
    rule: str
    where: str
    message: str
    consequence: str


@dataclass(frozen=True)
class ReplicationRow:
    """How many workers a pool had: the cells stand under REPLICATION_HEADS."""

    side: str
    cells: tuple[str, ...]

    @property
    def sentence(self) -> str:
        runs, workers, verdict = self.cells
        return f"{self.side}: runs {runs}, workers {workers}, for a verdict: {verdict}"


@dataclass(frozen=True)
class WorkerRow:
    side: str
    worker: str
    repeated: bool
    task: str
    state: str
    machine: str
    source: str


@dataclass(frozen=True)
class Content:
    title: str
    baseline: str
    introduction: str
    nothing: str  # why there is no answer at all, or nothing
    refusals: tuple[Refusal, ...]
    sections: tuple[Section, ...]
    folded: Folded
    diagnoses: tuple[DiagnosisPart, ...]
    replication: tuple[ReplicationRow, ...]
    places: PlacesPart | None
    # What of these workers is not as it looks: not independent, not compared, cut short.
    cautions: tuple[str, ...]
    workers: tuple[WorkerRow, ...]
    footnotes: tuple[Footnote, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[str, ...]


def build(report: Report, *, details: bool = False) -> Content:
    """With `details` nothing is folded."""
    several = len(report.subjects) > 1
    footnotes = Footnotes(report.problems, several=several)
    runs = Counter(worker.machine for worker in report.workers if worker.machine != UNKNOWN)
    replicated = replication.of_report(report)
    spoken = answers.of_report(report, footnotes)
    every = [
        sections.build(report, members, footnotes, spoken)
        for members in measures.groups(report.subjects)
    ]
    folds = folding.folds(report) and not details
    return Content(
        title=clean(report.title),
        baseline=name(report.baseline),
        introduction=_introduction(report),
        nothing=_nothing(report),
        refusals=tuple(
            Refusal(
                name(same[0].rule),
                where(same, several=several),
                clean(same[0].message).rstrip(".") + ".",
                _consequence(same[0], report),
            )
            for same in alike(
                problem for problem in report.problems if problem.severity is Severity.REFUSED
            )
        ),
        sections=tuple(every),
        folded=folding.of(report, every, spoken, footnotes) if folds else folding.nothing(every),
        diagnoses=tuple(diagnosis_part(diagnosis, report) for diagnosis in report.diagnoses),
        replication=tuple(_replication(row) for row in replicated),
        places=places.part(report, details=details),
        cautions=tuple(cautions.of(report.workers, replicated)),
        workers=tuple(_worker(worker, runs) for worker in report.workers),
        footnotes=footnotes.all(),
        unreadable=tuple(clean(line) for line in report.unreadable),
        remarks=tuple(clean(line) for line in report.remarks),
    )


def _consequence(problem: Problem, report: Report) -> str:
    """A rule that one run breaks leaves the others of its side, and a verdict from those."""
    compared = {
        side
        for part in report.subjects
        if problem.subject in (None, part.subject)
        for comparison in part.comparisons
        for side in (comparison.candidate, comparison.baseline)
    }
    if len(problem.sides) == 1 and compared.issuperset(problem.sides):
        return "This run is left out."
    return "No verdict is given."


def _replication(row: Replication) -> ReplicationRow:
    verdict = row.standing.value
    if row.standing is Standing.DECIDED:
        verdict = "enough"
    elif row.standing is Standing.OPEN:
        verdict = f"{row.workers_to_add:,} more, {row.workers_needed:,} in all"
        if row.workers_to_add == 0:
            verdict = "enough here, too few elsewhere"
    workers = f"{row.workers:,}"
    if 0 < row.workers_compared < row.workers:
        workers = f"{row.workers_compared:,} of {workers}"
    return ReplicationRow(name(row.side), (f"{row.runs:,}", workers, verdict))


def _introduction(report: Report) -> str:
    if not report.subjects and not report.baseline:
        return ""
    reason = f" ({clean(report.baseline_reason)})" if report.baseline_reason else ""
    return (
        f"The baseline is {name(report.baseline)}{reason}. A ratio is a mean time divided by the "
        f"baseline's; within ±{percent(report.margin_ratio)} counts as equivalent.{_of_rates(report)}"
    )


def _of_rates(report: Report) -> str:
    shown = (workloads.of(part.subject.workload) for part in report.subjects)
    if not any(workload.higher_is_better for workload in shown):
        return ""
    return " Also where a rate is shown, a ratio above 1 is slower."


def _nothing(report: Report) -> str:
    if any(part.comparisons for part in report.subjects):
        return ""
    if any(problem.severity is Severity.REFUSED for problem in report.problems):
        return "No verdict is given: what was measured is not comparable."
    if any(len(part.figures) > 1 for part in report.subjects):
        return "Nothing could be compared."
    if report.subjects:
        return "There is only one side: nothing to compare it with."
    if report.unreadable:
        return "No verdict: none of the results could be read."
    return "No verdict: there are no results."


def _worker(worker: WorkerLine, runs: Counter[str]) -> WorkerRow:
    run = "" if worker.run_id is None else f".{worker.run_id}"
    state = how_it_ended(worker) if worker.state in ENDED_BADLY else clean(worker.state, 80)
    if not worker.completed:
        reason = clean(worker.incomplete_reason or "no reason given", 200)
        state += f", incomplete: {reason}"
    machine = " in ".join(name(part) for part in (worker.instance_type, worker.zone) if part)
    side = name(worker.side)
    if worker.pool not in worker.side:
        side += f" (pool {name(worker.pool)})"
    return WorkerRow(
        side=side,
        worker=name(worker.worker_id, 60),
        repeated=runs[worker.machine] > 1,
        task=f"{name(worker.task_id)}{run}" if worker.task_id else UNKNOWN,
        state=state,
        machine=machine or UNKNOWN,
        source=clean(worker.source, 200),
    )
