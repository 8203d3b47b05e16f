#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""io-benchmark: measure this worker's I/O and write one result file.

Measured: the chosen workloads, in each place; the time of every operation is kept. Also observed:
the machine, the devices and mounts of each place, and limits set from outside; once per second the
devices, dirty pages and pressure. Not measured: the network, the boot, the task's own set-up. Runs
as any user on Python 3.8 and later, and needs only the standard library and the tools that a
workload measures. All files that it made are removed at the end.

  io-benchmark.json                    all measurements, for programs
  perfherder-data-io-benchmark.json    this task's series for Perfherder, with --perfherder
  this log                             for people

`run` does this; without a command, its options do the same. `measure -- COMMAND` instead runs a
command, and writes what it demanded of the machine; see measure.py.

Exit code: 0 measured (or out of time with enough measured), 1 failed, 2 wrong arguments; 143, 130
and 129 stopped by SIGTERM, SIGINT and SIGHUP, 149 by Ctrl-Break on Windows. With every code, the
result file says what is missing.
"""

import os
import signal
import sys


def _known_workloads():
    """Return the workloads in this folder; a task's zip application holds those that it needs."""
    import pkgutil  # noqa: PLC0415 - takes time, in which Ctrl-C must not be a traceback

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads")
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules([folder]))


def _ci_job():
    """Return the job of a CI system, or None; Taskcluster's tasks lack the module."""
    try:
        from ci import current_job  # noqa: PLC0415 - few commands need it
    except ImportError:
        return None
    return current_job()


def _with_variables(arguments):
    """Return arguments as bash would pass them, or None; tasks of Linux lack the module."""
    try:
        from variables import replace  # noqa: PLC0415 - few commands need it
    except ImportError:
        return None
    return replace(arguments)


def _reserve_standard_streams(*, inheritable):
    """Open closed streams: otherwise the next file gets their number, and the log."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor < 3:
        os.set_inheritable(descriptor, inheritable)
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)


def main(arguments):
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    if sys.version_info < (3, 8) or not sys.platform.startswith(("linux", "win32")):
        system = "Python %d.%d on %s" % (*sys.version_info[:2], sys.platform)
        print("error: needs Python 3.8 or later on Linux or Windows; this is " + system, flush=True)
        return 2
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--version" in options:
        from log import say  # noqa: PLC0415 - few commands need them
        from result.files import SCRIPT_VERSION  # noqa: PLC0415

        say("io-benchmark " + SCRIPT_VERSION)
        return 0
    if arguments[:1] == ["measure"]:
        # The command must find these streams closed.
        _reserve_standard_streams(inheritable=False)
        from measure import measure  # noqa: PLC0415

        return measure(arguments[1:], None if os.environ.get("TASK_ID") else _ci_job())
    if {"-h", "--help"} & set(arguments):
        from usage import show  # noqa: PLC0415

        show(_known_workloads())
        return 0
    from early_end import Interruption  # noqa: PLC0415 - needs what the system has
    from system import clock  # noqa: PLC0415

    origin_ns = clock.now_ns()
    interruption = Interruption()
    _reserve_standard_streams(inheritable=True)
    # Not earlier: a signal that arrives while the other modules load is kept for the run.
    from bench import run  # noqa: PLC0415

    arguments = _with_variables(arguments) or arguments
    return run(arguments, _known_workloads(), _ci_job(), interruption, origin_ns)


if __name__ == "__main__":
    # Not sys.exit: while the interpreter ends, a signal would replace the exit code.
    os._exit(main(sys.argv[1:]))
