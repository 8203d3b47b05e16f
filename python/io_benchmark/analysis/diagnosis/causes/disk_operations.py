# SPDX-License-Identifier: MPL-2.0
"""How many small reads and writes per second the disks do (workload random-io)."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case, OtherMeasurement
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, Sides
from io_benchmark.analysis.diagnosis.evidence import (
    NOT_MEASURED,
    SLOWER_AT_RATIO,
    figures,
    span,
    tally,
)
from io_benchmark.analysis.diagnosis.measured_gains import Gain, Push, as_other_pool
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.model import Cause
from io_benchmark.analysis.observed.published_caps import Caps
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Unit, statement

ORDER = 100
_RANDOM_IO = "random-io"
# One operation at a time waits for the disk's latency; only many at once reach what caps allow.
_AT_ONCE = "-depth-32"

_Cap = Callable[[View], float | None]


def _random_io(case: Case) -> CauseJudgement:
    measurements = case.measured(_RANDOM_IO)
    if not measurements:
        return NOT_MEASURED.not_observable(
            "These copies are sequential and do not show how many small reads and writes per second "
            "the disks do.",
            workload=_RANDOM_IO,
        )
    itself = case.sibling() if case.subject.workload == _RANDOM_IO else None
    many = [each for each in measurements if each.subject.variant.endswith(_AT_ONCE)]
    chosen = itself or case.slowest(many or measurements)
    evidence = _evidence(case, measurements, chosen)
    if chosen is None or not case.differs:
        return evidence.nothing_to_explain()
    ratio = case.times_as_long(chosen)
    if ratio < SLOWER_AT_RATIO:
        return evidence.ruled_out("The slower side's disks do as many operations per second.")
    template = "The slower side's disks do {ratio} fewer operations per second ({variant})."
    fewer, variant = Quantity(ratio, Unit.RATIO), chosen.subject.variant
    if not chosen.is_decided:
        return evidence.not_observable(template, ratio=fewer, variant=variant).may_be_chance()
    judgement = evidence.supported(template, ratio=fewer, variant=variant)
    if case.subject.workload != _RANDOM_IO:
        # The copies are sequential: whatever slows them may slow these as well.
        return replace(judgement, is_leftover=True)
    return replace(judgement, predicted_ratio=_predicted(case, itself) if itself else None)


def _cap_of(measurement: OtherMeasurement) -> _Cap | None:
    """Return the published limit of this variant, for all disks of the place together."""
    if not measurement.subject.variant.endswith(_AT_ONCE):
        return None
    return _read_cap if measurement.subject.variant.startswith("read") else _write_cap


def _read_cap(view: View) -> float | None:
    caps = _published_caps(view)
    return None if caps is None else caps.read_iops


def _write_cap(view: View) -> float | None:
    caps = _published_caps(view)
    return None if caps is None else caps.write_iops


def _published_caps(view: View) -> Caps | None:
    return None if view.stack is None else view.published_caps(view.stack.width)


def _predicted(case: Case, measurement: OtherMeasurement) -> float | None:
    cap = _cap_of(measurement)
    if cap is None:
        return None
    baseline, candidate = case.baseline.mean(cap), case.candidate.mean(cap)
    return baseline / candidate if baseline and candidate and baseline != candidate else None


def _evidence(
    case: Case, measurements: Sequence[OtherMeasurement], chosen: OtherMeasurement | None
) -> Sides:
    """Return the figures, the chosen one first, and its published cap."""
    sides = figures(measurements, chosen)
    cap = _cap_of(chosen) if chosen is not None else None
    if cap is None:
        return sides

    def with_cap(evidence: Evidence, side: SideViews) -> Evidence:
        observe = (
            span("published-cap", cap, Unit.IOPS, "published cap {value}")
            if any(side.values(cap))
            else tally("published-cap", lambda _: statement("no published cap"))
        )
        return replace(evidence, observations=(*evidence.observations, observe(side)))

    def read() -> tuple[Evidence, Evidence]:
        baseline, candidate = sides.read()
        return with_cap(baseline, case.baseline), with_cap(candidate, case.candidate)

    return Sides(read)


def _as_other_pool(push: Push, cause: Cause) -> Gain | None:
    """Leave the remedy out where device-count is supported, which has its own."""
    return None if "device-count" in push.supported else as_other_pool(push, cause)


RULES = (
    CauseRule(
        "random-io",
        "The slower side's disks do fewer operations per second.",
        _random_io,
        frozenset(("cache-retrieve", _RANDOM_IO)),
        {"use the faster side's kind and number of disks": _as_other_pool},
        acts_through=in_copies(Kind.BLOCKED),
    ),
)
