# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The sections of a report: one measurement of cache-retrieve, or all of another workload at one place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis import workloads
from io_benchmark.analysis.model import Comparison, Figures
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.report.content import answers, measures, together
from io_benchmark.report.content import bottleneck_rows as regimes
from io_benchmark.report.content.answers import Answer
from io_benchmark.report.content.figures_table import FiguresTable, figures_table
from io_benchmark.report.content.footnotes import Footnotes
from io_benchmark.report.content.measures import MeasureTable
from io_benchmark.report.content.units import interval, percent
from io_benchmark.text import clean, name

# No clock and no machine tells more; ±0 % would be a claim.
SMALLEST_ERROR = 0.001


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


def build(
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
            f"{clean(floor.kind)} {interval(floor.low_ratio, floor.high_ratio)}"
            for floor in part.noise
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
            f"{clean(kind)} {interval(min(f.low_ratio for f in one), max(f.high_ratio for f in one))}"
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
        "runs of one worker": "one worker a side, compared by the means of its runs, and by how far "
        "runs of one worker differ",
    }.get(comparison.method, clean(comparison.method))
    if comparison.assumed_variation_ratio is not None:
        assumed = percent(comparison.assumed_variation_ratio)
        words += f", widened by an assumed variation of {assumed} between workers"
    return words


def _certainty(comparison: Comparison, part: SubjectReport) -> str:
    """What the interval rests on."""
    words = _method(comparison, part)
    if comparison.interval.level_ratio > answers.LEVEL:
        taken = f"{100 * comparison.interval.level_ratio:.4g} %"
        words += f"; taken at {taken}, adjusted for the number of candidates"
    if comparison.variation_to_explain_ratio is not None:
        needed = percent(comparison.variation_to_explain_ratio)
        words += f"; workers would have to vary by {needed} for this difference to be chance"
    return words + "."
