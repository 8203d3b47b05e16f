# SPDX-License-Identifier: MPL-2.0
"""Small writes that must reach the disk, one after another (seeds 001 and 002).

  dsync-overwrite     512 bytes into blocks that the file has, opened O_DSYNC: only the data
  dsync-append        512 more bytes each time, opened O_DSYNC, as the seed's `dd oflag=dsync` does:
                      the data, and through the journal the file's new length
  append-fsync        an ordinary write of 512 more bytes, then fsync
  dsync-append-first  as dsync-append, but only the first 30 writes of a process, by one process
                      after another: bfq idles while it learns what a process does, and not later

Measured: each write until the file system reports it as stored; of the first writes, all 30
together; and what the writing processes spent on a CPU and waiting for one.
On Windows, WRITE_THROUGH with NO_BUFFERING is in the place of O_DSYNC, and FlushFileBuffers in that
of fsync; a write has 512 bytes or a sector of the disk, if that has more.
Each variant runs in a new process that has done no I/O before, because schedulers such as bfq count
bandwidth and idling per process. Not measured: opening, creating, closing. Whether the disk really
stores the data cannot be seen; the storage part of the result has its write cache.
"""

import itertools
import mmap
import os

from measuring.batches import PYTHON, Batches
from system import accounts, clock, crews, files, folders

FIRST = "dsync-append-first"
REGION_WRITES = 2048  # overwritten one after the other: 1 MiB
FULL = {"samples_planned": 10_000, "warm_up": 100, "processes": 300, "time_limit_s": 30.0}
QUICK = {"samples_planned": 200, "warm_up": 10, "processes": 10, "time_limit_s": 1.0}
FIRST_WRITES = 30
MESSAGE_EVERY_NS = 100_000_000


class _SyncWrite(Batches):
    name = "sync-write"
    unit = "µs"
    unit_ns = 1_000
    maximum_s = 130
    names = ("dsync-overwrite", "dsync-append", "append-fsync", FIRST)
    observes = ("process", "python")
    full, quick = FULL, QUICK

    def parameters(self, variant):
        is_first = variant["variant"] == FIRST
        return {
            "write_bytes": files.sync_block_bytes(self._folder),
            "samples_planned": self.sizes["processes" if is_first else "samples_planned"],
            "warm_up": 0 if is_first else self.sizes["warm_up"],
            "writes_a_process": FIRST_WRITES if is_first else None,
        }

    def prepare(self):
        # An append may also write a block of the journal and one of the inode.
        block_bytes = files.sync_block_bytes(self._folder)
        self.check_space(4 * block_bytes * FULL["samples_planned"])

    def measure(self, entry):
        entry["observed"].update(process="fresh", python=PYTHON)
        path, parameters = os.path.join(self._folder, entry["variant"]), entry["parameters"]
        writes = parameters["writes_a_process"]  # of a sample; None: each write is one
        work = entry["variant"], path, parameters["write_bytes"], parameters["warm_up"]
        enough = False
        while not enough:
            samples = 1 if writes else self.planned - self.taken
            try:
                with crews.Crew(1, _work, *work, samples) as crew:
                    enough = self.take_times(crew, writes or 1)
            finally:
                if os.path.exists(path):
                    folders.remove(path)


def _work(_number, ready, tell, variant, path, write_bytes, warm_up, samples):
    # A write past the cache may have to begin at a page.
    block = mmap.mmap(-1, write_bytes)
    block.write(os.urandom(write_bytes))
    step = STEPS[variant](path, block)
    for _ in range(warm_up):
        step()
    ready()
    _write_and_tell(step, samples, tell)


def _write_and_tell(step, samples, tell):
    """Write, and send the times and what was spent, never between the two readings of the clock."""
    read_clock = clock.now_ns
    with accounts.Account() as account:
        while samples > 0:
            times, due_ns = [], read_clock() + MESSAGE_EVERY_NS
            before = account.read()
            end_ns = 0
            while end_ns < due_ns and len(times) < samples:
                start_ns = read_clock()
                step()
                end_ns = read_clock()
                times.append((start_ns, end_ns))
            tell([times, [end_ns - times[0][0], *account.since(before)]])
            samples -= len(times)


def _overwriting(path, block):
    descriptor = files.open_new(path)
    for _ in range(REGION_WRITES):
        os.write(descriptor, block)
    files.sync(descriptor)
    os.close(descriptor)
    descriptor = files.open_synced(path)
    offsets = itertools.cycle(range(0, REGION_WRITES * len(block), len(block)))
    return lambda: files.write_at(descriptor, block, next(offsets))


def _appending(path, block):
    descriptor = files.open_to_append(path, is_synced=True)
    return lambda: os.write(descriptor, block)


def _appending_first(path, block):
    append = _appending(path, block)

    def step():
        for _ in range(FIRST_WRITES):
            append()

    return step


def _appending_with_fsync(path, block):
    descriptor = files.open_to_append(path, is_synced=False)

    def step():
        os.write(descriptor, block)
        files.sync(descriptor)

    return step


MAKERS = (_overwriting, _appending, _appending_with_fsync, _appending_first)
STEPS = dict(zip(_SyncWrite.names, MAKERS))
WORKLOAD = _SyncWrite
