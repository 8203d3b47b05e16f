# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The disks under a place: how many work at once, which, and how fast each of them writes."""

from collections.abc import Callable, Sequence

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.evidence import (
    Observe,
    Sides,
    evidence_of,
    of_sides,
    span,
    tally,
)
from io_benchmark.analysis.diagnosis.findings import (
    NOTHING_TO_EXPLAIN,
    CauseRule,
    Finding,
    Suggestion,
    not_observable,
    ruled_out,
    supported,
)
from io_benchmark.analysis.diagnosis.judging import RankedFact, Sentences, by_rank, fact_tally
from io_benchmark.analysis.diagnosis.measured_gains import as_other_pool, more_disks, predicted
from io_benchmark.analysis.model import Evidence, Observation, State
from io_benchmark.analysis.observed import published_caps
from io_benchmark.analysis.observed.device_stack import Medium, Stack, medium_of, stack_of
from io_benchmark.analysis.observed.disk_waits import (
    MIB,
    caps_of,
    cgroup_write_cap,
    do_not_wait,
    published_write_cap,
    waits_for_disks,
    write_cap,
)
from io_benchmark.analysis.observed.worker_view import View, mean_of
from io_benchmark.analysis.statements import Quantity, Statement, Unit, Value, statement

ORDER = 10
# A disk that writes at this part of the other's rate or more is as fast.
_AS_FAST_SHARE = 0.9
_UNSEEN = "The devices under the place could not be seen."


def write_rate() -> Observe:
    """Observe the rate at which all disks of the place wrote."""
    return _rate("write-rate", lambda view: view.written_mib_per_s, "write rate {value}")


def _rate(name: str, mib_per_s: Callable[[View], float | None], template: str) -> Observe:
    def bytes_per_s(view: View) -> float | None:
        rate = mib_per_s(view)
        return None if rate is None else rate * MIB

    return span(name, bytes_per_s, Unit.BYTES_PER_SECOND, template)


# --- device-count ---


def _spread(stack: Stack) -> Statement:
    disks = Quantity(len(stack.disks), Unit.COUNT)
    if len(stack.disks) == 1:
        return statement("{disks} disk", disks=disks)
    if stack.linear:
        return statement(
            "{disks} disks, linear: the bandwidth of {width}",
            disks=disks,
            width=Quantity(stack.width, Unit.COUNT),
        )
    if stack.width == len(stack.disks):
        return statement("{disks} disks, striped", disks=disks)
    return statement(
        "{disks} disks, {width} at once", disks=disks, width=Quantity(stack.width, Unit.COUNT)
    )


def _stack_fact(view: View) -> Statement | None:
    stack = stack_of(view)
    return None if stack is None else _spread(stack)


def _models(view: View) -> Statement | None:
    stack = stack_of(view)
    if stack is None:
        return None
    models = sorted({(disk.model or "", disk.size_bytes or 0) for disk in stack.disks})
    values: dict[str, Value] = {}
    for at, (model, size_bytes) in enumerate(models):
        values[f"model_{at}"] = model
        values[f"size_{at}"] = Quantity(size_bytes, Unit.BYTES)
    return statement(
        ", ".join(
            f"{{model_{at}}} {{size_{at}}}" if model else f"{{size_{at}}}"
            for at, (model, _) in enumerate(models)
        ),
        **values,
    )


def _machine_type(view: View) -> Statement | None:
    if not view.instance_type:
        return None
    return statement("machine type {value}", value=published_caps.machine_name(view.instance_type))


def _caps(views: Sequence[View]) -> list[Observation]:
    observe = []
    if any(map(published_write_cap, views)):
        observe.append(_rate("published-write-cap", published_write_cap, "published cap {value}"))
    if any(map(cgroup_write_cap, views)):
        observe.append(_rate("cgroup-write-cap", cgroup_write_cap, "the cgroup's cap {value}"))
    if not observe:
        observe.append(tally("published-write-cap", lambda _: statement("no published cap")))
    return [each(views) for each in observe]


