# SPDX-License-Identifier: MPL-2.0
"""Facts about workers' hosts and storage.

Each is a name and a short text, or a set of options. What differs on every machine by its nature (ids, free
space, device numbers) is not a fact. A memory's size is rounded, since a kernel takes a part of it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from io_benchmark.analysis.observed.runs import Run
from io_benchmark.results import Result
from io_benchmark.results.machine import Host, Limits, StoragePlace

FactValue = str | tuple[str, ...]  # a text, or a set of options in order
# `CPUs` and `16`, in the order that reports show.
Facts = tuple[tuple[str, FactValue], ...]

_GIB = 1024**3
# The settings of a leaf device's queue that decide how writes are gathered.
_QUEUE = ("nr_requests", "read_ahead_kb", "max_sectors_kb", "rotational", "wbt_lat_usec")
# The facts by which a pool's machines are of several kinds. The others are settings of a machine.
_KINDS = {
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
}
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


def kind_of_machine(runs: Sequence[Run]) -> dict[str, str]:
    """Return what kind of machine these runs had, by the facts that all of them share."""
    of_runs = [
        dict(facts_of(run.worker.result, run.entry.subject.place, None, None)) for run in runs
    ]
    return {
        name: "1 disk" if (name, value) == ("disks", "1") else text.format(value)
        for name, text in _KINDS.items()
        if (value := of_runs[0].get(name)) is not None
        and all(facts.get(name) == value for facts in of_runs)
    }


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


def _limit_facts(limits: Limits) -> _Pairs:
    yield "cgroup versions", ", ".join(limits.cgroup_versions)
    io = (f"{limit.kind} {limit.device_name or limit.device} {limit.value}" for limit in limits.io)
    yield "I/O limits", ", ".join(sorted(io)) or "none"
    memory = sorted({limit.bytes for limit in limits.memory if limit.bytes > 0})
    yield "memory limits", ", ".join(f"{value / _GIB:.1f} GiB" for value in memory) or "none"
    cpu = sorted({limit.quota_us / limit.period_us for limit in limits.cpu if limit.period_us})
    yield "CPU limits", ", ".join(f"{value:g} CPUs" for value in cpu) or "none"


def _counted(values: Iterable[str]) -> str:
    """Return `nvme_card` where all are the same, or `nvme_card, 2 × pd`.

    Disks are numbered in the order in which they start, so names and order have no meaning; the
    number of disks is a separate fact.
    """
    counts = sorted(Counter(values).items())
    if len(counts) == 1:
        return counts[0][0]
    return ", ".join(value if count == 1 else f"{count} × {value}" for value, count in counts)
