# SPDX-License-Identifier: MPL-2.0
"""Trials: after the samples, the same retrieves in several ways, to see which removes a difference.

Measured: first, how fast the idle storage takes a file, written in order and synced (ceilings).
Then, in rounds, the same retrieves as in the samples (normal), without grep (lookup), with the
destination removed first (unlink), by a call that copies whole files where the system has one
(copy-file), into a folder that the virus scanner skips where one is known (excluded), and in memory
(memory). The rounds of retrieves that are limited to a given rate of writing (pace) come last: they
leave the storage idle, and what follows it is faster than in the samples.
Not measured: what a retrieve spends. Not timed: retrieves before each block, until as much memory
is dirty as at the end of the samples.

Trials change no sample, fail no run, and remove what they made.
"""

import itertools
import os
from contextlib import ExitStack, suppress
from functools import partial

from early_end import Interrupted
from errors import WorkloadError, reason_of
from log import MIB, NS_PER_S, say
from measuring.retrieval import MemorySteps, PacedCopies, SeedSteps
from system import clock, copies, folders, host, page_cache
from system.probes import read_file, write_new_file

# A share of the samples' time and their final sync, which the transforms' estimate uses, too.
TRIALS_PERCENT = 15
PLANNED_SHARE = 0.85  # of it, since an estimate may be too low
# Retrieves of a block; waves of writeback come every 5 to 20 retrieves.
BLOCK_RETRIEVES = (64, 32, 16, 8)
ROUNDS_WANTED, ROUNDS_AT_LEAST, ROUNDS_AT_MOST = 5, 3, 10
CEILINGS = 3
LONGEST_CEILING_S, SHORTEST_CEILING_S = 1.8, 0.3
# A shorter file measures the burst that a limit permits after a pause.
GOOD_CEILING_S = 1.2
PILOT_S, PILOT_BYTES, PILOT_BYTES_AT_MOST = 0.1, 8 * MIB, 512 * MIB
PILOTS_S = 0.4  # all of them, about
# Only the rewritten file can be dirty, so few retrieves are enough.
REFILLS_AT_LEAST, REFILLS_PLANNED, REFILLS_AT_MOST = 2, 3, 4
REFILLED_SHARE = 0.9
# The share of free space and available memory that the files of trials may take.
SHARE_OF_ROOM = 0.5
MEMORY_NEEDED_BYTES = 160 * MIB
RESIDENT_SHARE = 0.95


def run(bench, retrieves, entry, count):
    """Run the trials of an entry with so many samples; `entry["trials"]` holds what came out."""
    started_ns = clock.now_ns()
    pace = bench.settings.pace_bytes_per_s
    record = entry["trials"] = {"pace_bytes_per_s": pace, "file_indexes": [], "duration_ns": 0}
    record.update(ceilings=[], blocks=[], state="incomplete", reason="still running, or killed")
    trials = _Trials(bench, retrieves, entry, count)
    state, reason = "incomplete", None
    try:
        trials.run()
        state, reason = "completed", trials.left_out
    except Interrupted as interrupted:
        reason = interrupted.reason
        raise
    except (OSError, WorkloadError, MemoryError) as error:
        reason = reason_of(error)
        bench.raise_if_interrupted()
    finally:
        if state != "completed" and not record["ceilings"] + record["blocks"]:
            state = "not-run"
        record.update(state=state, reason=reason, duration_ns=clock.now_ns() - started_ns)
        say("  trials: %s%s" % (state, ": " + reason if reason else ""))


def _files_of_blocks(sizes_bytes, count):
    """Return files of which any beginning has small and large ones as the cache has.

    They are the files in order of size: the first, the middle, the quarters, the eighths, ….
    """
    by_size = sorted(range(len(sizes_bytes)), key=sizes_bytes.__getitem__)
    fractions = [0.0]
    while len(fractions) < count:
        step = 0.5 / len(fractions)
        fractions += [fraction + step for fraction in fractions]
    return [by_size[int(fraction * len(by_size))] for fraction in fractions[:count]]


class _KnownLookups(SeedSteps):
    """No grep: this process knows the line of each URL."""

    def __init__(self, urls, url_list):
        super().__init__(url_list)
        self._lines = {url: index for index, url in enumerate(urls)}

    def look_up(self, index, url):
        if self._lines[url] != index:
            raise OSError(None, "entry %d of the list is not known" % (index + 1))

    def reap(self):
        """Do nothing: there is no grep."""


