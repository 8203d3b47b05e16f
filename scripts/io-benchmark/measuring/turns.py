# SPDX-License-Identifier: MPL-2.0
"""One workload in all its places: what can be compared within a machine takes turns.

A drift of the machine is then in all of it. After a turn nothing is left to write. In each round
every measurement has one turn, in an order that changes. Places whose files do not fit into memory
together are measured one after the other, because each would evict the files of the others.
"""

import random
from contextlib import ExitStack
from copy import copy

from early_end import Interrupted
from errors import SkippedError, WorkloadError, reason_of
from log import say
from result.files import outcome
from system import folders, host

MOST_OF_MEMORY = 0.5


class Turns:
    def __init__(self, bench):
        self.failures, self.skipped = [], []
        self._bench = bench
        self._number = 0
        self._draw = random.Random(bench.settings.seed).random

    def measure(self, in_places):
        """Measure the entries of one workload, which is there once per place."""
        kept_bytes = in_places[0].kept_bytes()  # of one place: all have the same files
        # A place without room for its own files will be skipped.
        rooms = {planned: folders.free_space_bytes(planned.place.path) for planned in in_places}
        rooms = {planned: size for planned, size in rooms.items() if size >= kept_bytes}
        memory_bytes = MOST_OF_MEMORY * (host.available_bytes() or 0)
        most_bytes = min([memory_bytes, *rooms.values()])
        together = list(rooms) if len(rooms) * kept_bytes <= most_bytes else []
        for at_once in [together, *([planned] for planned in in_places if planned not in together)]:
            with ExitStack() as stack:
                groups = {}
                for planned in at_once:
                    for workload in self._prepare(stack, planned):
                        groups.setdefault(workload.turns_with(workload.entry), []).append(workload)
                for group in groups.values():
                    self._take_turns([turn for turn in group if _is_unfinished(turn.entry)])

    def _prepare(self, stack, planned):
        """Return a workload for each entry; none where the place cannot be used."""
        try:
            folder = stack.enter_context(self._bench.claimed(planned.place))
            workload = type(planned)(self._bench, planned.place, folder)
            workload.prepare()
        except (OSError, WorkloadError, MemoryError) as error:
            self._bench.raise_if_interrupted()
            self._give_up(planned, planned.entries, error)
            return []
        prepared = [copy(workload) for _ in planned.entries]
        for workload, entry in zip(prepared, planned.entries):
            workload.entry = entry
            workload.entries = planned.entries
        return prepared

    def _take_turns(self, workloads):
        takes_turns = len(workloads) > 1
        for workload in workloads:
            self._number += 1
            title = workload.title(workload.entry)
            count = (self._number, len(self._bench.record.document["workloads"]))
            say("[%d/%d] %s" % (*count, title))
            workload.log_label = title + ": " if takes_turns else ""
            workload.measuring = workload.run(workload.entry, workload.turns if takes_turns else 1)
        running = workloads
        try:
            while running:
                running = list(filter(self._take_turn, running))
                running.sort(key=lambda _: self._draw())
            for workload in workloads:
                if workload.entry["outcome"]["state"] == "completed":
                    self._bench.current = workload
                    workload.run_trials(workload.entry)
        except Interrupted as interrupted:
            for workload in workloads:
                if workload.entry["outcome"]["state"] == "running":
                    workload.entry["outcome"] = outcome(interrupted.state, interrupted.reason)
            raise
        finally:
            for workload in workloads:
                workload.measuring.close()
            self._bench.collect()
            self._bench.current = None

    def _take_turn(self, workload):
        """Return whether there is another turn."""
        if not _is_unfinished(workload.entry):  # given up with its place
            return False
        entry = workload.entry
        entry["outcome"] = outcome("running")
        self._bench.current = workload
        try:
            next(workload.measuring)
        except StopIteration:
            entry["outcome"] = outcome("completed")
        except (OSError, WorkloadError, MemoryError) as error:
            self._bench.raise_if_interrupted()
            self._give_up(workload, [entry], error)
        finally:
            with self._bench.held():
                entry["samples"] = workload.samples()
        return _is_unfinished(entry)

    def _give_up(self, workload, entries, error):
        """Skip these entries; after a failure, nothing of the workload continues in this place."""
        if isinstance(error, SkippedError):
            reason = "place %s (%s): %s: %s" % (*workload.place, workload.name, error)
            say("skipped: " + reason)
            self.skipped.append(reason)
            self._bench.warn("skipped", reason)
            ended = outcome("skipped", str(error))
        else:
            reason = "place %s (%s): %s" % (*workload.place, reason_of(error))
            say("error: " + reason)
            self.failures.append(reason)
            ended, entries = outcome("failed", reason), workload.entries
        for entry in entries:
            if _is_unfinished(entry):
                entry["outcome"] = ended


def _is_unfinished(entry):
    return entry["outcome"]["state"] in ("not-started", "running")
