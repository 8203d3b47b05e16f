# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Limits that cgroups set on one side: I/O, memory and CPU."""

from collections.abc import Sequence
from functools import partial

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule
from io_benchmark.analysis.diagnosis.measured_gains import as_other_pool
from io_benchmark.analysis.diagnosis.ranking import RankedFact, ReadFact, by_rank
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_all, in_copies
from io_benchmark.analysis.statements import Quantity, Unit, Value, statement
from io_benchmark.results.format import IoLimit
from io_benchmark.results.trials import TrialKind

ORDER = 20
_UNREAD = "No cgroup hierarchy could be read."
_NO_LIMIT = statement("no limit, as far as the container sees")
_NONE_SET = "Neither side has such a limit, as far as the containers see."
# A memory limit does not affect the page cache where it holds the files twice.
_ROOMY = 2
# A limit at twice the rate that was reached did not hold it back.
_BINDS_SHARE = 0.7
# The least that a request usually has; a page, with some that are merged away.
_SEQUENTIAL_REQUEST_BYTES, _SMALL_REQUEST_BYTES = 32 * 1024, 2 * 1024
# One process copies while the kernel writes back.
_CPUS_NEEDED = 2.0
# Unlimited ranks 0; any limit ranks by how far below this it is.
_FAR_ABOVE_BYTES_PER_S = float(1 << 50)
# Limits of operations are compared as if each had this size.
_OPERATION_BYTES = 128 * 1024
_LIMITS_SHOWN = 4
_LIMITED = {
    "read_bytes_per_s": "read",
    "write_bytes_per_s": "write",
    "read_operations_per_s": "read",
    "write_operations_per_s": "write",
}


def _hierarchy_seen(view: View) -> bool:
    """Return whether the worker could read a cgroup hierarchy."""
    return view.limits is not None and bool(view.limits.cgroup_versions)


def _io_limits(view: View) -> list[IoLimit]:
    """Return the limits on the place's devices, and those on devices that are not known."""
    if view.limits is None:
        return []
    devices = view.place.devices if view.place is not None else []
    numbers = {device.number for device in devices}
    names = {device.name for device in devices}
    return [
        limit
        for limit in view.limits.io
        if not devices
        or limit.device in numbers
        or limit.device_name in names
        or limit.device_name is None
    ]


def _memory_limit_bytes(view: View) -> int | None:
    """Return the tightest limit of memory that is below the machine's memory."""
    if view.limits is None:
        return None
    tightest = min((limit.bytes for limit in view.limits.memory if limit.bytes >= 0), default=None)
    machine = view.host.memory_bytes if view.host is not None else None
    return None if tightest is None or (machine is not None and tightest >= machine) else tightest


def _amount(limit: IoLimit) -> Quantity:
    if limit.kind.endswith("bytes_per_s"):
        return Quantity(limit.value, Unit.BYTES_PER_SECOND)
    return Quantity(limit.value, Unit.OPERATIONS_PER_SECOND)


def _listed(limits: Sequence[IoLimit]) -> tuple[str, dict[str, Value]]:
    """Return a template with the first limits, each once, and its values."""
    distinct = {
        (limit.kind, limit.value, limit.device_name or limit.device): limit for limit in limits
    }
    values: dict[str, Value] = {}
    parts = []
    for at, ((kind, _, device), limit) in enumerate(list(distinct.items())[:_LIMITS_SHOWN]):
        values[f"kind_{at}"] = _LIMITED.get(kind, kind)
        values[f"amount_{at}"] = _amount(limit)
        values[f"device_{at}"] = device
        parts.append(f"{{kind_{at}}} {{amount_{at}}} on {{device_{at}}}")
    more = ", …" if len(distinct) > len(parts) else ""
    return ", ".join(parts) + more, values


def io_limit_binds(view: View) -> bool:
    """Return whether the worker's I/O reached one of its limits."""
    return any(_binds(limit, view) for limit in _io_limits(view))


def _binds(limit: IoLimit, view: View) -> bool:
    """Return whether the rate that was reached is near the limit.

    Operations are not counted. Writeback of large files makes large requests, and other workloads make
    small ones: a limit on operations binds where the rate has at least so many bytes for each.
    """
    rates = view.moved_bytes_per_s
    if rates is None or view.stack is None:
        return True  # nothing shows that it does not
    reads, writes = rates
    rate = (reads if limit.kind.startswith("read") else writes) / view.stack.width
    if "bytes" in limit.kind:
        return rate >= _BINDS_SHARE * limit.value
    is_sequential = view.retrieves is not None
    request_bytes = _SEQUENTIAL_REQUEST_BYTES if is_sequential else _SMALL_REQUEST_BYTES
    return rate >= request_bytes * limit.value


