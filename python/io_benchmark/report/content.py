# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What every report for people says, in plain text and in order; each medium only sets it.

All text is harmless here (`untrusted`), and still unescaped: a medium escapes its own markup.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import (
    Comparison,
    Figures,
    Problem,
    Report,
    Severity,
    SubjectReport,
    WorkerLine,
)
from io_benchmark.report import answers, cautions, measures, regimes, replication, together
from io_benchmark.report.answers import Answer
from io_benchmark.report.cautions import ENDED_BADLY, how_it_ended
from io_benchmark.report.footnotes import Footnote, Footnotes, alike, where
from io_benchmark.report.hypotheses import DiagnosisPart, diagnosis_part
from io_benchmark.report.measures import MeasureTable
from io_benchmark.report.replication import UNKNOWN, Replication, Standing
from io_benchmark.report.tables import FiguresTable, figures_table
from io_benchmark.report.units import interval, percent
from io_benchmark.report.untrusted import clean, name

# No clock and no machine tells more; ±0 % would be a claim.
SMALLEST_ERROR = 0.001
REPLICATION_HEADS = ("Runs", "Workers", "For a verdict")


@dataclass(frozen=True)
class Refusal:
    rule: str
    where: str
    message: str
    consequence: str


@dataclass(frozen=True)
class Section:
    """One subject of cache-retrieve, or all of another workload's at one place."""

    title: str
    marks: tuple[int, ...]
    answers: tuple[Answer, ...]
    table: FiguresTable
    advice: tuple[tuple[str, str], ...]  # candidate, what would decide it
    certainty: tuple[tuple[str, str], ...]  # candidate, what the interval rests on
    floors: tuple[str, ...]
    noise: tuple[tuple[str, str], ...]  # side, how much it varies
    regimes: tuple[tuple[str, str], ...] = ()  # side, what held its copies up
    # Workloads besides cache-retrieve: all of a place's measurements, in `measures` instead.
    measures: MeasureTable | None = None
    subjects: tuple[int, ...] = ()  # their positions in the report


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
    diagnoses: tuple[DiagnosisPart, ...]
    replication: tuple[ReplicationRow, ...]
    # What of these workers is not as it looks: not independent, not compared, cut short.
    cautions: tuple[str, ...]
    workers: tuple[WorkerRow, ...]
    footnotes: tuple[Footnote, ...]
    unreadable: tuple[str, ...]
    remarks: tuple[str, ...]


def build(report: Report) -> Content:
    several = len(report.subjects) > 1
    footnotes = Footnotes(report.problems, several=several)
    runs = Counter(worker.worker_id for worker in report.workers if worker.worker_id != UNKNOWN)
    replicated = replication.of_report(report)
    spoken = answers.of_report(report, footnotes)
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
        sections=tuple(
            _section(report, members, footnotes, spoken)
            for members in measures.groups(report.subjects)
        ),
        diagnoses=tuple(diagnosis_part(diagnosis, report) for diagnosis in report.diagnoses),
        replication=tuple(_replication(row) for row in replicated),
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


def _section(
    report: Report,
    members: tuple[int, ...],
    footnotes: Footnotes,
    spoken: Sequence[tuple[Answer, ...]],
) -> Section:
    parts = [report.subjects[at] for at in members]
    if parts[0].subject.workload in workloads.IN_BATCHES:
        return _measured_section(parts, members, report.baseline, footnotes, spoken)
    (part,) = parts
    return Section(
        title=answers.subject_title(part.subject),
        marks=footnotes.of_subject(part.subject),
        answers=spoken[members[0]],
        table=figures_table(part, report.baseline, footnotes),
        advice=_grouped(
            (name(comparison.candidate), clean(comparison.advice.message))
            for comparison in part.comparisons
            if comparison.advice is not None
        ),
        certainty=_grouped(
            (name(comparison.candidate), _certainty(comparison, part))
            for comparison in part.comparisons
        ),
        floors=tuple(
            f"{clean(floor.kind)} {interval(floor.low, floor.high)}" for floor in part.noise
        ),
        noise=_grouped((name(side), _noise(figures)) for side, figures in part.figures.items()),
        regimes=_grouped((name(side), words) for side, words in regimes.in_words(part)),
        subjects=members,
    )


