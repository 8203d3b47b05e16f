# SPDX-License-Identifier: MPL-2.0
"""What is done in the same way on every system: files, new memory, unbuffered writes, tools."""

import mmap
import os
import sys
from typing import Any

from log import MIB

from system import clock, files, folders

TOUCH_BYTES, CHUNK_BYTES = 64 * MIB, 8 * MIB
TOO_LITTLE_MEMORY = "the cost of touching new memory is not known: %d MiB are not free" % (
    2 * CHUNK_BYTES // MIB
)
WRITTEN_BYTES = 8 * MIB
SYNC_DATA = getattr(os, "fdatasync", os.fsync)  # Windows has fsync alone


def touch_new_memory(available_bytes):
    """Return the cost of touching new memory, per MiB, for each chunk; high in some guests."""
    costs: Any = []
    # Half of what is free at most: beyond a cgroup's limit, the kernel would kill this process.
    chunks = min(TOUCH_BYTES, available_bytes // 2) // CHUNK_BYTES
    try:
        memory = mmap.mmap(-1, chunks * CHUNK_BYTES)
    except (OSError, ValueError):
        return costs  # not enough memory
    with memory:
        for start in range(0, chunks * CHUNK_BYTES, CHUNK_BYTES):
            started_ns = clock.now_ns()
            for offset in range(start, start + CHUNK_BYTES, mmap.PAGESIZE):
                memory[offset] = 1
            costs.append((clock.now_ns() - started_ns) // 8)
    return costs


def write_probe(folder):
    """Write and sync 8 MiB past the page cache, without two equal blocks."""
    path = os.path.join(folder, ".io-benchmark-probe-%d" % os.getpid())
    os.close(files.open_new(path))
    try:
        descriptor = files.open_direct(path, writes=True)
        try:
            with mmap.mmap(-1, MIB) as chunk:  # begins at a page, as unbuffered I/O requires
                for number in range(WRITTEN_BYTES // MIB):
                    chunk[:] = os.urandom(MIB)
                    files.write_at(descriptor, chunk, number * MIB)
            files.sync(descriptor)
        finally:
            os.close(descriptor)
    finally:
        folders.remove(path)


def tool_versions(names, version_of):
    """Return path and version of each tool that a workload may call; None if it is missing."""
    import shutil  # noqa: PLC0415 - measure must not load it

    tools: Any = {name: shutil.which(name) for name in names}
    for name, path in tools.items():
        version = version_of(path).partition("\n")[0].strip() if path else ""
        tools[name] = path and {"path": path, "version": version[:200] or None}
    tools["python3"] = {"path": sys.executable, "version": sys.version.split()[0]}
    return tools


def write_new_file(path, size, chunk, *, is_synced=False):
    """Write the same random MiB repeatedly, as the seed does, to save time in urandom."""
    with open(path, "xb", buffering=0) as file:
        left = size
        while left > 0:
            left -= file.write(chunk[: min(len(chunk), left)])
        if is_synced:
            SYNC_DATA(file.fileno())


def read_file(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(MIB):
            pass
