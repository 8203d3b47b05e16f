# SPDX-License-Identifier: MPL-2.0
"""What a rule finds: both sides' evidence, and the effect of a fact.

`deciding` makes a state of an effect.

Workers are counted, not runs: a worker has what any of its runs showed. Evidence is made when it is
read: nobody reads it where a single worker is judged.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.model.cause import Evidence, Observation, Seen
from io_benchmark.analysis.model.figures import Figures
from io_benchmark.analysis.model.measurement import OtherMeasurement
from io_benchmark.analysis.model.run import UNKNOWN, Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    Value,
    count,
    statement,
)
from io_benchmark.analysis.reading.disk_rates import written_bytes_per_s, written_share
from io_benchmark.results import workloads

_EXPLAINS_SHARE = 0.2  # chosen: a cause explains this much; nobody notices a remedy for less
SLOWER_AT_RATIO = 1.1  # chosen: nearer than this is as fast, whatever the interval says

Observe = Callable[[Side], Observation]


class Fact(Enum):
    """How the facts of both sides compare."""

    UNSEEN = auto()  # a side did not record it
    SAME = auto()
    UNCLEAR = auto()  # they differ, and nothing shows whether that costs time
    OPPOSITE = auto()  # the faster side has the slower one, or it costs the slower side nothing
    SHARED = auto()  # it costs both sides time alike: its remedies help, but it explains nothing
    SLOWER = auto()  # the slower side has the slower one


class Proof(Enum):
    """What makes a slower fact a cause."""

    COST = auto()
    SETTING = auto()  # it is slower, nobody knows by how much: without a size it may cost nothing
    LEFTOVER = auto()  # nothing else differs: what is seen may be the effect of any other cause


class Size(NamedTuple):
    """How many times as long the slower side takes because of a cause."""

    times: float
    is_measured: bool = False  # a part of the measured difference, not a prediction

    @classmethod
    def measured(cls, case: Case, times: float) -> "Size":
        """Return the size of a cause that was measured; it is at most the whole difference."""
        return cls(min(times, case.times), is_measured=True)


class Effect(Struct, frozen=True):
    """What a rule found about a cause: how the facts compare, what they cost, and the reasons."""

    fact: Fact
    evidence: "SideEvidence"
    reasons: tuple[Statement, ...]
    size: Size | None = None  # None: nothing shows how much it costs
    proof: Proof | None = None  # None: as the cause declares
    workload: str | None = None  # that would show what is not observable

    @property
    def is_slower(self) -> bool:
        return self.fact is Fact.SLOWER

    def also(self, template: str, **values: Value | Statement) -> "Effect":
        return replace(self, reasons=(*self.reasons, statement(template, **values)))

    def if_enough(
        self, case: Case, share: float | None, too_little: str, unknown: str = ""
    ) -> "Effect":
        """Return what a measured share of the difference leaves of a slower fact.

        `too_little` is the reason against it, with a slot for the share; `unknown` is why none is
        known.
        """
        if share is None:
            return self.unclear(unknown) if unknown else self
        if not is_enough(share):
            return self.evidence.opposes(too_little, share=as_share(share))
        explained = min(share, 1.0) * (1 - 1 / case.times)
        return replace(self, size=Size(case.times_without(explained), is_measured=True))

    def unclear(self, template: str) -> "Effect":
        """Return, for this further reason, that it is not clear whether the fact costs time."""
        return replace(self, fact=Fact.UNCLEAR).also(template)

    def may_be_chance(self) -> "Effect":
        return self.unclear("This may be chance; more workers would show it.")


class SideEvidence(Struct, frozen=True):
    """Both sides' evidence, the baseline's first, and the effects that it can lead to."""

    read: Callable[[], tuple[Evidence, Evidence]]

    @classmethod
    def of(cls, case: Case, *observe: Observe, has_summary: bool = True) -> "SideEvidence":
        """Return what both sides' workers showed; the first observation is the summary, if any."""

        def evidence(side: Side) -> Evidence:
            observations = tuple(observation(side) for observation in observe)
            return Evidence.led_by(*observations) if has_summary else Evidence(observations)

        return cls(lambda: (evidence(case.baseline), evidence(case.candidate)))

    @classmethod
    def from_means(
        cls, measurements: Sequence[OtherMeasurement], first: OtherMeasurement | None = None
    ) -> "SideEvidence":
        """Return both sides' mean times; those of `first` lead them."""
        others = [measurement for measurement in measurements if measurement is not first]
        ordered = others if first is None else [first, *others]
        named = len({measurement.subject.place for measurement in ordered}) > 1

        def read() -> tuple[Evidence, Evidence]:
            baseline = [_figure(match, match.baseline, named=named) for match in ordered]
            candidate = [_figure(match, match.candidate, named=named) for match in ordered]
            return Evidence.led_by(*baseline), Evidence.led_by(*candidate)

        return cls(read)

    @classmethod
    def from_detail(
        cls,
        measurement: OtherMeasurement,
        name: str,
        unit: Unit,
        template: str,
        *,
        note: str = "",
        **values: Value,
    ) -> "SideEvidence":
        """Return both sides' figure of this name; the summary leaves the note out."""

        def evidence(figures: Figures) -> Evidence:
            value = figures.detail(name)
            figure: Value = UNKNOWN if value is None else Quantity(value, unit)
            seen = Observation.of_side(name, statement(template + note, figure=figure, **values))
            return Evidence((seen,), statement(template, figure=figure, **values))

        return cls(lambda: (evidence(measurement.baseline), evidence(measurement.candidate)))

    def needs(self, what: str, workload: str) -> Effect:
        """Return the effect of a cause for which this workload was not measured as it needs."""
        return self.unseen(f"This needs {what} on both sides.", workload=workload)

    def by_share(self, share: float, template: str) -> Effect:
        """Support a cause whose cost is a large enough share, which the sentence has a slot for."""
        if is_enough(share):
            return self.supports(template, share=as_share(share))
        return self.opposes(template, share=as_share(share))

    def supports(
        self,
        template: str,
        size: Size | None = None,
        proof: Proof | None = None,
        **values: Value | Statement,
    ) -> Effect:
        reasons = (statement(template, **values),)
        return Effect(Fact.SLOWER, self, reasons, size=size, proof=proof)

    def same(self, template: str, **values: Value) -> Effect:
        return Effect(Fact.SAME, self, (statement(template, **values),))

    def opposes(self, template: str, **values: Value | Statement) -> Effect:
        return Effect(Fact.OPPOSITE, self, (statement(template, **values),))

    def unseen(
        self, template: str, *, workload: str | None = None, **values: Value | Statement
    ) -> Effect:
        return Effect(Fact.UNSEEN, self, (statement(template, **values),), workload=workload)

    def unclear(self, template: str, *, workload: str | None = None, **values: Value) -> Effect:
        return replace(self.unseen(template, workload=workload, **values), fact=Fact.UNCLEAR)

    def compared(self, slower: float, faster: float, supports: str) -> Effect:
        """Return the effect of figures that differ; the higher one is the slower fact."""
        if slower < faster:
            return self.opposes("The faster side has the slower setting.")
        return self.supports(supports)


