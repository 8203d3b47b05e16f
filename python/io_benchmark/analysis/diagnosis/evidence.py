# SPDX-License-Identifier: MPL-2.0
"""Evidence as data: what each side's workers showed, and on how many of them; figures of other measurements.

Workers are counted, not runs: a worker has what any of its runs showed.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from io_benchmark.analysis.diagnosis.case import OtherMeasurement
from io_benchmark.analysis.diagnosis.cause_rule import Observe, Sides
from io_benchmark.analysis.evidence_model import Evidence, Observation, Seen
from io_benchmark.analysis.model import UNKNOWN, Figures
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    Value,
    count,
    statement,
)
from io_benchmark.results import workloads

# Nearer than this another measurement is as fast, whatever its interval says.
SLOWER_AT_RATIO = 1.1


def tally(
    name: str,
    read: Callable[[View], Any],
    template: str = "{value}",
    *,
    text: Callable[[Any], Statement | None] = lambda value: value,
) -> Observe:
    """Observe how many workers have which value; `template` is how an unknown one is written.

    `text` makes a statement of what `read` returns.
    """
    unknown = statement(template, value=UNKNOWN)

    def observe(side: SideViews) -> Observation:
        workers = [list(map(text, of_runs)) for of_runs in side.readings(read)]
        if not workers:
            return Observation.of_side(name, statement("no worker"))
        if len(workers) == 1:
            (of_runs,) = workers
            counts = Counter(of_runs)
            total = len(of_runs)
        else:
            counts = Counter(each for of_runs in workers for each in _known(set(of_runs)))
            total = len(workers)
        if len(workers) == len(counts) == 1:
            counts, total = Counter(dict.fromkeys(counts, 1)), 1
        ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
        return Observation(
            name,
            tuple(Seen(value or unknown, workers_seen) for value, workers_seen in ordered),
            total,
            counts_runs=len(workers) == 1 and total > 1,
        )

    return observe


def _known(values: set[Statement | None]) -> set[Statement | None]:
    """Leave out that one of a worker's runs does not have the value, where another has it."""
    return values - {None} or values


def span(
    name: str, read: Callable[[View], float | None], unit: Unit, template: str = "{value}"
) -> Observe:
    """Observe the range of a number, and how many workers have it."""

    def observe(side: SideViews) -> Observation:
        values = [
            [value for value in of_runs if value is not None] for of_runs in side.readings(read)
        ]
        known = [value for runs in values for value in runs]
        if not known:
            return Observation(
                name, (Seen(statement(template, value=UNKNOWN), len(values)),), len(values)
            )
        low, high = min(known), max(known)
        value: Value = Quantity(low, unit) if low == high else Range(low, high, unit)
        seen = Seen(statement(template, value=value), sum(map(bool, values)))
        return Observation(name, (seen,), len(values))

    return observe


# The rate at which all disks of the place wrote.
WRITE_RATE = span(
    "write-rate",
    lambda view: view.written_bytes_per_s,
    Unit.BYTES_PER_SECOND,
    "write rate {value}",
)


def written_share(view: View) -> float | None:
    """Return the bytes that reached the disks per byte copied."""
    return view.written_share


WRITTEN_SHARE = span(
    "written-share",
    written_share,
    Unit.SHARE,
    "{value} of the bytes copied were written to the disks",
)


def figures(
    measurements: Sequence[OtherMeasurement], first: OtherMeasurement | None = None
) -> Sides:
    """Return both sides' figures as evidence; `first` leads it."""
    if not measurements:
        return NOT_MEASURED
    ordered = [
        *([] if first is None else [first]),
        *(each for each in measurements if each is not first),
    ]
    in_several = len({each.subject.place for each in ordered}) > 1
    return Sides(
        lambda: (
            Evidence.led_by(*(_figure(each, each.baseline, named=in_several) for each in ordered)),
            Evidence.led_by(*(_figure(each, each.candidate, named=in_several) for each in ordered)),
        )
    )


def _figure(measurement: OtherMeasurement, figures: Figures, *, named: bool) -> Observation:
    subject = measurement.subject
    template = "{variant}"
    values: dict[str, Value] = {"variant": subject.variant}
    if subject.threads > 1:
        template += " {threads} at once"
        values["threads"] = count(subject.threads)
    if named:
        template += " in {place}"
        values["place"] = subject.place
    values["figure"] = _quantity(subject.workload, figures.mean_ns)
    return Observation.of_side(
        f"{subject.workload}-mean", statement(template + " {figure}", **values)
    )


def _quantity(workload: str, mean_ns: float) -> Quantity:
    descriptor = workloads.of(workload)
    if not descriptor.higher_is_better:
        return Quantity(mean_ns, Unit.NANOSECONDS)
    unit = Unit.IOPS if descriptor.unit == "IOPS" else Unit.OPERATIONS_PER_SECOND
    return Quantity(descriptor.shown(mean_ns), unit)


_NOT_MEASURED = Evidence((Observation.of_side("measured", statement("not measured")),))
NOT_MEASURED = Sides(lambda: (_NOT_MEASURED, _NOT_MEASURED))


def detail_evidence(
    measurement: OtherMeasurement,
    name: str,
    unit: Unit,
    template: str,
    *,
    note: str = "",
    **values: Value,
) -> Sides:
    """Return both sides' figure as evidence; the summary is the template alone, without the note."""

    def evidence(figures: Figures) -> Evidence:
        value = figures.detail(name)
        known = value is not None and math.isfinite(value)
        figure: Value = Quantity(value, unit) if value is not None and known else UNKNOWN
        seen = Observation.of_side(name, statement(template + note, figure=figure, **values))
        return Evidence((seen,), statement(template, figure=figure, **values))

    return Sides(lambda: (evidence(measurement.baseline), evidence(measurement.candidate)))