def _device_evidence(views: Sequence[View]) -> Evidence:
    return evidence_of(
        tally("disks", _stack_fact)(views),
        tally("models", _models, "models {value}")(views),
        tally("machine-type", _machine_type, "machine type {value}")(views),
        write_rate()(views),
        *_caps(views),
    )


def _width(view: View) -> RankedFact | None:
    stack = stack_of(view)
    if stack is None:
        return None
    width = Quantity(stack.width, Unit.COUNT)
    return RankedFact(statement("{width}", width=width), -stack.width)


def _device_count(case: Case) -> Finding:
    evidence = Sides(_device_evidence(case.baseline), _device_evidence(case.candidate))
    predicted_ratio = _predicted_by_caps(case)
    finding = by_rank(
        case,
        _width,
        Sentences(
            supported="The slower side spreads its writes over fewer disks.",
            unseen=_UNSEEN,
            same="As many disks work at once on both sides.",
        ),
        name="disks",
        evidence=evidence,
        predicted_ratio=predicted_ratio,
    )
    if finding.state is not State.SUPPORTED:
        return finding
    if do_not_wait(case.slower):
        return ruled_out(
            evidence, "The number of disks differs, but the slower side did not wait for its disks."
        )
    finding = finding.also(_prediction_source(case, predicted_ratio))
    finding = _with_more_disks(case, finding)
    if any(_above_cap(view) for view in case.views):
        finding = finding.also("A write rate above its cap is what the page cache absorbed.")
    return finding


def _predicted_by_caps(case: Case) -> float | None:
    """Return the baseline's write cap over the candidate's: how much longer writing takes."""
    baseline, candidate = mean_of(case.baseline, write_cap), mean_of(case.candidate, write_cap)
    return baseline / candidate if baseline and candidate else None


def _prediction_source(case: Case, predicted_ratio: float | None) -> str:
    if predicted_ratio is None:
        return "The cap of a side is not known, so nothing is predicted."
    if any(map(cgroup_write_cap, case.views)):
        return "The prediction is from the cgroups' write caps."
    if any(view.instance_type is None for view in case.views):
        return (
            "The prediction is from the published write caps (machine type unknown: "
            "those of Google's standard local SSDs)."
        )
    return "The prediction is from the published write caps."


def _with_more_disks(case: Case, finding: Finding) -> Finding:
    """Name the next machine type with more disks, where the slower side's type has a fixed number."""
    machines = {published_caps.machine_name(view.instance_type or "") for view in case.slower}
    machine = machines.pop() if machines else ""
    disks = published_caps.disks_of_machine(machine)
    if machines or disks is None:
        return finding
    count = Quantity(disks, Unit.COUNT)
    larger = published_caps.machine_with_disks(machine, disks + 1)
    if larger is None:
        return finding.also(
            "The number of local SSDs of {machine} is {disks}.", machine=machine, disks=count
        )
    return finding.also(
        "The number of local SSDs of {machine} is {disks}, that of {larger} is {more}.",
        machine=machine,
        disks=count,
        larger=larger,
        more=Quantity(published_caps.disks_of_machine(larger) or 0, Unit.COUNT),
    )


def _above_cap(view: View) -> bool:
    rate, cap = view.written_mib_per_s, write_cap(view)
    return rate is not None and cap is not None and rate > cap


# --- linear-volume ---


def _linear(view: View) -> RankedFact | None:
    stack = stack_of(view)
    return None if stack is None else RankedFact(_spread(stack), float(stack.linear))


def _linear_prediction(case: Case) -> float | None:
    """Return what the slower side's own disks would reach as a stripe, over what they reach."""

    def gain(view: View) -> float | None:
        stack = stack_of(view)
        caps = caps_of(view, len(stack.disks)) if stack is not None else None
        cap = write_cap(view)
        return caps.write_mib_per_s / cap if caps is not None and cap else None

    ratio = mean_of(case.slower, gain)
    if ratio is None or case.ratio is None:
        return None
    return ratio if case.ratio > 1 else 1 / ratio


