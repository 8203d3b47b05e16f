# SPDX-License-Identifier: MPL-2.0
"""Predict how long a profiled task would take on each pool, with an interval.

PROFILE is a task-profile.json that 'measure' in the worker's script wrote, a
profile_resource-usage.json or profile_build_resources.json of a Firefox task, a
folder of them, or task:ID, group:ID, index:ROUTE and their web addresses of
tasks that published one (all but files need io-benchmark[all]). Profiles of the
same command or the same label are of one task: several narrow the interval.
--on has results of the pools, also of the pool of the profile; their write
ceilings, append-fsync, spawn and numbers of CPUs are used. --cpus is about the
profiled machine with other numbers of CPUs, at the same price per CPU. Where
the time on a pool cannot be predicted, the report has the reason.

Exit code: 0 predicted at least one time, 1 none, or a file could not be read
or written, 2 wrong usage.
"""

from io_benchmark.commands.options.common import DETAILS, GENERAL_OUTPUT, PRICES, REPORT_OUTPUT
from io_benchmark.commands.options.option import Given, option, several
from io_benchmark.commands.options.values import parse_name, whole_number
from io_benchmark.context import Context

USAGE = "PROFILE ... [--on ADDRESS ...] [OPTION ...]"
EXAMPLES = (
    "io-benchmark predict task:cQ4kTnR7QTq1p2L0dJ8wXg --on results --json",
    "io-benchmark predict task-profile.json --cpus 16 32",
)
MANUAL = "predicting.md"
PROFILES = several("profiles", "PROFILE", "profiles of tasks, or addresses of tasks", parse_name)
ON = several("--on", "ADDRESS", "where the results of the pools are", parse_name)
CPUS = several("--cpus", "N", "also on the profile's machine with N CPUs", whole_number(1024))
POOL = option(
    "--pool", "NAME", "the pool of profiles that do not name theirs", parse_name, default=None
)
OPTIONS = {
    "what to predict": (PROFILES, ON, CPUS, POOL),
    REPORT_OUTPUT: (DETAILS, PRICES, *GENERAL_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import print_report
    from io_benchmark.operations.predict import predict

    profiles, on = given[PROFILES], given[ON]
    predictions = predict(
        context, profiles, on, pool=given[POOL], prices=given[PRICES], cpus=given[CPUS]
    )
    nothing = ""
    pools = [pool for task in predictions.tasks for pool in task.pools]
    if all(pool.time_ns is None and pool.at_least_ns is None for pool in pools):
        nothing = "nothing could be predicted; see the report for the reasons"
    return print_report(predictions, given, context, nothing)
