# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Random reads and writes of 4 KiB past the page cache, one and 32 in flight (seed 000's fio).

Measured: the number of operations per window of 100 ms, on a file of random bytes that was written
and synced before, opened O_DIRECT; the mean and percentiles of the latency of all operations; and what
the threads spent on a CPU and waiting for one, of which fio reports only the former. By fio if it is on
PATH, otherwise by threads of Python processes. The result names the method, since the two are not
comparable: Python uses more CPU per operation. Not measured: sequential I/O, and anything that the page
cache does. If the file system refuses O_DIRECT (an older tmpfs), the workload is skipped: through the
page cache it would measure memory.

fio logs a window's rate and end in whole milliseconds, so that operations are known to about 1 %. Its
windows begin at its start, as this process sees it. --precision does not end it early.
"""

import os
import tempfile
import time

import direct_io
from batches import Batches
from crew import Crew
from early_end import SkippedError
from fio import Fio
from log import MIB, NS_PER_S, ProgressLines, say
from observe import page_cache

BLOCK_BYTES = 4096
DEPTHS = (1, 32)
FILE_BYTES, QUICK_FILE_BYTES = 1024 * MIB, 32 * MIB
WINDOW_NS = 100_000_000
TIME_LIMIT_S, QUICK_TIME_LIMIT_S = 15.0, 1.0
MOST_PROCESSES = 8
PYTHON_METHOD = "python-o-direct"


class _RandomIo(Batches):
    name = "random-io"
    unit = "IOPS"
    maximum_s = 95
    observes = (
        "method",
        "io_engine",
        "processes",
        "prefill_ns",
        "total_operations",
        "latency_ns",
    )

    @staticmethod
    def variants(_settings):
        return [
            {"variant": "%s-depth-%d" % (operation, depth), "threads": None}
            for depth in DEPTHS
            for operation in ("read", "write")
        ]

    def parameters(self, variant):
        operation, _, depth = variant["variant"].partition("-depth-")
        limit_s = QUICK_TIME_LIMIT_S if self._quick else TIME_LIMIT_S
        return {
            "operation": operation,
            "block_bytes": BLOCK_BYTES,
            "depth": int(depth),
            "file_bytes": QUICK_FILE_BYTES if self._quick else FILE_BYTES,
            "window_ns": WINDOW_NS,
            "samples_planned": int(limit_s * NS_PER_S) // WINDOW_NS,
            "time_limit_s": limit_s,
        }

    def prepare(self):
        self._file = os.path.join(self._folder, "random-io")
        size = QUICK_FILE_BYTES if self._quick else FILE_BYTES
        self.check_space(size + 16 * MIB)
        reason = direct_io.refused(self._folder)
        if reason is not None:
            raise SkippedError("O_DIRECT is refused here: %s" % reason)
        self._fio, self._version, self._engine = Fio.find()
        if self._fio is None:
            methods = (self._engine, PYTHON_METHOD)
            say("  %s: measured by this script's own loop, %s" % methods)
            self._bench.warn("random-io-method", "%s: %s" % methods)
        say("=== Writing %d MiB in %s ===" % (size // MIB, self._place.name))
        started_ns = time.monotonic_ns()
        _prefill(self._file, size, self._bench.progress_every_s)
        self._prefill_ns = time.monotonic_ns() - started_ns

    def measure(self, entry):
        entry["observed"]["prefill_ns"] = self._prefill_ns
        if self._fio is None:
            self._measure_here(entry)
        else:
            self._measure_by_fio(entry)

    def _measure_by_fio(self, entry):
        parameters = entry["parameters"]
        engine = "psync" if parameters["depth"] == 1 else self._engine
        entry["observed"].update(method=self._version, io_engine=engine, processes=1)
        options = {
            "filename": self._file.replace(":", "\\:"),  # a colon begins another file
            "filesize": parameters["file_bytes"],
            "rw": "rand" + parameters["operation"],
            "bs": parameters["block_bytes"],
            "direct": 1,
            "ioengine": engine,
            "iodepth": parameters["depth"],
            "runtime": "%gs" % parameters["time_limit_s"],
            "randseed": self._bench.settings.seed,
            "log_avg_msec": WINDOW_NS // 1_000_000,
        }
        folder = tempfile.mkdtemp(prefix="fio-", dir=self._folder)
        with Fio(self._fio, folder, options, self._bench.held) as run:
            self.begin(time.monotonic_ns())
            while not run.ended(within_s=0.5):
                self.look_around(time.monotonic_ns())
            operations, latency_ns, spent = run.summary(parameters["operation"])
            self.process_times.add(*spent)
            entry["observed"].update(total_operations=operations, latency_ns=latency_ns)
            started_ns = self._started_ns
            windows = [(started_ns + start, *rest) for start, *rest in run.windows()]
            self.replace(windows)

    def _measure_here(self, entry):
        parameters, depth = entry["parameters"], entry["parameters"]["depth"]
        processes = min(MOST_PROCESSES, depth, len(os.sched_getaffinity(0)))
        least, more = divmod(depth, processes)
        observed, first_seed = entry["observed"], self._bench.settings.seed
        observed.update(method=PYTHON_METHOD, io_engine="pread, pwrite in threads")
        observed["processes"] = processes

        def work(number, ready, tell):
            threads, seed = least + (number < more), first_seed + 1000 * number
            direct_io.work(self._file, parameters, threads, seed, ready, tell)

        latencies = direct_io.Latencies()
        try:
            with Crew(processes, work) as crew:
                self.take_windows(crew, depth, entry, latencies.merge)
        finally:
            if latencies.counts:
                observed["latency_ns"] = latencies.summary()
                observed["total_operations"] = sum(latencies.counts.values())

    @classmethod
    def remarks(cls, entry):
        observed = entry["observed"]
        latency = observed["latency_ns"]
        remarks = ["Measured by %s, %s" % (observed["method"], observed["io_engine"])]
        if latency:
            figures = ("%s %.0f µs" % (name, ns / 1000) for name, ns in latency.items())
            remarks.append("Latency of an operation: " + ", ".join(figures))
        return remarks


def _prefill(path, size, every_s):
    """Write random bytes to the disk before anything is measured."""
    chunk = os.urandom(MIB)
    progress = ProgressLines(size // MIB, every_s)
    with open(path, "xb", buffering=0) as file:
        for at in range(size // MIB):
            file.write(chunk)
            now_ns = time.monotonic_ns()
            if now_ns >= progress.due_ns:
                progress.show(at + 1, now_ns, (at + 1) * MIB)
        os.fsync(file.fileno())
    page_cache.evict(path)


WORKLOAD = _RandomIo
