# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The task's own series for Perfherder: one suite per workload, place and variant, in its unit."""

import os

import result_file
from summary import each_ns, percentile

FRAMEWORK = "build_metrics"  # Perfherder knows a fixed list of frameworks
FILE_NAME = "perfherder-data-io-benchmark.json"
OPTION_LENGTH = 45
# Marks the series that belong to no pool, so that they never mix with a pool's own. Two pushes of
# one pool each then share one series, which Perfherder compares.
ANY_POOL = "any-pool"


# A measurement may have thousands of samples, and a task dozens of measurements.
REPLICATES = 20


def suite(settings, workload, entry):
    """Return an entry's suite; name and options make the series, so they hold no other facts."""
    # Without an owner, the pools of one platform would collapse into one series.
    owner = ANY_POOL if settings.perfherder == "neutral" else settings.pool
    options = [owner, entry["place"], *workload.options(entry)]
    options += [] if settings.profile == "full" else ["profile-" + settings.profile]
    times_ns = _times_ns(workload, entry)
    stretches = [_times_ns(workload, stretch) for stretch in _stretches(entry)]
    subtests = []
    for name, time_ns in times_ns.items():
        figures = [workload.figure(each[name]) for each in stretches if name in each]
        replicates = [float("%.6g" % figure) for figure in figures]
        subtests.append({**_test_of(workload, name, time_ns), "replicates": replicates})
    return {
        **_test_of(workload, "io-benchmark-" + workload.name, times_ns["mean"]),
        "extraOptions": [option[:OPTION_LENGTH] for option in dict.fromkeys(options)],
        "subtests": subtests,
    }


def _times_ns(workload, entry):
    _, durations_ns, operations = workload.parts(entry)[0]
    count = sum(operations or [1] * len(durations_ns))
    ordered_ns = each_ns(durations_ns, operations)
    return {
        "mean": sum(durations_ns) / count,
        **{"p%d" % at: percentile(ordered_ns, at) for at in (50, 95, 99)},
        **dict(workload.subtests(entry)),
    }


def _stretches(entry):
    """Yield the entry for each stretch of its samples, without the final sync of them all."""
    columns = entry["samples"]
    count = len(next(iter(columns.values())))
    number = min(count, REPLICATES)
    for at in range(number):
        cut = slice(count * at // number, count * (at + 1) // number)
        samples = {name: values[cut] for name, values in columns.items()}
        yield {**entry, "samples": samples, "final_sync_ns": None}


def _test_of(workload, name, operation_ns):
    return {
        "name": name,
        "value": workload.figure(operation_ns),
        "unit": workload.unit,
        "lowerIsBetter": workload.unit_ns is not None,
        "shouldAlert": False,
    }


def write(artifacts, suites):
    """Write the file, also without suites: a missing artifact would be another error."""
    document = {"framework": {"name": FRAMEWORK}, "suites": suites}
    result_file.write(os.path.join(artifacts, FILE_NAME), document)
