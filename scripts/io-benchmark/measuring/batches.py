# SPDX-License-Identifier: MPL-2.0
"""The base class of all workloads except cache-retrieve: their entry and its samples.

A sample is a batch: a number of operations and the time that they took together. It is one
operation if that takes long enough. Otherwise there are so many that reading the clock costs less
than 1 %.
"""

import platform
from typing import Any, Dict, Tuple

from errors import WorkloadError
from log import NS_PER_S, ProgressLines, say
from measuring.workload import Workload, together
from settings import SHORT_PROFILES
from system import accounts, clock

PYTHON = platform.python_version()
TIMES = ("wall_ns", "user_ns", "kernel_ns", "waiting_ns")


class Batches(Workload):
    """A workload defines its sizes, and `measure(entry)`.

    In a turn it takes samples from `taken` to `planned`, or until `deadline_ns`.
    """

    columns = ("start_ns", "duration_ns", "operations")
    samples_for_a_verdict = 20
    turns = 6  # some make files or processes for each
    names: Tuple[str, ...] = ()  # of the variants
    observes: Tuple[str, ...] = ()
    # How many samples, in which time, and the like: of a full run, and of a short one.
    full: Dict[str, Any]
    quick: Dict[str, Any]

    def __init__(self, bench, place, folder):
        super().__init__(bench, place, folder)
        self.sizes = self.quick if bench.settings.profile in SHORT_PROFILES else self.full

    def variants(self):
        return [{"variant": name, "threads": None} for name in self.names]

    def parameters(self, _variant):
        """Return what decides what is measured; two pools must have the same to be compared."""
        return self.sizes

    def start(self, _entry):
        """Do what precedes all samples."""

    def measure(self, entry):
        """Take samples until add() returns true; with others there are several turns."""

    def turns_with(self, entry):
        return entry["variant"], entry["threads"]

    def plan(self, variant):
        """Return the part of the entry that is known before the run."""
        return {
            "parameters": {**self.parameters(variant), "time_limit_s": self.sizes["time_limit_s"]},
            "observed": dict.fromkeys(self.observes),
            **dict.fromkeys(("run_ns", "process_times", "device_bytes", "turn_ends")),
        }

    def prepare(self):
        """Make the files that all runs use."""

    def run(self, entry, turns):
        self._rows = []
        self._spent = (0, 0, 0, 0)
        parameters = entry["parameters"]
        planned, limit_s = parameters["samples_planned"], parameters["time_limit_s"]
        self.time_limit_s = limit_s / turns
        self.start(entry)
        yield
        for end in Workload.ends_of_turns(planned, turns):
            self.planned, self.taken = end, len(self._rows)
            if self.taken >= end:  # some samples are taken several at a time
                continue
            self._measure_turn(entry)
            if turns > 1 and len(self._rows) > self.taken:
                self.end_turn(entry)
            # Where operations are slow, one takes longer than a turn may.
            if end == planned or (entry["run_ns"] or 0) >= limit_s * NS_PER_S:
                break
            yield
        if not self._rows:
            raise WorkloadError("no operation ended within %g s" % limit_s)
        figures = (len(self._rows), planned, self._mean(), entry["run_ns"] / NS_PER_S)
        say("  %s[%d/%d] mean %s, %.1f s" % (self.log_label, *figures))

    def _measure_turn(self, entry):
        before = self._bench.device_bytes()
        self.begin(clock.now_ns())
        try:
            self.measure(entry)
        finally:
            if self._rows:
                lasted_ns = clock.now_ns() - self._started_ns
                entry["run_ns"] = (entry["run_ns"] or 0) + lasted_ns
            # None where nothing was accounted for, or where the system does not tell the times.
            is_known = self._spent[0] > 0 and None not in self._spent[:3]
            entry["process_times"] = dict(zip(TIMES, self._spent)) if is_known else None
            entry["device_bytes"] = self._bench.device_bytes_since(before, entry["device_bytes"])

    def begin(self, started_ns):
        """Start the timed part; called again after a warm-up."""
        self._started_ns = started_ns
        self.deadline_ns = started_ns + int(self.time_limit_s * NS_PER_S)
        self._progress = ProgressLines(self.planned, started_ns, self.log_label)

    def add_spent(self, *times_ns):
        """Add the wall, user, kernel and waiting ns of a process; one None makes a sum unknown."""
        self._spent = together(self._spent, times_ns)

    def add(self, times, operations=1):
        """Add samples from their (start_ns, end_ns); return whether there are enough.

        Call it outside the timed interval.
        """
        origin_ns = self._bench.origin_ns
        self._rows += [
            (start_ns - origin_ns, max(1, end_ns - start_ns), operations)
            for start_ns, end_ns in times
        ]
        now_ns = times[-1][1]
        self.look_around(now_ns)
        return len(self._rows) >= self.planned or now_ns >= self.deadline_ns

    def take_messages(self, crew):
        """Yield (member, message); show progress while there is none."""
        for message in crew.messages():
            self.look_around(clock.now_ns())
            if message is not None:
                yield message

    def take_times(self, crew, operations):
        """Add what members send, until that is enough; return whether it is.

        A member sends [(start_ns, end_ns) per sample, spent].
        """
        for _, (times, spent) in self.take_messages(crew):
            if len(self._rows) == self.taken:
                self.begin(times[0][0])
            self.add_spent(*spent)
            if self.add(times, operations):
                return True
        return False

    def take_windows(self, crew, members, entry, take_summary=None):
        """Take what a crew's members send as [thread, counts, spent], until they end."""
        window_ns, counts_by_member = entry["parameters"]["window_ns"], {}
        try:
            for number, content in self.take_messages(crew):
                if isinstance(content, dict):
                    take_summary(content)
                    continue
                thread, counts, spent = content
                self.add_spent(*spent)
                if not counts_by_member:
                    self.begin(counts[0][0])
                counts_by_member.setdefault((number, thread), []).extend(counts)
        finally:
            windows = _windows_together(counts_by_member, members, window_ns)
            origin_ns, kept = self._bench.origin_ns, windows[: self.planned - self.taken]
            self._rows += [(start - origin_ns, *rest) for start, *rest in kept]

    @property
    def ended_ns(self):
        """Return the end of the last sample; 0 where there is none."""
        if not self._rows:
            return 0
        start_ns, duration_ns, _ = self._rows[-1]
        return self._bench.origin_ns + start_ns + duration_ns

    def look_around(self, now_ns):
        """Show progress and let the result file grow, where they are due."""
        if now_ns >= self._progress.due_ns:
            mean = ", mean " + self._mean() if self._rows else ""
            longest_s = (self.deadline_ns - now_ns) / NS_PER_S
            self._progress.show(len(self._rows), now_ns, mean, longest_s)
        self._bench.between_samples(now_ns)

    def _mean(self):
        mean_ns = sum(row[1] for row in self._rows) / sum(row[2] for row in self._rows)
        return "%s %s" % (self.rounded(mean_ns), self.unit)

    def options(self, entry):
        threads = [] if entry["threads"] is None else ["threads-%d" % entry["threads"]]
        return [entry["variant"], *threads]

    def durations(self, entry):
        return entry["samples"]["duration_ns"], entry["samples"]["operations"]

    def subtests(self, _entry):
        return {}


