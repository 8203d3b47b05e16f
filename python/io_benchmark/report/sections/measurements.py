# SPDX-License-Identifier: MPL-2.0
"""The measurements: figures, pictures, what would settle them, and how sure they are.

Each one of cache-retrieve has a section; those of another workload share one per place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import Comparison, Figures
from io_benchmark.analysis.report_model import NoiseFloor, SampledReport, SideBottleneck
from io_benchmark.number_text import interval, percent, size, times
from io_benchmark.report.blocks import Block, Fold, Heading, Items, Marks
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.subject_text import place_of, table_title, unit_text
from io_benchmark.report.sections.figures import figures_table, measures_table
from io_benchmark.report.sections.measured import Measurement
from io_benchmark.report.sections.pictures import pictures
from io_benchmark.results import workloads

# From this many measurements on, those in which no pool is slower, faster or refused are folded.
FOLDED_FROM = 5
# No clock and no machine shows a smaller error; ±0 % would be a claim.
_SMALLEST_ERROR = 0.001
# By the method of a comparison.
_METHODS = {
    "workers": "{counts} workers, compared by Welch's test on the logarithms of their means",
    "paired retrieves": "one worker per pool, compared retrieve by retrieve in blocks",
    "paired batches": "one worker per pool, compared sample by sample in blocks",
    "batches in blocks": "one worker per pool, each with its own error from blocks of its samples",
    "runs of one worker": "one worker per pool, compared by the means of its runs and by how much "
    "runs of one worker differ",
}


def measured(measurements: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    """Write a section per measurement or place; of many, what is not decided is folded."""
    folded: Sequence[Measurement] = ()
    if len(measurements) >= FOLDED_FROM:
        folded = [measurement for measurement in measurements if measurement.is_undecided]
    for members in _sections([each for each in measurements if each not in folded]):
        yield from _section(members, report)
    if folded:
        blocks = tuple(
            block for members in _sections(folded) for block in _section(members, report)
        )
        count = f"{len(folded):,} measurement" + ("" if len(folded) == 1 else "s")
        yield Heading("Not decided")
        yield Fold(f"In {count} no pool is slower or faster", blocks)


def _sections(measurements: Iterable[Measurement]) -> list[list[Measurement]]:
    sections: dict[object, list[Measurement]] = {}
    for measurement in measurements:
        subject = measurement.subject
        shares = subject.workload in workloads.IN_BATCHES
        key = (subject.workload, place_of(subject)) if shares else measurement.position
        sections.setdefault(key, []).append(measurement)
    return list(sections.values())


def _section(members: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    """Write the figures of measurements that share a table, then what they rest on."""
    first = members[0]
    compared = [(each, comparison) for each in members for comparison in each.comparisons]
    if first.subject.workload in workloads.IN_BATCHES:
        workload = first.subject.workload
        yield Heading(f"{table_title(first.subject)} {unit_text(workload)}")
        yield measures_table(members)
        advice = _combined_advice(comparison for _, comparison in compared)
        assumptions = [(each.candidate, _assumptions(part, each)) for part, each in compared]
    else:
        yield Heading((str(first.subject), Marks(first.marks)))
        yield figures_table(first)
        advice = [
            (comparison.candidate, text_of(comparison.advice.message))
            for _, comparison in compared
            if comparison.advice is not None
        ]
        assumptions = [
            (each.candidate, f"{_assumptions(part, each)}{_adjustments(part, each)}.")
            for part, each in compared
        ]
    yield from pictures(members, report)
    bottlenecks = [
        (side, _bottleneck_text(bottleneck)) for side, bottleneck in first.part.bottlenecks.items()
    ]
    floors = _floors([floor for measurement in members for floor in measurement.part.noise])
    for title, texts in (
        ("What the copies waited for", bottlenecks),
        ("What would settle it", advice),
        ("Assumptions behind the intervals", assumptions),
        ("Noise", [*floors, *_noise(members)]),
    ):
        if texts:
            yield Items.of(_group_names(texts), title)


def _group_names(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Put names with the same text on one line."""
    names_by_text: dict[str, dict[str, None]] = {}
    for name, text in pairs:
        names_by_text.setdefault(text, {})[name] = None
    return (f"{', '.join(names)}: {text}" for text, names in names_by_text.items())


def _combined_advice(comparisons: Iterable[Comparison]) -> list[tuple[str, str]]:
    """Return for each candidate what would settle its inconclusive measurements."""
    needed: dict[str, list[int | None]] = {}
    for comparison in comparisons:
        if comparison.advice is not None:
            needed.setdefault(comparison.candidate, []).append(comparison.advice.workers_to_add)
    return [(candidate, _advice_text(counts)) for candidate, counts in needed.items()]