def _io(view: View) -> RankedFact | None:
    if not _hierarchy_seen(view):
        return None
    limits = sorted(_io_limits(view), key=lambda limit: (limit.kind, limit.value, limit.device))
    if not limits:
        return RankedFact(_NO_LIMIT)
    template, values = _listed(limits)
    binding = [limit for limit in limits if _binds(limit, view)]
    if not binding:
        return RankedFact(statement(f"{template}: far above the rate that was reached", **values))
    bytes_per_s = [
        limit.value * (1 if "bytes" in limit.kind else _OPERATION_BYTES) for limit in binding
    ]
    return RankedFact(
        statement(template, **values), _FAR_ABOVE_BYTES_PER_S / max(1, min(bytes_per_s))
    )


def _memory(view: View) -> RankedFact | None:
    if not _hierarchy_seen(view):
        return None
    limit_bytes = _memory_limit_bytes(view)
    if limit_bytes is None:
        return RankedFact(_NO_LIMIT)
    needed_bytes = sum(view.retrieves.file_sizes_bytes) if view.retrieves is not None else 0
    template = "{limit}"
    values: dict[str, Value] = {"limit": Quantity(limit_bytes, Unit.BYTES)}
    if needed_bytes:
        template += ", the cache has {needed}"
        values["needed"] = Quantity(needed_bytes, Unit.BYTES)
    if needed_bytes and limit_bytes >= _ROOMY * needed_bytes:
        return RankedFact(statement(f"{template}: holds it twice", **values))
    return RankedFact(statement(template, **values), _FAR_ABOVE_BYTES_PER_S / max(1, limit_bytes))


def _cpu(view: View) -> RankedFact | None:
    if not _hierarchy_seen(view):
        return None
    quota = view.worker.cpu_quota
    if quota is None:
        return RankedFact(_NO_LIMIT)
    cpus = Quantity(quota, Unit.NUMBER)
    threads = view.entry.subject.threads if view.entry is not None else 0
    if quota >= max(_CPUS_NEEDED, threads):
        user = "its threads use" if threads else "a copy uses"
        return RankedFact(statement(f"{{cpus}} CPUs: more than {user}", cpus=cpus))
    return RankedFact(statement("{cpus} CPUs", cpus=cpus), 1 / max(quota, 1e-6))


def _judge(case: Case, *, read: ReadFact, name: str, tighter: str, same: str) -> CauseJudgement:
    any_limit = any((seen := read(view)) is not None and seen.rank > 0 for view in case.views)
    return by_rank(
        case,
        read,
        supported=tighter,
        unseen=_UNREAD,
        same=same if any_limit else _NONE_SET,
        name=name,
    )


def _io_limit(case: Case) -> CauseJudgement:
    judgement = _judge(
        case,
        read=_io,
        name="io-limits",
        tighter="The slower side's cgroup limits its I/O more tightly.",
        same="Both sides have the same limits.",
    )
    reached = [_tightest(view, reached=True) for view in case.slower]
    others = [_tightest(view) for view in case.faster]
    if judgement.state is not State.SUPPORTED or not all(
        other.keys() >= limits.keys() and all(other[kind] <= limits[kind] for kind in limits)
        for limits in reached
        for other in others
    ):
        return judgement
    return judgement.evidence.ruled_out(
        "The faster side has limits as tight, and does not reach them: something else makes the slower "
        "side move more bytes."
    )


def _tightest(view: View, *, reached: bool = False) -> dict[str, int]:
    """Return the lowest limit of each kind; of all, or of those that the worker's I/O reached."""
    limits = sorted(_io_limits(view), key=lambda limit: -limit.value)
    return {limit.kind: limit.value for limit in limits if not reached or _binds(limit, view)}


RULES = (
    CauseRule(
        "cgroup-io-limit",
        "A cgroup limits the slower side's I/O.",
        _io_limit,
        frozenset(("cache-retrieve", "random-io", "sync-write")),
        {"lift the cgroup's I/O limit": as_other_pool},
        acts_through=in_copies(Kind.BLOCKED),
        tried_by=TrialKind.PACE,
    ),
    CauseRule(
        "cgroup-memory-limit",
        "A cgroup limits the slower side's memory.",
        partial(
            _judge,
            read=_memory,
            name="memory-limit",
            tighter="The slower side's memory is limited more tightly, and the page cache counts towards it.",
            same="Both sides have the same limit.",
        ),
        remedies={"lift the cgroup's memory limit": as_other_pool},
        acts_through=in_copies(Kind.BLOCKED, Kind.KERNEL),
    ),
    CauseRule(
        "cgroup-cpu-limit",
        "A cgroup limits the slower side's CPU time.",
        partial(
            _judge,
            read=_cpu,
            name="cpu-quota",
            tighter="The slower side's cgroup has a smaller quota of CPU time.",
            same="Both sides have the same quota.",
        ),
        frozenset(("cache-retrieve", "spawn", "metadata", "exec", "upload")),
        {"lift the cgroup's CPU quota": as_other_pool},
        acts_through=in_all(Kind.WAITING, Kind.BLOCKED),
    ),
)
