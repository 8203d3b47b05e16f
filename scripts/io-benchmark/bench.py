# SPDX-License-Identifier: MPL-2.0
"""One run: parse the arguments, measure each workload in each place, write the result."""

import contextlib
import importlib
import re
import traceback

from early_end import Interrupted, SkippedError, WorkloadError, reason_of
from log import say
from measuring import fixed_work
from observe import devices, host, storage
from observe.timelines import Sampler
from result import figures
from result.files import SCRIPT_VERSION, ResultFile, claim_folder, leave_folder, outcome
from settings import WrongArgumentsError, parse

DONE, FAILED, WRONG_ARGUMENTS = 0, 1, 2
NOT_WRITTEN = "the result cannot be written: %s: %s"
POOL_GUESSED = (
    "the name of pool %s is from %s; give all machines of one kind the same name by --pool, "
    "and others another"
)


def run(arguments, workload_names, job, interruption, origin_ns):
    """Return the exit code; print a line for Treeherder's failure summary if it is not 0."""
    try:
        settings = parse(arguments, workload_names, job)
        exit_code, reason = _run_benchmark(settings, interruption, origin_ns)
    except WrongArgumentsError as error:
        say("error: %s; --help lists the arguments" % error)
        exit_code, reason = WRONG_ARGUMENTS, "wrong arguments: %s" % error
    except Exception as error:  # noqa: BLE001 - a bug of this script: shown whole
        exit_code, reason = FAILED, _internal_error(error)
    pool = re.search(r"\0--pool[=\0]([\w.-]+)\0", "\0%s\0" % "\0".join(arguments))
    if exit_code and pool:
        # Without a third part: with one, Treeherder searches bugs only for the second.
        say("TEST-UNEXPECTED-FAIL | %s: %s" % (pool.group(1), reason))
    return exit_code


def _run_benchmark(settings, interruption, origin_ns):
    """Return the exit code and the reason for it."""
    interruption.end_after(settings.time_budget_s)
    try:
        record = ResultFile(settings, origin_ns)
        record.write()
    except OSError as error:
        reason = NOT_WRITTEN % (error.filename, error.strerror)
        say("error: " + reason)
        return FAILED, reason
    origin = ""
    if settings.is_pool_guessed:
        origin = " (%s; --pool gives another name)" % settings.job.pool_origin
        record.warn("pool-guessed", POOL_GUESSED % (settings.pool, settings.job.pool_origin))
    say("=== io-benchmark %s: pool %s%s ===" % (SCRIPT_VERSION, settings.pool, origin))
    names = ["workloads." + name.replace("-", "_") for name in settings.workloads]
    bench = _Bench(settings, record, interruption, origin_ns)
    return bench.run([importlib.import_module(name).WORKLOAD for name in names])


