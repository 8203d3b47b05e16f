# SPDX-License-Identifier: MPL-2.0
"""One run: parse the arguments, measure each workload in each place, write the result."""

import contextlib
import importlib
import re
import traceback
from itertools import groupby

from early_end import Interrupted
from log import say
from measuring import fixed_work
from measuring.timelines import Sampler
from measuring.turns import Turns
from result import figures
from result.files import SCRIPT_VERSION, ResultFile, claim_folder, leave_folder, outcome
from settings import WrongArgumentsError, check_folders, is_task, parse
from system import devices, host, storage
from system.probes import TOO_LITTLE_MEMORY

DONE, FAILED, WRONG_ARGUMENTS = 0, 1, 2
NOT_WRITTEN = "the result cannot be written: %s: %s"


def run(arguments, workload_names, job, interruption, origin_ns):
    """Return the exit code; if a task's is not 0, print a line for Treeherder's summary."""
    try:
        settings = parse(arguments, workload_names, job)
        check_folders(settings.places)
        exit_code, reason = _run_benchmark(settings, interruption, origin_ns)
    except WrongArgumentsError as error:
        say("error: %s; --help lists the arguments" % error)
        exit_code, reason = WRONG_ARGUMENTS, "wrong arguments: %s" % error
    except Exception as error:  # noqa: BLE001 - a bug of this script: shown whole
        exit_code, reason = FAILED, _internal_error(error)
    pool = re.search(r"\0--pool[=\0]([\w.-]+)\0", "\0%s\0" % "\0".join(arguments))
    if exit_code and pool and is_task():
        # Without a third part: with one, Treeherder searches bugs only for the second.
        say("TEST-UNEXPECTED-FAIL | %s: %s" % (pool.group(1), reason))
    return exit_code


def _run_benchmark(settings, interruption, origin_ns):
    interruption.end_after(settings.time_budget_s)
    try:
        record = ResultFile(settings, origin_ns)
        record.write()
    except OSError as error:
        reason = NOT_WRITTEN % (error.filename, error.strerror)
        say("error: " + reason)
        return FAILED, reason
    say("=== io-benchmark %s: pool %s ===" % (SCRIPT_VERSION, settings.pool))
    if settings.retrieves_asked is not None:
        fewer = (settings.profile, settings.retrieves, settings.retrieves_asked)
        say("the profile %s takes %d retrieves, and not the %d of --retrieves" % fewer)
    names = ["workloads." + name.replace("-", "_") for name in settings.workloads]
    workloads = [importlib.import_module(name).WORKLOAD for name in names]
    return _Bench(settings, record, interruption, origin_ns).run(workloads)


