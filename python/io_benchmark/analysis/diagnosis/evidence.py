# SPDX-License-Identifier: MPL-2.0
"""Evidence as data: what each side's workers showed, and on how many of them; figures of other measurements.

Workers are counted, not runs: a worker has what any of its runs showed. Evidence is made when it is read:
nobody reads it where a single worker is judged.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis_model import Evidence, Observation, Seen
from io_benchmark.analysis.model import UNKNOWN, Figures
from io_benchmark.analysis.observed.runs import Run
from io_benchmark.analysis.observed.sides import Side
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

# Operations are judged by their reads where the disks read at least this many times what they write.
_MOSTLY = 2
# Copies do not wait for reads of fewer bytes than this part of the writes, whatever their rate is.
_FEWEST_READS_SHARE = 0.2
# Nearer than this another measurement is as fast, whatever its interval says.
SLOWER_AT_RATIO = 1.1

Observe = Callable[[Side], Observation]
BothEvidence = tuple[Evidence, Evidence]  # the baseline's and the candidate's
ReadEvidence = Callable[[], BothEvidence]


def tally(
    name: str,
    read: Callable[[Run], Any],
    template: str = "{value}",
    *,
    to_statement: Callable[[Any], Statement | None] = lambda value: value,
) -> Observe:
    """Observe how many workers have which value; `template` is how an unknown one is written.

    `to_statement` makes a statement of what `read` returns.
    """
    unknown = statement(template, value=UNKNOWN)

    def observe(side: Side) -> Observation:
        workers = [list(map(to_statement, values)) for values in side.readings(read)]
        if not workers:
            return Observation.of_side(name, statement("no worker"))
        runs, *further = workers
        counts_runs = not further and len(set(runs)) > 1
        groups = [[value] for value in runs] if counts_runs else workers
        # Leave out that one of a worker's runs does not have the value, where another has it.
        recorded = (set(values) - {None} or {None} for values in groups)
        counts = Counter(chain.from_iterable(recorded))
        ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
        seen = tuple(Seen(value or unknown, number) for value, number in ordered)
        return Observation(name, seen, len(groups), counts_runs)

    return observe


def span(
    name: str,
    read: Callable[[Run], float | None],
    unit: Unit,
    template: str = "{value}",
    missing: str | None = None,
) -> Observe:
    """Observe the range of a number, and how many workers have it; `missing` is said where none has."""

    def observe(side: Side) -> Observation:
        values = [[value for value in runs if value is not None] for runs in side.readings(read)]
        numbers = [value for runs in values for value in runs]
        total = len(values)
        if not numbers:
            unknown = statement(missing or template, value=UNKNOWN)
            return Observation(name, (Seen(unknown, total),), total)
        low, high = min(numbers), max(numbers)
        value: Value = Quantity(low, unit) if low == high else Range(low, high, unit)
        seen = Seen(statement(template, value=value), sum(map(bool, values)))
        return Observation(name, (seen,), total)

    return observe


# The rate at which all disks of the place wrote.
WRITE_RATE = span(
    "write-rate", attrgetter("written_bytes_per_s"), Unit.BYTES_PER_SECOND, "write rate {value}"
)
# The bytes that reached the disks per byte copied.
written_share: Callable[[Run], float | None] = attrgetter("written_share")
WRITTEN_SHARE = span(
    "written-share",
    written_share,
    Unit.SHARE,
    "{value} of the bytes copied were written to the disks",
)


def figures(
    measurements: Sequence[OtherMeasurement], first: OtherMeasurement | None = None
) -> ReadEvidence:
    """Return both sides' figures as evidence; `first` leads it."""
    if not measurements:
        return not_measured
    ordered = sorted(measurements, key=lambda match: match is not first)
    named = len({match.subject.place for match in ordered}) > 1
    return lambda: (
        Evidence.led_by(*(_figure(match, match.baseline, named=named) for match in ordered)),
        Evidence.led_by(*(_figure(match, match.candidate, named=named) for match in ordered)),
    )


def _figure(measurement: OtherMeasurement, figures: Figures, *, named: bool) -> Observation:
    subject = measurement.subject
    template = "{variant}" + (" {threads} at once" if subject.threads > 1 else "")
    template += " in {place} {figure}" if named else " {figure}"
    figure = statement(
        template,
        variant=subject.variant,
        threads=count(subject.threads),
        place=subject.place,
        figure=_quantity(subject.workload, figures.mean_ns),
    )
    return Observation.of_side(f"{subject.workload}-mean", figure)


def _quantity(workload: str, mean_ns: float) -> Quantity:
    descriptor = workloads.of(workload)
    if not descriptor.higher_is_better:
        return Quantity(mean_ns, Unit.NANOSECONDS)
    unit = Unit.IOPS if descriptor.unit == "IOPS" else Unit.OPERATIONS_PER_SECOND
    return Quantity(descriptor.shown(mean_ns), unit)


def not_measured() -> tuple[Evidence, Evidence]:
    evidence = Evidence((Observation.of_side("measured", statement("not measured")),))
    return evidence, evidence


def detail_evidence(
    measurement: OtherMeasurement,
    name: str,
    unit: Unit,
    template: str,
    *,
    note: str = "",
    **values: Value,
) -> ReadEvidence:
    """Return both sides' figure as evidence; the summary is the template alone, without the note."""

    def evidence(figures: Figures) -> Evidence:
        value = figures.detail(name)
        is_known = value is not None and math.isfinite(value)
        figure: Value = Quantity(value, unit) if value is not None and is_known else UNKNOWN
        seen = Observation.of_side(name, statement(template + note, figure=figure, **values))
        return Evidence((seen,), statement(template, figure=figure, **values))

    return lambda: (evidence(measurement.baseline), evidence(measurement.candidate))


def _moved(way: int, run: Run) -> float | None:
    return None if run.moved_bytes is None else float(run.moved_bytes[way])


def moving_share(way: int, run: Run) -> float | None:
    """Return the part of the run in which the disks read (0) or wrote (1), at the rate they kept up."""
    rates, peaks = run.moved_bytes_per_s, run.peak_bytes_per_s
    return (
        None if rates is None or peaks is None else rates[way] / peaks[way] if peaks[way] else 0.0
    )


_READ, _WRITTEN = (partial(_moved, way) for way in (0, 1))
_READING_SHARE, _WRITING_SHARE = (partial(moving_share, way) for way in (0, 1))


def mostly_reads(case: Case) -> bool:
    """Return whether the slower side's copies wait for reads, or the disks of both sides hardly write."""
    moved = [(side.mean(_READ), side.mean(_WRITTEN)) for side in (case.slower, case.faster)]
    if case.subject.workload == "cache-retrieve":
        (read, written), *_ = moved
        reading, writing = case.slower.mean(_READING_SHARE), case.slower.mean(_WRITING_SHARE)
        if not read or reading is None or writing is None:
            return False
        return reading > writing and read >= _FEWEST_READS_SHARE * (written or 0.0)
    return all(read and read > _MOSTLY * (written or 0.0) for read, written in moved)
