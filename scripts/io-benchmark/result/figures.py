# SPDX-License-Identifier: MPL-2.0
"""What the log says of a run before and after, and the same figures as series for Perfherder.

Each sample is the time of a number of operations. A rate's percentiles are those of the time: P95
is the rate that 95 % of the samples reached or exceeded.
"""

import os
from collections import Counter

from log import NS_PER_S, say
from result import files
from system import folders

PERCENTILES = (50, 95, 99)  # reports have the same
FILE_NAME = "perfherder-data-io-benchmark.json"
OPTION_LENGTH = 45
# Marks the series that belong to no pool, so that they never mix with a pool's own. Two pushes of
# one pool each then share one series, which Perfherder compares.
ANY_POOL = "any-pool"
# A measurement may have thousands of samples, and a task dozens of measurements.
REPLICATES = 20
MB, GB = 1_000_000, 1_000_000_000


def show_plan(workloads, settings, result_path):
    """Say where the run works, how much it writes, and when it ends at the latest."""
    counts = Counter(workload.name for workload in workloads for _ in workload.entries)
    names = ", ".join("%s %d" % count for count in counts.items())
    plan = (sum(counts.values()), names, settings.time_budget_s)
    say("=== Plan: %d measurements (%s), ends after %g s at the latest ===" % plan)
    for place in settings.places:
        say("Place %s: %s, %s free" % (*place, _size_label(folders.free_space_bytes(place.path))))
    planned = [workload.planned_bytes() for workload in workloads]
    sizes = tuple(_size_label(sum(column)) for column in zip(*filter(None, planned)))
    written = []
    if sizes:
        written.append("%s of files, %s of copies" % sizes)
    if None in planned:
        written.append("small files")
    volume = (" and ".join(written), settings.profile)
    say("Writes %s there (profile %s); removes them at the end" % volume)
    may_be_larger = "cache-retrieve" in counts and not settings.capacities
    if settings.profile == "quick" and may_be_larger and not settings.is_job:
        say("Quick sizes; as tasks measure: --profile full, 6 GB of files, 120 GB of copies")
    say("Result: " + result_path)


def _size_label(size_bytes):
    unit, name = (GB, "GB") if size_bytes >= GB else (MB, "MB")
    number = size_bytes / unit
    return "%s %s" % ("%.0f" % number if number >= 100 else "%.3g" % number, name)


def _times_ns(durations_ns, operations):
    """Return the sorted times of one operation, and their mean and percentiles by name."""
    ordered = sorted(duration / count for duration, count in zip(durations_ns, operations))
    # By the seed's definition, so that figures can be compared with it.
    percentiles = {"p%d" % part: ordered[len(ordered) * part // 100] for part in PERCENTILES}
    return ordered, {"mean": sum(durations_ns) / sum(operations), **percentiles}


def show(workloads):
    say()
    say("=== RESULTS ===")
    for workload in workloads:
        for entry in workload.entries:
            ended, (durations_ns, operations) = entry["outcome"], workload.durations(entry)
            is_complete = ended["state"] == "completed"
            words = [] if is_complete else ["incomplete (%(state)s): %(reason)s" % ended]
            if durations_ns:
                words.append(_line(workload, durations_ns, operations))
            say("%s: %s" % (workload.title(entry), "; ".join(words)))


def _line(workload, durations_ns, operations):
    ordered, times_ns = _times_ns(durations_ns, operations)
    least, most = sorted((ordered[0], ordered[-1]), key=workload.figure)
    figures = {"Avg": times_ns.pop("mean"), "Min": least, "Max": most, **times_ns}
    labels = ("%s %s" % (name.title(), workload.rounded(ns)) for name, ns in figures.items())
    total = (sum(operations), sum(durations_ns) / NS_PER_S, ", ".join(labels), workload.unit)
    return "%d in %.1f s, %s %s" % total


def suite(settings, workload, entry):
    """Return an entry's suite; name and options make the series, so they hold no other facts."""
    # Without an owner, the pools of one platform would collapse into one series.
    owner = ANY_POOL if settings.perfherder == "neutral" else settings.pool
    options = [owner, entry["place"], *workload.options(entry)]
    if settings.profile != "full":
        options.append("profile-" + settings.profile)
    times_ns = _subtests_ns(workload, entry)
    stretches = [_subtests_ns(workload, stretch) for stretch in _stretches(entry)]
    replicates = {
        name: [workload.figure(stretch[name]) for stretch in stretches if name in stretch]
        for name in times_ns
    }
    return {
        **_test_of(workload, "io-benchmark-" + workload.name, times_ns["mean"]),
        "extraOptions": [option[:OPTION_LENGTH] for option in dict.fromkeys(options)],
        "subtests": [
            {
                **_test_of(workload, name, time_ns),
                "replicates": [float("%.6g" % figure) for figure in replicates[name]],
            }
            for name, time_ns in times_ns.items()
        ],
    }


def _subtests_ns(workload, entry):
    _, times_ns = _times_ns(*workload.durations(entry))
    return {**times_ns, **workload.subtests(entry)}


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


def write(settings, measured):
    """Write the file, also without suites: a missing artifact would be another error."""
    suites = [suite(settings, workload, entry) for workload, entry in measured]
    # Perfherder knows a fixed list of frameworks.
    document = {"framework": {"name": "build_metrics"}, "suites": suites}
    files.write(os.path.join(settings.artifacts, FILE_NAME), document)
