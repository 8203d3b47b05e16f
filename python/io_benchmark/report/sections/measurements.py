# SPDX-License-Identifier: MPL-2.0
"""The measurements: figures, pictures, what would settle them, and how sure they are.

Each one of cache-retrieve has a section; those of another workload share one per place.
"""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.levels import EQUIVALENCE_LEVEL, LEVEL
from io_benchmark.analysis.model import Comparison
from io_benchmark.analysis.observed.machines import grouped
from io_benchmark.analysis.report_model import SampledReport
from io_benchmark.analysis.side_times import SideStorage
from io_benchmark.number_text import number_of, percent, size, times
from io_benchmark.report.blocks import STRONG, Block, Fold, Heading, Items, Marks, Picture, Words
from io_benchmark.report.content import place_of, sharing_lines, text_of, unit_text
from io_benchmark.report.sections.figures import figures_table
from io_benchmark.report.sections.measured import Measurement
from io_benchmark.results import workloads
from io_benchmark.text import name

# From this many measurements on, those in which no pool is slower, faster or refused are folded.
_FOLDED_FROM = 5
# No clock and no machine shows a smaller error; ±0 % would be a claim.
_SMALLEST_ERROR = 0.001
# By the method of a comparison.
_METHODS = {
    "workers": "{counts} workers, compared by Welch's test on the logarithms of their means",
    "workers and the past of their pools": "{counts} workers, compared by a t whose variance counts "
    "earlier workers as well",
    "paired retrieves": "one worker per pool, compared retrieve by retrieve in blocks",
    "paired batches": "one worker per pool, compared sample by sample in blocks",
    "batches in blocks": "one worker per pool, each with its own error from blocks of its samples",
    "runs of one worker": "one worker per pool, compared by the means of its runs and by how much "
    "runs of one worker differ",
}
# Dozens of measurements must not make the page large. This many sides can be told from each other.
_MEASUREMENTS_DRAWN, _SIDES_DRAWN = 60, 4
_NAME_CELLS = 22


