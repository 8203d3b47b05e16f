# SPDX-License-Identifier: MPL-2.0
"""Operations on names, by one process and by several at once (seed 003): does it scale?

  stat                  os.stat of files that are there
  stat-missing          os.stat of names that are not there, again and again, as a search through
                        include paths does: the kernel remembers the answer
  lookup-missing        the same, but each name for the first time, and at the root of the place's
                        file system: an overlay looks into each of its layers, as all are there
  create-rename-unlink  a new empty file, renamed, removed: three operations
  visibility            one thread creates a file, and another thread stats it right after: how long
                        until it is visible, and how many were not visible at the first look

Measured: what all processes did together, by windows of time; each works in a separate folder, so
that only the file system and the kernel can make one wait for another. They are processes, because
Python's threads take turns: two threads do not do more than one, however well the file system
scales. In `visibility` the two are threads, as in the tools that had this problem. Python's own
part, about a microsecond, is in each operation. Also measured: what the processes spent on a CPU
and waiting for one, but not in `visibility`, whose two threads take turns. Not measured: reading
and writing data, and, lookup-missing apart, names that are not in the kernel's cache.
"""

import itertools
import os
import queue
import threading

from log import NS_PER_S
from measuring.batches import Batches, count
from system import accounts, clock, crews, folders, host, storage

# Few lookups, since the kernel keeps each answer in memory, in an overlay one per layer.
FULL = {"names": 1_000, "windows": 300, "checks": 2_000, "lookups": 4_000, "time_limit_s": 10.0}
QUICK = {"names": 100, "windows": 20, "checks": 200, "lookups": 800, "time_limit_s": 2.0}
WINDOW_NS = 10_000_000
MOST_PROCESSES = 8
WINDOWS_PER_MESSAGE = 10
STEPS_PER_READING = 16  # operations between two readings of the clock
SEEN_WITHIN_NS = 1_000_000_000


def _cpus():
    return len(host.usable_cpus())


def _process_counts(cpus, *, is_quick):
    """Return 1, 2, 4 … up to the number of CPUs, at most 8; in a quick run only the ends."""
    most = min(MOST_PROCESSES, cpus)
    return sorted({1, most} | {half for half in (2, 4) if half < most and not is_quick})


class _Metadata(Batches):
    name = "metadata"
    unit = "ops/s"
    maximum_s = 90
    observes = ("cpus", "checks", "not_visible")
    full, quick = FULL, QUICK

    def variants(self):
        counts = _process_counts(_cpus(), is_quick=self.sizes is QUICK)
        variants = [*itertools.product(STEPS, counts), ("lookup-missing", 1), ("visibility", 2)]
        return [{"variant": name, "threads": threads} for name, threads in variants]

    def parameters(self, variant):
        sizes, window_ns = self.sizes, None
        if variant["variant"] == "visibility":
            files, samples = 1, sizes["checks"]
        elif variant["variant"] == "lookup-missing":
            files, samples = sizes["lookups"], sizes["lookups"] // STEPS_PER_READING
        else:
            files, samples, window_ns = sizes["names"], sizes["windows"], WINDOW_NS
        return {
            "concurrency": "threads" if variant["variant"] == "visibility" else "processes",
            "files": files,
            "samples_planned": samples,
            "window_ns": window_ns,
        }

    def start(self, entry):
        entry["observed"]["cpus"] = _cpus()
        if entry["variant"] == "visibility":
            entry["observed"].update(checks=0, not_visible=0)

    def measure(self, entry):
        if entry["variant"] == "visibility":
            self._check_visibility(entry)
        elif entry["variant"] == "lookup-missing":
            self._look_up_once()
        else:
            self._count_windows(entry)

    def _count_windows(self, entry):
        parameters, members = entry["parameters"], entry["threads"]
        # More than planned, since the first and the last are incomplete.
        windows_ns = (self.planned - self.taken + 2) * WINDOW_NS
        duration_ns = min(windows_ns, int(self.time_limit_s * NS_PER_S))
        names = os.path.join(self._folder, "names-" + os.urandom(6).hex())
        os.mkdir(names)
        arguments = (names, entry["variant"], parameters["files"], duration_ns)
        try:
            with crews.Crew(members, _count_steps, *arguments) as crew:
                self.take_windows(crew, members, entry)
        finally:
            folders.remove_tree(names)

    def _look_up_once(self):
        # A name of this run, so that no earlier run has looked it up.
        name = os.path.basename(self._folder) + "-missing-"
        prefix = os.path.join(storage.root_of(self._folder) or self.place.path, name)
        with accounts.Account() as account:
            before = account.read()
            first_ns = clock.now_ns()
            for first in itertools.count(self.taken * STEPS_PER_READING, STEPS_PER_READING):
                paths = [prefix + "%05d" % (first + more) for more in range(STEPS_PER_READING)]
                start_ns = clock.now_ns()
                for path in paths:
                    _look_for_missing(path)
                end_ns = clock.now_ns()
                if self.add([(start_ns, end_ns)], STEPS_PER_READING):
                    break
            # Once for all: a batch takes hardly longer than to read what was spent.
            self.add_spent(end_ns - first_ns, *account.since(before))

    def _check_visibility(self, entry):
        path = os.path.join(self._folder, "seen-")
        checks, observed = self.planned - self.taken, entry["observed"]

        with crews.Crew(1, _look_from_another_thread, path, checks) as crew:
            for _, (start_ns, end_ns, is_late) in self.take_messages(crew):
                observed["checks"] += 1
                observed["not_visible"] += is_late
                if self.add([(start_ns, end_ns)]):
                    return


