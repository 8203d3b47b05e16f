# SPDX-License-Identifier: MPL-2.0
"""Facts about workers' hosts and storage, and which of them changed where a level changes.

Each is a name and a short text, or a set of options. What differs on every machine by its nature (ids, free space,
device numbers) is not a fact. A memory's size is rounded, since a kernel takes a part of it.

A fact changed here if it has one value on all workers before and a different one on all workers
after. Noise can move a change by one or two points. So a fact that changes at a nearby point is also
listed, with its distance. A fact that varies before or after the change does not explain it, and is
listed separately.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from io_benchmark.analysis.history.history_model import FactChange, Facts, FactSpread, FactValue
from io_benchmark.results import Result
from io_benchmark.results.machine import Device, Host, Limits, StoragePlace

_GIB = 1024**3
# The settings of a leaf device's queue that decide how writes are gathered.
_QUEUE = ("nr_requests", "read_ahead_kb", "max_sectors_kb", "rotational", "wbt_lat_usec")

# How far noise can move a change that is large enough to matter.
_POINTS_NEAR = 2
_Pairs = Iterator[tuple[str, object]]


def facts_of(result: Result, place: str, task_queue: str | None, image: str | None) -> Facts:
    """Return the facts that were observed."""
    pairs = [
        *(
            pair
            for storage in result.storage.places
            if storage.name == place and storage.failed is None
            for pair in _place_facts(storage)
        ),
        ("instance type", result.task.instance_type),
        *(_limit_facts(result.limits) if result.limits else ()),
        *(_host_facts(result.host) if result.host else ()),
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


def _host_facts(host: Host) -> _Pairs:
    yield "machine", " ".join(filter(None, (host.machine_vendor, host.machine_product)))
    yield "CPU", host.cpu_model
    yield "CPUs", host.cpu_count
    if host.memory_bytes is not None:
        yield "memory", f"{round(host.memory_bytes / _GIB)} GiB"
    yield "kernel", host.kernel
    yield "kernel build", host.kernel_version
    yield "distribution", host.distribution
    if host.container:
        yield "container engine", host.container.engine
        yield "root file system", host.container.root_filesystem
    yield "transparent huge pages", host.transparent_huge_pages
    for name, value in sorted(host.vm.items()):
        yield f"vm.{name}", value
    for name, tool in sorted(host.tools.items()):
        yield name, "not installed" if tool is None else tool.version or "version unknown"


def _place_facts(place: StoragePlace) -> _Pairs:
    leaves = place.leaf_devices
    levels = {device.raid_level for device in place.devices if device.raid_level}
    yield "disks", len(leaves) or None
    yield "stripes", _stripes(place.devices)
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


def _limit_facts(limits: Limits) -> _Pairs:
    yield "cgroup versions", ", ".join(limits.cgroup_versions)
    io = (f"{limit.kind} {limit.device_name or limit.device} {limit.value}" for limit in limits.io)
    yield "I/O limits", ", ".join(sorted(io)) or "none"
    memory = sorted({limit.bytes for limit in limits.memory if limit.bytes > 0})
    yield "memory limits", ", ".join(f"{value / _GIB:.1f} GiB" for value in memory) or "none"
    cpu = sorted({limit.quota_us / limit.period_us for limit in limits.cpu if limit.period_us})
    yield "CPU limits", ", ".join(f"{value:g} CPUs" for value in cpu) or "none"


def _stripes(devices: list[Device]) -> str | None:
    most = max((device.stripe_count or 1 for device in devices), default=None)
    if most is None:
        return None
    return str(most) if most > 1 else "none"


def _counted(values: Iterable[str]) -> str:
    """Return `nvme_card` where all are the same, or `nvme_card, 2 × pd`.

    Disks are numbered in the order in which they start, so names and order have no meaning; the
    number of disks is a separate fact.
    """
    counts = sorted(Counter(values).items())
    if len(counts) == 1:
        return counts[0][0]
    return ", ".join(value if count == 1 else f"{count} × {value}" for value, count in counts)


def fact_changes(
    observed: Iterable[tuple[int, Facts]], start: int
) -> tuple[tuple[FactChange, ...], tuple[FactSpread, ...], bool]:
    """Return what changed at point `start` or near it, what varies, and whether nothing was observed.

    `observed` has the number of a point and the facts of a worker, for each worker.
    """
    values: dict[str, list[tuple[int, FactValue]]] = {}
    for point, facts in sorted(observed, key=lambda pair: pair[0]):
        for name, value in facts:
            values.setdefault(name, []).append((point, value))
    changed: list[FactChange] = []
    varied: list[FactSpread] = []
    unobserved = True
    for name, pairs in values.items():
        before = tuple(sorted({value for point, value in pairs if point < start}, key=str))
        after = tuple(sorted({value for point, value in pairs if point >= start}, key=str))
        if before and after:
            unobserved = False
            change = _single_change(name, pairs, start)
            if change is not None and abs(change.points_off) <= _POINTS_NEAR:
                changed.append(change)
            elif before != after or len(before) > 1:
                varied.append(FactSpread(name, before, after))
    changed.sort(key=lambda change: abs(change.points_off))
    return tuple(changed), tuple(varied), unobserved


def _single_change(
    name: str, pairs: Sequence[tuple[int, FactValue]], start: int
) -> FactChange | None:
    """Return where a fact has one value on all workers before, and a different one from there on."""
    pieces = [
        (value, [point for point, _ in piece])
        for value, piece in itertools.groupby(
            sorted(pairs, key=lambda pair: (pair[0], str(pair[1]))), key=lambda pair: pair[1]
        )
    ]
    if len(pieces) != 2 or pieces[0][1][-1] == pieces[1][1][0]:
        return None
    (before, _), (after, points) = pieces
    return FactChange(name, before, after, points[0] - start)