class _Bench:
    def __init__(self, settings, record, interruption, origin_ns):
        self.settings = settings
        self.origin_ns = origin_ns
        self.leaf_devices = []
        self.warn = record.warn
        # In this block an interruption is delayed until its end.
        self.held = interruption.held
        self.record = record
        self._interruption = interruption
        self._sampler = self._current = None
        self._number = 0
        self._suites, self._failures, self._skipped = [], [], []
        self._measured_enough = False

    def device_bytes(self):
        """Return the bytes that the places' disks have read and written so far, by name."""
        totals = devices.counters()
        return {name: totals[name][:2] for name in self.leaf_devices if name in totals}

    def device_bytes_since(self, before):
        after = self.device_bytes()
        return {
            name: {"read": after[name][0] - read, "written": after[name][1] - written}
            for name, (read, written) in before.items()
            if name in after
        }

    def between_samples(self):
        """Write an interim result; called outside the timed parts, at most every ten seconds."""
        with self.held():
            self._collect()
        self.record.write_if_possible()

    def _collect(self):
        if self._current is not None:
            workload, entry = self._current
            entry["samples"] = workload.samples()
        if self._sampler is not None:
            self._sampler.take()
            self.record.document["timeline"] = self._sampler.as_timeline()

    def run(self, workload_classes):
        """Return the exit code and its reason; the result file is valid at every moment."""
        plans = self._plan(workload_classes)
        entries = [entry for *_, planned in plans for entry in planned]
        self.record.document["workloads"] = entries
        figures.show_plan(plans, self.settings, self.record.path)
        self.record.write_if_possible()
        interrupted = None
        try:
            with self._interruption.allowed():
                self._observe()
                self._measure_fixed_work()
                for workload, place, planned in plans:
                    self._measure(type(workload), place, planned)
                self._measure_fixed_work()
        except Interrupted as interruption:
            interrupted = interruption
        except Exception as error:  # noqa: BLE001
            # A bug of this script: the samples so far are kept.
            self._failures.append(_internal_error(error))
        state, reason, exit_code = self._ending(interrupted, entries)
        try:
            self._finish(outcome(state, reason), entries)
        except OSError as error:
            reason = NOT_WRITTEN % (error.filename, error.strerror)
            exit_code = exit_code or FAILED
            say("error: " + reason)
        self._show(reason, plans)
        return exit_code, reason

    def _plan(self, workload_classes):
        """Return all entries before anything runs, so that the result names what is missing."""
        plans = []
        for workload_class in workload_classes:
            # A workload that does not depend on the place runs once, for the first place.
            last = None if workload_class.per_place else 1
            for place in self.settings.places[:last]:
                workload = workload_class(self, place, place.path)
                entries = []
                for variant in workload.variants():
                    entry = {"name": workload.name, "place": place.name, **variant}
                    entry.update(workload.plan(variant), samples=workload.samples())
                    entry["outcome"] = outcome("not-started")
                    entries.append(entry)
                plans.append((workload, place, entries))
        return plans

    @contextlib.contextmanager
    def _claimed(self, place):
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
            self.warn("memory-not-touched", host.TOO_LITTLE_MEMORY)
        for place in self.settings.places:
            try:
                with self._claimed(place):
                    observed = storage.observe(place.name, place.path)
            except OSError as error:
                observed = dict(place._asdict(), failed=error.strerror)
            document["storage"]["places"].append(observed)
            leaves = [leaf["name"] for leaf in observed.get("devices", []) if not leaf["below"]]
            self.leaf_devices = list(dict.fromkeys(self.leaf_devices + leaves))
        # Interrupted halfway, it would leave a process whose number is not stored.
        with self.held():
            self._sampler = Sampler(self.leaf_devices, self.origin_ns)
        self.record.write_if_possible()

    def _measure_fixed_work(self):
        records = self.record.document["host"].setdefault("fixed_work", [])
        for missing in fixed_work.measure(self.settings, self.origin_ns, records):
            self.warn("fixed-work", "fixed work is not measured: %s" % missing)

    def _measure(self, workload_class, place, entries):
        try:
            with self._claimed(place) as folder:
                workload = workload_class(self, place, folder)
                workload.prepare()
                for entry in entries:
                    self._run_entry(workload, place, entry)
        except SkippedError as skipped:
            self._skip(place, entries, skipped)
        except (OSError, WorkloadError, MemoryError) as error:
            reason = "place %s (%s): %s" % (*place, reason_of(error))
            say("error: " + reason)
            self._failures.append(reason)
            for entry in entries:
                if entry["outcome"]["state"] in ("not-started", "running"):
                    entry["outcome"] = outcome("failed", reason)

    def _run_entry(self, workload, place, entry):
        self._number += 1
        count = (self._number, len(self.record.document["workloads"]))
        say("[%d/%d] %s" % (*count, workload.title(entry)))
        entry["outcome"] = outcome("running")
        self._current = (workload, entry)
        try:
            workload.run(entry)
            entry["outcome"] = outcome("completed")
            workload.run_trials(entry)
        except Interrupted as interrupted:
            if entry["outcome"]["state"] == "running":
                entry["outcome"] = outcome(interrupted.state, interrupted.reason)
            raise
        except SkippedError as skipped:
            self._skip(place, [entry], skipped)
        finally:
            with self.held():
                self._collect()
                self._current = None
                samples = len(entry["samples"][workload.columns[0]])
                self._measured_enough |= samples >= workload.samples_for_a_verdict
                if samples:
                    self._suites.append(figures.suite(self.settings, workload, entry))

    def _skip(self, place, entries, skipped):
        reason = "place %s (%s): %s: %s" % (*place, entries[0]["name"], skipped)
        say("skipped: " + reason)
        self._skipped.append(reason)
        self.warn("skipped", reason)
        for entry in entries:
            entry["outcome"] = outcome("skipped", str(skipped))

    def _ending(self, interrupted, entries):
        """Return the run's state, the reason for it, and the exit code."""
        is_out_of_time = interrupted is not None and interrupted.exit_code is None
        if is_out_of_time and all(entry["outcome"]["state"] == "completed" for entry in entries):
            interrupted = None  # only trials are missing
        failures = self._failures + ([] if self._suites else self._skipped)
        reasons = failures + ([] if interrupted is None else [interrupted.reason])
        reason = "; ".join(reasons) or None
        if interrupted is not None and interrupted.exit_code is not None:
            return interrupted.state, reason, interrupted.exit_code
        if failures:
            return "failed", reason, FAILED
        if interrupted is not None:
            # There may be enough samples for a verdict.
            return interrupted.state, reason, DONE if self._measured_enough else FAILED
        return "completed", None, DONE

    def _finish(self, run_outcome, entries):
        """Write the result before the log's summary: the log may fail, the result is complete."""
        if self._sampler is not None:
            self._sampler.stop()
            self._collect()
            if self._sampler.ended_early:
                message = "the timeline ends early: %s" % self._sampler.ended_early
                self.warn("sampler-ended", message)
        for entry in entries:
            if entry["outcome"]["state"] == "not-started":
                entry["outcome"]["reason"] = run_outcome["reason"]
            elif entry["outcome"]["state"] == "running":  # ended by a bug
                entry["outcome"] = outcome("failed", run_outcome["reason"])
        self.record.finish(run_outcome)
        if self.settings.perfherder != "never":
            figures.write(self.settings.artifacts, self._suites)

    def _show(self, reason, plans):
        figures.show(plans)
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