def _count_steps(number, ready, tell, names, variant, files, duration_ns):
    folder = os.path.join(names, str(number))
    os.mkdir(folder)
    step, operations = STEPS[variant](folder, files)
    ready()
    count(step, operations, WINDOW_NS, clock.now_ns() + duration_ns, tell, WINDOWS_PER_MESSAGE)


def _existing(folder, files):
    paths = [os.path.join(folder, "there-%05d" % number) for number in range(files)]
    for path in paths:
        open(path, "xb").close()
    return _every_few(paths, os.stat)


def _missing(folder, files):
    paths = [os.path.join(folder, "missing-%05d" % number) for number in range(files)]
    return _every_few(paths, _look_for_missing)


def _look_for_missing(path):
    try:
        os.stat(path)
    except FileNotFoundError:
        return
    raise OSError(None, "%s exists, but nothing created it" % path)


def _every_few(paths, look):
    # Whole groups only: each step is as many operations.
    starts = range(0, len(paths) - STEPS_PER_READING + 1, STEPS_PER_READING)
    groups = itertools.cycle([paths[start : start + STEPS_PER_READING] for start in starts])

    def step():
        for path in next(groups):
            look(path)

    return step, STEPS_PER_READING


def _created(folder, _files):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")

    def step():
        os.close(os.open(first, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        folders.rename(first, second)
        folders.remove(second)

    return step, 3


def _look_from_another_thread(_number, ready, tell, path, checks):
    """Create files here, stat them in a thread; tell([start_ns, end_ns, is_late]) per file."""
    ready()
    names, seen = queue.SimpleQueue(), queue.SimpleQueue()

    def look():
        while True:
            name = names.get()
            deadline_ns = clock.now_ns() + SEEN_WITHIN_NS
            is_late = not os.path.exists(name)
            while is_late and not os.path.exists(name) and clock.now_ns() < deadline_ns:
                pass
            seen.put((clock.now_ns(), is_late))

    threading.Thread(target=look, daemon=True).start()  # ends with this process
    for number in range(checks):
        name = path + "%06d" % number
        start_ns = clock.now_ns()
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        names.put(name)
        end_ns, is_late = seen.get()
        folders.remove(name)
        tell([start_ns, end_ns, is_late])


STEPS = {"stat": _existing, "stat-missing": _missing, "create-rename-unlink": _created}
WORKLOAD = _Metadata
