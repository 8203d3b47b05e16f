# SPDX-License-Identifier: MPL-2.0
"""The profile of a command: what it demanded of the machine, as one JSON document.

A value that cannot be known is None, and `unknown` has the reason. Until the command has ended, nothing is
written and no process is started, because the profile must not disturb the command.
"""

import hashlib
import os
import re
import time

import reading
from log import ERRORS, NS_PER_S
from observe import devices, host, limits, storage, timelines
from observe.timelines import CommandTimeline
from result import result_file

# 1 (2026-11-22): the first.
VERSION = 1
DEFAULT_NAME = "task-profile.json"
BUSY = tuple("cpu_%s_ms" % name for name in ("user", "nice", "system", "irq", "softirq"))
# As the profile names them, and as the kernel does.
IO = {
    "read_bytes": "read_bytes",
    "written_bytes": "write_bytes",
    "read_characters": "rchar",
    "written_characters": "wchar",
    "read_calls": "syscr",
    "write_calls": "syscw",
}
IO_BYTES = 4096  # more than these files have
_IO_LINE = re.compile(r"^(\w+): ([0-9]+)$", re.MULTILINE)
NOT_STARTED = "the command was not started"
NO_IO = "the kernel does not count the I/O of processes, or does not show it"
NO_GROUP = "the command's cgroup has no such file, or is not visible"
NO_CPU = "the kernel does not show the machine's CPU time"
NO_DISK = "in memory, on a network, or on disks that only a write would identify"
NO_FLUSH_COUNT = "the kernel does not count flushes; Linux 5.5 and later do"
NO_WRITE_CACHE = "the disks have no volatile write cache, so a sync flushes nothing"
NO_BARRIERS = "mounted without barriers, so a sync flushes nothing"
NO_JOURNAL = "only ext4 shows how many commits were requested, and none is visible"


class TaskProfile:
    """A profile that begins when this is made; `timeline` takes rows until it is finished."""

    def __init__(self, settings):
        # Of several commands in one folder, each has its profile.
        self._may_replace = settings.output is not None
        self._output = os.path.abspath(settings.output if self._may_replace else DEFAULT_NAME)
        self._unknown = {}
        self._document = result_file.head(VERSION, settings.pool)
        self._document["command"] = _describe(settings.command)
        self._document["limits"] = limits.observe()
        self._places = [self._observe(place) for place in settings.places]
        self._document["storage"] = {"places": self._places}
        self._leaves = {leaf["name"]: leaf for place in self._places for leaf in _leaves(place)}
        self._before = self._read()
        self.timeline = CommandTimeline(list(self._leaves))

    def finish(self, ending, wall_ns, usage):
        """Write the file; OSError if that fails. `usage` is None if nothing was started."""
        self.timeline.take()
        grown = _growth(self._before, self._read())
        io = other_cpu_ms = spent = None
        if usage is not None:
            spent = {
                "user_ns": round(usage.ru_utime * NS_PER_S),
                "kernel_ns": round(usage.ru_stime * NS_PER_S),
            }
            io, other_cpu_ms = _io_of_children(), _other_cpu_ms(grown, usage)
        self._document.update(
            ended=time.strftime(result_file.UTC, time.gmtime()),
            ending=ending,
            wall_ns=wall_ns,
            usage=self._noted("usage", spent, NOT_STARTED),
            io=self._noted("io", io, NO_IO if usage else NOT_STARTED),
            own_cpu_ns=grown["own_cpu_ns"],
            other_cpu_ms=self._noted(
                "other_cpu_ms", other_cpu_ms, NO_CPU if usage else NOT_STARTED
            ),
            cgroup_bytes=self._noted("cgroup_bytes", self._group_bytes(grown), NO_GROUP),
            syncs={place["name"]: self._syncs(place, grown) for place in self._places},
            host=host.observe(may_measure=False),
            timeline=self.timeline.as_timeline(),
            unknown=self._unknown,
        )
        os.makedirs(os.path.dirname(self._output), exist_ok=True)
        path = result_file.write(self._output, self._document, may_replace=self._may_replace)
        if path != self._output:
            ERRORS.say("io-benchmark: %s exists; the profile is %s" % (DEFAULT_NAME, path))

    def _noted(self, path, value, reason):
        """Return the value; where it is None, note why."""
        if value is None:
            self._unknown[path] = reason
        return value

    def _observe(self, place):
        reason = NO_DISK
        try:
            observed = storage.observe(place.name, os.path.abspath(place.path), may_write=False)
        except OSError as error:
            observed = dict(place._asdict(), failed=error.strerror)
            reason = str(error.strerror)
        if not observed.get("devices"):
            self._unknown["storage.places.%s.devices" % place.name] = reason
        return observed

    def _read(self):
        """Read counters; what they grow by is the command's, or the machine's meanwhile."""
        disks = list(self._leaves)
        totals = dict(zip(timelines.column_names(disks), timelines.sample(os.getpid(), disks)))
        totals["own_cpu_ns"] = time.process_time_ns()
        group = self._document["limits"]["groups"].get("unified", "/none")
        counters, io_stat = devices.counters(), os.path.join(group, "io.stat")
        for name, leaf in self._leaves.items():
            totals["flushes:" + name] = counters.get(name, devices.UNSEEN)[devices.FLUSHES]
            for key in ("rbytes", "wbytes"):
                moved = reading.first_int(r"^%s .*\b%s=(\d+)" % (leaf["number"], key), io_stat)
                # A disk that the group has not used yet is not in the file.
                unused = 0 if reading.exists(io_stat) else None
                totals["%s:%s" % (key, name)] = unused if moved is None else moved
        for place in self._places:
            totals["commits:" + place["name"]] = _requested_commits(place)
        return totals

    def _group_bytes(self, grown):
        moved = {
            name: {"read": grown["rbytes:" + name], "written": grown["wbytes:" + name]}
            for name in self._leaves
        }
        is_complete = moved and not any(None in counts.values() for counts in moved.values())
        return moved if is_complete else None

    def _syncs(self, place, grown):
        """Return what the kernel counted of synchronous writes, also those of other tasks."""
        path = "syncs.%s." % place["name"]
        leaves = _leaves(place)
        flushes = [grown["flushes:" + leaf["name"]] for leaf in leaves]
        commits = grown["commits:" + place["name"]]
        reason = ""
        if not leaves:
            reason = NO_DISK
        elif None in flushes:
            reason = NO_FLUSH_COUNT
        elif {leaf["write_cache"] for leaf in leaves} == {"write through"}:
            reason = NO_WRITE_CACHE
        elif _is_without_barriers(place):
            reason = NO_BARRIERS
        return {
            # A sync flushes every disk of a stripe.
            "flushes": self._noted(path + "flushes", None if reason else max(flushes), reason),
            "commits": self._noted(path + "commits", commits, NO_JOURNAL),
        }


