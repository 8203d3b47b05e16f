# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What holds a side back by decree: cgroup limits of I/O, memory and CPU."""

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View
from io_benchmark.analysis.diagnosis.evidence import MIB, gib, plain
from io_benchmark.analysis.diagnosis.judging import Look, Reading, Words, by_rank
from io_benchmark.results.format import IoLimit, Limits

UNREAD = "no cgroup hierarchy could be read"
NO_LIMIT = "no limit, as far as the container sees"
NONE_SET = "no such limit on either side, as far as the containers see"
# A memory limit leaves the page cache alone where it holds the files twice over.
ROOMY = 2
# A limit at twice the rate that was reached did not hold it back.
FAR_ABOVE_RATE = 2
# One process copies, and the kernel writes back beside it.
CPUS_NEEDED = 2.0
# Unlimited ranks 0; any limit ranks by how far below this it is.
FAR_ABOVE_BYTES_PER_S = float(1 << 50)
_UNITS = {
    "read_bytes_per_s": "read",
    "write_bytes_per_s": "write",
    "read_operations_per_s": "read operations",
    "write_operations_per_s": "write operations",
}


def _seen(view: View) -> bool:
    return view.limits is not None and bool(view.limits.cgroup_versions)


def _of_place(view: View) -> list[IoLimit]:
    """Limits on the place's devices, and on devices that nothing else is known of."""
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


def _io_text(limit: IoLimit) -> str:
    what = _UNITS.get(limit.kind, limit.kind)
    device = limit.device_name or limit.device
    if limit.kind.endswith("bytes_per_s"):
        return f"{what} {limit.value / MIB:,.1f} MiB/s on {device}"
    return f"{what} {limit.value:,}/s on {device}"


def _io(view: View) -> Reading | None:
    if not _seen(view):
        return None
    limits = sorted(_of_place(view), key=lambda limit: (limit.kind, limit.value, limit.device))
    if not limits:
        return Reading(NO_LIMIT)
    shown = plain(", ".join(dict.fromkeys(map(_io_text, limits))))
    rate = view.written_mib_per_s
    if rate and all(
        "bytes" in limit.kind and limit.value >= FAR_ABOVE_RATE * rate * MIB for limit in limits
    ):
        return Reading(f"{shown}: far above what was reached")
    # Operations count as the small ones that they are decreed for.
    bytes_per_s = [limit.value * (1 if "bytes" in limit.kind else 128 * 1024) for limit in limits]
    tightest = max(1, min(bytes_per_s))
    return Reading(shown, FAR_ABOVE_BYTES_PER_S / tightest)


def io_limit(case: Case) -> Finding:
    return by_rank(
        case,
        _io,
        Words(
            supported="the slower side's I/O is limited more tightly by its cgroup",
            missing=UNREAD,
            same=NONE_SET if not _any(case, _io) else "the same limits on both sides",
        ),
    )


def _any(case: Case, look: Look) -> bool:
    readings = map(look, (*case.baseline, *case.candidate))
    return any(reading is not None and reading.rank > 0 for reading in readings)


def _memory(view: View) -> Reading | None:
    if not _seen(view) or view.limits is None:
        return None
    values = [limit.bytes for limit in view.limits.memory if limit.bytes >= 0]
    machine = view.host.memory_bytes if view.host is not None else None
    if not values or (machine is not None and min(values) >= machine):
        return Reading(NO_LIMIT)
    tightest = min(values)
    needed = sum(view.retrieves.facts.file_sizes_bytes) if view.retrieves is not None else 0
    text = f"{gib(tightest)}, the cache has {gib(needed)}" if needed else gib(tightest)
    if needed and tightest >= ROOMY * needed:
        return Reading(f"{text}: roomy")
    return Reading(text, FAR_ABOVE_BYTES_PER_S / max(1, tightest))


def memory_limit(case: Case) -> Finding:
    return by_rank(
        case,
        _memory,
        Words(
            supported="the slower side's memory is limited more tightly, and the page cache counts "
            "towards it",
            missing=UNREAD,
            same=NONE_SET if not _any(case, _memory) else "the same limit on both sides",
        ),
    )


def cpu_quota(limits: Limits) -> float | None:
    """The CPUs that may be used at once; None without a quota."""
    quotas = [limit.quota_us / limit.period_us for limit in limits.cpu if limit.period_us]
    return min(quotas) if quotas else None


def _cpu(view: View) -> Reading | None:
    if not _seen(view) or view.limits is None:
        return None
    tightest = cpu_quota(view.limits)
    if tightest is None:
        return Reading(NO_LIMIT)
    text = f"{tightest:.2f} CPUs"
    threads = view.entry.subject.threads if view.entry is not None else 0
    if tightest >= max(CPUS_NEEDED, threads):
        return Reading(f"{text}: more than {'its threads use' if threads else 'a copy uses'}")
    return Reading(text, 1 / max(tightest, 1e-6))


def cpu_limit(case: Case) -> Finding:
    return by_rank(
        case,
        _cpu,
        Words(
            supported="the slower side gets less CPU time by its cgroup's quota",
            missing=UNREAD,
            same=NONE_SET if not _any(case, _cpu) else "the same quota on both sides",
        ),
    )


RULES = (
    Rule(
        "cgroup-io-limit",
        "A cgroup limits the slower side's I/O.",
        io_limit,
        frozenset(("cache-retrieve", "random-io", "sync-write")),
    ),
    Rule("cgroup-memory-limit", "A cgroup limits the slower side's memory.", memory_limit),
    Rule(
        "cgroup-cpu-limit",
        "A cgroup limits the slower side's CPU time.",
        cpu_limit,
        frozenset(("cache-retrieve", "spawn", "metadata", "exec", "upload")),
    ),
)
