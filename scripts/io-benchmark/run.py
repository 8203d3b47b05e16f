# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One run from its arguments to its exit code."""

import importlib
import re

import perfherder
from bench import FAILED, Bench, internal_error
from progress import say
from record import SCRIPT_VERSION, Record, not_written
from settings import WrongArgumentsError, parse

WRONG_ARGUMENTS = 2


def run(arguments, known_workloads, interruption, origin_ns):
    """Return the exit code; a run that ends badly says so in a line that Treeherder looks for."""
    try:
        settings = parse(arguments, known_workloads)
        exit_code, reason = measure(settings, interruption, origin_ns)
    except WrongArgumentsError as error:
        say("error: %s; --help lists the arguments" % error)
        exit_code, reason = WRONG_ARGUMENTS, "wrong arguments: %s" % error
    except Exception as error:  # noqa: BLE001 - a bug of ours: shown whole
        exit_code, reason = FAILED, internal_error(error)
    pool = re.search(r"\0--pool[=\0]([\w.-]+)\0", "\0%s\0" % "\0".join(arguments))
    if exit_code and pool:
        say("TEST-UNEXPECTED-FAIL | io-benchmark | %s: %s" % (pool.group(1), reason))
    return exit_code


def measure(settings, interruption, origin_ns):
    """Return the exit code and the reason for it."""
    if settings.time_budget_s is not None:
        interruption.end_after(settings.time_budget_s)
    try:
        record = Record(settings, origin_ns)
        record.write()
    except OSError as error:
        say("error: " + not_written(error))
        return FAILED, not_written(error)
    say("=== io-benchmark %s: pool %s ===" % (SCRIPT_VERSION, settings.pool))
    config = settings.as_config().items()
    say("  " + "; ".join("%s: %s" % (key, value) for key, value in config))
    if settings.perfherder == "neutral":
        say(
            "Perfherder: the series is %s's and not %s's; only the push tells it apart "
            "from another pool's, so let only one pool per push be neutral"
            % (perfherder.ANY_POOL, settings.pool)
        )
    modules = [
        importlib.import_module("workloads." + name.replace("-", "_"))
        for name in settings.workloads
    ]
    bench = Bench(settings, record, interruption, origin_ns)
    return bench.run([module.WORKLOAD for module in modules])