def _measured_section(
    parts: Sequence[SubjectReport],
    members: tuple[int, ...],
    baseline: str,
    footnotes: Footnotes,
    spoken: Sequence[tuple[Answer, ...]],
) -> Section:
    """One workload and place: its measurements share a table, and what is said of them."""
    kinds = dict.fromkeys(floor.kind for part in parts for floor in part.noise)
    floors = {
        kind: [floor for part in parts for floor in part.noise if floor.kind == kind]
        for kind in kinds
    }
    worst: dict[str, Figures] = {}
    for side, figures in (pair for part in parts for pair in part.figures.items()):
        if side not in worst or figures.within_worker_ratio > worst[side].within_worker_ratio:
            worst[side] = figures
    return Section(
        title=measures.title(parts[0].subject),
        marks=(),
        answers=together.answers(parts, [spoken[at] for at in members]),
        table=FiguresTable((), ()),
        measures=measures.table(parts, baseline, footnotes),
        advice=_grouped(together.advice(parts)),
        certainty=_grouped(
            (name(comparison.candidate), _method(comparison, part))
            for part in parts
            for comparison in part.comparisons
        ),
        floors=tuple(
            f"{clean(kind)} {interval(min(f.low for f in one), max(f.high for f in one))}"
            for kind, one in floors.items()
        ),
        noise=_grouped((name(side), _noise(figures)) for side, figures in worst.items()),
        subjects=members,
    )


def _grouped(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Names of which the same is said share a line."""
    found: dict[str, list[str]] = {}
    for who, words in pairs:
        found.setdefault(words, []).append(who)
    return tuple((", ".join(dict.fromkeys(who)), words) for words, who in found.items())


def _noise(figures: Figures) -> str:
    error = max(figures.within_worker_ratio, SMALLEST_ERROR)
    own = f"a worker's own mean is known to ±{percent(error)}"
    if figures.between_workers_ratio is None:
        return f"{own}; one worker alone shows no variation between workers"
    return (
        f"{own}; its {figures.workers:,} workers vary by {percent(figures.between_workers_ratio)}"
    )


def _method(comparison: Comparison, part: SubjectReport) -> str:
    """What the interval rests on, whichever of a workload's measurements it is."""
    counts = [
        part.figures[side].workers
        for side in (comparison.candidate, comparison.baseline)
        if side in part.figures
    ]
    against = " against ".join(f"{count:,}" for count in counts)
    words = {
        "workers": f"{against} workers, compared by the logarithms of their means (Welch)",
        "paired retrieves": "one worker a side, compared retrieve by retrieve in blocks",
        "paired batches": "one worker a side, compared sample by sample in blocks",
        "batches in blocks": "one worker a side, each one's own error by blocks of its samples",
    }.get(comparison.method, clean(comparison.method))
    if comparison.assumed_variation_ratio is not None:
        assumed = percent(comparison.assumed_variation_ratio)
        words += f", widened by an assumed variation of {assumed} between workers"
    return words


def _certainty(comparison: Comparison, part: SubjectReport) -> str:
    """What the interval rests on."""
    words = _method(comparison, part)
    if comparison.interval.level > answers.LEVEL:
        taken = f"{100 * comparison.interval.level:.4g} %"
        words += f"; taken at {taken}, adjusted for the number of candidates"
    if comparison.variation_to_explain_ratio is not None:
        needed = percent(comparison.variation_to_explain_ratio)
        words += f"; workers would have to vary by {needed} for this difference to be chance"
    return words + "."


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
        repeated=runs[worker.worker_id] > 1,
        task=f"{name(worker.task_id)}{run}" if worker.task_id else UNKNOWN,
        state=state,
        machine=machine or UNKNOWN,
        source=clean(worker.source, 200),
    )
