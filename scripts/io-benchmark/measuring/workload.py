# SPDX-License-Identifier: MPL-2.0
"""The base class of all workloads: their unit, and their samples."""

from typing import Optional, Tuple

from errors import SkippedError
from log import MIB, NS_PER_S
from system import folders


class Workload:
    """One workload in one place: prepare once, run each variant, read its samples."""

    name = ""
    unit = ""
    # Nanoseconds of a time's unit; None: operations per second.
    unit_ns: Optional[int] = None
    per_place = True  # otherwise it runs once per task
    columns: Tuple[str, ...] = ()
    samples_for_a_verdict = 0
    turns = 10  # of each entry, where several take turns
    maximum_s = 0  # per place where `per_place`, otherwise per task

    def __init__(self, bench, place, folder):
        self._bench = bench
        self.place = place
        self._folder = folder
        self._rows = []
        self.log_label = ""  # where several take turns

    def check_space(self, needed_bytes):
        """Skip before the first byte is written rather than fail in the middle."""
        free_bytes = folders.free_space_bytes(self._folder)
        if free_bytes < needed_bytes:
            sizes_mib = (-(-needed_bytes // MIB), free_bytes // MIB)
            raise SkippedError("no space: needs %d MiB, %d MiB are free" % sizes_mib)

    def planned_bytes(self):
        """Return the bytes of its files, and of all copies; None if not known before."""

    def kept_bytes(self):
        """Return the bytes of the files that have to stay in memory or in the place."""
        return 0

    def turns_with(self, entry):
        """Return the same value for entries that take turns."""

    def run(self, entry, turns):
        """Yield when all is ready, and after each turn but the last, with nothing left to write."""

    @staticmethod
    def ends_of_turns(samples, turns):
        """Return how many samples there are at the end of each turn."""
        return sorted({samples * turn // turns for turn in range(1, turns + 1)} - {0})

    def end_turn(self, entry):
        entry["turn_ends"] = [*(entry["turn_ends"] or []), len(self._rows)]

    def samples(self):
        """Return the columns of the latest run, as far as it got."""
        table = list(zip(*self._rows)) or [()] * len(self.columns)
        columns = {name: list(values) for name, values in zip(self.columns, table)}
        # A column with an unknown value is null as a whole.
        return {name: None if None in values else values for name, values in columns.items()}

    def run_trials(self, entry):
        """Try what makes a difference, after a complete entry; most workloads have no trials."""

    @classmethod
    def figure(cls, operation_ns):
        """Return the time of one operation in the workload's unit."""
        return operation_ns / cls.unit_ns if cls.unit_ns else NS_PER_S / operation_ns

    def rounded(self, operation_ns):
        figure = self.figure(operation_ns)
        return "%.0f" % figure if figure >= 100 else "%.3g" % figure

    def title(self, entry):
        return ", ".join([entry["name"], "place " + entry["place"], *self.options(entry)])

    def options(self, entry):
        """Return what distinguishes the entry from others of its workload and place."""


def together(*spent):
    """Return sums of what some have spent, as user, kernel and waiting ns; None where one is."""
    return tuple(None if None in column else sum(column) for column in zip(*spent))
