# SPDX-License-Identifier: MPL-2.0
"""The base class of all workloads: their unit, their samples, and when these are enough."""

import math
import shutil
from typing import Optional, Tuple

from early_end import SkippedError, WorkloadError
from log import MIB, NS_PER_S, say
from settings import free_space_bytes

BATCH_RETRIEVES = 32
BATCHES_AT_LEAST = 8
CHECK_EVERY = 16  # retrieves between two checks

# Student's t, two-sided 95 %, for 7 to 19 degrees of freedom.
T_95 = [2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160]
T_95 += [2.145, 2.131, 2.120, 2.110, 2.101, 2.093]


class Workload:
    """One workload in one place: prepare once, run once per variant, read the samples after each run."""

    name = ""
    unit = ""
    # Nanoseconds of a time's unit; None: operations per second.
    unit_ns: Optional[int] = None
    per_place = True  # otherwise it runs once per task
    columns: Tuple[str, ...] = ()
    samples_for_a_verdict = 0
    maximum_s = 0  # per place where `per_place`, otherwise per task

    def __init__(self, bench, place, folder):
        self._bench = bench
        self._place = place
        self._folder = folder
        self._rows = []

    @staticmethod
    def check_tools(*names):
        """Fail before anything is written where a tool is missing."""
        missing = [name for name in names if shutil.which(name) is None]
        if missing:
            raise WorkloadError("not on PATH: %s; install what is missing" % ", ".join(missing))

    def check_space(self, needed_bytes):
        """Skip before the first byte is written rather than fail in the middle."""
        free_bytes = free_space_bytes(self._folder)
        if free_bytes < needed_bytes:
            sizes_mib = (-(-needed_bytes // MIB), free_bytes // MIB)
            raise SkippedError("no space: needs %d MiB, %d MiB are free" % sizes_mib)

    def planned_bytes(self):
        """Return the bytes of the files that it keeps, and of all copies; None if not known before."""

    def samples(self):
        """Return the columns of the latest run, as far as it got."""
        table = list(zip(*self._rows)) or [()] * len(self.columns)
        columns = {name: list(values) for name, values in zip(self.columns, table)}
        # A column with an unknown value is null as a whole.
        return {name: None if None in values else values for name, values in columns.items()}

    def run_trials(self, entry):
        """Try what makes a difference, after the entry is complete; most workloads have no trials."""

    def times_by_group(self):
        """Return the group and the time of each sample so far, and in words the planned number."""
        raise NotImplementedError

    def is_known(self, entry):
        """Return whether the mean is known as precisely as --precision demands; note it in the entry."""
        precision = self._bench.settings.precision
        if not precision:
            return False
        groups, times_ns, planned = self.times_by_group()
        reached = _relative_half_width(groups, times_ns)
        if reached is None or reached > precision:
            return False
        figures = (reached * 100, len(times_ns), planned)
        reason = "the mean is known to ± %.2f %% after %d of %s" % figures
        entry.update(stopped_early=reason, precision_reached_ratio=round(reached, 6))
        say("  stopped early: %s" % reason)
        return True

    @classmethod
    def figure(cls, operation_ns):
        """Return the time of one operation in the workload's unit."""
        return operation_ns / cls.unit_ns if cls.unit_ns else NS_PER_S / operation_ns

    def rounded(self, operation_ns):
        figure = self.figure(operation_ns)
        return "%.0f" % figure if figure >= 100 else "%.3g" % figure

    def title(self, entry):
        return ", ".join([entry["name"], "place " + entry["place"], *self.details(entry)])

    def details(self, entry):
        """Return what distinguishes the entry from others of its workload and place."""
        raise NotImplementedError


def _relative_half_width(groups, times_ns):
    """Return half the 95 % interval of the mean, as a part of the mean; None if too few times.

    Neighbouring retrieves are not independent (writeback comes in waves of 5 to 20). So the interval is
    computed from the means of batches of more than 20 retrieves. File sizes differ as planned, the same
    on every pool, and cancel when pools are compared. So the mean of its file size is first subtracted
    from each time, and only the rest counts as noise.
    """
    count = len(times_ns)
    batch = max(BATCH_RETRIEVES, count // 20)
    batches = count // batch
    if batches < BATCHES_AT_LEAST:
        return None
    used = batches * batch
    residuals = _without_group_means(groups[:used], times_ns[:used])
    means = [sum(residuals[start : start + batch]) / batch for start in range(0, used, batch)]
    centre = sum(means) / batches
    variance = sum((mean - centre) ** 2 for mean in means) / (batches - 1)
    half_ns = T_95[batches - BATCHES_AT_LEAST] * math.sqrt(variance / batches)
    return half_ns / (sum(times_ns[:used]) / used)


def _without_group_means(groups, times_ns):
    by_group = {}
    for group, time_ns in zip(groups, times_ns):
        by_group.setdefault(group, []).append(time_ns)
    means = {group: sum(times) / len(times) for group, times in by_group.items()}
    return [time_ns - means[group] for group, time_ns in zip(groups, times_ns)]