def measured(measurements: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    """Write a section per measurement or place; of many, what is not decided is folded."""
    is_long = len(measurements) >= _FOLDED_FROM
    folded = [part for part in measurements if is_long and part.is_undecided]
    yield from _sections([part for part in measurements if part not in folded], report)
    if folded:
        yield Heading("Not decided")
        summary = f"In {number_of(len(folded), 'measurement')} no pool is slower or faster"
        yield Fold(summary, [*_sections(folded, report)])


def _sections(measurements: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    def key(measurement: Measurement) -> object:
        subject = measurement.subject
        shares = subject.workload in workloads.IN_BATCHES
        return (subject.workload, place_of(subject)) if shares else measurement.position

    for members in grouped(measurements, key).values():
        yield from _section(members, report)


def _section(members: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    """Write the figures of measurements that share a table, then what they rest on."""
    first, subject = members[0], members[0].subject
    pairs = [
        (measurement, pair) for measurement in members for pair in measurement.part.comparisons
    ]
    assumptions = [(pair.candidate, _assumptions(measurement, pair)) for measurement, pair in pairs]
    if subject.workload in workloads.IN_BATCHES:
        place = f", place {place_of(subject)}" if place_of(subject) else ""
        yield Heading(f"{subject.workload}{place} {unit_text(subject.workload)}")
        # The table of workers sums up how many more settle dozens of measurements.
        advice = []
    else:
        yield Heading((str(subject), Marks(first.marks)))
        advice = [
            (pair.candidate, text_of(pair.advice.message)) for _, pair in pairs if pair.advice
        ]
        assumptions = [
            (side, f"{sentence}{_adjustments(measurement, pair)}.")
            for (side, sentence), (measurement, pair) in zip(assumptions, pairs, strict=True)
        ]
    yield figures_table(members)
    yield from _pictures(members, report)
    for title, lines in (
        ("What the storage did", map(_storage, first.part.storage.items())),
        ("What would settle it", advice),
        ("Assumptions behind the intervals", assumptions),
        ("Noise", _noise(members)),
    ):
        yield Items.of(sharing_lines(lines), title)


def _noise(measurements: Sequence[Measurement]) -> Iterator[tuple[str, str]]:
    """Write how much each side varies, at its largest error."""
    figures = [pair for measurement in measurements for pair in measurement.part.figures.items()]
    for side, same in grouped(figures, lambda pair: pair[0]).items():
        _, worst = max(same, key=lambda pair: pair[1].within_worker_ratio)
        error = percent(max(worst.within_worker_ratio, _SMALLEST_ERROR))
        workers = "a single worker cannot show how much workers vary"
        if worst.between_workers_ratio is not None:
            variation = percent(worst.between_workers_ratio)
            workers = f"the {worst.workers:,} workers vary by {variation}"
        yield side, f"one worker's mean is known to ±{error}; {workers}"


def _assumptions(measurement: Measurement, comparison: Comparison) -> str:
    """Write what the interval of a comparison assumes, whatever was measured."""
    figures = measurement.part.figures
    sides = (comparison.candidate, comparison.baseline)
    workers = comparison.workers or [figures[side].workers for side in sides if side in figures]
    counts = " and ".join(f"{number:,}" for number in workers)
    sentence = _METHODS.get(comparison.method, comparison.method).replace("{counts}", counts)
    if comparison.assumed_variation_ratio is not None:
        assumed = percent(comparison.assumed_variation_ratio)
        sentence += f", widened by an assumed variation of {assumed} between workers"
        variation = comparison.assumed_variation
        if variation is not None and variation.shown_by is not None:
            sentence += f", from {text_of(variation.shown_by)}"
    if comparison.of_all is not None:
        look = "the planned look" if comparison.look is None else text_of(comparison.look)
        return f"{sentence}; {look}, which decided: later workers are not part of it"
    return sentence if comparison.look is None else f"{sentence}; {text_of(comparison.look)}"


def _adjustments(measurement: Measurement, comparison: Comparison) -> str:
    sentence = ""
    if comparison.interval.level_ratio > LEVEL:
        level = f"{100 * comparison.interval.level_ratio:.4g} %"
        reasons = ["several candidates"] if len(measurement.part.comparisons) > 1 else []
        reasons += ["several looks"] if comparison.look is not None else []
        sentence += f"; computed at {level} because there are {' and '.join(reasons)}"
    if comparison.variation_to_explain_ratio is not None:
        needed = percent(comparison.variation_to_explain_ratio)
        sentence += f"; workers would have to vary by {needed} for this difference to be chance"
    return sentence


def _storage(pair: tuple[str, SideStorage]) -> tuple[str, str]:
    """Return a side, and what its copies waited for and where their bytes went."""
    name_of_side, side = pair
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
        if side.left_dirty_bytes is not None:
            left = size(side.left_dirty_bytes)
            sentences.append(f"after the last copy {left} were still to be written")
        if side.drain_ns is not None:
            sentences.append(f"the final sync took {times([side.drain_ns])[0]}")
    return name_of_side, "; ".join(sentences) or "not recorded"


def _pictures(members: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    """Draw the ratios of measurements that share a section, then the samples of each."""
    is_single = members[0].subject.workload not in workloads.IN_BATCHES
    comparisons: list[Comparison] = []
    names: list[str] = []
    for measurement in members:
        label = "" if is_single else f"{measurement.subject.label}: "
        comparisons += measurement.part.comparisons
        names += (
            label + name(pair.candidate, _NAME_CELLS) for pair in measurement.part.comparisons
        )
    if comparisons:
        meaning = (
            f", with its interval (the thicker part: {percent(EQUIVALENCE_LEVEL)}): above 1 is slower. "
            "Shaded: the margin that counts as equivalent."
        )
        title = Words("Ratio of times to the baseline's", STRONG)
        arguments = (comparisons, names, report.margin_ratio)
        yield Picture((title, meaning), "forest", arguments)
    for measurement in members:
        picture = _samples(measurement, report)
        if picture is not None and is_single:
            yield picture
        elif picture is not None and measurement.position < _MEASUREMENTS_DRAWN:
            summary = f"Samples of {measurement.subject.label}"
            yield Fold(summary, [picture], on_page_only=True)


def _samples(measurement: Measurement, report: SampledReport) -> Picture | None:
    """Draw how the samples of one measurement are distributed; nothing without any."""
    part = measurement.part
    drawn = [*part.figures][:_SIDES_DRAWN]
    by_side = grouped(
        (series for series in report.series if series.subject == part.subject and series.total_ns),
        lambda series: series.side,
    )
    series = [worker for side in drawn for worker in by_side.get(side, ())]
    if not series:
        return None
    title = "How the samples are distributed"
    if part.subject.workload == "cache-retrieve":
        title = "How long retrieves took"
    caption = ": the share up to a given value. Each line is a worker, each vertical line the mean of a side."
    if len(part.figures) > len(drawn):
        caption += f" Only the first {len(drawn)} of {len(part.figures):,} sides are drawn."
    return Picture((Words(title, STRONG), caption), "distribution", (part, series))
