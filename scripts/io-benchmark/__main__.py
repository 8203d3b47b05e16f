#!/usr/bin/env python3
# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""io-benchmark: measure this worker's I/O and write one result file.

Measured: the chosen workloads, in each place; every operation's time is kept raw. Observed beside
it: the machine, what each place is made of down to the disks, limits set from outside, and once a
second the devices, dirty pages and pressure. Not measured: the network, the boot, the task's own
set-up. Runs as any user on Python 3.8 and later, needs nothing but the standard library and the
tools that the workload itself is about, and leaves the worker as it found it.

  io-benchmark.json                    all that was measured, for programs
  perfherder-data-io-benchmark.json    this task's series for Perfherder
  this log                             for people

Exit code: 0 measured (or out of time with enough measured), 1 failed, 2 wrong arguments,
143 and 130 stopped by SIGTERM and SIGINT. Whatever the code, the result file says what is missing.
"""

import importlib
import os
import pkgutil
import sys
import time

import perfherder
import settings as settings_module
from bench import Bench
from interruption import Interruption
from progress import say
from record import SCRIPT_VERSION, Record


def known_workloads():
    """Those that came along: a task's zip application holds the ones it needs."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads")
    names = [module.name for module in pkgutil.iter_modules([folder])]
    return sorted(name.replace("_", "-") for name in names)


def main(arguments):
    origin_ns = time.monotonic_ns()
    settings = settings_module.parse(arguments, known_workloads())
    interruption = Interruption(settings.time_budget_s)
    try:
        record = Record(settings, origin_ns)
        record.write()
    except OSError as error:
        say(
            "error: the result cannot be written: %s: %s"
            % (error.filename, error.strerror)
        )
        return 1
    say("=== io-benchmark %s: pool %s ===" % (SCRIPT_VERSION, settings.pool))
    for key, value in settings.as_config().items():
        say("  %s: %s" % (key, value))
    if settings.perfherder == "neutral":
        say(
            "Perfherder: the series is %s's and not %s's; only the push tells it apart from another "
            "pool's, so let one pool of a push be neutral and no more"
            % (perfherder.ANY_POOL, settings.pool)
        )
    modules = [
        importlib.import_module("workloads." + name.replace("-", "_"))
        for name in settings.workloads
    ]
    bench = Bench(settings, record, interruption, origin_ns)
    return bench.run([module.WORKLOAD for module in modules])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
