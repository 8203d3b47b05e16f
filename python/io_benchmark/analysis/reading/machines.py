# SPDX-License-Identifier: MPL-2.0
"""Which results come from one machine, and what kind of machine that is.

The machine is the unit of replication, so that none counts twice. A worker id identifies a machine
of its pool, also after a reboot; workers of two pools may have the same id. So does the kernel's
boot id: several workers on one host share it, and a bare file has it although no queue names its
worker. Two results with the same pool and worker id, or the same boot id, are from one machine, and
so are all results that are connected in this way. A boot id is ignored where it is not a random
number, or where facts differ that cannot change within one boot: copies of a running machine have
the same boot id.

Facts about hosts and storage are a name and a short text, or a set of options. What differs on
every machine by its nature (ids, free space, device numbers) is not a fact. A memory's size is
rounded, since a kernel takes a part of it.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.run import UNKNOWN, Run, Worker
from io_benchmark.number_text import plural
from io_benchmark.results import Result
from io_benchmark.results.machine import LINUX, Host, Limits, StoragePlace

_BOOT_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# A random number of 32 hexadecimal digits practically never has fewer different ones.
_DIFFERENT_DIGITS = 6


class MachineMarks(Struct, frozen=True):
    """The marks by which a result's machine is recognised."""

    worker_id: str = UNKNOWN
    boot: tuple[str, ...] = ()  # the boot id and what it cannot outlive; empty: not known
    place: tuple[str, ...] = ()  # where the machine is, as far as the worker says
    pool: str = ""  # that has a worker of this id

    @classmethod
    def of(cls, worker: Worker) -> "MachineMarks":
        # All rehearsals of a host are on one machine, whatever their pool.
        is_host = worker.worker_id.startswith("rehearsal/")
        pool = "" if is_host else worker.queue_or_pool
        return cls(worker.worker_id, _boot(worker.result), cls.place_of(worker.result), pool)

    @staticmethod
    def place_of(result: Result) -> tuple[str, ...]:
        """Return the machine's cloud, region and zone; empty: none of them is known."""
        place = tuple(result.task.location.get(name, "") for name in ("cloud", "region", "zone"))
        return place if any(place) else ()

    @staticmethod
    def machine_names(marks: Sequence["MachineMarks"]) -> list[str]:
        """Return the name of each result's machine, the same for all results from one machine."""
        roots = _connected(_keys(marks))
        pools = {
            worker_id: {mark.pool for mark in same}
            for worker_id, same in grouped(marks, attrgetter("worker_id")).items()
        }
        shared_ids = {worker_id for worker_id, of_pools in pools.items() if len(of_pools) > 1}
        names: dict[int, str] = {}
        counts = Counter[str]()
        for root, members in grouped(zip(roots, marks, strict=True), itemgetter(0)).items():
            name = _name([mark for _, mark in members], shared_ids)
            counts[name] += 1
            # Several machines have copies of one boot id.
            is_first = counts[name] == 1 or name == UNKNOWN
            names[root] = name if is_first else f"{name}, {counts[name]}"
        return [names[root] for root in roots]

    @classmethod
    def identify(cls, workers: Iterable[Worker]) -> list[Worker]:
        """Return all results with their machines, in the same order for any order of the input."""
        ordered = sorted(workers, key=_order)
        names = cls.machine_names([cls.of(worker) for worker in ordered])
        return [replace(worker, machine=name) for worker, name in zip(ordered, names, strict=True)]


def _boot(result: Result) -> tuple[str, ...]:
    host = result.host
    boot_id = (host.boot_id or "").strip().lower() if host is not None else ""
    is_random = len(set(boot_id) - {"-"}) >= _DIFFERENT_DIGITS
    if host is None or not is_random or not _BOOT_ID.fullmatch(boot_id):
        return ()
    return boot_id, host.kernel, host.kernel_version, host.architecture


def _keys(marks: Sequence[MachineMarks]) -> list[list[Hashable]]:
    places = {
        boot: {mark.place for mark in same} - {()}
        for boot, same in grouped(marks, attrgetter("boot")).items()
    }

    def keys_of(mark: MachineMarks) -> Iterator[Hashable]:
        if mark.worker_id != UNKNOWN:
            yield "worker", mark.pool, mark.worker_id
        if mark.boot:
            # A machine is in one place: the same boot in several places was copied.
            yield mark.boot, mark.place if len(places[mark.boot]) > 1 else ()

    return [list(keys_of(mark)) for mark in marks]


