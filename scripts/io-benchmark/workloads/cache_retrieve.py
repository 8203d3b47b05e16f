# SPDX-License-Identifier: MPL-2.0
"""Seed 000's pattern: find a URL in a list with grep, copy the cached file that it names.

Measured: for each retrieve the lookup (fork, exec, grep's answer, wait), and separately the copy
(open to close, with mode and times); of both the time on a CPU, in user mode and in the kernel, and
the time waiting for one; at the end the time to write the dirty pages that the copies left.
Not measured: downloading, unpacking, anything of update-verify beyond the cache.

The destination of the copy decides what is measured:
  overwrite  one file, truncated and rewritten, as the seed does: ext4 flushes it at every close
  unlink     the same name, removed first: its dirty pages are dropped, the disk may write nothing
  fresh      a new name each time, in a ring of twice the kernel's dirty limit
"""

import hashlib
import os
import random

from log import MIB, NS_PER_S, ProgressLines, say
from measuring import trials
from measuring.retrieval import SeedSteps
from measuring.workload import Workload
from settings import PROFILES
from system import clock, folders, host, page_cache, processes
from system.probes import write_new_file

# 40 MARs, 40 tarballs, 20 small artifacts.
CACHE_SIZES_MIB = (80,) * 40 + (60,) * 40 + (5,) * 20
# Keys that only a run can fill in; null in the file until then.
OBSERVED = (
    "cache_state",
    "lookup_method",
    "copy_method",
    "run_ns",
    "trims",
    "shares_extents",
    "final_sync_ns",
    "dirty_before_sync_bytes",
    "writeback_before_sync_bytes",
    "final_sync_device_bytes",
    "device_bytes",
    "turn_ends",
    "trials",
)
URL = "https://archive.mozilla.org/pub/firefox/fake/%d/firefox-%gMB.mar"
SPARE_BYTES = 16 * MIB  # room for the list, the probes and the file system's own needs
FRESH_RING_DIRTY_LIMITS = 2
# Fewer retrieves read more files for the first time, from the disk: a different series.
USUAL_RETRIEVES = 2000


