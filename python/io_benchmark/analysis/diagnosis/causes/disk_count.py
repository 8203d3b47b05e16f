# SPDX-License-Identifier: MPL-2.0
"""How many disks of a place work at once: few disks, or several that a volume joins in a row."""

from collections.abc import Callable
from operator import attrgetter
from typing import TypeVar

from msgspec.structs import replace

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.evidence import WRITE_RATE, span, tally
from io_benchmark.analysis.diagnosis.measured_gains import more_disks, predicted
from io_benchmark.analysis.diagnosis.rules import (
    Effect,
    RankedFact,
    Ranking,
    SideEvidence,
    Size,
    cause,
)
from io_benchmark.analysis.evidence_model import Evidence
from io_benchmark.analysis.observed.disks import MachineType, Stack
from io_benchmark.analysis.observed.side_views import SideViews
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_copies
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, count, statement
from io_benchmark.results.trials import TrialKind

ORDER = 10
Answer = TypeVar("Answer")
_UNSEEN = "The devices under the place could not be seen."
_WRITE_CAP, _CGROUP_CAP = attrgetter("write_cap"), attrgetter("cgroup_write_cap")
_INSTANCE_TYPE = attrgetter("machine_type.instance_type")
_CAPS = (
    ("published-write-cap", attrgetter("published_write_cap"), "published cap {value}"),
    ("cgroup-write-cap", _CGROUP_CAP, "the cgroup's cap {value}"),
)


_NO_CAP = tally("published-write-cap", lambda _: statement("no published cap"))


def _of_stack(read: Callable[[Stack], Answer]) -> Callable[[View], Answer | None]:
    return lambda view: None if view.stack is None else read(view.stack)


def _spread(stack: Stack) -> Statement:
    disks, width = count(len(stack.disks)), count(stack.width)
    if len(stack.disks) == 1:
        return statement("{disks} disk", disks=disks)
    if stack.linear:
        template = "{disks} disks, linear: the bandwidth of {width}"
        return statement(template, disks=disks, width=width)
    if stack.width == len(stack.disks):
        return statement("{disks} disks, striped", disks=disks)
    return statement("{disks} disks, {width} at once", disks=disks, width=width)


def _listed_models(stack: Stack) -> Statement:
    models = sorted({(disk.model or "", disk.size_bytes or 0) for disk in stack.disks})
    values: dict[str, Value] = {}
    templates = []
    for number, (model, size_bytes) in enumerate(models):
        values |= {f"model_{number}": model, f"size_{number}": Quantity(size_bytes, Unit.BYTES)}
        templates.append(f"{{model_{number}}} {{size_{number}}}" if model else f"{{size_{number}}}")
    return statement(", ".join(templates), **values)


def _ranked_width(stack: Stack) -> RankedFact:
    return RankedFact(statement("{width}", width=count(stack.width)), -stack.width)


_SPREAD, _MODELS, _WIDTH = _of_stack(_spread), _of_stack(_listed_models), _of_stack(_ranked_width)
_DISKS, _DISKS_AT_ONCE = (
    _of_stack(lambda stack: len(stack.disks)),
    _of_stack(lambda stack: stack.width),
)
_IS_LINEAR = _of_stack(lambda stack: stack.linear)
_LINEAR = _of_stack(lambda stack: RankedFact(_spread(stack), stack.linear))


def _machine_type(view: View) -> Statement | None:
    if not view.machine_type.instance_type:
        return None
    return statement("machine type {value}", value=view.machine_type.name)


def _device_evidence(side: SideViews) -> Evidence:
    caps = [
        span(name, cap, Unit.BYTES_PER_SECOND, template)
        for name, cap, template in _CAPS
        if any(side.values(cap))
    ]
    observe = (
        tally("disks", _SPREAD),
        tally("models", _MODELS, "models {value}"),
        tally("machine-type", _machine_type, "machine type {value}"),
        WRITE_RATE,
        *(caps or [_NO_CAP]),
    )
    return Evidence.led_by(*(observation(side) for observation in observe))


_FEWER_DISKS = Ranking(
    name="disks",
    read=_WIDTH,
    supports="The slower side spreads its writes over fewer disks.",
    unseen=_UNSEEN,
    same="As many disks work at once on both sides.",
)