def is_enough(share: float) -> bool:
    """Return whether a part of the difference is large enough to be a cause."""
    return share >= _EXPLAINS_SHARE


def as_share(share: float) -> Quantity:
    """Return a part of the difference as a quantity; a negative one is nothing."""
    return Quantity(max(share, 0.0), Unit.SHARE)


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
        groups = [[to_statement(value) for value in runs] for runs in side.readings(read)]
        counts_runs = len(groups) == 1 and len(set(groups[0])) > 1
        if counts_runs:
            groups = [[value] for value in groups[0]]
        counts: Counter[Statement | None] = Counter()
        for values in groups:
            recorded = {value for value in values if value is not None}
            counts.update(recorded)
            if not recorded:
                counts[None] += 1
        # The most frequent value first; str gives equally frequent ones an order.
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
    """Observe the range of a number, and how many workers have it; `missing`: none has."""

    def observe(side: Side) -> Observation:
        readings = side.readings(read)
        workers = [[value for value in runs if value is not None] for runs in readings]
        with_value = [values for values in workers if values]
        if not with_value:
            unknown = Seen(statement(missing or template, value=UNKNOWN), len(workers))
            return Observation(name, (unknown,), len(workers))
        low, high = min(map(min, with_value)), max(map(max, with_value))
        value: Value = Quantity(low, unit) if low == high else Range(low, high, unit)
        seen = Seen(statement(template, value=value), len(with_value))
        return Observation(name, (seen,), len(workers))

    return observe


WRITE_RATE = span("write-rate", written_bytes_per_s, Unit.BYTES_PER_SECOND, "write rate {value}")
WRITTEN_SHARE = span(
    "written-share",
    written_share,
    Unit.SHARE,
    "{value} of the bytes copied were written to the disks",
)


def _figure(measurement: OtherMeasurement, figures: Figures, *, named: bool) -> Observation:
    subject, quantity = measurement.subject, Quantity(figures.mean_ns, Unit.NANOSECONDS)
    workload = workloads.of(subject.workload)
    if workload.higher_is_better:
        unit = Unit.IOPS if workload.unit == "IOPS" else Unit.OPERATIONS_PER_SECOND
        quantity = Quantity(workload.shown(figures.mean_ns), unit)
    threads = " {threads} at once" if subject.threads > 1 else ""
    place = " in {place}" if named else ""
    figure = statement(
        f"{{variant}}{threads}{place} {{figure}}",
        variant=subject.variant,
        threads=count(subject.threads),
        place=subject.place,
        figure=quantity,
    )
    return Observation.of_side(f"{subject.workload}-mean", figure)


_NOT_MEASURED = Evidence((Observation.of_side("measured", statement("not measured")),))
NOT_MEASURED = SideEvidence(lambda: (_NOT_MEASURED, _NOT_MEASURED))
