# SPDX-License-Identifier: MPL-2.0
"""Findings of an investigation in which times, cause and demand agree, and reports of some."""

from msgspec.structs import replace

from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    Change,
    Explanation,
    Findings,
    Forecast,
    Investigation,
    Machines,
    Reason,
    Resource,
    Slowness,
)
from io_benchmark.analysis.model import Verdict

SLOWER = Slowness(
    label="test",
    pool="slow",
    queue="p/slow",
    completed=12,
    mean_s=1440.0,
    reference="fast",
    reference_queue="p/fast",
    reference_mean_s=1000.0,
    verdict=Verdict.SLOWER,
    ratio=1.44,
    low_ratio=1.3,
    high_ratio=1.6,
    workers=(6, 6),
    parts_s={"pending": 0.0, "set-up": 0.0, "own work": 440.0},
    cost_per_1000=(120.0, 100.0),
    currency="USD",
    gaining_share=0.25,
    gaining_labels=(3, 20),
)
MACHINES = Machines(addresses=("x",), pool="slow", reference="fast", origin="--on")
ONE_DISK = Reason(
    cause="device-count",
    state="supported",
    hypothesis="It has fewer disks.",
    evidence="1 disk against 2 disks",
    action="use more local SSDs",
)
EXPLAINED = Explanation(
    verdict=Verdict.SLOWER,
    ratio=1.9,
    low_ratio=1.7,
    high_ratio=2.1,
    workers=(3, 3),
    reasons=(ONE_DISK,),
    machine_types=("c3d-standard-16-lssd", "c2-standard-16"),
)
DISKS = {Resource.DISKS: 400.0, Resource.CPU: 10.0}
FORECAST = Forecast(
    profiles=3,
    profiled_on="fast",
    ratio=1.4,
    low_ratio=1.2,
    high_ratio=1.6,
    added_s=DISKS,
    demand="0.9 CPUs used",
)


def report(findings: Findings, **changes: str) -> Investigation:
    """Return the report of findings that are enough for a conclusion."""
    conclusion = conclude(findings)
    assert conclusion is not None
    return replace(Investigation("task:x", findings, conclusion), **changes)


def change() -> Investigation:
    """Return a report with a patch, which has backticks."""
    findings = Findings(
        slowness=SLOWER, machines=MACHINES, explanation=EXPLAINED, forecast=FORECAST
    )
    patch = "--- a/worker-pools.yml\n+++ b/worker-pools.yml\n@@ -1 +1 @@\n-a: b  # ```\n+a: c\n"
    return report(findings, patch=patch, note="All 2 pools of this entry get it")


def nothing() -> Investigation:
    """Return a report about a task that does more since some day, on all pools."""
    more = Change(date="2026-03-01", ratio=1.5, is_everywhere=True)
    equal = replace(SLOWER, verdict=Verdict.EQUIVALENT, ratio=1.0, change=more)
    return report(Findings(slowness=equal))


def hostile() -> Investigation:
    """Return a report whose names would be markup, commands of a terminal, or a second line."""
    names = {"label": "<b>a</b>\x1b[2J|`", "pool": "a\nb", "queue": "[x](http://y)"}
    return report(
        Findings(slowness=replace(SLOWER, reference=None, **names)), fragment="<script>\x1b[2J"
    )