class _Trials:
    def __init__(self, bench, retrieves, entry, count):
        self._bench, self._retrieves, self._record = bench, retrieves, entry["trials"]
        self._pass_s = (entry["run_ns"] + entry["final_sync_ns"]) / NS_PER_S
        self._mean_s = entry["run_ns"] / NS_PER_S / count
        dirty = (entry["dirty_before_sync_bytes"], entry["writeback_before_sync_bytes"])
        self._full_bytes = sum(count or 0 for count in dirty)
        self._destination = os.path.join(retrieves.work, "trial-output.dat")
        self._ceiling_file = os.path.join(retrieves.work, "ceiling.dat")
        self._is_limited = bench.settings.trials == "auto"
        self.left_out = None  # which blocks this machine cannot do, and why
        self._refilled = 0
        self._rounds_at_most, self._end_ns = ROUNDS_WANTED, None  # None: no round is too late

    def run(self):
        try:
            with ExitStack() as stack:
                self._choose_ways(stack)
                retrieves, ceiling_s = self._plan()
                self._record["file_indexes"] = _files_of_blocks(self._retrieves.sizes, retrieves)
                self._read_files()
                self._measure_ceilings(ceiling_s)
                usual = [kind for kind in self._ways if kind != "pace"]
                self._measure_rounds(usual)
                if len(usual) < len(self._ways):
                    self._measure_rounds(["pace"])
        finally:
            for path in (self._destination, self._ceiling_file):
                with suppress(FileNotFoundError):
                    folders.remove(path)
        page_cache.sync_filesystem(self._retrieves.work)

    def _choose_ways(self, stack):
        retrieves, pace = self._retrieves, self._record["pace_bytes_per_s"]
        url_list, urls, sizes = retrieves.url_list, retrieves.urls, retrieves.sizes
        self._ways = {
            "normal": SeedSteps(url_list),
            "lookup": _KnownLookups(urls, url_list),
            "unlink": SeedSteps(url_list, "unlink"),
        }
        for kind, copy in copies.more_ways(stack, retrieves.work).items():
            self._ways[kind] = steps = SeedSteps(url_list)
            steps.copy = partial(copy, steps.copy)  # type: ignore[method-assign]
        memory_bytes = host.available_bytes() or 0
        if memory_bytes < MEMORY_NEEDED_BYTES:
            sizes_mib = (memory_bytes // MIB, MEMORY_NEEDED_BYTES // MIB)
            self.left_out = "memory: %d MiB of memory are available, and %d are needed" % sizes_mib
        else:
            try:
                self._ways["memory"] = MemorySteps(urls, max(sizes))
            except (OSError, AttributeError) as error:
                self.left_out = "memory: %s" % reason_of(error)
        if pace:
            self._ways["pace"] = PacedCopies(url_list, pace, sum(sizes) // len(sizes))
        for steps in self._ways.values():
            stack.enter_context(steps)

    def _plan(self):
        """Return retrieves per block, and seconds per ceiling, of the largest trials that fit.

        WorkloadError where time or memory allow none.
        """
        sizes = self._retrieves.sizes
        room_bytes = SHARE_OF_ROOM * (host.available_bytes() or sum(sizes))
        lengths = [
            length
            for length in BLOCK_RETRIEVES
            if sum(sizes[index] for index in set(_files_of_blocks(sizes, length))) <= room_bytes
        ]
        if not lengths:
            raise WorkloadError("the files of a block do not fit into the memory")
        allowed_s = self._pass_s * TRIALS_PERCENT / 100
        ceilings_s, rounds = (GOOD_CEILING_S, SHORTEST_CEILING_S), (ROUNDS_WANTED, ROUNDS_AT_LEAST)
        for least_s, count, length in itertools.product(ceilings_s, rounds, lengths):
            blocks_s = self._blocks_s(count, length)
            ceiling_s = (allowed_s * PLANNED_SHARE - blocks_s) / CEILINGS
            if ceiling_s >= least_s:
                self._end_ns = clock.now_ns() + int(allowed_s * NS_PER_S)
                # The usual rounds leave the time for the paced ones.
                self._rounds_at_most = count if "pace" in self._ways else ROUNDS_AT_MOST
                return length, min(ceiling_s, LONGEST_CEILING_S)
        if not self._is_limited:
            return lengths[-1], GOOD_CEILING_S
        needed_s = (blocks_s + CEILINGS * SHORTEST_CEILING_S) / PLANNED_SHARE
        reason = "they need %.1f s, and %d %% of the retrieves' time are %.1f s"
        raise WorkloadError(reason % (needed_s, TRIALS_PERCENT, allowed_s))

    def _blocks_s(self, rounds, length):
        """Return how long blocks and pilot take if all are as slow as the samples, or paced."""
        sizes, pace = self._retrieves.sizes, self._record["pace_bytes_per_s"]
        retrieves_s = (length + REFILLS_PLANNED) * self._mean_s * len(self._ways)
        if pace:
            retrieves_s += length * max(sum(sizes) / len(sizes) / pace - self._mean_s, 0)
        return rounds * retrieves_s + PILOTS_S

    def _read_files(self):
        """Read the files into the page cache: a block must not measure the reading."""
        indexes = sorted(set(self._record["file_indexes"]))
        resident = []
        for path in (self._retrieves.files[index] for index in indexes):
            read_file(path)
            resident.append(page_cache.resident_bytes(path))
        needed_bytes = sum(self._retrieves.sizes[index] for index in indexes)
        if None not in resident and sum(resident) < RESIDENT_SHARE * needed_bytes:
            share = (sum(resident) // MIB, needed_bytes // MIB)
            raise WorkloadError("only %d of %d MiB of files stay in memory" % share)

    def _measure_ceilings(self, ceiling_s):
        free_bytes = min(
            folders.free_space_bytes(self._retrieves.work), host.available_bytes() or 0
        )
        room_bytes = int(SHARE_OF_ROOM * free_bytes)
        size = min(PILOT_BYTES, room_bytes)
        took_ns = self._write_file(size)
        while took_ns < PILOT_S * NS_PER_S and size * 4 <= min(room_bytes, PILOT_BYTES_AT_MOST):
            size *= 4
            took_ns = self._write_file(size)
        size = int(size / took_ns * ceiling_s * NS_PER_S)
        size = max(min(size, room_bytes) // MIB, 1) * MIB
        for _ in range(CEILINGS):
            ceiling = {"written_bytes": size, "duration_ns": self._write_file(size)}
            self._record["ceilings"].append(ceiling)

    def _write_file(self, size):
        """Return how long a file takes to be written and synchronised, on an idle disk."""
        page_cache.sync_filesystem(self._retrieves.work)
        chunk = os.urandom(MIB)
        started_ns = clock.now_ns()
        write_new_file(self._ceiling_file, size, chunk, is_synced=True)
        took_ns = clock.now_ns() - started_ns
        folders.remove(self._ceiling_file)
        return took_ns

    def _measure_rounds(self, kinds):
        read_clock = clock.now_ns
        longest_ns = longest_block_ns = 0
        length = len(self._record["file_indexes"])
        say("  trials: blocks of %d retrieves (%s)" % (length, ", ".join(kinds)))
        for done in range(self._rounds_at_most):
            may_end, started_ns = done >= ROUNDS_AT_LEAST, read_clock()
            if may_end and self._is_late(longest_ns):
                return
            for kind in kinds[done % len(kinds) :] + kinds[: done % len(kinds)]:
                block_ns = read_clock()
                if self._is_limited and self._is_late(longest_block_ns):
                    if may_end:
                        return
                    raise WorkloadError("%d %% of the retrieves' time are used up" % TRIALS_PERCENT)
                self._refill()
                self._record["blocks"].append(self._block(kind))
                longest_block_ns = max(longest_block_ns, read_clock() - block_ns)
                self._bench.between_samples(read_clock())
            longest_ns = max(longest_ns, read_clock() - started_ns)

    def _is_late(self, needed_ns):
        return self._end_ns is not None and clock.now_ns() + needed_ns > self._end_ns

    def _refill(self):
        """Retrieve, untimed, until as much is dirty as was at the end of the samples."""
        indexes = self._record["file_indexes"]
        for done in range(REFILLS_AT_MOST):
            unwritten_bytes = sum(count or 0 for count in host.unwritten_bytes())
            is_full = unwritten_bytes >= REFILLED_SHARE * self._full_bytes
            if done >= REFILLS_AT_LEAST and is_full:
                return
            index = indexes[self._refilled % len(indexes)]
            self._refilled += 1
            self._retrieve(self._ways["normal"], index)

    def _block(self, kind):
        steps = self._ways[kind]
        steps.start()
        indexes = self._record["file_indexes"]
        lookups, copies = zip(*(self._retrieve(steps, index) for index in indexes))
        return {"trial": kind, "lookup_ns": list(lookups), "copy_ns": list(copies)}

    def _retrieve(self, steps, index):
        retrieves, read_clock = self._retrieves, clock.now_ns
        url, path, size = retrieves.urls[index], retrieves.files[index], retrieves.sizes[index]
        started_ns = read_clock()
        steps.look_up(index, url)
        between_ns = read_clock()
        steps.copy(path, self._destination, size)
        ended_ns = read_clock()
        steps.reap()
        return between_ns - started_ns, ended_ns - between_ns
