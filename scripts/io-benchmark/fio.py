# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One run of fio, and its results as plain values."""

import contextlib
import json
import os
import shutil
import signal
import subprocess

from crew import ending_with_parent
from early_end import WorkloadError
from reading import first_line_of, output_of

# Engines that keep several operations in flight; the first one that fio has is used.
ENGINES = ("libaio", "io_uring")
NS_PER_MS = 1_000_000


class Fio:
    """One job in a separate folder; leaving the block ends it."""

    def __init__(self, path, folder, options, held=contextlib.nullcontext):
        self._json = os.path.join(folder, "fio.json")
        self._log = os.path.join(folder, "fio")
        self._errors = os.path.join(folder, "fio.stderr")
        self._folder = folder
        self._held = held
        self._process = None
        self._command = [
            path,
            "--name=io-benchmark",
            "--thread",
            "--time_based",
            "--fallocate=none",
            "--output-format=json",
            "--output=" + self._json,
            "--write_iops_log=" + self._log,
            *("--%s=%s" % option for option in options.items()),
        ]

    @staticmethod
    def find():
        """Return (path, version, engine), or (None, None, reason)."""
        path = shutil.which("fio")
        if path is None:
            return None, None, "fio is not on PATH"
        version = first_line_of([path, "--version"])
        if version is None:
            return None, None, "%s does not run" % path
        known = output_of([path, "--enghelp"]).split()
        for engine in ENGINES:
            if engine in known:
                return path, version, engine
        return (
            None,
            None,
            "%s has none of the engines %s" % (version, ", ".join(ENGINES)),
        )

    def __enter__(self):
        try:
            with open(self._errors, "wb") as errors, self._held():
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    cwd=self._folder,
                    start_new_session=True,  # so that it and what it starts can be ended together
                    preexec_fn=ending_with_parent(),  # noqa: PLW1509 - there are no threads here
                )
        except BaseException:  # also an interruption must not leave fio behind
            self.__exit__()
            raise
        return self

    def ended(self, within_s):
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        if self._process.returncode != 0:
            with open(self._errors, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
            reason = lines[0][:200] if lines else "status %d" % self._process.returncode
            raise WorkloadError("fio failed: %s" % reason)
        return True

    def __exit__(self, *_):
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def summary(self, direction):
        """Return (operations, latency in ns, what the job spent) of the whole job.

        The last is wall, user and kernel ns, and None: fio does not count waiting for a CPU.
        """
        try:
            with open(self._json, encoding="utf-8", errors="replace") as file:
                job = json.load(file)["jobs"][0]
            part = job[direction]
            latency, percentiles = part["clat_ns"], part["clat_ns"]["percentile"]
            figures = {"mean": int(latency["mean"])}
            for percent in (50, 95, 99):
                figures["p%d" % percent] = int(percentiles["%d.000000" % percent])
            wall_ns = int(part["runtime"]) * NS_PER_MS
            user_ns, kernel_ns = (
                int(wall_ns * job[key] / 100) for key in ("usr_cpu", "sys_cpu")
            )
            figures["max"] = int(latency["max"])
            return part["total_ios"], figures, (wall_ns, user_ns, kernel_ns, None)
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            raise WorkloadError("fio's JSON is not as expected: %r" % error) from None

    def windows(self):
        """Return (start_ns, duration_ns, operations) per line of the log, since fio's start."""
        rows, before_ms = [], 0
        try:
            with open(self._log + "_iops.1.log", encoding="ascii") as file:
                for line in file:
                    end_ms, iops = (int(field) for field in line.split(",")[:2])
                    length_ms = end_ms - before_ms
                    operations = round(iops * length_ms / 1000)
                    if operations > 0 and length_ms > 0:
                        row = (before_ms * NS_PER_MS, length_ms * NS_PER_MS, operations)
                        rows.append(row)
                    before_ms = end_ms
        except (OSError, ValueError) as error:
            raise WorkloadError("fio's log is not as expected: %s" % error) from None
        return rows
