# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The base class of all workloads but cache-retrieve: their entry and its samples.

A sample is a batch: a number of operations and the time that they took together. It is one operation
if that takes long enough, and otherwise so many that reading the clock costs less than 1 %.
"""

import platform
import time
from typing import Optional, Tuple

import precision
from early_end import WorkloadError
from log import NS_PER_S, say
from summary import figure, shown
from windows import Together

COLUMNS = ("start_ns", "duration_ns", "operations")
SAMPLES_FOR_A_VERDICT = 20
PYTHON = platform.python_version()


class Batches:
    """One workload in one place: prepare once, run once per variant, read the samples after each run.

    A workload defines the attributes below, its variants, `parameters(variant)`, and
    `measure(variant, entry)`, which calls add() after each sample until that returns true.
    """

    name = ""
    unit = ""
    # Nanoseconds of a time's unit; None: operations per second.
    unit_ns: Optional[int] = None
    # All variants at their limits, with what comes before and after, on the slowest pool.
    maximum_s = 0  # per place where `per_place`, otherwise per task
    per_place = True
    columns = COLUMNS
    observes: Tuple[str, ...] = ()

    def __init__(self, bench, place, folder):
        self._bench = bench
        self._place = place
        self._folder = folder
        self._quick = bench.settings.profile == "quick"
        self._rows = []

    def parameters(self, variant):
        """Return what decides what is measured; two pools must have the same to be compared."""
        raise NotImplementedError

    def measure(self, variant, entry):
        raise NotImplementedError

    def plan(self, variant):
        """Return the part of the entry that is known before the run."""
        return {
            "parameters": self.parameters(variant),
            "observed": dict.fromkeys(self.observes),
            "run_ns": None,
            "stopped_early": None,
            "precision_reached_ratio": None,
            "device_bytes": None,
        }

    def prepare(self):
        """Make the files that all runs use; return the keys that all entries share."""
        return {}

    def run(self, entry):
        self._rows = []
        variant = {name: entry[name] for name in ("variant", "threads")}
        before = self._bench.device_bytes()
        self._planned = entry["parameters"]["samples_planned"]
        self._time_limit_s = entry["parameters"]["time_limit_s"]
        self.begin_anew()
        try:
            self.measure(variant, entry)
        finally:
            if self._rows:
                entry["run_ns"] = time.monotonic_ns() - self._started_ns
            entry["device_bytes"] = self._bench.device_bytes_since(before)
        if not self._rows:
            raise WorkloadError("no operation ended within %g s" % self._time_limit_s)
        mean, run_s = self._mean_shown(), entry["run_ns"] / NS_PER_S
        count = (len(self._rows), self._planned)
        say("  [%d/%d] mean %s, %.1f s" % (*count, mean, run_s))

    def begin_anew(self):
        """Start the timed part now; called again after a warm-up."""
        self.begin_at(time.monotonic_ns())

    def begin_at(self, started_ns):
        self._started_ns = started_ns
        self.deadline_ns = self._started_ns + int(self._time_limit_s * NS_PER_S)
        self._shown_again_ns = started_ns + int(self._bench.progress_every_s * NS_PER_S)

    def add(self, entry, start_ns, end_ns, operations=1):
        """Add a sample, outside the timed interval; return whether there are enough."""
        return self.add_all(entry, [(start_ns, end_ns)], operations)

    def add_all(self, entry, times, operations=1):
        """Add several samples; return whether there are enough."""
        origin_ns, before = self._bench.origin_ns, len(self._rows)
        self._rows += [
            (start_ns - origin_ns, max(1, end_ns - start_ns), operations)
            for start_ns, end_ns in times[: self._planned - before]
        ]
        return self.enough(entry, times[-1][1], before)

    def replace(self, windows):
        """Replace all samples by these windows, which several processes counted together."""
        origin_ns, kept = self._bench.origin_ns, windows[: self._planned]
        self._rows = [(start - origin_ns, *rest) for start, *rest in kept]

    def take_windows(self, messages, members, entry, take_summary=None):
        """Add the counts that a crew's members send as [thread, counts], until they end."""
        together = Together(entry["parameters"]["window_ns"])
        started, due_ns = False, 0
        try:
            for message in messages:
                now_ns = time.monotonic_ns()
                self.look_around(now_ns)
                if message is None:
                    continue
                number, content = message
                if isinstance(content, dict):
                    take_summary(content)
                    continue
                thread, counts = content
                if not started:
                    started = True
                    self.begin_at(counts[0][0])
                together.add((number, thread), counts)
                if now_ns >= due_ns:
                    due_ns = now_ns + NS_PER_S
                    self.replace(together.windows(members))
                    if self.is_known(entry):
                        return
        finally:
            self.replace(together.windows(members))

    def enough(self, entry, now_ns, before):
        count = len(self._rows)
        self.look_around(now_ns)
        if count >= self._planned or now_ns >= self.deadline_ns:
            return True
        every = precision.CHECK_EVERY
        return count // every > before // every and self.is_known(entry)

    def look_around(self, now_ns):
        """Show progress and let the result file grow, where they are due."""
        if now_ns >= self._shown_again_ns:
            self._shown_again_ns = now_ns + int(self._bench.progress_every_s * NS_PER_S)
            self._show(now_ns)
        if now_ns >= self._bench.record.due_ns:
            self._bench.between_samples()

    def _show(self, now_ns):
        done, elapsed_ns = len(self._rows), now_ns - self._started_ns
        left_ns = self.deadline_ns - now_ns
        if done:
            left_ns = min(left_ns, elapsed_ns // done * (self._planned - done))
        count = "%*d/%d" % (len(str(self._planned)), done, self._planned)
        mean = ", mean " + self._mean_shown() if done else ""
        say("  [%s] %.1f s left%s" % (count, max(0, left_ns) / NS_PER_S, mean))

    def _mean_shown(self):
        mean_ns = sum(row[1] for row in self._rows) / sum(row[2] for row in self._rows)
        return "%s %s" % (shown(figure(self, mean_ns)), self.unit)

    def is_known(self, entry):
        """Return whether the mean is known as precisely as --precision demands."""
        wanted = self._bench.settings.precision
        if not wanted:
            return False
        each_ns = [duration / operations for _, duration, operations in self._rows]
        groups, planned = [0] * len(each_ns), "%d samples" % self._planned
        return precision.is_reached(entry, wanted, groups, each_ns, planned)

    def samples(self):
        """Return the columns of the latest run, as far as it got."""
        table = list(zip(*self._rows)) or [()] * len(COLUMNS)
        return {name: list(values) for name, values in zip(COLUMNS, table)}

    def enough_for_a_verdict(self):
        return len(self._rows) >= SAMPLES_FOR_A_VERDICT

    @staticmethod
    def details(entry):
        threads = entry["threads"]
        together = [] if threads is None else ["%d at once" % threads]
        return [entry["variant"], *together]

    @staticmethod
    def parts(entry):
        samples, label = entry["samples"], "All " + entry["variant"]
        return [(label, samples["duration_ns"], samples["operations"])]

    @classmethod
    def remarks(cls, _entry):
        return []

    @classmethod
    def remarks_on_all(cls, _entries):
        """Return lines about all entries of one place together."""
        return []

    @staticmethod
    def options(entry):
        threads = entry["threads"]
        together = [] if threads is None else ["threads-%d" % threads]
        return [entry["variant"], *together]

    @staticmethod
    def subtests(_entry):
        return []


def mean_ns(entry):
    """Return the mean time of one operation; None without samples."""
    samples = entry["samples"]
    operations = sum(samples["operations"])
    return sum(samples["duration_ns"]) / operations if operations else None