def _file_sizes_bytes(settings):
    if settings.sizes_bytes is not None:
        return settings.sizes_bytes
    divisor = PROFILES[settings.profile]  # each keeps the mix
    return [size * MIB // divisor for size in CACHE_SIZES_MIB]


def _make_sequence(seed, retrieves, files):
    """Return the file of each retrieve: the same on every pool and every Python."""
    # Only random() is promised to give the same values in every version.
    generator = random.Random(seed)
    return [int(generator.random() * files) for _ in range(retrieves)]


class _Target:
    """The path of the next copy; in a ring, copies have new names, and old ones are removed."""

    def __init__(self, folder, ring_bytes):
        self._folder, self._ring_bytes = folder, ring_bytes
        self._number = self._held_bytes = 0
        self._held = []
        self.last = os.path.join(folder, "output.dat")
        self.trims = []

    def next(self, size):
        if self._ring_bytes is not None:
            if self._held_bytes + size > self._ring_bytes:
                self._trim()
            self._number += 1
            self._held_bytes += size
            self.last = os.path.join(self._folder, "output-%05d.dat" % self._number)
            self._held.append(self.last)
        return self.last

    def _trim(self):
        """Write the copies to the disk and remove them, outside the timed part."""
        started_ns = clock.now_ns()
        page_cache.sync_filesystem(self._folder)
        sync_ns = clock.now_ns() - started_ns
        self.trims.append({"after_retrieves": self._number, "sync_ns": sync_ns})
        self.remove()

    def remove(self):
        for path in self._held or [self.last]:
            if os.path.exists(path):
                folders.remove(path)
        self._held = []
        self._held_bytes = 0


class _CacheRetrieve(Workload):
    name = "cache-retrieve"
    unit = "ms"
    unit_ns = 1_000_000
    columns = (
        "file_index",
        "start_ns",
        "lookup_ns",
        "copy_ns",
        "lookup_user_ns",
        "lookup_kernel_ns",
        "lookup_waiting_ns",
        "copy_user_ns",
        "copy_kernel_ns",
        "copy_waiting_ns",
    )
    samples_for_a_verdict = 100

    def __init__(self, bench, place, folder):
        super().__init__(bench, place, folder)
        settings = bench.settings
        self._cache = os.path.join(folder, "uv-cache")
        self.work = os.path.join(folder, "uv-work")
        self.url_list = os.path.join(self._cache, "urls.list")
        self.sizes = _file_sizes_bytes(settings)
        numbers = range(1, len(self.sizes) + 1)
        self.files = [os.path.join(self._cache, "obj_%05d.cache" % number) for number in numbers]
        self.urls = [URL % (number, self.sizes[number - 1] / MIB) for number in numbers]
        self._sequence = _make_sequence(settings.seed, settings.retrieves, len(self.sizes))
        self._copied_bytes = sum(self.sizes[index] for index in self._sequence)

    def variants(self):
        return [{"destination": name} for name in self._bench.settings.destinations]

    def plan(self, variant):
        is_fresh = variant["destination"] == "fresh"
        return {
            "retrieves_planned": len(self._sequence),
            "file_sizes_bytes": self.sizes,
            "sequence_sha256": hashlib.sha256(str(self._sequence).encode()).hexdigest(),
            "fresh_ring_bytes": self._ring_bytes() if is_fresh else None,
            **dict.fromkeys(OBSERVED),
        }

    def planned_bytes(self):
        return sum(self.sizes), self._copied_bytes * len(self._bench.settings.destinations)

    def prepare(self):
        processes.Finder()  # fails before anything is written
        self.check_space(self._needed_bytes())
        os.mkdir(self._cache)
        os.mkdir(self.work)
        cache = (self.place.name, len(self.sizes), sum(self.sizes) / MIB)
        say("=== Populating the cache of %s: %d files, %.1f MiB ===" % cache)
        chunk = os.urandom(MIB)
        for path, size in zip(self.files, self.sizes):
            # Each time moved by a byte: the files have no block in common.
            chunk = chunk[1:] + chunk[:1]
            write_new_file(path, size, chunk)
        with open(self.url_list, "w", encoding="ascii") as file:
            file.writelines(url + "\n" for url in self.urls)

    def kept_bytes(self):
        return sum(self.sizes)

    def turns_with(self, entry):
        # Fresh copies measure how unwritten data accumulates: nothing may be written in between.
        return ("fresh", entry["place"]) if entry["destination"] == "fresh" else self.name

    def run(self, entry, turns):
        """Do one timed pass over the sequence, in turns."""
        self._rows = []
        entry["cache_state"] = self._make_cold()
        folder = os.path.join(self.work, entry["destination"])
        os.mkdir(folder)
        target = _Target(folder, entry["fresh_ring_bytes"])
        yield
        count = len(self._sequence)
        with SeedSteps(self.url_list, entry["destination"]) as steps:
            entry["copy_method"] = steps.copy_method
            entry["lookup_method"] = steps.lookup_method
            try:
                for end in self.ends_of_turns(count, turns):
                    if turns > 1:
                        self._begin_turn(steps, target, end)
                    before = self._bench.device_bytes()
                    self._retrieve_until(end, steps, target, entry)
                    moved = self._bench.device_bytes_since(before, entry["device_bytes"])
                    entry["device_bytes"] = moved
                    if turns > 1:
                        self._bench.mark()
                        self.end_turn(entry)
                    if end < count:
                        page_cache.sync_filesystem(folder)
                        yield
            finally:
                entry["trims"] = target.trims
        entry["shares_extents"] = page_cache.shares_extents(target.last)
        self._drain(entry)
        target.remove()

    def _begin_turn(self, steps, target, end):
        """Make the turn continue the pass.

        What it reads for the first time is on the disk alone, and the copy before it is unwritten.
        """
        done = len(self._rows)
        read = self._sequence[:done]
        for index in set(self._sequence[done:end]).difference(read):
            page_cache.evict(self.files[index])
        if done:
            steps.copy(self.files[read[-1]], target.last, self.sizes[read[-1]])
        self._bench.mark()  # a turn may be shorter than the timeline's interval

    def run_trials(self, entry):
        if entry["destination"] == "overwrite" and self._bench.settings.trials != "never":
            trials.run(self._bench, self, entry, len(self._rows))

    def _retrieve_until(self, end, steps, target, entry):
        bench, rows, sizes = self._bench, self._rows, self.sizes
        read_clock, urls, files = clock.now_ns, self.urls, self.files
        # As if the turns before had ended just now.
        earlier_ns = entry["run_ns"] or 0
        origin_ns, started_ns = bench.origin_ns, read_clock() - earlier_ns
        done_bytes = sum(sizes[index] for index in self._sequence[: len(rows)])
        progress = ProgressLines(len(self._sequence), started_ns, self.log_label)
        progress.due_ns += earlier_ns
        for done in range(len(rows) + 1, end + 1):
            index = self._sequence[done - 1]
            destination = target.next(sizes[index])
            before = steps.read()
            start_ns = read_clock()
            steps.look_up(index, urls[index])
            lookup_ns = read_clock() - start_ns
            between = steps.read()
            copy_start_ns = read_clock()
            steps.copy(files[index], destination, sizes[index])
            end_ns = read_clock()
            times = (index, start_ns - origin_ns, lookup_ns, end_ns - copy_start_ns)
            rows.append((*times, *steps.spent(before, between, steps.read(), steps.reap())))
            done_bytes += sizes[index]
            entry["run_ns"] = end_ns - started_ns
            if end_ns >= progress.due_ns or done == len(self._sequence):
                seconds = entry["run_ns"] / NS_PER_S
                figures = (done_bytes / MIB / seconds, seconds / done * 1000)
                progress.show(done, end_ns, ", %.1f MiB/s, mean %.3g ms" % figures)
            bench.between_samples(end_ns)

    def _make_cold(self):
        """Evict the cache from memory, then ask the kernel how much of it is still there."""
        page_cache.sync_filesystem(self._cache)
        dropped = page_cache.drop_all()
        for path in self.files:
            page_cache.evict(path)
        resident = [page_cache.resident_bytes(path) for path in self.files]
        say("  drop_caches: %s" % dropped)
        return {
            "drop_caches": dropped,
            "cache_bytes": sum(self.sizes),
            "resident_bytes": None if None in resident else sum(resident),
        }

    def _drain(self, entry):
        """Time the final sync; record what was dirty before it, and what the disks then wrote."""
        dirty, writeback = host.unwritten_bytes()
        before_sync = self._bench.device_bytes()
        started_ns = clock.now_ns()
        page_cache.sync_filesystem(self.work)
        entry["final_sync_ns"] = clock.now_ns() - started_ns
        say("  final sync: %.0f ms" % (entry["final_sync_ns"] / self.unit_ns))
        entry.update(dirty_before_sync_bytes=dirty, writeback_before_sync_bytes=writeback)
        entry["final_sync_device_bytes"] = self._bench.device_bytes_since(before_sync)
        entry["device_bytes"] = self._bench.device_bytes_since(before_sync, entry["device_bytes"])

    def _ring_bytes(self):
        return max(FRESH_RING_DIRTY_LIMITS * host.dirty_limit_bytes(), 2 * max(self.sizes))

    def _needed_bytes(self):
        largest = max(self.sizes)
        room = dict.fromkeys(self._bench.settings.destinations, largest)
        if "fresh" in room:
            # The ring never holds more than all retrieves together.
            room["fresh"] = min(self._ring_bytes() + largest, self._copied_bytes)
        return sum(self.sizes) + SPARE_BYTES + sum(room.values())

    def durations(self, entry):
        samples = entry["samples"]
        durations_ns = list(map(sum, zip(samples["lookup_ns"], samples["copy_ns"])))
        return durations_ns, [1] * len(durations_ns)

    def options(self, entry):
        options = [entry["destination"]]
        if entry["retrieves_planned"] != USUAL_RETRIEVES:
            options.append("retrieves-%d" % entry["retrieves_planned"])
        return options

    def subtests(self, entry):
        phases = {phase: entry["samples"][phase + "_ns"] for phase in ("lookup", "copy")}
        times_ns = {name + "-mean": sum(values) / len(values) for name, values in phases.items()}
        sync_ns = entry["final_sync_ns"]
        return times_ns if sync_ns is None else {**times_ns, "final-sync": sync_ns}


WORKLOAD = _CacheRetrieve
