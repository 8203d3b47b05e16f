# SPDX-License-Identifier: MPL-2.0
"""The picture of a comparison: a row per pool, each worker a dot, on one axis of ratios.

Each pool has the measurement that its sentence is about. A worker's ratio is its mean time over the
mean of the baseline: the one that the comparison has, else the geometric mean of its workers.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from msgspec.structs import replace

from io_benchmark.analysis.model.groups import by_machine, grouped
from io_benchmark.analysis.model.report import SampledReport, SampleSeries
from io_benchmark.analysis.model.run import UNKNOWN, WorkerLine
from io_benchmark.number_text import number_of, percent, ratio
from io_benchmark.report import blocks
from io_benchmark.report.content import mean_texts
from io_benchmark.report.drawn import Dot, StripRow
from io_benchmark.report.links import task_link
from io_benchmark.report.sections.measured import SideResult, by_pool, leader

# So many workers of a pool have a title and a link, and so many of all pools together: each takes
# about 250 bytes of the page.
_TITLED, _TITLED_IN_ALL, _FEWEST_TITLED = 60, 240, 4
_MEANING = (
    ": each dot is a worker, the mark below is the mean of the pool, with its interval. Equivalent "
    "is what has all of its thicker line in the shaded margin of ±{margin}."
)
_UNTITLED = " Of a pool with more workers, only the {most} furthest from its mean have titles."
_HOLLOW = " Hollow dots are not compared."


def pool_picture(report: SampledReport, sides: Sequence[SideResult]) -> Iterator[blocks.Block]:
    """Draw all pools, the slowest first, each below its baseline."""
    # A single pool is compared with nothing.
    drawn = _with_baselines([*map(leader, by_pool(sides))]) or [*sides[:1]]
    pictured = _Pictured(report, len(drawn))
    rows = [pictured.row(side) for side in drawn]
    if not any(row.workers for row in rows):
        return
    title = "Time of each worker divided by the baseline's"
    if len({side.subject for side in drawn}) > 1:
        title += ", in the measurement that each pool's sentence is about"
        rows = [
            replace(row, detail=str(side.subject)) for row, side in zip(rows, drawn, strict=True)
        ]
    elif len(report.subjects) > 1:
        title += f": {drawn[0].subject}"
    meaning = _MEANING.format(margin=percent(report.margin_ratio))
    if any(row.points for row in rows):
        meaning += _UNTITLED.format(most=pictured.titled)
    if any(row.workers and not row.is_compared for row in rows):
        meaning += _HOLLOW
    caption = (blocks.Words(title, blocks.STRONG), meaning)
    yield from blocks.Picture.strip(caption, rows, report.margin_ratio)


def row_of(report: SampledReport, side: SideResult, rows: int) -> StripRow:
    """Return the row of one of so many sides."""
    return _Pictured(report, rows).row(side)


def _with_baselines(leaders: Sequence[SideResult]) -> list[SideResult]:
    """Return the sides from the slowest to the fastest, each baseline above those it is for."""

    def slowest_first(side: SideResult) -> tuple[bool, float]:
        return side.comparison is None, -side.comparison.ratio if side.comparison else 0.0

    ordered = []
    by_baseline = grouped(sorted(leaders, key=slowest_first), lambda side: side.baseline)
    for baseline, same in by_baseline.items():
        part = next((side for side in same if side.differs), same[0]).part
        if baseline in part.figures:
            ordered.append(SideResult(baseline, part, baseline, blocks.BASELINE))
        ordered += same
    return ordered


class _Pictured:
    """The workers of a report, by what they measured."""

    def __init__(self, report: SampledReport, rows: int) -> None:
        self.titled = min(_TITLED, max(_TITLED_IN_ALL // max(rows, 1), _FEWEST_TITLED))
        self._is_only_noise = report.is_only_noise
        self._series = grouped(report.series, lambda series: (series.subject, series.side))
        self._lines = {(line.side, line.task_id, line.run_id): line for line in report.workers}

    def row(self, side: SideResult) -> StripRow:
        comparison, is_baseline = side.comparison, side.verdict == blocks.BASELINE
        workers = self._workers(side, side.name)
        baseline_ns = _mean_ns(self._workers(side, side.baseline))
        if comparison is not None and comparison.means_ns is not None:
            baseline_ns = comparison.means_ns[1]
        chip = side.verdict
        if side.refused_by:
            chip = f"{side.verdict}: {', '.join(side.refused_by)}"
        row = StripRow(
            name=side.name,
            verdict=side.verdict,
            chip=chip,
            ratio=1.0 if is_baseline else None,
            is_compared=is_baseline or comparison is not None,
        )
        if comparison is not None:
            row = replace(row, ratio=comparison.ratio)
            # The interval of noise would look like one of a difference between pools.
            if side.verdict != blocks.NOISE:
                row = replace(row, interval=comparison.interval, interval_90=comparison.interval_90)
        if not baseline_ns:
            return row
        mean_ns = _mean_ns(workers)
        means = [(_mean_ns([runs]), runs) for runs in workers]
        means.sort(key=lambda pair: (-abs(math.log(pair[0] / mean_ns)), pair[1][0].worker))
        dots = [
            self._dot(worker_ns / baseline_ns, runs) for worker_ns, runs in means[: self.titled]
        ]
        points = [worker_ns / baseline_ns for worker_ns, _ in means[self.titled :]]
        return replace(row, dots=dots, points=points)

    def _workers(self, side: SideResult, name: str) -> list[list[SampleSeries]]:
        """Return the runs of each machine; where rules left some out, only those of the others."""
        series = self._series.get((side.subject, name), [])
        used = [run for run in series if run.is_used]
        return by_machine(used or series, self._machine)

    def _line(self, run: SampleSeries) -> WorkerLine | None:
        return self._lines.get((run.side, run.task_id, run.run_id))

    def _machine(self, run: SampleSeries) -> str:
        line = self._line(run)
        return UNKNOWN if line is None else line.machine

    def _dot(self, value: float, runs: Sequence[SampleSeries]) -> Dot:
        run, line = runs[0], self._line(runs[0])
        (mean,) = mean_texts(run.subject, [_mean_ns([runs])])
        facts = [run.worker]
        if line is not None:
            facts += filter(None, (line.instance_type, line.zone))
        facts += filter(None, (run.started[:10], f"{mean} ({ratio(value)})"))
        if len(runs) > 1:
            facts.append(f"mean of {number_of(len(runs), 'run')}")
        return Dot(value, ", ".join(facts), task_link(line) if line is not None else "")


def _mean_ns(workers: Sequence[Sequence[SampleSeries]]) -> float:
    """Return the geometric mean of the workers' means, in which runs of a worker count alike."""
    logs = [fmean(math.log(run.mean_ns) for run in runs) for runs in workers]
    return math.exp(fmean(logs)) if logs else 0.0