def count(step, operations_per_step, window_ns, end_ns, tell, windows_per_message, thread=0):
    """Do steps until end_ns; tell the thread, several windows at once, and what it spent in them.

    A window is [start_ns, end_ns, operations], what was spent [wall, user, kernel, waiting ns]. It
    ends at the first operation after a multiple of the window's length on the clock that all
    processes share.
    """
    read_clock, counts = clock.now_ns, []
    with accounts.Account() as account:
        before = account.read()
        now = read_clock()
        while now < end_ns:
            start = now
            boundary = (start // window_ns + 1) * window_ns
            operations = 0
            while now < boundary:
                step()
                operations += operations_per_step
                now = read_clock()
            counts.append([start, now, operations])
            if len(counts) == windows_per_message:
                tell([thread, counts, _spent(counts, account.since(before))])
                counts = []
                before = account.read()
            now = read_clock()
        if counts:
            tell([thread, counts, _spent(counts, account.since(before))])


def _spent(counts, times_ns):
    return [counts[-1][1] - counts[0][0], *times_ns]


def _windows_together(counts_by_member, members, window_ns):
    """Return (start_ns, duration_ns, operations) per window in which all members were working.

    Windows without operations are joined. A count may extend over the end of a window, if the
    process waited for a CPU, or one operation took long. Then its operations are distributed evenly
    over its time.
    """
    if len(counts_by_member) < members:
        return []
    begin = max(counts[0][0] for counts in counts_by_member.values())
    end = min(counts[-1][1] for counts in counts_by_member.values())
    bounds = list(range(-(-begin // window_ns) * window_ns, end + 1, window_ns))
    if len(bounds) < 2 and end > begin:
        bounds = [begin, end]  # a short run on a busy machine: use all of it
    totals = map(sum, zip(*(_done_until(counts, bounds) for counts in counts_by_member.values())))
    windows, start, before = [], None, 0
    for bound, done in zip(bounds, totals):
        if start is None:
            start, before = bound, done
        elif done > before:
            windows.append((start, bound - start, done - before))
            start, before = bound, done
    return windows


def _done_until(counts, bounds):
    """Yield the operations that a member had done by each of the bounds, all within its time."""
    before = index = 0
    for bound in bounds:
        while index < len(counts) and counts[index][1] <= bound:
            before += counts[index][2]
            index += 1
        share = 0.0
        if index < len(counts) and counts[index][0] < bound:
            start, end, operations = counts[index]
            share = operations * (bound - start) / (end - start)
        yield before + round(share)
