# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Other measurements of the same pair of sides: their figures as evidence, and how they compare."""

import math
from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import OtherMeasurement
from io_benchmark.analysis.diagnosis.cause_rule import Sides
from io_benchmark.analysis.model import UNKNOWN, Evidence, Figures, Observation
from io_benchmark.analysis.statements import Quantity, Unit, Value, count, statement
from io_benchmark.results import workloads

# Nearer than this another measurement is as fast, whatever its interval says.
SLOWER_AT_RATIO = 1.1


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
        Evidence.led_by(*(_figure(each, each.baseline, named=in_several) for each in ordered)),
        Evidence.led_by(*(_figure(each, each.candidate, named=in_several) for each in ordered)),
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


NOT_MEASURED = Sides(
    *(Evidence((Observation.of_side("measured", statement("not measured")),)),) * 2
)


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

    return Sides(evidence(measurement.baseline), evidence(measurement.candidate))