def _connected(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    """Return for each result the first one that it is connected with, by union and find."""
    roots = list(range(len(keys)))

    def root(result: int) -> int:
        while roots[result] != result:
            roots[result] = roots[roots[result]]
            result = roots[result]
        return result

    first: dict[Hashable, int] = {}
    for result, result_keys in enumerate(keys):
        for key in result_keys:
            earlier, later = sorted((root(first.setdefault(key, result)), root(result)))
            roots[later] = earlier
    return list(map(root, range(len(keys))))


def _name(marks: Sequence[MachineMarks], shared_ids: Collection[str]) -> str:
    """Return the worker id, with its pool where several pools have it; else the boot id."""
    known = [mark for mark in marks if mark.worker_id != UNKNOWN]
    if known:
        first = min(known, key=lambda mark: (mark.worker_id, mark.pool))
        of_pool = f" of {first.pool}" if first.worker_id in shared_ids and first.pool else ""
        return first.worker_id + of_pool
    boots = sorted({(mark.boot, mark.place) for mark in marks if mark.boot})
    if not boots:
        return UNKNOWN
    (boot_id, *_), place = boots[0]
    return " ".join(("with boot id", boot_id, *filter(None, place)))


def _order(worker: Worker) -> tuple[object, ...]:
    result = worker.result
    return (
        worker.side,
        worker.task_id,
        -1 if worker.run_id is None else worker.run_id,
        worker.worker_id,
        result.started,
        worker.source,
        result.duration_ns,
        [(entry.subject, entry.total_ns.tobytes()) for entry in worker.runs],
    )


FactValue = str | tuple[str, ...]  # a text, or a set of options in order
# `CPUs` and `16`, in the order that reports show.
Facts = tuple[tuple[str, FactValue], ...]

_GIB = 1024**3
# The settings of a leaf device's queue that decide how writes are gathered.
_QUEUE = ("nr_requests", "read_ahead_kb", "max_sectors_kb", "rotational", "wbt_lat_usec")
WINDOWS_FACTS = {
    "Defender is real time": "Defender's real-time protection: {}",
    "is system disk": "on the system's disk: {}",
}
# The facts by which a pool's machines are of several kinds. The others are settings of a machine.
KIND_FACTS = {
    "instance type": "the machine type {}",
    "disks": "{} disks",
    "disk models": "disks of model {}",
    "disk sizes": "disks of {}",
    "file system": "the file system {}",
    "CPU": "the CPU {}",
    "CPUs": "{} CPUs",
    "memory": "{} of memory",
    "kernel": "the kernel {}",
    "zone": "the zone {}",
    **WINDOWS_FACTS,
}
_Pairs = Iterator[tuple[str, object]]


def facts_of(result: Result, place: str, task_queue: str | None, image: str | None) -> Facts:
    pairs: list[tuple[str, object]] = []
    for storage in result.storage.places:
        if storage.name == place and storage.failed is None:
            pairs += _place_facts(storage)
    pairs.append(("instance type", result.task.instance_type))
    if result.limits:
        pairs += _limit_facts(result.limits)
    if result.host:
        pairs += _host_facts(result.host)
    pairs += [
        ("image", image),
        ("task queue", task_queue),
        ("zone", result.task.location.get("zone")),
        ("script", f"{result.script.version} {result.script.sha256[:12]}"),
    ]
    return tuple(
        (name, value if isinstance(value, tuple) else str(value))
        for name, value in pairs
        if value not in (None, "", ())
    )


def kind_of_machine(runs: Sequence[Run]) -> dict[str, str]:
    """Return what kind of machine these runs had, by the facts that all of them share."""
    of_runs = [dict(facts_of(run.worker.result, run.subject.place, None, None)) for run in runs]
    return {
        name: "1 disk" if (name, value) == ("disks", "1") else text.format(value)
        for name, text in KIND_FACTS.items()
        if (value := of_runs[0].get(name)) is not None
        and all(facts.get(name) == value for facts in of_runs)
    }


def _host_facts(host: Host) -> _Pairs:
    yield "machine", " ".join(filter(None, (host.machine_vendor, host.machine_product)))
    yield "CPU", host.cpu_model
    yield "CPUs", host.cpu_count
    if host.memory_bytes is not None:
        yield "memory", f"{round(host.memory_bytes / _GIB)} GiB"
    if host.system != LINUX:
        yield "system", host.system
    yield "kernel", host.kernel
    yield "kernel build", host.kernel_version
    yield "distribution", host.distribution
    if host.container:
        yield "container engine", host.container.engine
        yield "root file system", host.container.root_filesystem
    yield "transparent huge pages", host.transparent_huge_pages
    for name, value in sorted(host.vm.items()):
        yield f"vm.{name}", value
    if host.windows:
        yield from _of_windows(host.windows, "")
        yield from _of_windows(host.windows.defender, "Defender ")
    for name, tool in sorted(host.tools.items()):
        yield name, "not installed" if tool is None else tool.version or "version unknown"


def _place_facts(place: StoragePlace) -> _Pairs:
    leaves = place.leaf_devices
    levels = {device.raid_level for device in place.devices if device.raid_level}
    yield "disks", len(leaves) or None
    if place.devices:
        stripes = max(device.stripe_count or 1 for device in place.devices)
        yield "stripes", stripes if stripes > 1 else "none"
    yield "RAID", ", ".join(sorted(levels))
    yield "disk models", _counted(leaf.model or leaf.kind for leaf in leaves)
    yield "disk sizes", _counted(f"{(leaf.size_bytes or 0) / _GIB:.0f} GiB" for leaf in leaves)
    yield "schedulers", _counted(leaf.scheduler or "unknown" for leaf in leaves)
    yield "write caches", _counted(leaf.write_cache or "unknown" for leaf in leaves)
    for name in _QUEUE:
        yield f"queue {name}", _counted(str(leaf.queue.get(name, "unknown")) for leaf in leaves)
    if place.filesystem:
        yield "file system", place.filesystem.type
        yield "btrfs data profiles", ", ".join(place.filesystem.btrfs_data_profiles or ())
    if place.mount:
        options = {*place.mount.options.split(","), *place.mount.super_options.split(",")}
        yield "mount options", tuple(sorted(options - {""}))
    if place.overlay:
        yield "overlay", "volatile" if place.overlay.volatile else "plain"
    if place.windows:
        yield from _of_windows(place.windows, "")


def _of_windows(part: Struct, begin: str) -> _Pairs:
    """Yield what is known of these: settings, and what is true of a place."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, list):
            value = tuple(sorted(value))
        if not isinstance(value, Struct):
            yield f"{begin}{name.replace('_', ' ')}", value


def _limit_facts(limits: Limits) -> _Pairs:
    yield "cgroup versions", ", ".join(limits.cgroup_versions)
    io = (f"{limit.kind} {limit.device_name or limit.device} {limit.value}" for limit in limits.io)
    yield "I/O limits", ", ".join(sorted(io)) or "none"
    memory = sorted({limit.bytes for limit in limits.memory if limit.bytes > 0})
    yield "memory limits", ", ".join(f"{value / _GIB:.1f} GiB" for value in memory) or "none"
    cpu = sorted({limit.quota_us / limit.period_us for limit in limits.cpu if limit.period_us})
    yield "CPU limits", ", ".join(f"{value:g} {plural(value, 'CPU')}" for value in cpu) or "none"


def _counted(values: Iterable[str]) -> str:
    """Return `nvme_card` where all are the same, or `nvme_card, 2 × pd`.

    Disks are numbered in the order in which they start, so names and order have no meaning; the
    number of disks is a separate fact.
    """
    counts = sorted(Counter(values).items())
    if len(counts) == 1:
        return counts[0][0]
    return ", ".join(value if count == 1 else f"{count} × {value}" for value, count in counts)


def dirty_room(worker: Worker) -> float | None:
    """Return where the kernel begins to slow writers down: half way between its two limits."""
    host, limits = worker.result.host, worker.result.limits
    if host is None or host.system != LINUX or host.memory_available_bytes is None:
        return None
    groups = [limit.bytes for limit in limits.memory] if limits else []
    memory = max(0, min([host.memory_available_bytes, *groups]))
    lower, upper = (
        host.vm.get(f"{name}_bytes") or (host.vm.get(f"{name}_ratio") or usual) / 100 * memory
        for name, usual in (("dirty_background", 10), ("dirty", 20))
    )
    return (upper + (lower if lower < upper else upper / 2)) / 2
