# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One run: the places and workloads in turn, what happens between samples, and the end."""

import os
import time
import traceback

import perfherder
import places
import summary
from interruption import Interrupted, SkippedError, WorkloadError
from observe import devices, host, limits, storage
from observe.sampler import Sampler
from progress import LOG, say
from record import not_written

FAILED, DONE = 1, 0
CHILDREN_END_WITHIN_S = 10


class Bench:
    def __init__(self, settings, record, interruption, origin_ns):
        self.settings = settings
        self.origin_ns = origin_ns
        self.progress_every_s = 1 if settings.profile == "quick" else 5
        self.leaf_devices = []
        self._record = record
        self._interruption = interruption
        self._sampler = None
        self._current = None
        self._number = 0
        self._suites = []
        self._failures = []
        self._skipped = []
        self._measured_enough = False

    @property
    def due_ns(self):
        return self._record.due_ns

    def held(self):
        """A block that no interruption cuts short: it is raised at the end of it."""
        return self._interruption.held()

    def warn(self, name, message):
        """Once, however many places it is true of."""
        if {"name": name, "message": message} not in self._record.document["warnings"]:
            self._record.warn(name, message)

    def device_bytes(self):
        """What the places' disks have read and written so far, by name."""
        counters = devices.counters()
        return {
            name: counters[name][:2] for name in self.leaf_devices if name in counters
        }

    def device_bytes_since(self, before):
        after = self.device_bytes()
        return {
            name: {"read": after[name][0] - read, "written": after[name][1] - written}
            for name, (read, written) in before.items()
            if name in after
        }

    def between_samples(self):
        """Let the file grow; called outside the timed intervals, at most every ten seconds."""
        self._take_in()
        self._record.write_if_possible()

    def _take_in(self):
        if self._current is not None:
            workload, entry = self._current
            entry["samples"] = workload.samples()
        if self._sampler is not None:
            self._sampler.take()
            self._record.document["timeline"] = self._sampler.as_timeline()

    def run(self, workload_classes):
        """Return the exit code and the reason for it. The file is valid whatever happens."""
        document = self._record.document
        plans = self._plan(workload_classes)
        shown = [(plan[0], [entry for _, entry in plan[2]]) for plan in plans]
        document["workloads"] = [entry for _, entries in shown for entry in entries]
        summary.show_plan(shown, self.settings.time_budget_s)
        self._record.write_if_possible()
        reason, exit_code = None, DONE
        try:
            with self._interruption.allowed():
                self._observe()
                for workload_class, place, entries in plans:
                    self._measure(workload_class, place, entries)
        except Interrupted as interrupted:
            reason, exit_code = interrupted.reason, interrupted.exit_code
        except Exception as error:  # noqa: BLE001
            # A bug of ours: what was measured is kept.
            self._failures.append(internal_error(error))
        if self._skipped and not self._suites:
            self._failures += self._skipped
        if self._failures:
            reason = "; ".join(self._failures + ([reason] if reason else []))
            exit_code = FAILED if exit_code in (None, DONE) else exit_code
        elif exit_code is None:
            # Out of time: what was measured may still decide.
            exit_code = DONE if self._measured_enough else FAILED
        try:
            self._finish(reason, document["workloads"])
        except OSError as error:
            reason, exit_code = not_written(error), exit_code or FAILED
            say("error: " + reason)
        self._show(reason, shown)
        return exit_code, reason

    def _plan(self, workload_classes):
        """Every entry stands in the file from the start, so that what is missing has a name."""
        plans = []
        for workload_class in workload_classes:
            # What does not depend on the place is measured once, in the first one's name.
            last = None if workload_class.per_place else 1
            for place in self.settings.places[:last]:
                workload = workload_class(self, place, place.path)
                entries = []
                for variant in workload_class.variants(self.settings):
                    entry = {"name": workload_class.name, "place": place.name}
                    entry.update(variant)
                    entry.update(workload.plan(variant))
                    entry["samples"] = workload.samples()
                    entry["completed"] = False
                    entry["incomplete_reason"] = "not started"
                    entries.append((variant, entry))
                plans.append((workload_class, place, entries))
        return plans

    def _observe(self):
        document = self._record.document
        document["host"] = host.observe()
        document["limits"] = limits.observe()
        for place in self.settings.places:
            folder = None
            try:
                with self._interruption.held():
                    folder = places.claim(place.path)
                observed = storage.observe(place.name, place.path)
            except OSError as error:
                observed = dict(place._asdict(), failed=error.strerror)
            finally:
                self._leave(folder, place)
            document["storage"]["places"].append(observed)
            self.leaf_devices += [
                device["name"]
                for device in observed.get("devices", [])
                if not device["below"] and device["name"] not in self.leaf_devices
            ]
            say(describe_place(observed))
        # Cut in two, it would leave a process that nobody knows and that this one waits for at its end.
        with self._interruption.held():
            self._sampler = Sampler(self.leaf_devices, self.origin_ns)
        self._record.write_if_possible()

    def _measure(self, workload_class, place, entries):
        folder = None
        try:
            with self._interruption.held():
                folder = places.claim(place.path)
            workload = workload_class(self, place, folder)
            prepared = workload.prepare()
            for variant, entry in entries:
                entry.update(prepared)
                try:
                    self._run_entry(workload, variant, entry)
                except SkippedError as skipped:
                    self._skip(place, [entry], skipped)
        except SkippedError as skipped:
            self._skip(place, [entry for _, entry in entries], skipped)
        except (OSError, WorkloadError, MemoryError) as error:
            self._fail(place, entries, error)
        finally:
            self._leave(folder, place)

    def _run_entry(self, workload, variant, entry):
        self._number += 1
        measurements = len(self._record.document["workloads"])
        title = summary.title(workload, entry)
        say("[%d/%d] %s" % (self._number, measurements, title))
        entry["incomplete_reason"] = "ended in the middle"
        self._current = (workload, entry)
        try:
            workload.run(variant, entry)
            entry["completed"], entry["incomplete_reason"] = True, None
        except Interrupted as interrupted:
            entry["incomplete_reason"] = interrupted.reason
            raise
        except OSError as error:
            entry["incomplete_reason"] = error.strerror or str(error)
            raise
        finally:
            with self._interruption.held():
                self._take_in()
                self._current = None
                if entry["samples"][workload.columns[0]]:
                    self._measured_enough |= workload.enough_for_a_verdict()
                    suite = perfherder.suite(self.settings, workload, entry)
                    self._suites.append(suite)

    def _fail(self, place, entries, error):
        what = getattr(error, "strerror", None) or str(error) or "out of memory"
        reason = "place %s (%s): %s" % (*place, what)
        say("error: " + reason)
        self._failures.append(reason)
        for _, entry in entries:
            if not entry["completed"]:
                entry["incomplete_reason"] = reason

    def _skip(self, place, entries, skipped):
        name = entries[0]["name"]
        reason = "place %s (%s): %s: %s" % (*place, name, skipped)
        say("skipped: " + reason)
        self._skipped.append(reason)
        self._record.warn("skipped", reason)
        for entry in entries:
            entry["incomplete_reason"] = "skipped: %s" % skipped

    def _leave(self, folder, place):
        with self._interruption.held():
            try:
                if folder is not None:
                    places.leave(folder, place.path)
            except OSError as error:
                message = "%s: %s" % (error.filename, error.strerror)
                self._record.warn("not-cleaned", message)

    def _finish(self, reason, entries):
        """The file first: whatever happens to the log, it is whole."""
        if self._sampler is not None:
            self._sampler.stop()
            self._take_in()
            if self._sampler.ended_early:
                message = "the timeline ends early: %s" % self._sampler.ended_early
                self._record.warn("sampler-ended", message)
        for entry in entries:
            if entry["incomplete_reason"] == "not started" and reason:
                entry["incomplete_reason"] = "not started: " + reason
        self._record.finish(reason)
        perfherder.write(self.settings.artifacts, self._suites)

    def _show(self, reason, shown):
        summary.show(shown)
        for warning in self._record.document["warnings"]:
            say("warning: %s: %s" % (warning["name"], warning["message"]))
        say("Raw results: %s" % self._record.path)
        wait_for_children()
        end = "complete" if reason is None else "incomplete: " + reason
        say("=== Benchmark %s ===" % end)
        if LOG.lines_dropped:
            message = "%d lines of the log could not be written" % LOG.lines_dropped
            self._record.warn("log-lines-dropped", message)
            self._record.write_if_possible()


def internal_error(error):
    """Show a bug of ours whole; return it as one line."""
    for line in traceback.format_exc().splitlines():
        say(line)
    return "internal error: %s: %s" % (type(error).__name__, error)


def wait_for_children():
    """An interruption can come between the start of a child and the note of its number."""
    until_s = time.monotonic() + CHILDREN_END_WITHIN_S
    try:
        while time.monotonic() < until_s:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
    except ChildProcessError:
        return
    say("warning: a process that was started here has not ended")


def describe_place(observed):
    start = "Place %s: %s: " % (observed["name"], observed["path"])
    if observed.get("failed"):
        return start + observed["failed"]
    chain = []
    for device in observed["devices"]:
        stripes = device["stripe_count"]
        kind = device["kind"] + (", %d stripes" % stripes if stripes else "")
        chain.append("%s (%s)" % (device["name"], kind))
    kind = "%s, %s" % (observed["kind"], (observed.get("filesystem") or {}).get("type"))
    return "%s%s on %s" % (start, kind, ", ".join(chain) or "?")
