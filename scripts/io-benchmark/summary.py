# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a person reads at the end of the log: the seed's figures and histogram. Not for programs."""

from progress import MIB, say

NS_PER_MS = 1_000_000
BUCKETS_ABOUT = 20
BAR = 50


def show(entry, samples):
    """One workload's entry; all retrieves, then each size, lookup and copy apart."""
    lookups, copies = samples["lookup_ns"], samples["copy_ns"]
    totals_ms = [(a + b) / NS_PER_MS for a, b in zip(lookups, copies)]
    say()
    say("=== RESULTS: %s ===" % title(entry))
    if not entry["completed"]:
        say("  incomplete: %s" % entry["incomplete_reason"])
    if not totals_ms:
        return
    report("All retrieves", totals_ms, histogram=True)
    by_size = {}
    for index, total_ms in zip(samples["file_index"], totals_ms):
        by_size.setdefault(entry["file_sizes_bytes"][index], []).append(total_ms)
    for size in sorted(by_size, reverse=True):
        report("%g MiB files" % (size / MIB), by_size[size])
    report("Lookup alone", [value / NS_PER_MS for value in lookups])
    report("Copy alone", [value / NS_PER_MS for value in copies])
    if entry.get("final_sync_ns") is not None:
        say()
        say("  Final sync: %.0f ms" % (entry["final_sync_ns"] / NS_PER_MS))


def title(entry):
    details = ["%s %s" % (key, entry[key]) for key in ("place", "destination", "fidelity")]
    return ", ".join([entry["name"], *details])


def percentile(ordered, percent):
    """The seed's definition, so that figures can be laid beside its own."""
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def report(label, values_ms, histogram=False):
    ordered = sorted(values_ms)
    total_ms = sum(ordered)
    say()
    say("--- %s ---" % label)
    say("  Count: %d" % len(ordered))
    say("  Total: %.0f ms (%.1f s)" % (total_ms, total_ms / 1000))
    for name, value in (
        ("Avg", total_ms / len(ordered)),
        ("Min", ordered[0]),
        ("Max", ordered[-1]),
        ("P50", percentile(ordered, 50)),
        ("P95", percentile(ordered, 95)),
        ("P99", percentile(ordered, 99)),
    ):
        say("  %s:   %s ms" % (name, figure(value)))
    if histogram:
        show_histogram(ordered)


def figure(value_ms):
    return "%.0f" % value_ms if value_ms >= 100 else "%.3g" % value_ms


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


def show_histogram(ordered):
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
            say("  %8.4g - %s ms: %s (%d)" % (at * width, high, bar, count))