def _linear_volume(case: Case) -> Finding:
    stacks = [[stack_of(view) for view in views] for views in (case.baseline, case.candidate)]
    known = all(any(side) for side in stacks)
    if known and not any(stack.linear for side in stacks for stack in side if stack is not None):
        # One disk against two striped ones is another cause.
        return ruled_out(
            of_sides(case, fact_tally("disks", _linear)),
            "No volume joins several disks one after another.",
        )
    return by_rank(
        case,
        _linear,
        Sentences(
            supported="The slower side's volume joins its disks one after another, so a copy has "
            "the bandwidth of one disk.",
            unseen=_UNSEEN,
            same="The volumes of both sides are linear.",
        ),
        name="disks",
        predicted_ratio=_linear_prediction(case),
    )


# --- boot-disk-fallback ---


def _medium(view: View) -> RankedFact | None:
    medium = medium_of(view)
    if medium is None:
        return None
    # LVM may span both: then the slow part decides.
    return RankedFact(
        statement("on {medium}", medium=medium), float(Medium.PERSISTENT.value in medium)
    )


def _boot_disk_fallback(case: Case) -> Finding:
    finding = by_rank(
        case,
        _medium,
        Sentences(
            supported="The slower side's place is on a persistent disk. This happens when the "
            "workers' start script does not find the local SSDs and uses the boot disk silently.",
            unseen="The disks do not report what they are.",
            same="Both sides have the same kind of disk, so neither fell back to its boot disk alone.",
        ),
        name="disk-kind",
    )
    expected = [
        disks
        for view in case.slower
        if (disks := published_caps.disks_of_machine(view.instance_type))
    ]
    if finding.state is State.SUPPORTED and expected:
        return finding.also(
            "The number of local SSDs of its machine type is {disks}.",
            disks=Quantity(max(expected), Unit.COUNT),
        )
    return finding


# --- disk-speed ---


def _each_disk(view: View) -> float | None:
    stack = stack_of(view)
    rate = view.written_mib_per_s
    return None if stack is None or rate is None else rate / stack.width


def _disk_speed(case: Case) -> Finding:
    evidence = of_sides(
        case,
        _rate("write-rate-per-disk", _each_disk, "write rate per disk {value}"),
        span(
            "io-wait",
            lambda view: view.io_wait_share,
            Unit.SHARE,
            "waiting for I/O {value} of the time",
        ),
    )
    slower, faster = mean_of(case.slower, _each_disk), mean_of(case.faster, _each_disk)
    if slower is None or faster is None:
        return not_observable(
            evidence, "How much the disks wrote was not recorded.", workload="random-io"
        )
    if not case.differs:
        return ruled_out(evidence, NOTHING_TO_EXPLAIN)
    if slower >= _AS_FAST_SHARE * faster:
        return ruled_out(evidence, "Each disk of the slower side wrote as fast.")
    if do_not_wait(case.slower):
        return ruled_out(evidence, "The slower side did not wait for its disks.")
    if all(waits_for_disks(view) is None for view in case.slower):
        return not_observable(
            evidence,
            "Each disk of the slower side wrote more slowly, but maybe it had less to write: "
            "no pressure was recorded and no cap is published.",
            workload="random-io",
        )
    return supported(
        evidence,
        "Each disk of the slower side wrote at {ratio} the rate of the faster side's disks, while "
        "copies waited for it.",
        ratio=Quantity(slower / faster, Unit.RATIO),
    )


RULES = (
    CauseRule(
        "device-count",
        "The slower side's writes are spread over fewer disks.",
        _device_count,
        remedies=(Suggestion("use a machine type with more local SSDs, striped", more_disks),),
    ),
    CauseRule(
        "linear-volume",
        "The slower side's volume is linear: several disks with the bandwidth of one.",
        _linear_volume,
        remedies=(
            Suggestion("make the volume striped (lvcreate -i N) instead of linear", predicted),
        ),
    ),
    CauseRule(
        "boot-disk-fallback",
        "The slower side works on its boot disk, the faster side on local SSDs.",
        _boot_disk_fallback,
        frozenset(("cache-retrieve", "random-io", "sync-write")),
        (
            Suggestion(
                "fix the fallback: the workers' start script must find the local SSDs or fail",
                as_other_pool,
            ),
        ),
    ),
    CauseRule("disk-speed", "Each disk of the slower side is slower.", _disk_speed),
)
