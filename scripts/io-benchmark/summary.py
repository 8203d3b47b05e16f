# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a person reads at the end of the log: the seed's figures and histogram. Not for programs."""

import figures
from figures import percentile
from progress import NS_PER_S, say

DETAILED_AT_MOST = 3  # measurements that are shown in all their parts, with a histogram
BUCKETS = 10
BAR = 50


def show_plan(shown, time_budget_s):
    counts = {}
    for workload, entries in shown:
        counts[workload.name] = counts.get(workload.name, 0) + len(entries)
    text = ", ".join("%s %d" % one for one in counts.items())
    latest = ""
    if time_budget_s is not None:
        latest = ", over after %g s at the latest" % time_budget_s
    say("=== Plan: %d measurements (%s)%s ===" % (sum(counts.values()), text, latest))


def show(shown):
    """A line for each entry: what all of it took; of few entries each of their parts as well."""
    say()
    say("=== RESULTS ===")
    detailed = sum(len(entries) for _, entries in shown) <= DETAILED_AT_MOST
    for workload, entries in shown:
        for entry in entries:
            show_entry(workload, entry, detailed)
        for remark in workload.remarks_on_all(entries):
            say("%s, place %s: %s" % (workload.name, entries[0]["place"], remark))


def show_entry(workload, entry, detailed):
    parts = [part for part in workload.parts(entry) if part[1]]
    words = (
        [] if entry["completed"] else ["incomplete: %s" % entry["incomplete_reason"]]
    )
    words += [figures_of(entry["name"], *parts[0][1:])] if parts else []
    words += workload.remarks(entry) if parts else []
    say("%s: %s" % (title(workload, entry), "; ".join(words)))
    if detailed and parts:
        for label, durations_ns, operations in parts[1:]:
            text = figures_of(entry["name"], durations_ns, operations)
            say("  %s: %s" % (label, text))
        show_histogram(entry["name"], *parts[0][1:])


def title(workload, entry):
    parts = [entry["name"], "place %s" % entry["place"], *workload.details(entry)]
    return ", ".join(parts)


def figures_of(workload, durations_ns, operations):
    ordered_ns = figures.each_ns(durations_ns, operations)
    count = len(ordered_ns) if operations is None else sum(operations)
    total_ns = sum(durations_ns)
    best_worst = [("Min", ordered_ns[0]), ("Max", ordered_ns[-1])]
    if figures.higher_is_better(workload):
        best_worst = [("Min", ordered_ns[-1]), ("Max", ordered_ns[0])]
    text = ", ".join(
        "%s %s" % (name, shown(figures.figure(workload, operation_ns)))
        for name, operation_ns in (
            ("Avg", total_ns / count),
            *best_worst,
            ("P50", percentile(ordered_ns, 50)),
            ("P95", percentile(ordered_ns, 95)),
            ("P99", percentile(ordered_ns, 99)),
        )
    )
    unit = figures.unit(workload)
    return "%d in %.1f s, %s %s" % (count, total_ns / NS_PER_S, text, unit)


def shown(value):
    return "%.0f" % value if value >= 100 else "%.3g" % value


def show_histogram(workload, durations_ns, operations):
    """Of the time: buckets of one width up to P99, the rest in the last."""
    ordered_ns = figures.each_ns(durations_ns, operations)
    low_ns = ordered_ns[0]
    width_ns = (percentile(ordered_ns, 99) - low_ns) / BUCKETS or 1
    counts = [0] * (BUCKETS + 1)
    for value_ns in ordered_ns:
        counts[min(int((value_ns - low_ns) / width_ns), BUCKETS)] += 1
    say("  Histogram, %s:" % figures.unit(workload))
    for at, count in enumerate(counts):
        if count:
            start = shown(figures.figure(workload, low_ns + at * width_ns))
            bar = "#" * max(1, count * BAR // max(counts))
            say("  %8s %s (%d)" % (start, bar, count))