@cause(
    "device-count",
    "The slower side's writes are spread over fewer disks.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={"use a machine type with more local SSDs, striped": more_disks},
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.PACE,
)
def _device_count(case: Case) -> Effect:
    evidence = SideEvidence(
        lambda: (_device_evidence(case.baseline), _device_evidence(case.candidate))
    )
    effect = _FEWER_DISKS.judge(case, evidence)
    if not effect.is_slower:
        return effect
    slower, faster = case.means(_DISKS)
    if slower == faster:
        return evidence.opposes(
            "Both sides have as many disks; a volume joins those of the slower side one after another."
        )
    if case.slower_never_waits:
        return evidence.opposes(
            "The number of disks differs, but the slower side did not wait for its disks."
        )
    effect = replace(effect, size=_predicted_by_caps(case)).also(_prediction_source(case))
    effect = _with_more_disks(case, effect)
    if True in case.values(_above_cap):
        return effect.also("A write rate above its cap is what the page cache absorbed.")
    return effect


def _predicted_by_caps(case: Case) -> Size | None:
    """Return how much longer writing takes by the sides' caps, else by their number of disks."""
    factor = case.times_as_fast(_WRITE_CAP) or case.times_as_fast(_DISKS_AT_ONCE)
    return None if factor is None else Size(case.ratio_by_bandwidth(factor))


def _prediction_source(case: Case) -> str:
    if any(not any(side.values(_WRITE_CAP)) for side in (case.baseline, case.candidate)):
        return "The cap of a side is not known: the prediction is from the number of disks."
    if any(case.values(_CGROUP_CAP)):
        return "The prediction is from the cgroups' write caps."
    if None in case.values(_INSTANCE_TYPE):
        return (
            "The prediction is from the published write caps (machine type unknown: "
            "those of Google's standard local SSDs)."
        )
    return "The prediction is from the published write caps."


def _with_more_disks(case: Case, effect: Effect) -> Effect:
    """Name the next machine type with more disks, where the slower side's type has a fixed number."""
    names = {view.machine_type.name for view in case.slower}
    machine = MachineType(names.pop() if names else None)
    if names or machine.disks is None:
        return effect
    template = "{machine} has {disks} local SSD" + ("s" if machine.disks > 1 else "")
    values: dict[str, Value] = {"machine": machine.name, "disks": count(machine.disks)}
    larger = machine.with_more_disks
    if larger is not None and larger.disks is not None:
        template += ", {larger} has {more}"
        values |= {"larger": larger.name, "more": count(larger.disks)}
    return effect.also(f"{template}.", **values)


def _above_cap(view: View) -> bool:
    rate, cap = view.written_bytes_per_s, view.write_cap
    return rate is not None and cap is not None and rate > cap


def _gain_of_stripe(view: View) -> float | None:
    """Return what the worker's disks would reach as a stripe, over what they reach."""
    if view.stack is None:
        return None
    caps, cap = view.published_caps(len(view.stack.disks)), view.write_cap
    if caps is not None and cap:
        return caps.write_bytes_per_s / cap
    return len(view.stack.disks) / view.stack.width


_LINEAR_VOLUME = Ranking(
    name="disks",
    read=_LINEAR,
    supports="The slower side's volume joins its disks one after another, so a copy has "
    "the bandwidth of one disk.",
    unseen=_UNSEEN,
    same="The volumes of both sides are linear.",
    no_waits="The slower side's volume is linear, but it did not wait for its disks.",
)


@cause(
    "linear-volume",
    "The slower side's volume is linear: several disks with the bandwidth of one.",
    workloads=frozenset(("cache-retrieve", "unpack")),
    remedies={"make the volume striped (lvcreate -i N) instead of linear": predicted},
    acts_through=in_copies(Kind.BLOCKED),
    tried_by=TrialKind.PACE,
)
def _linear_volume(case: Case) -> Effect:
    effect = _LINEAR_VOLUME.judge(case)
    is_known = all(side.values(_IS_LINEAR) - {None} for side in (case.baseline, case.candidate))
    if is_known and True not in case.values(_IS_LINEAR):
        # One disk against two striped ones is another cause.
        return effect.evidence.same("No volume joins several disks one after another.")
    gain = case.slower.mean(_gain_of_stripe)
    if not effect.is_slower or gain is None:
        return effect
    return replace(effect, size=Size(case.ratio_by_bandwidth(gain)))
