# SPDX-License-Identifier: MPL-2.0
"""The measurements: figures in tables and pictures, and how sure they are.

Each one of cache-retrieve has a section, whose table has figures as rows and pools as columns.
Those of another workload share a section per place, whose table has pools as rows.
"""

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.model.comparison import Comparison
from io_benchmark.analysis.model.figures import Detail, SideStorage
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.number_text import (
    NOTHING,
    count,
    digits,
    listed,
    number_of,
    percent,
    ratio,
    size,
    times,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import FIGURES, ends_text, place_of, sharing, text_of, unit_text
from io_benchmark.report.sections.measured import SideResult, compared_ns
from io_benchmark.results import workloads
from io_benchmark.text import capitalized, name

INTERVAL_HEAD = f"{percent(LEVEL)} interval"
COMPARED = "Compared avg"  # what a ratio is of, where that is not of the averages
_TAIL = 95  # the percentile of tables
# From this many measurements on, those in which no pool is slower, faster or refused are folded.
_FOLDED_FROM = 5
_SMALLEST_ERROR = 0.001  # no clock and no machine shows a smaller error; ±0 % would be a claim
# By the method of a comparison.
_METHODS = {
    "workers": "{counts} workers, compared by Welch's test on the logarithms of their means",
    "paired retrieves": "one worker per pool, compared retrieve by retrieve in blocks",
    "paired batches": "one worker per pool, compared sample by sample in blocks",
    "batches in blocks": "one worker per pool, each with its own error from blocks of its samples",
    "runs of one worker": (
        "one worker per pool, compared by the means of its runs and by how much runs of one worker "
        "differ"
    ),
}
# Dozens of measurements must not make the page large. This many sides can be told from each other.
_MEASUREMENTS_DRAWN, _SIDES_DRAWN = 60, 4
_NAME_CELLS = 22
_RATIOS_MEANING = (
    ", with its interval: above 1 is slower. Equivalent is what has all of its thicker line in the "
    "shaded margin."
)


def measured(sides: Sequence[SideResult], report: SampledReport) -> Iterator[blocks.Block]:
    """Write a section per measurement or place; of many, what is not decided is folded."""
    with_figures = [side for side in sides if side.name in side.part.figures]
    if not with_figures:
        return
    unfolded = {side.subject for side in sides if side.differs or side.verdict == blocks.NO_VERDICT}
    if len(report.subjects) < _FOLDED_FROM:
        unfolded = {part.subject for part in report.subjects}
    yield blocks.Heading("Measurements")
    yield from _sections([side for side in with_figures if side.subject in unfolded], report)
    folded = [side for side in with_figures if side.subject not in unfolded]
    if folded:
        count = number_of(len({side.subject for side in folded}), "measurement")
        summary = f"In {count} no pool is slower or faster"
        yield blocks.Fold(summary, [*_sections(folded, report)])


def _sections(sides: Sequence[SideResult], report: SampledReport) -> Iterator[blocks.Block]:
    def key(side: SideResult) -> object:
        is_shared = side.subject.workload in workloads.IN_BATCHES
        return (side.subject.workload, place_of(side.subject)) if is_shared else side.subject

    for members in grouped(sides, key).values():
        yield from _section(members, report)


def _section(sides: Sequence[SideResult], report: SampledReport) -> Iterator[blocks.Block]:
    """Write the figures of measurements that share a table, then what they rest on."""
    parts = list({side.subject: side.part for side in sides}.values())
    subject = parts[0].subject
    pairs = [(part, pair) for part in parts for pair in part.comparisons]
    if report.is_only_noise:
        pairs = []
    advice = []
    if subject.workload in workloads.IN_BATCHES:
        place = f", place {place_of(subject)}" if place_of(subject) else ""
        title = f"{subject.workload}{place} {unit_text(subject.workload)}"
        yield from (blocks.Heading(title, blocks.SUBSECTION), _measures(sides))
    else:
        yield from (blocks.Heading(str(subject), blocks.SUBSECTION), _figures(sides))
        # The table of workers sums up how many more settle the measurements of other workloads.
        advice = [
            (pair.candidate, text_of(pair.advice.message)) for _, pair in pairs if pair.advice
        ]
    pictures = [*_pictures(parts, report)]
    storage = [(name, _storage(side)) for name, side in parts[0].storage.items()]
    assumptions = [(pair.candidate, _assumptions(part, pair)) for part, pair in pairs]
    details = [
        (summary, blocks.Items.of((f"{names}: {line}" for names, line in sharing(lines)), title))
        for summary, title, lines in (
            ("storage", "What the storage did", storage),
            ("what would settle it", "What would settle it", advice),
            ("assumptions", "Assumptions behind the intervals", assumptions),
            ("noise", "Noise", [*_noise(parts)]),
        )
        if lines
    ]
    names = ["samples"] if pictures else []
    names += (summary for summary, _ in details)
    folded = [*pictures, *(block for _, block in details)]
    yield blocks.Fold(capitalized(listed(names, len(names))), folded, is_named_in_text=False)


def screen_table(part: SubjectReport, sides: Sequence[SideResult], title: str) -> blocks.Table:
    if part.subject.workload in workloads.IN_BATCHES:
        same = [side for side in sides if side.part is part and side.name in part.figures]
        return _measures(same, title, rank=6)
    rows = [row for row in _figure_rows(part) if row.rank]
    return blocks.Table("", [*part.figures], rows, title, turned_corner="Pool")


def _figures(sides: Sequence[SideResult]) -> blocks.Table:
    part, figures = sides[0].part, sides[0].part.figures.values()
    # Before and after: each pool has a separate baseline.
    against, *further = dict.fromkeys(side.baseline for side in sides)
    against = blocks.BASELINE if further else against
    ratios, intervals, verdicts = zip(*map(_comparison, sides), strict=True)
    rows = [
        *_figure_rows(part),
        blocks.Row("Workers", [f"{side.workers:,}" for side in figures]),
        blocks.Row("Retrieves", [f"{side.samples:,}" for side in figures]),
        blocks.Row(f"Ratio vs {against}", ratios, is_strong=True),
        blocks.Row(INTERVAL_HEAD, intervals),
        blocks.Row("Verdict", verdicts, is_strong=True),
    ]
    return blocks.Table("Metric", [*part.figures], rows, turned_corner="Pool")


def _figure_rows(part: SubjectReport) -> Iterator[blocks.Row]:
    means_ns = compared_ns(part)
    for figure in FIGURES:
        values = (figure.value_ns(side) for side in part.figures.values())
        cells = times([math.nan if value is None else value for value in values])
        yield blocks.Row(figure.label, cells, rank=figure.screen_rank)
        if figure.label == "Avg" and means_ns:
            # What the ratios are of, where the averages give other ratios.
            means = [", ".join(times(means_ns.get(side, ()))) for side in part.figures]
            yield blocks.Row(COMPARED, means, rank=figure.screen_rank)


def _comparison(side: SideResult) -> tuple[blocks.Words, str, blocks.Words]:
    """Write a side's ratio, its interval and the verdict; the baseline's own ratio is 1."""
    value, ends = ratio(1) if side.verdict == blocks.BASELINE else NOTHING, NOTHING
    if side.comparison is not None:
        value = ratio(side.comparison.ratio)
        # The interval of noise would look like one of a difference between pools.
        if side.verdict != blocks.NOISE:
            ends = ends_text(side.comparison.interval)
    return blocks.Words(value, side.verdict), ends, blocks.Words(side.verdict, side.verdict)


def _measures(
    sides: Sequence[SideResult], title: str = "", rank: int = blocks.ALWAYS
) -> blocks.Table:
    unit = workloads.of(sides[0].subject.workload).unit
    measurements = grouped(sides, lambda side: side.subject).values()
    rows = [replace(row, rank=rank) for same in measurements for row in _measure(same)]
    return blocks.Table("Pool", (unit, f"P{_TAIL}", "Ratio", INTERVAL_HEAD, "Verdict"), rows, title)


def _measure(sides: Sequence[SideResult]) -> Iterator[blocks.Row]:
    part = sides[0].part
    workload, means_ns = workloads.of(part.subject.workload), compared_ns(part)
    yield blocks.Row(part.subject.label)
    details: list[tuple[str, str]] = []
    for side in sides:
        figures = part.figures[side.name]
        values_ns = (figures.mean_ns, figures.percentiles_ns[_TAIL])
        cells = (digits(workload.shown(value_ns)) for value_ns in values_ns)
        yield blocks.Row(side.name, (*cells, *_comparison(side)), level=1)
        if side.name in means_ns:
            means = ", ".join(digits(workload.shown(mean_ns)) for mean_ns in means_ns[side.name])
            details.append((f"{side.name} {means}", COMPARED.lower()))
        details += (
            (f"{side.name} {_detail_text(detail)}", detail.label) for detail in figures.details
        )
    for values, label in sharing(details):
        yield blocks.Row(blocks.Words(f"{label}: {values}", blocks.QUIET), level=1)


def _detail_text(detail: Detail) -> str:
    if detail.unit == "×":
        return ratio(detail.value)
    return f"{digits(detail.value)} {detail.unit}" if detail.unit else count(detail.value)


def _noise(parts: Sequence[SubjectReport]) -> Iterator[tuple[str, str]]:
    """Write how much each side varies, at its largest error."""
    figures = [pair for part in parts for pair in part.figures.items()]
    for side, same in grouped(figures, lambda pair: pair[0]).items():
        _, worst = max(same, key=lambda pair: pair[1].within_worker_ratio)
        error = percent(max(worst.within_worker_ratio, _SMALLEST_ERROR))
        workers = "a single worker cannot show how much workers vary"
        if worst.between_workers_ratio is not None:
            variation = percent(worst.between_workers_ratio)
            workers = f"the {worst.workers:,} workers vary by {variation}"
        yield side, f"one worker's mean is known to ±{error}; {workers}"


def _assumptions(part: SubjectReport, comparison: Comparison) -> str:
    """Write what the interval of a comparison assumes, whatever was measured."""
    workers = comparison.workers or map(part.workers, (comparison.candidate, comparison.baseline))
    counts = " and ".join(f"{number:,}" for number in workers)
    sentence = _METHODS.get(comparison.method, comparison.method).replace("{counts}", counts)
    if comparison.assumed_variation_ratio is not None:
        assumed = percent(comparison.assumed_variation_ratio)
        sentence += f", widened by an assumed variation of {assumed} between workers"
        variation = comparison.assumed_variation
        if variation is not None and variation.shown_by is not None:
            sentence += f", from {text_of(variation.shown_by)}"
    needed = comparison.variation_to_explain_ratio
    if needed is not None and part.subject.workload not in workloads.IN_BATCHES:
        sentence += (
            f"; workers would have to vary by {percent(needed)} for this difference to be chance"
        )
    return sentence if comparison.look is None else f"{sentence}; {text_of(comparison.look)}"


def _storage(side: SideStorage) -> str:
    """Write what a side's copies waited for and where their bytes went."""
    sentences = []
    if side.io_wait_ratio is not None:
        sentences.append(f"something waited for I/O {percent(side.io_wait_ratio)} of the time")
    if side.busiest_disk_ratio is not None:
        sentences.append(f"a disk was busy {percent(side.busiest_disk_ratio)} of the time")
    if side.written_bytes_per_s is not None:
        cap = side.write_cap_bytes_per_s
        limit = f" (limit: {size(cap)}/s)" if cap is not None else ""
        sentences.append(f"the disks wrote {size(side.written_bytes_per_s)}/s{limit}")
    if side.copied_bytes is not None and side.written_bytes is not None:
        copied, written = size(side.copied_bytes), size(side.written_bytes)
        sentences.append(f"of {copied} copied, {written} reached the disks")
    return "; ".join(sentences) or "not recorded"


def _pictures(parts: Sequence[SubjectReport], report: SampledReport) -> Iterator[blocks.Block]:
    is_shared = parts[0].subject.workload in workloads.IN_BATCHES
    pairs = [pair for part in parts for pair in part.comparisons]
    names = [
        (f"{pair.subject.label}: " if is_shared else "") + name(pair.candidate, _NAME_CELLS)
        for pair in pairs
    ]
    # The answer has a picture of a report's only measurement.
    if pairs and len(report.subjects) > 1 and not report.is_only_noise:
        caption = (blocks.Words("Ratio of times to the baseline's", blocks.STRONG), _RATIOS_MEANING)
        yield blocks.Picture(caption, "forest", (pairs, names, report.margin_ratio))
    drawn = [part.subject for part in report.subjects[:_MEASUREMENTS_DRAWN]]
    for part in parts:
        samples = [*_samples(part, report)]
        if not is_shared:
            yield from samples
        elif samples and part.subject in drawn:
            yield blocks.Fold(f"Samples of {part.subject.label}", samples, on_page_only=True)


def _samples(part: SubjectReport, report: SampledReport) -> Iterator[blocks.Picture]:
    """Draw how the samples of one measurement are distributed; nothing without any."""
    drawn = [*part.figures][:_SIDES_DRAWN]
    measured = (worker for worker in report.series if worker.subject == part.subject)
    series = [worker for worker in measured if worker.total_ns and worker.side in drawn]
    is_retrieve = part.subject.workload == "cache-retrieve"
    title = "How long retrieves took" if is_retrieve else "How the samples are distributed"
    caption = (
        ": the share up to a given value. Each line is a worker, each vertical line the mean of "
        "a side."
    )
    if len(part.figures) > len(drawn):
        caption += f" Only the first {len(drawn)} of {len(part.figures):,} sides are drawn."
    if series:
        series.sort(key=lambda worker: drawn.index(worker.side))
        line = (blocks.Words(title, blocks.STRONG), caption)
        yield blocks.Picture(line, "distribution", (part, series))
