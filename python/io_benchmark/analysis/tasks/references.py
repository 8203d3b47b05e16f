# SPDX-License-Identifier: MPL-2.0
"""Compare the tasks' ratio with a benchmark's ratio, and with what follows from it for a task.

A task that does the benchmark's operations spends a share of its time on them, and only that share has the
benchmark's ratio. For example, 9,784 retrieves of 76 ms are 32 % of 39 minutes, so a benchmark's ratio of
1.92× is 1.29× for the task. The rest is assumed to take the same time on both sides.
"""

import math

from io_benchmark.analysis.model import Interval
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import Quantity, Statement, Unit, count, statement
from io_benchmark.analysis.tasks.task_model import Reference, Standing, TaskComparison
from io_benchmark.results.workload import NS_PER_S


def references(
    report: Report, tasks: TaskComparison, operations: int | None
) -> tuple[tuple[Reference, ...], tuple[Statement, ...]]:
    """Return what a benchmark says about two sides, and messages where it says nothing."""
    sides = (tasks.candidate, tasks.baseline)
    compared = (
        (part, comparison)
        for part in report.subjects
        for comparison in part.comparisons
        if (comparison.candidate, comparison.baseline) == sides
    )
    part, measured = next(compared, (None, None))
    if part is None or measured is None:
        message = statement(
            "--benchmark compares nothing between {candidate} and {baseline}: give results of the "
            "worker pools of both",
            candidate=tasks.candidate,
            baseline=tasks.baseline,
        )
        return (), (message,)
    about = str(part.subject)
    standing = _standing(measured.ratio, measured.interval, tasks)
    benchmark = Reference("benchmark", about, measured.ratio, measured.interval, standing)
    if operations is None:
        return (benchmark,), ()
    operation_ns = part.figures[tasks.baseline].mean_ns
    share = operations * operation_ns / (tasks.times[tasks.baseline].task_s * NS_PER_S)
    if share > 1:
        message = statement(
            "--operations {operations}: these take {factor} the time of a task on {baseline}; check "
            "the number",
            operations=count(operations),
            factor=Quantity(share, Unit.RATIO),
            baseline=tasks.baseline,
        )
        return (benchmark,), (message,)
    interval = measured.interval
    ratio, low, high = (
        1 + share * (end - 1) for end in (measured.ratio, interval.low_ratio, interval.high_ratio)
    )
    interval = Interval(low, high, interval.level_ratio)
    task = Reference(
        "operations",
        about,
        ratio,
        interval,
        _standing(ratio, interval, tasks),
        operations,
        share,
        operation_ns,
    )
    return (benchmark, task), ()


def _standing(ratio: float, interval: Interval, tasks: TaskComparison) -> Standing:
    """Compare two ratios: they differ where their difference is larger than both intervals allow.

    The squares of the widths add up, as those of independent estimates do.
    """
    distance = math.log(ratio / tasks.ratio)
    width = math.hypot(
        _width(ratio, interval, distance < 0), _width(tasks.ratio, tasks.interval, distance > 0)
    )
    if abs(distance) <= width:
        return "fits"
    both_differ = interval.excludes(1.0) and tasks.interval.excludes(1.0)
    if both_differ and (ratio > 1) != (tasks.ratio > 1):
        return "contradicts"
    is_larger = abs(math.log(ratio)) > abs(math.log(tasks.ratio))
    return "overstates" if is_larger else "understates"


def _width(ratio: float, interval: Interval, upwards: bool) -> float:
    end = interval.high_ratio if upwards else interval.low_ratio
    return abs(math.log(end / ratio)) if 0 < end < math.inf else math.inf
