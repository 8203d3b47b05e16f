# SPDX-License-Identifier: MPL-2.0
"""Findings of an investigation in which times, cause and demand agree, and reports of some."""

from collections.abc import Mapping
from typing import Any

import sample_tasks
from msgspec.structs import replace

from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    BothPools,
    EvidenceSource,
    Explanation,
    Findings,
    Forecast,
    Investigation,
    Machines,
    Reason,
    Slowness,
)
from io_benchmark.analysis.model.cause import (
    Cause,
    Evidence,
    Observation,
    Remedy,
    Resource,
    State,
)
from io_benchmark.analysis.model.comparison import Comparison, Interval, Verdict
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.prediction.prediction_model import TaskPrediction
from io_benchmark.analysis.tasks.task_model import TaskTimes


def slowness(
    ratio: float = 1.44,
    verdict: Verdict = Verdict.SLOWER,
    parts_s: Mapping[str, float] | None = None,
    **changes: Any,
) -> Slowness:
    """Return a task that takes this ratio times 1,000 s on `slow`, with parts of the difference."""
    own_s = {"pending_s": 0.0, "set_up_s": 0.0, "work_s": 440.0} if parts_s is None else parts_s
    names = ("pending_s", "set_up_s", "work_s", "tear_down_s")
    (seed,) = sample_tasks.seed().comparisons
    assert seed.cost is not None
    fast, slow = seed.cost.baseline, seed.cost.candidate
    paid = {"baseline": replace(fast, per_1000=100), "candidate": replace(slow, per_1000=120)}
    comparison = replace(
        seed,
        baseline="fast",
        candidate="slow",
        verdict=verdict,
        ratio=ratio,
        interval=Interval(1.3, 1.6, 0.95),
        interval_90=Interval(1.32, 1.58, 0.9),
        times={
            "fast": TaskTimes(1000.0, *(0.0 if name in own_s else None for name in names)),
            "slow": TaskTimes(1440.0, *map(own_s.get, names)),
        },
        cost=replace(seed.cost, **paid),
    )
    return Slowness(
        label="test",
        pool="slow",
        queue="p/slow",
        completed=12,
        mean_s=1440.0,
        comparison=comparison,
        **changes,
    )


SLOWER = slowness(gaining_share=0.25, gaining_labels=(3, 20))
MACHINES = Machines(addresses=("x",), pool="slow", reference="fast", origin="--on")
TWO, ONE = (
    Evidence.led_by(Observation.of_side("disks", statement(disks)))
    for disks in ("2 disks", "1 disk")
)
ONE_DISK = Reason(
    Cause("device-count", "It has fewer disks.", State.SUPPORTED, TWO, ONE, ()),
    Remedy("device-count", statement("use more local SSDs"), None, False, ()),
)
EXPLAINED = Explanation(
    Comparison(
        Subject("cache-retrieve", "workspace"),
        "fast",
        "slow",
        1.9,
        Interval(1.7, 2.1, 0.95),
        Interval(1.75, 2.05, 0.9),
        p_value=0.001,
        verdict=Verdict.SLOWER,
        method="workers",
        assumed_variation_ratio=None,
        variation_to_explain_ratio=None,
        advice=None,
    ),
    BothPools(3, 3),
    (ONE_DISK,),
    BothPools("c3d-standard-16-lssd", "c2-standard-16"),
)
FORECAST = Forecast(
    TaskPrediction("tar", None, "fast", (10**12,) * 3, 0.9, 0.0, 0.0, 0.0, ()),
    1.4,
    Interval(1.2, 1.6, 0.9),
    {Resource.DISKS: 400.0, Resource.CPU: 10.0},
)


def report(findings: Findings, **changes: Any) -> Investigation:
    """Return the report of findings that are enough for a conclusion."""
    conclusion = conclude(findings)
    assert conclusion is not None
    return replace(Investigation("task:x", findings, conclusion), **changes)


def change() -> Investigation:
    """Return a report with a patch, which has backticks."""
    patch = "--- a/worker-pools.yml\n+++ b/worker-pools.yml\n@@ -1 +1 @@\n-a: b  # ```\n+a: c\n"
    findings = Findings(SLOWER, MACHINES, EXPLAINED, FORECAST)
    sources = (
        EvidenceSource("runs of the task", "group:Q", "https://tc/tasks/groups/Q"),
        EvidenceSource(
            "the benchmark's results of both pools", "group:K", "https://tc/tasks/groups/K", True
        ),
        EvidenceSource("a profile of the task", "task:A.0", "https://tc/tasks/A/runs/0"),
        EvidenceSource("a profile of the task", "profile.json"),
    )
    note = "All 2 pools of this entry get it"
    return report(findings, patch=patch, note=note, sources=sources)


def nothing() -> Investigation:
    """Return a report about a task that does more since some day, on all pools."""
    change: Any = {"since": "2026-03-01", "growth": 1.5, "grew_everywhere": True}
    labels: Any = {"gaining_share": 0.25, "gaining_labels": (3, 20)}
    return report(Findings(slowness(1.0, Verdict.EQUIVALENT, **change, **labels)))


def hostile() -> Investigation:
    """Return a report whose names would be markup, commands of a terminal, or a second line."""
    names = {"label": "<b>a</b>\x1b[2J|`", "pool": "a\nb", "queue": "[x](http://y)"}
    lone = replace(SLOWER, comparison=None, **names)
    return report(Findings(lone), fragment="<script>\x1b[2J")
