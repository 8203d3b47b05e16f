# SPDX-License-Identifier: MPL-2.0
"""How much memory a worker may fill with data that is not written yet."""

from io_benchmark.analysis.model import Worker


def dirty_room(worker: Worker) -> float | None:
    """Return where the kernel begins to slow writers down: half way between its two limits."""
    host, limits = worker.result.host, worker.result.limits
    if host is None or host.memory_available_bytes is None:
        return None
    groups = [limit.bytes for limit in limits.memory] if limits else []
    memory = max(0, min([host.memory_available_bytes, *groups]))
    ends = (
        host.vm.get(f"{name}_bytes") or (host.vm.get(f"{name}_ratio") or usual) / 100 * memory
        for name, usual in (("dirty_background", 10), ("dirty", 20))
    )
    return sum(ends) / 2
