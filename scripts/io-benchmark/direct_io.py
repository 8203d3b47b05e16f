# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Random reads or writes past the page cache, by threads of several processes."""

import mmap
import os
import random
import threading
import time
from collections import Counter

from log import NS_PER_S
from windows import count

WINDOWS_PER_MESSAGE = 5


def refused(folder):
    """Return why the file system refuses O_DIRECT; None where it accepts it."""
    path = os.path.join(folder, "direct")
    block = mmap.mmap(-1, 4096)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
        try:
            os.pwrite(descriptor, block, 0)
            os.preadv(descriptor, [block], 0)
        finally:
            os.close(descriptor)
    except OSError as error:
        return error.strerror
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return None


class Latencies:
    """Counts per latency, in buckets of 1/64 of their power of two."""

    def __init__(self):
        self.counts = Counter()
        self.sum_ns = self.max_ns = 0

    def add(self, ns):
        shift = max(0, ns.bit_length() - 7)
        key = (ns >> shift) << shift
        self.counts[key] += 1
        self.sum_ns += ns
        self.max_ns = max(self.max_ns, ns)

    def merge(self, message):
        self.counts.update(dict(message["latencies"]))
        self.sum_ns += message["sum_ns"]
        self.max_ns = max(self.max_ns, message["max_ns"])

    def as_message(self):
        counts = sorted(self.counts.items())
        return {"latencies": counts, "sum_ns": self.sum_ns, "max_ns": self.max_ns}

    def summary(self):
        total = sum(self.counts.values())
        figures = {"mean": self.sum_ns // total}
        for percent in (50, 95, 99):
            left = total * percent // 100
            for key in sorted(self.counts):
                left -= self.counts[key]
                if left < 0:
                    break
            figures["p%d" % percent] = key
        return {**figures, "max": self.max_ns}


def work(path, parameters, threads, seed, ready, tell):
    """Run in a crew's process: start the threads, each with one operation in flight."""
    writes = parameters["operation"] == "write"
    descriptor = os.open(path, (os.O_WRONLY if writes else os.O_RDONLY) | os.O_DIRECT)
    lock = threading.Lock()
    errors, latencies, running = [], [Latencies() for _ in range(threads)], []
    go = threading.Event()

    def run(thread):
        go.wait()

        def tell_counts(counts, spent):
            with lock:
                tell([thread, counts, spent])

        try:
            generator = random.Random("%d %d" % (seed, thread))
            measured = latencies[thread]
            step = _stepper(descriptor, writes, parameters, generator, measured)
            window_ns, each = parameters["window_ns"], WINDOWS_PER_MESSAGE
            limit_ns = int(parameters["time_limit_s"] * NS_PER_S)
            end_ns = time.monotonic_ns() + limit_ns
            count(step, 1, window_ns, end_ns, tell_counts, each)
        except OSError as error:
            errors.append(error)

    for number in range(threads):
        running.append(threading.Thread(target=run, args=(number,), daemon=True))
        try:
            running[-1].start()
        except RuntimeError:  # no memory for its stack, or a limit of processes
            raise OSError(None, "cannot start %d threads" % threads) from None
    ready()
    go.set()
    for thread in running:
        thread.join()
    if errors:
        raise errors[0]
    for member_latencies in latencies:
        tell(member_latencies.as_message())


def _stepper(descriptor, writes, parameters, generator, latencies):
    size = parameters["block_bytes"]
    block = mmap.mmap(-1, size)  # begins at a page, as O_DIRECT requires
    block.write(os.urandom(size))
    blocks = parameters["file_bytes"] // size
    clock, chance = time.monotonic_ns, generator.random

    def step():
        offset = int(chance() * blocks) * size
        start_ns = clock()
        if writes:
            os.pwrite(descriptor, block, offset)
        else:
            os.preadv(descriptor, (block,), offset)
        latencies.add(clock() - start_ns)

    return step
