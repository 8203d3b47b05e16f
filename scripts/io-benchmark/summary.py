# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a person reads at the end of the log: the seed's figures and histogram. Not for programs."""

import figures
from figures import percentile
from progress import NS_PER_S, say

BUCKETS_ABOUT = 20
BAR = 50


def show_plan(shown, time_budget_s):
    """What is going to be measured, and when it ends at the latest."""
    measurements, places = {}, {}
    for workload, entries in shown:
        measurements[workload.name] = measurements.get(workload.name, 0) + len(entries)
        for entry in entries:
            places.setdefault(workload.name, {})[entry["place"]] = None
    latest = (
        ""
        if time_budget_s is None
        else ", over after %g s at the latest" % time_budget_s
    )
    say("=== Plan: %d measurements%s ===" % (sum(measurements.values()), latest))
    for name, count in measurements.items():
        say("  %s: %d in %s" % (name, count, ", ".join(places[name])))


def show(workload, entry):
    """One workload's entry: what all of it took, then each of its parts."""
    say()
    say("=== RESULTS: %s ===" % title(workload, entry))
    if not entry["completed"]:
        say("  incomplete: %s" % entry["incomplete_reason"])
    parts = workload.parts(entry)
    for at, (label, durations_ns, operations) in enumerate(parts):
        if durations_ns:
            report(entry["name"], label, durations_ns, operations, histogram=at == 0)
    remarks = workload.remarks(entry) if parts and parts[0][1] else []
    if remarks:
        say()
    for remark in remarks:
        say("  " + remark)


def show_together(workload, entries):
    """What one place's entries say beside each other."""
    remarks = workload.remarks_on_all(entries)
    if remarks:
        say()
        say("=== %s, place %s ===" % (entries[0]["name"], entries[0]["place"]))
    for remark in remarks:
        say("  " + remark)


def title(workload, entry):
    parts = [entry["name"], "place %s" % entry["place"], *workload.details(entry)]
    return ", ".join(parts)


def report(workload, label, durations_ns, operations, histogram=False):
    """`operations` is None where each sample is one."""
    counts = operations or [1] * len(durations_ns)
    ordered_ns = sorted(
        duration / count for duration, count in zip(durations_ns, counts)
    )
    unit = figures.unit(workload)
    total_ns = sum(durations_ns)
    say()
    say("--- %s ---" % label)
    say("  Count: %d" % sum(counts))
    if operations is not None and sum(counts) != len(counts):
        say("  Samples: %d" % len(counts))
    say("  Total: %.0f ms (%.1f s)" % (total_ns / 1_000_000, total_ns / NS_PER_S))
    best, worst = ordered_ns[0], ordered_ns[-1]
    lowest, highest = (
        (worst, best) if figures.higher_is_better(workload) else (best, worst)
    )
    for name, operation_ns in (
        ("Avg", total_ns / sum(counts)),
        ("Min", lowest),
        ("Max", highest),
        ("P50", percentile(ordered_ns, 50)),
        ("P95", percentile(ordered_ns, 95)),
        ("P99", percentile(ordered_ns, 99)),
    ):
        say(
            "  %s:   %s %s"
            % (name, shown(figures.figure(workload, operation_ns)), unit)
        )
    if histogram:
        show_histogram(
            sorted(figures.figure(workload, value) for value in ordered_ns), unit
        )


def shown(value):
    return "%.0f" % value if value >= 100 else "%.3g" % value


def bucket_width(ordered):
    """A round width that gives about twenty buckets up to P99; the rest is in the last."""
    wanted = max(percentile(ordered, 99), 0.001) / BUCKETS_ABOUT
    width = 0.001
    while width < wanted:
        for factor in (2, 2.5, 2):
            width *= factor
            if width >= wanted:
                break
    return width


def show_histogram(ordered, unit):
    width = bucket_width(ordered)
    last = int(percentile(ordered, 99) / width) + 1
    counts = [0] * (last + 1)
    for value in ordered:
        counts[min(int(value / width), last)] += 1
    say()
    say("  Histogram:")
    most = max(counts)
    for at, count in enumerate(counts):
        if count:
            high = "%8.4g" % ((at + 1) * width) if at < last else "    more"
            bar = "#" * max(1, count * BAR // most)
            say("  %8.4g - %s %s: %s (%d)" % (at * width, high, unit, bar, count))
