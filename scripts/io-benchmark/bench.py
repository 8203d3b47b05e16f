# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One run: the places and workloads in turn, what happens between samples, and the end."""

import os
import shutil
import tempfile
import time
import traceback

import perfherder
import summary
from failures import SkippedError, WorkloadError
from interruption import Interrupted
from observe import devices, host, limits, storage
from observe.sampler import Sampler
from progress import say

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
        """Everything; returns the exit code. The file is valid whatever happens."""
        document = self._record.document
        plans = self._plan(workload_classes)
        document["workloads"] = [
            entry for _, _, entries in plans for _, entry in entries
        ]
        shown = [(plan[0], [entry for _, entry in plan[2]]) for plan in plans]
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
            # A bug of ours: shown whole, and what was measured is kept.
            traceback.print_exc()
            self._failures.append(
                "internal error: %s: %s" % (type(error).__name__, error)
            )
        if self._skipped and not self._suites:
            self._failures += self._skipped
        if self._failures:
            reason = "; ".join(self._failures + ([reason] if reason else []))
            exit_code = FAILED if exit_code in (None, DONE) else exit_code
        elif exit_code is None:
            # Out of time: what was measured may still decide.
            exit_code = DONE if self._measured_enough else FAILED
        try:
            self._end(reason, shown)
        except OSError as error:
            say(
                "error: the result cannot be written: %s: %s"
                % (error.filename, error.strerror)
            )
            return exit_code or FAILED
        return exit_code

    def _plan(self, workload_classes):
        """Every entry stands in the file from the start, so that what is missing has a name."""
        plans = []
        for workload_class in workload_classes:
            # What does not depend on the place is measured once, in the first one's name.
            places = (
                self.settings.places
                if workload_class.per_place
                else self.settings.places[:1]
            )
            for place in places:
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
            made = False
            try:
                made = make_place(place.path)
                observed = storage.observe(place.name, place.path)
            except OSError as error:
                observed = {
                    "name": place.name,
                    "path": place.path,
                    "failed": error.strerror,
                }
            finally:
                if made:
                    os.rmdir(place.path)
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
        made = folder = None
        try:
            with self._interruption.held():
                made = make_place(place.path)
                folder = tempfile.mkdtemp(prefix="io-benchmark-", dir=place.path)
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
        except (OSError, WorkloadError) as error:
            self._fail(place, entries, error)
        finally:
            with self._interruption.held():
                self._clean(folder, place.path if made else None)

    def _run_entry(self, workload, variant, entry):
        say()
        say("=== %s ===" % summary.title(workload, entry))
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
                    owner = perfherder.owner(self.settings)
                    suite = perfherder.suite(
                        owner, self.settings.profile, workload, entry
                    )
                    self._suites.append(suite)

    def _fail(self, place, entries, error):
        what = getattr(error, "strerror", None) or str(error)
        reason = "place %s (%s): %s" % (place.name, place.path, what)
        say("error: " + reason)
        self._failures.append(reason)
        for _, entry in entries:
            if not entry["completed"]:
                entry["incomplete_reason"] = reason

    def _skip(self, place, entries, skipped):
        reason = "place %s (%s): %s: %s" % (
            place.name,
            place.path,
            entries[0]["name"],
            skipped,
        )
        say("skipped: " + reason)
        self._skipped.append(reason)
        self._record.warn("skipped", reason)
        for entry in entries:
            entry["incomplete_reason"] = "skipped: %s" % skipped

    def _clean(self, folder, made_place):
        try:
            if folder is not None:
                shutil.rmtree(folder)
            if made_place is not None:
                os.rmdir(made_place)
        except OSError as error:
            self._record.warn(
                "not-cleaned", "%s: %s" % (error.filename, error.strerror)
            )

    def _end(self, reason, shown):
        if self._sampler is not None:
            self._sampler.stop()
            self._take_in()
            if self._sampler.ended_early:
                message = "the timeline ends early: %s" % self._sampler.ended_early
                self._record.warn("sampler-ended", message)
        for workload_class, entries in shown:
            for entry in entries:
                if entry["incomplete_reason"] == "not started" and reason:
                    entry["incomplete_reason"] = "not started: " + reason
                summary.show(workload_class, entry)
            summary.show_together(workload_class, entries)
        say()
        for warning in self._record.document["warnings"]:
            say("warning: %s: %s" % (warning["name"], warning["message"]))
        self._record.finish(reason)
        perfherder.write(self.settings.artifacts, self._suites)
        say("Raw results: %s" % self._record.path)
        wait_for_children()
        say(
            "=== Benchmark %s ==="
            % ("complete" if reason is None else "incomplete: " + reason)
        )


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


def make_place(path):
    """Make the place itself where only it is missing; True when it was made and is to be removed."""
    if os.path.isdir(path):
        return False
    os.mkdir(path)
    return True


def describe_place(observed):
    if observed.get("failed"):
        return "Place %s: %s: %s" % (
            observed["name"],
            observed["path"],
            observed["failed"],
        )
    chain = ", ".join(
        "%s (%s%s)"
        % (
            device["name"],
            device["kind"],
            ", %d stripes" % device["stripe_count"] if device["stripe_count"] else "",
        )
        for device in observed["devices"]
    )
    kind = "%s, %s" % (observed["kind"], (observed.get("filesystem") or {}).get("type"))
    return "Place %s: %s: %s on %s" % (
        observed["name"],
        observed["path"],
        kind,
        chain or "?",
    )
