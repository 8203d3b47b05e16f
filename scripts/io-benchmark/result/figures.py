# SPDX-License-Identifier: MPL-2.0
"""The figures of each measurement: in the log, and as the task's own series for Perfherder.

Each sample is the time of a number of operations. A rate's percentiles are those of the time: P95 is
the rate that 95 % of the samples reached or exceeded.
"""

import os

from log import NS_PER_S, say
from result import result_file

DETAILED_AT_MOST = 3  # with more measurements, their parts are not in the log
PERCENTILES = (50, 95, 99)
FRAMEWORK = "build_metrics"  # Perfherder knows a fixed list of frameworks
FILE_NAME = "perfherder-data-io-benchmark.json"
OPTION_LENGTH = 45
# Marks the series that belong to no pool, so that they never mix with a pool's own. Two pushes of
# one pool each then share one series, which Perfherder compares.
ANY_POOL = "any-pool"
# A measurement may have thousands of samples, and a task dozens of measurements.
REPLICATES = 20


def _times_ns(durations_ns, operations):
    """Return times of one operation; `operations` is None if each sample is one."""
    operations = operations or [1] * len(durations_ns)
    ordered = sorted(duration / count for duration, count in zip(durations_ns, operations))
    # A percentile by the seed's definition, so that figures can be compared with it.
    indexes = {percent: len(ordered) * percent // 100 for percent in PERCENTILES}
    return {
        "mean": sum(durations_ns) / sum(operations),
        "least": ordered[0],
        "most": ordered[-1],
        **{"p%d" % percent: ordered[index] for percent, index in indexes.items()},
    }


def show(plans):
    """Print a line per entry, with its parts where there are few entries."""
    say()
    say("=== RESULTS ===")
    is_detailed = sum(len(entries) for *_, entries in plans) <= DETAILED_AT_MOST
    for workload, _, entries in plans:
        for entry in entries:
            _show_entry(workload, entry, is_detailed)


def _show_entry(workload, entry, is_detailed):
    parts = [part for part in workload.parts(entry) if part[1]]
    state, reason = entry["outcome"]["state"], entry["outcome"]["reason"]
    words = [] if state == "completed" else ["incomplete (%s): %s" % (state, reason)]
    if parts:
        words += [_line(workload, *parts[0][1:]), *workload.remarks(entry)]
    say("%s: %s" % (workload.title(entry), "; ".join(words)))
    for label, *samples in parts[1:] if is_detailed else []:
        say("  %s: %s" % (label, _line(workload, *samples)))


def _line(workload, durations_ns, operations):
    times_ns = _times_ns(durations_ns, operations)
    ends = sorted((times_ns.pop("least"), times_ns.pop("most")), key=workload.figure)
    names = ("Avg", "Min", "Max", *("P%d" % percent for percent in PERCENTILES))
    figures = (times_ns.pop("mean"), *ends, *times_ns.values())
    labels = ("%s %s" % (name, workload.rounded(ns)) for name, ns in zip(names, figures))
    count, total_s = sum(operations or [1] * len(durations_ns)), sum(durations_ns) / NS_PER_S
    return "%d in %.1f s, %s %s" % (count, total_s, ", ".join(labels), workload.unit)


def suite(settings, workload, entry):
    """Return an entry's suite; name and options make the series, so they hold no other facts."""
    # Without an owner, the pools of one platform would collapse into one series.
    owner = ANY_POOL if settings.perfherder == "neutral" else settings.pool
    options = [owner, entry["place"], *workload.options(entry)]
    options += [] if settings.profile == "full" else ["profile-" + settings.profile]
    times_ns = _subtests_ns(workload, entry)
    stretches = [_subtests_ns(workload, stretch) for stretch in _stretches(entry)]
    subtests = []
    for name, time_ns in times_ns.items():
        figures = [workload.figure(stretch[name]) for stretch in stretches if name in stretch]
        replicates = [float("%.6g" % figure) for figure in figures]
        subtests.append({**_test_of(workload, name, time_ns), "replicates": replicates})
    return {
        **_test_of(workload, "io-benchmark-" + workload.name, times_ns["mean"]),
        "extraOptions": [option[:OPTION_LENGTH] for option in dict.fromkeys(options)],
        "subtests": subtests,
    }


def _subtests_ns(workload, entry):
    times_ns = _times_ns(*workload.parts(entry)[0][1:])
    del times_ns["least"], times_ns["most"]
    return {**times_ns, **dict(workload.subtests(entry))}


def _stretches(entry):
    """Yield the entry for each stretch of its samples, without the final sync of them all."""
    columns = entry["samples"]
    count = len(next(iter(columns.values())))
    number = min(count, REPLICATES)
    for index in range(number):
        stretch = slice(count * index // number, count * (index + 1) // number)
        # A column that was not measured is null.
        samples = {name: values and values[stretch] for name, values in columns.items()}
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
