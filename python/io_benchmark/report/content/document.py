# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The content of every report for people, in plain text and in order; a format only lays it out.

All text is harmless here (`harmless`), and still unescaped: a format escapes its own markup.
"""

from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.model import Severity
from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import percent
from io_benchmark.report.content import single_workers
from io_benchmark.report.content.answers import AnsweredSubject, PoolAnswer
from io_benchmark.report.content.divisions import DivisionsPart
from io_benchmark.report.content.first_screen import FirstScreen
from io_benchmark.report.content.folding import Folded
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.harmless import make_harmless
from io_benchmark.report.content.hypotheses import DiagnosisPart
from io_benchmark.report.content.place_tables import PlacesPart
from io_benchmark.report.content.pool_lines import PoolsPart
from io_benchmark.report.content.report_index import DiagnosedCandidate, MeasuredSubject
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.content.screen_lines import COMPARED
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.worker_rows import WorkersPart
from io_benchmark.results import workloads

NEITHER = "Neither slower nor faster, as far as these results show"
UNDECIDED = "Not decided"
UNDECIDED_MEANS = (
    "In these measurements no pool is slower or faster. Each row covers all pools; --details, the "
    "HTML page and the JSON show each pool."
)


class Heading(StrEnum):
    """Headings that every format has."""

    SINGLE_WORKERS = "Workers that do not belong to their pool"
    PARTS = "Where the time went"
    WORKERS = "Workers per pool"
    WAITS = "What the copies waited for"
    ADVICE = "What would settle it"
    ASSUMPTIONS = "Assumptions behind the intervals"
    TRIED = "What was tried"
    REMEDIES = "What to try"


class ReportContent(Struct, frozen=True):
    title: str
    baseline: str
    introduction: str
    nothing: str  # why there is no answer at all, or nothing
    notes: ProblemNotes
    sections: tuple[Section, ...]
    folded: Folded
    single_workers: tuple[PoolAnswer, ...]
    divisions: DivisionsPart | None
    diagnoses: tuple[DiagnosisPart, ...]
    places: PlacesPart | None
    workers: WorkersPart
    first_screen: FirstScreen
    lists: tuple[tuple[str, tuple[str, ...]], ...]  # titles and lines, at the end


def build(report: Report, *, details: bool = False) -> ReportContent:
    """Write everything that a report says; with `details` nothing is folded."""
    report = make_harmless(report)
    notes = ProblemNotes(report.problems, report.subjects)
    diagnosed = DiagnosedCandidate.of_report(report)
    measured = MeasuredSubject.of_report(report, notes, diagnosed)
    answered = [AnsweredSubject.of(part, report.margin_ratio) for part in measured]
    members = Section.groups(answered)
    sections = tuple(Section.of(each) for each in members)
    lists = {"Not read": report.unreadable, "Remarks": tuple(map(text_of, report.remarks))}
    nothing = _reason_for_nothing(report)
    workers = WorkersPart.of(report)
    singles = single_workers.answers_of(report)
    return ReportContent(
        title=report.title,
        baseline=report.baseline,
        introduction=_introduction(report, has_compared=any(part.compared_ns for part in measured)),
        nothing=nothing,
        notes=notes,
        sections=sections,
        folded=Folded.of(sections, members, details=details),
        single_workers=singles,
        divisions=DivisionsPart.of(measured, report.single_workers, details=details),
        diagnoses=(
            *(DiagnosisPart.of(each) for each in diagnosed),
            *DiagnosisPart.of_single_workers(report.single_workers),
        ),
        places=PlacesPart.of(report.places, report.margin_ratio, details=details),
        workers=workers,
        first_screen=FirstScreen.of(
            report, answered, PoolsPart.of(answered, singles), notes, workers, nothing
        ),
        lists=tuple((title, lines) for title, lines in lists.items() if lines),
    )


def _introduction(report: Report, *, has_compared: bool) -> str:
    if not report.subjects and not report.baseline:
        return ""
    reason = f" ({report.baseline_reason})" if report.baseline_reason else ""
    text = (
        f"The baseline is {report.baseline}{reason}. A ratio is a geometric mean time of workers divided "
        f"by the baseline's; within ±{percent(report.margin_ratio)} counts as equivalent."
    )
    if has_compared:
        text += f" {COMPARED} is that mean where the averages give another ratio."
    if any(workloads.of(part.subject.workload).higher_is_better for part in report.subjects):
        text += " A ratio above 1 is slower, also where a rate is shown."
    return text


def _reason_for_nothing(report: Report) -> str:
    if any(part.comparisons for part in report.subjects):
        return ""
    if any(problem.severity is Severity.REFUSED for problem in report.problems):
        return "No verdict is given: the measurements are not comparable."
    if any(len(part.figures) > 1 for part in report.subjects):
        return "Nothing could be compared."
    if report.subjects:
        sides = dict.fromkeys(side for part in report.subjects for side in part.figures)
        return f"Only {', '.join(sides)} has results, so there is nothing to compare."
    if report.unreadable:
        return "No verdict: none of the results could be read."
    return "No verdict: there are no results."