def _advice_text(needed: Sequence[int | None]) -> str:
    """Return how many more workers settle how many of the measurements."""
    counts = [count for count in needed if count is not None]
    never = len(needed) - len(counts)
    text = f"{len(needed):,} inconclusive"
    if counts:
        least, most = min(counts), max(counts)
        workers = f"{least:,} to {most:,}" if least < most else f"{most:,}"
        settled = f"{len(counts):,} of them" if never else "all of them"
        text += f"; {workers} more workers per pool should settle {settled}"
    return text + (f"; more workers would not settle {never:,} of them" if never else "")


def _floors(floors: Sequence[NoiseFloor]) -> list[tuple[str, str]]:
    """Write the widest range of each kind of ratio between equals."""
    by_kind: dict[str, list[NoiseFloor]] = {}
    for floor in floors:
        by_kind.setdefault(floor.kind, []).append(floor)
    texts = []
    for kind, same in by_kind.items():
        low, high = min(each.low_ratio for each in same), max(each.high_ratio for each in same)
        texts.append(f"{kind} {interval(low, high)}")
    return [("where nothing differs", ", ".join(texts))] if texts else []


def _noise(measurements: Sequence[Measurement]) -> list[tuple[str, str]]:
    """Write how much each side varies, by its measurement with the largest error."""
    worst: dict[str, Figures] = {}
    for side in (side for measurement in measurements for side in measurement.sides):
        figures, previous = side.figures, worst.get(side.name)
        if figures is not None and (
            previous is None or figures.within_worker_ratio > previous.within_worker_ratio
        ):
            worst[side.name] = figures
    return [(name, _noise_text(figures)) for name, figures in worst.items()]


def _noise_text(figures: Figures) -> str:
    error = percent(max(figures.within_worker_ratio, _SMALLEST_ERROR))
    text = f"one worker's mean is known to ±{error}"
    if figures.between_workers_ratio is None:
        return f"{text}; a single worker cannot show how much workers vary"
    variation = percent(figures.between_workers_ratio)
    return f"{text}; the {figures.workers:,} workers vary by {variation}"


def _assumptions(measurement: Measurement, comparison: Comparison) -> str:
    """Write what the interval of a comparison assumes, whatever was measured."""
    sides = (comparison.candidate, comparison.baseline)
    workers: Mapping[str, int] = {
        side: figures.workers for side, figures in measurement.part.figures.items()
    }
    if comparison.workers is not None:
        workers = dict(zip(sides, comparison.workers, strict=True))
    counts = " and ".join(f"{workers[side]:,}" for side in sides if side in workers)
    text = _METHODS.get(comparison.method, comparison.method).replace("{counts}", counts)
    if comparison.assumed_variation_ratio is not None:
        assumed = percent(comparison.assumed_variation_ratio)
        text += f", widened by an assumed variation of {assumed} between workers"
        variation = comparison.assumed_variation
        if variation is not None and variation.shown_by is not None:
            text += f", from {text_of(variation.shown_by)}"
    if comparison.of_all is not None:
        look = "the planned look" if comparison.look is None else text_of(comparison.look)
        return f"{text}; {look}, which decided: later workers are not part of it"
    return text if comparison.look is None else f"{text}; {text_of(comparison.look)}"


def _adjustments(measurement: Measurement, comparison: Comparison) -> str:
    text = ""
    if comparison.interval.level_ratio > LEVEL:
        level = f"{100 * comparison.interval.level_ratio:.4g} %"
        reasons = ["several candidates"] if len(measurement.comparisons) > 1 else []
        reasons += ["several looks"] if comparison.look is not None else []
        text += f"; computed at {level} because there are {' and '.join(reasons)}"
    if comparison.variation_to_explain_ratio is not None:
        needed = percent(comparison.variation_to_explain_ratio)
        text += f"; workers would have to vary by {needed} for this difference to be chance"
    return text


def _bottleneck_text(side: SideBottleneck) -> str:
    """Write what a side's copies waited for, and where their bytes went."""
    text = f"{side.bottleneck.value} ({text_of(side.reason)})"
    if side.copied_bytes is None or side.written_bytes is None:
        return text
    text += f"; of {size(side.copied_bytes)} copied, {size(side.written_bytes)} reached the disks"
    if side.left_dirty_bytes is not None:
        text += f"; after the last copy {size(side.left_dirty_bytes)} were still to be written"
    if side.drain_ns is not None:
        text += f"; the final sync took {times([side.drain_ns])[0]}"
    return text
