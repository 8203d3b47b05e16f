# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the log says before a run, and at its end: the seed's figures and histogram.

Each sample is the time of a number of operations. A rate's percentiles are those of the time: P95 is
the rate that 95 % of the samples reached or exceeded.
"""

from collections import Counter

from log import NS_PER_S, say
from settings import free_space_bytes

DETAILED_AT_MOST = 3  # with more measurements, parts and histograms are not shown
BUCKETS = 10
BAR = 50
MB, GB = 1_000_000, 1_000_000_000
# The range of most disks, in bytes per second; the duration of a run can only be estimated.
SLOW, FAST = 150 * MB, 700 * MB
SHORTEST_PART = 4  # a workload takes at least this part of its longest time


def each_ns(durations_ns, operations):
    """Return times per operation, ascending; `operations` is None if each sample is one."""
    if operations is None:
        return sorted(durations_ns)
    return sorted(duration / count for duration, count in zip(durations_ns, operations))


def percentile(ordered, percent):
    """Return a percentile by the seed's definition, so that figures can be compared with it."""
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def show_plan(plans, settings, result_path):
    counts = Counter(entry["name"] for *_, entries in plans for entry in entries)
    text = ", ".join("%s %d" % count for count in counts.items())
    limit_s = settings.time_budget_s
    plan = (sum(counts.values()), text, limit_s)
    say("=== Plan: %d measurements (%s), ends after %g s at the latest ===" % plan)
    for place in settings.places:
        free = _size(free_space_bytes(place.path))
        say("Place %s: %s, %s free" % (*place, free))
    kept = copied = most_s = 0
    for workload, _, _ in plans:
        planned = workload.planned_bytes()
        if planned is None:
            most_s += workload.maximum_s
        else:
            # A place's files are removed before the next place is measured.
            kept, copied = max(kept, planned[0]), copied + planned[1]
    small = ["small files"] if most_s else []
    large = ["%s of files, %s of copies" % (_size(kept), _size(copied))] if kept else []
    written = " and ".join(large + small), settings.profile
    say("Writes %s there (profile %s); removes them at the end" % written)
    shortest_s = (kept + copied) / FAST + most_s / SHORTEST_PART
    longest_s = (kept + copied) / SLOW + most_s
    # The same text once, such as "1 s".
    times = dict.fromkeys(_duration(min(s, limit_s)) for s in (shortest_s, longest_s))
    say("Takes about %s, by the speed of the disks" % " to ".join(times))
    say("Result: " + result_path)


def _size(size_bytes):
    unit, name = (GB, "GB") if size_bytes >= GB else (MB, "MB")
    number = size_bytes / unit
    return "%s %s" % ("%.0f" % number if number >= 100 else "%.3g" % number, name)


def _duration(seconds):
    if seconds < 100:
        return "%d s" % max(1, round(seconds))
    return "%d min" % round(seconds / 60)


def show(plans):
    """Print a line per entry, with its parts where there are few entries."""
    say()
    say("=== RESULTS ===")
    detailed = sum(len(entries) for *_, entries in plans) <= DETAILED_AT_MOST
    for workload, place, entries in plans:
        for entry in entries:
            _show_entry(workload, entry, detailed)
        for remark in workload.remarks_on_all(entries):
            say("%s, place %s: %s" % (workload.name, place.name, remark))


def _show_entry(workload, entry, detailed):
    parts = [part for part in workload.parts(entry) if part[1]]
    state, reason = entry["outcome"]["state"], entry["outcome"]["reason"]
    words = [] if state == "completed" else ["incomplete (%s): %s" % (state, reason)]
    if parts:
        words += [_figures_of(workload, *parts[0][1:]), *workload.remarks(entry)]
    say("%s: %s" % (workload.title(entry), "; ".join(words)))
    if detailed and parts:
        for label, *times in parts[1:]:
            say("  %s: %s" % (label, _figures_of(workload, *times)))
        _show_histogram(workload, *parts[0][1:])


def _figures_of(workload, durations_ns, operations):
    ordered_ns = each_ns(durations_ns, operations)
    count = len(ordered_ns) if operations is None else sum(operations)
    total_ns = sum(durations_ns)
    ends_ns = sorted((ordered_ns[0], ordered_ns[-1]), key=workload.figure)
    percentiles_ns = [percentile(ordered_ns, percent) for percent in (50, 95, 99)]
    figures = [total_ns / count, *ends_ns, *percentiles_ns]
    names = ("Avg", "Min", "Max", "P50", "P95", "P99")
    text = ", ".join("%s %s" % (name, workload.shown(ns)) for name, ns in zip(names, figures))
    return "%d in %.1f s, %s %s" % (count, total_ns / NS_PER_S, text, workload.unit)


def _show_histogram(workload, durations_ns, operations):
    """Print the times in buckets of equal width up to P99, the rest in the last bucket."""
    ordered_ns = each_ns(durations_ns, operations)
    low_ns = ordered_ns[0]
    width_ns = (percentile(ordered_ns, 99) - low_ns) / BUCKETS or 1
    counts = [0] * (BUCKETS + 1)
    for value_ns in ordered_ns:
        counts[min(int((value_ns - low_ns) / width_ns), BUCKETS)] += 1
    say("  Histogram, %s:" % workload.unit)
    for at, count in enumerate(counts):
        if count:
            start = workload.shown(low_ns + at * width_ns)
            bar = "#" * max(1, count * BAR // max(counts))
            say("  %8s %s (%d)" % (start, bar, count))
