# SPDX-License-Identifier: MPL-2.0
"""The pictures of measurements, which only the page draws."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.inference.levels import EQUIVALENCE_LEVEL
from io_benchmark.analysis.report_model import SampledReport
from io_benchmark.number_text import percent
from io_benchmark.report.blocks import STRONG, Block, Fold, Picture, Words
from io_benchmark.report.plots.choose import SIDES_DRAWN
from io_benchmark.report.sections.measured import Measurement
from io_benchmark.results import workloads
from io_benchmark.text import name

# Dozens of measurements must not make the page large.
_POINTS_PER_MEASUREMENT, _POINTS_OF_RETRIEVES, _MEASUREMENTS_DRAWN = 800, 6000, 60
_NAME_CELLS = 22
_MARGIN = (
    f", with its interval (the thicker part: {percent(EQUIVALENCE_LEVEL)}): above 1 is slower. "
    "Shaded: the margin that counts as equivalent."
)


def pictures(members: Sequence[Measurement], report: SampledReport) -> Iterator[Block]:
    """Draw the ratios of measurements that share a section, then the samples of each."""
    is_single = members[0].subject.workload not in workloads.IN_BATCHES
    names, comparisons = [], []
    for measurement in members:
        label = "" if is_single else f"{measurement.subject.label}: "
        for comparison in measurement.comparisons:
            names.append(label + name(comparison.candidate, _NAME_CELLS))
            comparisons.append(comparison)
    if comparisons:
        arguments = (comparisons, names, report.margin_ratio, f"forest-{members[0].position}")
        yield Picture(
            (Words("Ratio of times to the baseline's", STRONG), _MARGIN), "forest", arguments
        )
    for measurement in members:
        drawn = any(series.subject == measurement.subject for series in report.series)
        if drawn and is_single:
            yield from _samples(measurement, report)
        elif drawn and measurement.position < _MEASUREMENTS_DRAWN:
            summary = f"Samples of {measurement.subject.label}"
            yield Fold(summary, tuple(_samples(measurement, report)), on_page_only=True)
    if members[0].position == 0 and any(line.time_s for line in report.timelines):
        sides = dict.fromkeys(side for part in report.subjects for side in part.figures)
        caption = (Words("Rates during the runs", STRONG), ", of one typical worker per side.")
        yield Picture(caption, "timeline", (report.timelines, list(sides), "timeline"))


def _samples(measurement: Measurement, report: SampledReport) -> Iterator[Block]:
    """Draw how the samples of one measurement are distributed, and each one when it happened."""
    part, number = measurement.part, measurement.position
    is_retrieves = part.subject.workload == "cache-retrieve"
    title = "How long retrieves took" if is_retrieves else "How the samples are distributed"
    text = (
        ": the share up to a given value. Each line is a worker, each vertical line the mean of a "
        "side."
    )
    samples = (part, report.series)
    if len(part.figures) > SIDES_DRAWN:
        text += f" Only the first {SIDES_DRAWN} of {len(part.figures):,} sides are drawn."
    yield Picture(
        (Words(title, STRONG), text), "distribution", (*samples, f"distribution-{number}")
    )
    title = "Each retrieve during the run" if is_retrieves else "Each sample during the run"
    text = ", by the size of its file." if is_retrieves else "."
    points = _POINTS_OF_RETRIEVES if is_retrieves else _POINTS_PER_MEASUREMENT
    yield Picture((Words(title, STRONG), text), "scatter", (*samples, f"scatter-{number}", points))
