# SPDX-License-Identifier: MPL-2.0
"""Random reads and writes of 4 KiB past the page cache, one and 32 in flight (seed 000's fio).

Measured: the number of operations per window of 100 ms, on a file of random bytes that was written
and synced before, opened O_DIRECT (on Windows NO_BUFFERING); the 99th percentile of the latency of
all operations; and what the threads of several Python processes, each with one operation in flight,
spent on a CPU and waiting for one. Not measured: sequential I/O, and anything that the page cache
does. If the file system refuses O_DIRECT (an older tmpfs), the workload is skipped: through the
page cache it would measure memory.
"""

import mmap
import os
import random
import threading
from collections import Counter

from errors import SkippedError
from log import MIB, NS_PER_S
from measuring.batches import Batches, count
from system import clock, crews, files, host, page_cache
from system.probes import write_new_file, write_probe

BLOCK_BYTES = 4096
WINDOW_NS = 100_000_000
FULL = {"file_bytes": 1024 * MIB, "time_limit_s": 15.0}
QUICK = {"file_bytes": 32 * MIB, "time_limit_s": 1.0}
MOST_PROCESSES = 8
WINDOWS_PER_MESSAGE = 5


class _RandomIo(Batches):
    name = "random-io"
    unit = "IOPS"
    maximum_s = 95
    names = ("read-depth-1", "write-depth-1", "read-depth-32", "write-depth-32")
    observes = ("method", "latency_ns")
    full, quick = FULL, QUICK

    def parameters(self, variant):
        operation, _, depth = variant["variant"].partition("-depth-")
        return {
            "operation": operation,
            "block_bytes": BLOCK_BYTES,
            "depth": int(depth),
            "file_bytes": self.sizes["file_bytes"],
            "window_ns": WINDOW_NS,
            "samples_planned": int(self.sizes["time_limit_s"] * NS_PER_S) // WINDOW_NS,
        }

    def prepare(self):
        self._file = os.path.join(self._folder, "random-io")
        size = self.sizes["file_bytes"]
        self.check_space(size + 16 * MIB)
        try:
            write_probe(self._folder)
        except OSError as error:
            raise SkippedError(files.DIRECT_REFUSED % error.strerror) from None
        write_new_file(self._file, size, os.urandom(MIB), is_synced=True)
        page_cache.evict(self._file)

    def kept_bytes(self):
        return self.sizes["file_bytes"]

    def start(self, _entry):
        self._latencies = Counter()

    def measure(self, entry):
        parameters, depth = entry["parameters"], entry["parameters"]["depth"]
        processes = min(MOST_PROCESSES, depth, len(host.usable_cpus()))
        least, more = divmod(depth, processes)
        entry["observed"]["method"] = files.DIRECT_METHOD
        threads = [least + (number < more) for number in range(processes)]
        seed = self._bench.settings.seed + self.taken
        arguments = (self._file, parameters, self.time_limit_s, threads, seed)
        try:
            with crews.Crew(processes, _work, *arguments) as crew:
                self.take_windows(crew, depth, entry, self._take_latencies)
        finally:
            if self._latencies:
                entry["observed"]["latency_ns"] = {"p99": _percentile_99(self._latencies)}

    def _take_latencies(self, message):
        self._latencies.update(dict(message["latencies"]))


def _rounded_down(latency_ns):
    """Return the latency to 1/64 of its power of two, so that few different ones are counted."""
    shift = max(0, latency_ns.bit_length() - 7)
    return (latency_ns >> shift) << shift


def _percentile_99(counts):
    left = sum(counts.values()) * 99 // 100
    for latency_ns in sorted(counts):
        left -= counts[latency_ns]
        if left < 0:
            break
    return latency_ns


def _work(number, ready, tell, path, parameters, time_limit_s, threads_of_members, seed):
    """Run in a crew's process: start the threads, each with one operation in flight."""
    seed, threads = seed + 1000 * number, threads_of_members[number]
    lock = threading.Lock()
    errors, latencies = [], [Counter() for _ in range(threads)]
    go = threading.Event()

    def run(thread):
        go.wait()

        def tell_alone(message):
            with lock:
                tell(message)

        try:
            generator = random.Random("%d %d" % (seed, thread))
            step = _stepper(path, parameters, generator, latencies[thread])
            end_ns = clock.now_ns() + int(time_limit_s * NS_PER_S)
            count(step, 1, parameters["window_ns"], end_ns, tell_alone, WINDOWS_PER_MESSAGE, thread)
        except OSError as error:
            errors.append(error)

    running = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(threads)]
    for thread in running:
        try:
            thread.start()
        except RuntimeError:  # no memory for its stack, or a limit of processes
            raise OSError(None, "cannot start %d threads" % threads) from None
    ready()
    go.set()
    for thread in running:
        thread.join()
    if errors:
        raise errors[0]
    for counts in latencies:
        tell({"latencies": list(counts.items())})


def _stepper(path, parameters, generator, latencies):
    writes = parameters["operation"] == "write"
    descriptor = files.open_direct(path, writes=writes)  # of each thread: Windows lets one wait
    size = parameters["block_bytes"]
    block = mmap.mmap(-1, size)  # begins at a page, as unbuffered I/O requires
    block.write(os.urandom(size))
    blocks = parameters["file_bytes"] // size
    read_clock, chance = clock.now_ns, generator.random

    def step():
        offset = int(chance() * blocks) * size
        start_ns = read_clock()
        if writes:
            files.write_at(descriptor, block, offset)
        else:
            files.read_at(descriptor, block, offset)
        latencies[_rounded_down(read_clock() - start_ns)] += 1

    return step


WORKLOAD = _RandomIo
