# SPDX-License-Identifier: MPL-2.0
"""What the log says before a run: where it works, how much it writes, and about how long that takes."""

from collections import Counter

from log import say
from settings import free_space_bytes

MB, GB = 1_000_000, 1_000_000_000
# The range of most disks, in bytes per second; the duration of a run can only be estimated.
SLOW, FAST = 150 * MB, 700 * MB
SHORTEST_PART = 4  # a workload takes at least this part of its longest time


def show(plans, settings, result_path):
    counts = Counter(entry["name"] for *_, entries in plans for entry in entries)
    names = ", ".join("%s %d" % count for count in counts.items())
    limit_s = settings.time_budget_s
    plan = (sum(counts.values()), names, limit_s)
    say("=== Plan: %d measurements (%s), ends after %g s at the latest ===" % plan)
    for place in settings.places:
        say("Place %s: %s, %s free" % (*place, size_label(free_space_bytes(place.path))))
    kept = copied = most_s = 0
    for workload, _, _ in plans:
        planned = workload.planned_bytes()
        if planned is None:
            most_s += workload.maximum_s
        else:
            # A place's files are removed before the next place is measured.
            kept, copied = max(kept, planned[0]), copied + planned[1]
    small = ["small files"] if most_s else []
    sizes = (size_label(kept), size_label(copied))
    large = ["%s of files, %s of copies" % sizes] if kept else []
    written = " and ".join(large + small), settings.profile
    say("Writes %s there (profile %s); removes them at the end" % written)
    shortest_s = (kept + copied) / FAST + most_s / SHORTEST_PART
    longest_s = (kept + copied) / SLOW + most_s
    # The same label once, such as "1 s".
    labels = dict.fromkeys(duration_label(min(s, limit_s)) for s in (shortest_s, longest_s))
    say("Takes about %s, by the speed of the disks" % " to ".join(labels))
    say("Result: " + result_path)


def size_label(size_bytes):
    unit, name = (GB, "GB") if size_bytes >= GB else (MB, "MB")
    number = size_bytes / unit
    return "%s %s" % ("%.0f" % number if number >= 100 else "%.3g" % number, name)


def duration_label(seconds):
    if seconds < 100:
        return "%d s" % max(1, round(seconds))
    return "%d min" % round(seconds / 60)