def _describe(command):
    """Describe the command without its arguments: these may hold what must not be public."""
    words = [os.fsencode(word) for word in command]
    return {
        "program": os.path.basename(command[0]),
        "arguments": len(command) - 1,
        "sha256": hashlib.sha256(b"\0".join(words)).hexdigest(),
    }


def _io_of_children():
    """Return the I/O of the processes that this one has waited for; None where it is not shown.

    A process' counters have its children's, those of its thread have not.
    """
    try:
        own, whole = map(_read_at_once, ("/proc/thread-self/io", "/proc/self/io"))
    except OSError:
        return None
    thread, process = dict(_IO_LINE.findall(own)), dict(_IO_LINE.findall(whole))
    if not set(IO.values()) <= set(thread) & set(process):
        return None
    io = {name: int(process[key]) - int(thread[key]) for name, key in IO.items()}
    # The second reading has counted the first.
    io["read_characters"] -= len(own)
    io["read_calls"] -= 1
    return io


def _read_at_once(path):
    descriptor = os.open(reading.ROOT + path, os.O_RDONLY)
    try:
        return os.pread(descriptor, IO_BYTES, 0).decode("ascii")
    finally:
        os.close(descriptor)


def _leaves(place):
    return [device for device in place.get("devices", []) if not device["below"]]


def _requested_commits(place):
    """Return how many commits of the place's journal were requested, by syncs for the most part."""
    for device in place.get("devices", [])[:1]:
        path = "/proc/fs/jbd2/%s-8/info" % device["name"]
        return reading.first_int(r"\((\d+) requested\)", path)
    return None


def _is_without_barriers(place):
    options = [place["mount"]["super_options"]]
    numbers = [device["number"] for device in place["devices"]]
    options += [mount.super_options for mount in storage.mount_table() if mount.device in numbers]
    return any({"nobarrier", "barrier=0"} & set(words.split(",")) for words in options)


def _growth(before, after):
    """Return how much each counter grew; None for one that is not known, or started again at 0."""
    grown = {}
    for name, value in after.items():
        has_grown = None not in (value, before[name]) and value >= before[name]
        grown[name] = value - before[name] if has_grown else None
    return grown


def _other_cpu_ms(grown, usage):
    """Return the CPU time of all that is neither the command nor this program."""
    busy = [grown[name] for name in BUSY]
    if usage is None or None in busy:
        return None
    own_ms = grown["own_cpu_ns"] / 1e6 + (usage.ru_utime + usage.ru_stime) * 1000
    return max(0, round(sum(busy) - own_ms))
