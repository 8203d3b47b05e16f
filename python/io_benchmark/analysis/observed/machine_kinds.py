# SPDX-License-Identifier: MPL-2.0
"""What kind of machine a worker is: the facts by which a pool's machines may be of several kinds."""

from collections.abc import Callable, Sequence

from io_benchmark.analysis.model import Run
from io_benchmark.analysis.observed.worker_view import View
from io_benchmark.results.machine import Host

_GIB = 2.0**30
_GB = 1e9


def machine_facts(runs: Sequence[Run]) -> dict[str, str]:
    """Return the facts of one machine by name; those are left out that its runs do not show or share."""
    views = [View(run.worker, run.entry.subject) for run in runs]
    facts = {}
    for name, fact_of in _FACTS.items():
        values = {fact_of(view) for view in views}
        value = values.pop()
        if value is not None and not values:
            facts[name] = value
    return facts


def _disks(view: View) -> str | None:
    if view.stack is None:
        return None
    return "1 disk" if len(view.stack.disks) == 1 else f"{len(view.stack.disks)} disks"


def _disk_models(view: View) -> str | None:
    models = {(disk.model or "").strip() for disk in view.stack.disks} if view.stack else {""}
    return None if "" in models else f"disks of model {' and '.join(sorted(models))}"


def _disk_sizes(view: View) -> str | None:
    sizes = {disk.size_bytes for disk in view.stack.disks} if view.stack else {None}
    known = sorted(size for size in sizes if size)
    return f"disks of {' and '.join(f'{size / _GB:.0f}' for size in known)} GB" if known else None


def _file_system(view: View) -> str | None:
    return f"the file system {view.filesystem_type}" if view.filesystem_type else None


def _machine_type(view: View) -> str | None:
    return f"the machine type {view.machine_type.name}" if view.machine_type.name else None


def _zone(view: View) -> str | None:
    zone = view.worker.zone or view.worker.result.task.location.get("zone")
    return f"the zone {zone}" if zone else None


def _of_host(write: Callable[[Host], str | None]) -> Callable[[View], str | None]:
    return lambda view: write(view.host) if view.host is not None else None


def _memory(host: Host) -> str | None:
    # Machines of one type differ by some megabytes.
    return f"{host.memory_bytes / _GIB:.0f} GiB of memory" if host.memory_bytes else None


_FACTS: dict[str, Callable[[View], str | None]] = {
    "machine type": _machine_type,
    "number of disks": _disks,
    "model of the disks": _disk_models,
    "size of the disks": _disk_sizes,
    "file system": _file_system,
    "CPU": _of_host(lambda host: f"the CPU {host.cpu_model}" if host.cpu_model else None),
    "number of CPUs": _of_host(lambda host: f"{host.cpu_count} CPUs" if host.cpu_count else None),
    "memory": _of_host(_memory),
    "kernel": _of_host(lambda host: f"the kernel {host.kernel}" if host.kernel else None),
    "zone": _zone,
}
