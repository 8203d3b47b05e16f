# SPDX-License-Identifier: MPL-2.0
"""Limits that cgroups set on one side: memory and CPU."""

from functools import partial

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.measured_gains import other_pool
from io_benchmark.analysis.diagnosis.rules import Effect, Fact, RankedFact, Ranking, cause
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.analysis.parts.time_parts import Kind, in_all, in_lookups
from io_benchmark.analysis.statements import Quantity, Unit, statement
from io_benchmark.results.workload import NS_PER_S

ORDER = 21
NO_HIERARCHY = "No cgroup hierarchy could be read."
NO_LIMIT = statement("no limit, as far as the container sees")
# A memory limit does not affect the page cache where it holds the files twice.
_ROOMY = 2
# One process copies while the kernel writes back.
_CPUS_NEEDED = 2.0
# Unlimited ranks 0; any limit ranks by how far below this it is.
FAR_ABOVE = float(1 << 50)


def judge_limit(case: Case, limit: Ranking) -> Effect:
    """Support a limit that is tighter on the slower side."""
    effect = limit.judge(case)
    if effect.fact is not Fact.SAME or any(
        fact is not None and fact.rank > 0 for fact in case.values(limit.read)
    ):
        return effect
    return effect.evidence.same("Neither side has such a limit, as far as the containers see.")


def memory_limit_bytes(view: View) -> int | None:
    """Return the tightest limit of memory that is below the machine's memory."""
    if view.limits is None:
        return None
    tightest = min((limit.bytes for limit in view.limits.memory if limit.bytes >= 0), default=None)
    machine = view.host.memory_bytes if view.host is not None else None
    return None if tightest is None or (machine is not None and tightest >= machine) else tightest


def _memory(view: View) -> RankedFact | None:
    if not view.sees_cgroups:
        return None
    limit_bytes = memory_limit_bytes(view)
    if limit_bytes is None:
        return RankedFact(NO_LIMIT)
    needed_bytes = sum(view.retrieves.file_sizes_bytes) if view.retrieves is not None else 0
    limit = Quantity(limit_bytes, Unit.BYTES)
    rank = FAR_ABOVE / max(1, limit_bytes)
    if not needed_bytes:
        return RankedFact(statement("{limit}", limit=limit), rank)
    is_roomy = limit_bytes >= _ROOMY * needed_bytes
    template = "{limit}, the cache has {needed}" + (": holds it twice" if is_roomy else "")
    needed = Quantity(needed_bytes, Unit.BYTES)
    return RankedFact(statement(template, limit=limit, needed=needed), 0.0 if is_roomy else rank)


_MEMORY = Ranking(
    name="memory-limit",
    read=_memory,
    supports="The slower side's memory is limited more tightly, and the page cache counts towards it.",
    unseen=NO_HIERARCHY,
    same="Both sides have the same limit.",
)


@cause(
    "cgroup-memory-limit",
    "A cgroup limits the slower side's memory.",
    remedies={"lift the cgroup's memory limit": other_pool},
    acts_through=in_all(Kind.BLOCKED, Kind.KERNEL),
)
def _memory_limit(case: Case) -> Effect:
    """Judge what a limit of memory costs: bytes that are read again, or written before they are dropped."""
    return judge_limit(case, _MEMORY).if_enough(
        case,
        _moved_more_share(case),
        "The slower side's memory is limited more tightly, but what its disks read and wrote more "
        "makes up {share} of the difference.",
    )


def _moved_more_share(case: Case) -> float | None:
    """Return the share of the difference in which the slower side's disks moved what the other's did not."""
    if not case.difference_ns:
        return None
    moving_s = 0.0
    for way in (0, 1):  # read, written
        slower, faster = case.means(_MOVED[way])
        rate = case.slower.mean(_PEAKS[way])
        if slower is None or faster is None:
            return None
        moving_s += max(0.0, slower - faster) / rate if rate else 0.0
    return moving_s * NS_PER_S / abs(case.difference_ns)


def _moved_per_sample(way: int, view: View) -> float | None:
    if view.entry is None or view.moved_bytes is None:
        return None
    return view.moved_bytes[way] / len(view.entry.total_ns)


def _peak(way: int, view: View) -> float | None:
    """Return the rate that the disks kept up, else the run's average."""
    if view.peak_bytes_per_s is None or view.moved_bytes_per_s is None:
        return None
    return view.peak_bytes_per_s[way] or view.moved_bytes_per_s[way]


_MOVED, _PEAKS = ([partial(read, way) for way in (0, 1)] for read in (_moved_per_sample, _peak))


def _cpu(view: View) -> RankedFact | None:
    if not view.sees_cgroups:
        return None
    quota = view.worker.cpu_quota
    if quota is None:
        return RankedFact(NO_LIMIT)
    cpus = Quantity(quota, Unit.NUMBER)
    threads = view.entry.subject.threads if view.entry is not None else 0
    if quota >= max(_CPUS_NEEDED, threads):
        user = "its threads use" if threads else "a copy uses"
        return RankedFact(statement(f"{{cpus}} CPUs: more than {user}", cpus=cpus))
    return RankedFact(statement("{cpus} CPUs", cpus=cpus), 1 / max(quota, 1e-6))


def _quota_ns(view: View) -> float | None:
    """Return how long a quota below one CPU keeps a retrieve from its CPU."""
    quota = view.worker.cpu_quota
    work_ms = view.per_operation_ms("own_user_ms", "own_system_ms")
    if work_ms is None:
        return None
    return work_ms * 1e6 * max(0.0, 1 / max(quota, 1e-6) - 1) if quota is not None else 0.0


_CPUS = Ranking(
    name="cpu-quota",
    read=_cpu,
    supports="The slower side's cgroup has a smaller quota of CPU time.",
    unseen=NO_HIERARCHY,
    same="Both sides have the same quota.",
)


@cause(
    "cgroup-cpu-limit",
    "A cgroup limits the slower side's CPU time.",
    workloads=frozenset(("cache-retrieve", "unpack", "spawn", "metadata", "exec", "upload")),
    remedies={"lift the cgroup's CPU quota": other_pool},
    # A child's wait for a CPU is its parent's wait for the child.
    acts_through=in_all(Kind.WAITING, Kind.ELSEWHERE) | in_lookups(Kind.BLOCKED),
)
def _cpu_limit(case: Case) -> Effect:
    # Several at once need more than one CPU.
    share = case.explained_share(_quota_ns) if case.subject.workload == "cache-retrieve" else None
    return judge_limit(case, _CPUS).if_enough(
        case,
        share,
        "The slower side has a smaller quota, but that predicts only {share} of the difference.",
    )