class _Bench:
    def __init__(self, settings, record, interruption, origin_ns):
        self.settings = settings
        self.origin_ns = origin_ns
        self.leaf_devices = []
        self.warn = record.warn
        # In this block an interruption is delayed until its end.
        self.held = interruption.held
        self.raise_if_interrupted = interruption.raise_if_lost
        self.record = record
        self._interruption = interruption
        self._sampler = self.current = None  # the workload that is being measured
        self._turns = Turns(self)

    def device_bytes(self):
        """Return the bytes that the places' disks have read and written so far, by name."""
        totals = devices.counters()
        return {
            name: dict(zip(("read", "written"), totals[name]))
            for name in self.leaf_devices
            if name in totals
        }

    def device_bytes_since(self, before, earlier=None):
        """Return what the places' disks have moved since, added to what they had moved earlier."""
        return {
            name: {
                kind: total - before[name][kind] + (earlier or {}).get(name, {}).get(kind, 0)
                for kind, total in totals.items()
            }
            for name, totals in self.device_bytes().items()
            if name in before
        }

    def between_samples(self, now_ns):
        """Write an interim result every ten seconds; called outside the timed parts."""
        self.raise_if_interrupted()
        if now_ns >= self.record.due_ns:
            self.collect()
            self.record.write_if_possible()

    def mark(self):
        with self.held():
            self._sampler.mark()

    def collect(self):
        with self.held():
            if self.current is not None:
                self.current.entry["samples"] = self.current.samples()
            self._sampler.take()
            self.record.document["timeline"] = self._sampler.as_timeline()

    def run(self, workload_classes):
        """Return the exit code and its reason; the result file is valid at every moment."""
        workloads = self._plan(workload_classes)
        self.record.document["workloads"] = [
            entry for workload in workloads for entry in workload.entries
        ]
        figures.show_plan(workloads, self.settings, self.record.path)
        self.record.write_if_possible()
        try:
            with self._interruption.allowed():
                self._observe()
                self._measure_fixed_work()
                for _, in_places in groupby(workloads, type):
                    self._turns.measure(list(in_places))
                self._measure_fixed_work()
        except Interrupted:
            pass
        except Exception as error:  # noqa: BLE001
            # A bug of this script: the samples so far are kept.
            if self._interruption.raised is None:
                self._turns.failures.append(_internal_error(error))
        measured = [
            (workload, entry)
            for workload in workloads
            for entry in workload.entries
            if entry["samples"][workload.columns[0]]
        ]
        state, reason, exit_code = self._ending(self._interruption.raised, measured)
        try:
            self._finish(outcome(state, reason), measured)
        except OSError as error:
            reason = NOT_WRITTEN % (error.filename, error.strerror)
            exit_code = exit_code or FAILED
            say("error: " + reason)
        self._show(reason, workloads)
        return exit_code, reason

    def _plan(self, workload_classes):
        """Make all entries before anything runs, so that the result names what is missing."""
        workloads = []
        for workload_class in workload_classes:
            # A workload that does not depend on the place runs once, for the first place.
            last = None if workload_class.per_place else 1
            for place in self.settings.places[:last]:
                workload = workload_class(self, place, place.path)
                workload.entries = [
                    {
                        "name": workload.name,
                        "place": place.name,
                        **variant,
                        **workload.plan(variant),
                        "samples": workload.samples(),
                        "outcome": outcome("not-started"),
                    }
                    for variant in workload.variants()
                ]
                workloads.append(workload)
        return workloads

    @contextlib.contextmanager
    def claimed(self, place):
        """Yield a folder in the place that is removed at the end, whatever happens."""
        folder = None
        try:
            with self.held():
                folder = claim_folder(place.path, self.settings.job)
            yield folder
        finally:
            with self.held():
                try:
                    if folder is not None:
                        leave_folder(folder, place.path)
                except OSError as error:
                    self.warn("not-cleaned", "%s: %s" % (error.filename, error.strerror))

    def _observe(self):
        document = self.record.document
        document["host"] = host.observe()
        document["limits"] = host.observe_limits()
        if not document["host"]["first_touch_ns_per_mib"]:
            self.warn("memory-not-touched", TOO_LITTLE_MEMORY)
        for place in self.settings.places:
            try:
                with self.claimed(place):
                    observed = storage.observe(place.name, place.path)
            except OSError as error:
                self.raise_if_interrupted()
                observed = dict(place._asdict(), failed=error.strerror)
            document["storage"]["places"].append(observed)
            leaves = (leaf["name"] for leaf in observed.get("devices", []) if not leaf["below"])
            self.leaf_devices += [name for name in leaves if name not in self.leaf_devices]
        # Interrupted halfway, it would leave a process whose number is not stored.
        with self.held():
            self._sampler = Sampler(self.leaf_devices, self.origin_ns)
        self.record.write_if_possible()

    def _measure_fixed_work(self):
        records = self.record.document["host"].setdefault("fixed_work", [])
        for missing in fixed_work.measure(self.settings, self.origin_ns, records):
            self.warn("fixed-work", "fixed work is not measured: %s" % missing)

    def _ending(self, interrupted, measured):
        states = {entry["outcome"]["state"] for entry in self.record.document["workloads"]}
        if interrupted and interrupted.exit_code is None and states == {"completed"}:
            interrupted = None  # only trials are missing
        failures = self._turns.failures + ([] if measured else self._turns.skipped)
        reason = "; ".join(failures + ([interrupted.reason] if interrupted else [])) or None
        if interrupted and interrupted.exit_code is not None:
            return interrupted.state, reason, interrupted.exit_code
        if failures:
            return "failed", reason, FAILED
        if not interrupted:
            return "completed", None, DONE
        # There may be enough samples for a verdict.
        is_enough = any(
            len(entry["samples"][workload.columns[0]]) >= workload.samples_for_a_verdict
            for workload, entry in measured
        )
        return interrupted.state, reason, DONE if is_enough else FAILED

    def _finish(self, run_outcome, measured):
        """Write the result before the log's summary: the log may fail, the result is complete."""
        if self._sampler is not None:
            self._sampler.stop()
            self.collect()
            if self._sampler.ended_early:
                self.warn("sampler-ended", "the timeline ends early: " + self._sampler.ended_early)
        for entry in self.record.document["workloads"]:
            if entry["outcome"]["state"] == "not-started":
                entry["outcome"]["reason"] = run_outcome["reason"]
            elif entry["outcome"]["state"] == "running":
                # A bug ended it, or an error hid the signal.
                state = "failed" if self._interruption.raised is None else run_outcome["state"]
                entry["outcome"] = outcome(state, run_outcome["reason"])
        self.record.finish(run_outcome)
        if self.settings.perfherder != "never":
            figures.write(self.settings, measured)

    def _show(self, reason, workloads):
        figures.show(workloads)
        for warning in self.record.document["warnings"]:
            say("warning: %s: %s" % (warning["name"], warning["message"]))
        say("Raw results: %s" % self.record.path)
        if not self._interruption.children_have_ended():
            say("warning: a process that was started here has not ended")
        say("=== Benchmark %s ===" % ("incomplete: " + reason if reason else "complete"))


def _internal_error(error):
    """Print the traceback of a bug in this script; return it as one line."""
    for line in traceback.format_exc().splitlines():
        say(line)
    return "internal error: %s: %s" % (type(error).__name__, error)
