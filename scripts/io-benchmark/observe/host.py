# SPDX-License-Identifier: MPL-2.0
"""Facts about the machine, and the tools that workloads use."""

import hmac
import mmap
import os
import re
import sys
import time
from typing import Any

from log import MIB
from observe import limits, storage
from reading import exists, first_int, first_match, list_names, output_of, read_int, read_text

CACHES = "/sys/devices/system/cpu/cpu0/cache"
MACHINE_ID_OF = b"io-benchmark"
TOUCH_BYTES, CHUNK_BYTES = 64 * MIB, 8 * MIB
TOO_LITTLE_MEMORY = "the cost of touching new memory is not known: %d MiB are not free" % (
    2 * CHUNK_BYTES // MIB
)
# v1 also has a line for the group without those below it, first.
INACTIVE = r"(?s:.*)^(?:total_)?inactive_file (\d+)"
TOOLS = ("bash", "cp", "curl", "grep", "sed")
USED_MEMORY = ("memory.usage_in_bytes", "memory.current")  # of v1, of v2
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
VM_SETTINGS = (
    *("dirty_background_bytes", "dirty_background_ratio", "dirty_bytes"),
    *("dirty_expire_centisecs", "dirty_ratio", "dirty_writeback_centisecs", "swappiness"),
)


def observe(*, may_measure=True):
    """Describe the machine; without measuring, what takes time is left empty."""
    kernel = os.uname()
    return {
        "kernel": kernel.release,
        "kernel_version": kernel.version,
        "architecture": kernel.machine,
        "distribution": first_match(r'^PRETTY_NAME="?([^"\n]+)', "/etc/os-release"),
        "cpu_model": first_match(r"^model name\s*:\s*(.+)", "/proc/cpuinfo"),
        "cpu_count": len(os.sched_getaffinity(0)),
        "cpu_online_count": os.cpu_count(),
        "l3_cache_bytes": cache_bytes().get("index3"),
        "memory_bytes": memory_bytes("MemTotal"),
        "memory_available_bytes": memory_bytes("MemAvailable"),
        "machine_vendor": read_text("/sys/class/dmi/id/sys_vendor"),
        "machine_product": read_text("/sys/class/dmi/id/product_name"),
        "boot_id": read_text("/proc/sys/kernel/random/boot_id"),
        "machine_id": _machine_id(),
        "container": _container(),
        "user_id": os.geteuid(),
        "transparent_huge_pages": read_text(HUGE_PAGES),
        "vm": {name: read_int("/proc/sys/vm/" + name) for name in VM_SETTINGS},
        "first_touch_ns_per_mib": _touch_new_memory() if may_measure else [],
        "tools": _tool_versions() if may_measure else {},
    }


def memory_bytes(field):
    kib = first_int(r"^%s:\s+(\d+) kB" % field, "/proc/meminfo")
    return None if kib is None else kib * 1024


def available_bytes():
    """Return the memory that is free on the machine and in each cgroup; None where it is not known.

    A cgroup's inactive page cache counts as free: the kernel takes it back first.
    """
    free = [memory_bytes("MemAvailable")]
    for limit in limits.observe()["memory"]:
        group = limit["group"]
        used = [read_int(os.path.join(group, name)) or 0 for name in USED_MEMORY]
        cached = first_int(INACTIVE, os.path.join(group, "memory.stat")) or 0
        free.append(limit["bytes"] - max(used) + cached)
    return min((value for value in free if value is not None), default=None)


def cache_bytes():
    """Return the sizes of the first CPU's caches by their names, such as index3."""
    sizes = {name: read_text("%s/%s/size" % (CACHES, name)) or "" for name in list_names(CACHES)}
    matches = {name: re.fullmatch(r"(\d+)([KMG])", size) for name, size in sizes.items()}
    units = {"K": 1024, "M": MIB, "G": 1024 * MIB}
    return {name: int(match[1]) * units[match[2]] for name, match in matches.items() if match}


def _machine_id():
    """Return a hash of the machine's id, which must not be published; None in a container.

    There it may be the image's, the same on many machines.
    """
    identifier = read_text("/etc/machine-id") or ""
    if not re.fullmatch("[0-9a-f]{32}", identifier) or storage.in_container(storage.mount_table()):
        return None
    # As sd_id128_get_machine_app_specific(3) recommends.
    return hmac.new(bytes.fromhex(identifier), MACHINE_ID_OF, "sha256").hexdigest()[:32]


def _container():
    """Return the container engine if it can be seen, and the file system of the root."""
    table = storage.mount_table()
    if not storage.in_container(table):
        return None
    marks = {"podman": "/run/.containerenv", "docker": "/.dockerenv"}
    engine = next((name for name, path in marks.items() if exists(path)), None)
    root = storage.mount_of("/", table)
    return {"engine": engine, "root_filesystem": root.filesystem if root else None}


def _touch_new_memory():
    """Return the cost of touching new memory, per MiB, for each chunk; high in some guests."""
    costs = []
    # Half of what is free at most: beyond a cgroup's limit, the kernel would kill this process.
    chunks = min(TOUCH_BYTES, (available_bytes() or 0) // 2) // CHUNK_BYTES
    try:
        memory = mmap.mmap(-1, chunks * CHUNK_BYTES)
    except (OSError, ValueError):
        return costs  # not enough memory
    with memory:
        for start in range(0, chunks * CHUNK_BYTES, CHUNK_BYTES):
            started_ns = time.monotonic_ns()
            for offset in range(start, start + CHUNK_BYTES, mmap.PAGESIZE):
                memory[offset] = 1
            costs.append((time.monotonic_ns() - started_ns) // 8)
    return costs


def _tool_versions():
    """Return path and version of each tool that a workload may call; None if it is missing."""
    import shutil  # noqa: PLC0415 - as in reading.py

    tools: Any = {name: shutil.which(name) for name in TOOLS}
    for name, path in tools.items():
        version = output_of([path, "--version"]).partition("\n")[0].strip() if path else ""
        tools[name] = path and {"path": path, "version": version[:200] or None}
    tools["python3"] = {"path": sys.executable, "version": sys.version.split()[0]}
    return tools


def dirty_limit_bytes():
    """Return how much may be dirty before writers must wait, by about the kernel's rule."""
    exact = read_int("/proc/sys/vm/dirty_bytes")
    if exact:
        return exact
    ratio = read_int("/proc/sys/vm/dirty_ratio") or 20
    return (memory_bytes("MemAvailable") or 0) * ratio // 100
