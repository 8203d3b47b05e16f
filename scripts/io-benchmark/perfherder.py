# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The task's own series for Perfherder: one suite a workload, place and variant, in ms."""

import os

from record import write_by_rename
from summary import NS_PER_MS, percentile

FRAMEWORK = "build_metrics"  # Perfherder knows a fixed list of frameworks
FILE_NAME = "perfherder-data-io-benchmark.json"
OPTION_LENGTH = 45
# Marks the series that are no pool's, so that they never mix with the pools' own.
ANY_POOL = "any-pool"


def owner(settings):
    """The option that says whose series it is.

    Without the pool, the pools of one platform would collapse into one series. That is wanted for
    two pushes of one pool each, which Perfherder then lays side by side.
    """
    return ANY_POOL if settings.perfherder == "neutral" else settings.pool


def suite(owner_option, profile, entry, samples):
    """Its name and options are the series: nothing else of the pool or machine may be in them."""
    lookups_ms = [value / NS_PER_MS for value in samples["lookup_ns"]]
    copies_ms = [value / NS_PER_MS for value in samples["copy_ns"]]
    totals_ms = [a + b for a, b in zip(lookups_ms, copies_ms)]
    ordered = sorted(totals_ms)
    options = [owner_option, entry["place"], entry["destination"]]
    options += [] if entry["fidelity"] == "seed" else ["fidelity-" + entry["fidelity"]]
    options += [] if profile == "full" else ["profile-" + profile]
    figures = (
        ("mean", sum(totals_ms) / len(totals_ms)),
        ("p50", percentile(ordered, 50)),
        ("p95", percentile(ordered, 95)),
        ("p99", percentile(ordered, 99)),
        ("lookup-mean", sum(lookups_ms) / len(lookups_ms)),
        ("copy-mean", sum(copies_ms) / len(copies_ms)),
        ("final-sync", (entry.get("final_sync_ns") or 0) / NS_PER_MS),
    )
    return {
        "name": "io-benchmark-" + entry["name"],
        "value": figures[0][1],
        "unit": "ms",
        "lowerIsBetter": True,
        "shouldAlert": False,
        "extraOptions": [option[:OPTION_LENGTH] for option in dict.fromkeys(options)],
        "subtests": [
            {
                "name": name,
                "value": value,
                "unit": "ms",
                "lowerIsBetter": True,
                "shouldAlert": False,
            }
            for name, value in figures
        ],
    }


def write(artifacts, suites):
    """Always written: an artifact that is named and missing is an error of its own."""
    document = {"framework": {"name": FRAMEWORK}, "suites": suites}
    path = os.path.join(artifacts, FILE_NAME)
    write_by_rename(path, os.path.join(artifacts, ".perfherder.tmp"), document)
