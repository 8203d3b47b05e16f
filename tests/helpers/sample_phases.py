# SPDX-License-Identifier: MPL-2.0
"""Reports of phases, as the golden files have them: of simulated logs."""

from dataclasses import replace
from datetime import datetime

from loopback_deployment import STARTED
from msgspec.structs import replace as changed
from simulated_logs import DOCKER_WORKER, MIB, Fetch, SimulatedRun

from io_benchmark.analysis.phases.phase_report import ExplainedPhases, report_phases

# As the documentation shows it: a slow disk loads the image and unpacks.
DOCUMENTED = SimulatedRun(
    label="io-benchmark-intel",
    pool="releng-1/type-intel",
    claim_s=0.6,
    caches_s=0.4,
    image_download_s=9.0,
    image_load_s=41.0,
    checkout_s=18.0,
    fetches=tuple(Fetch(14.0, 22.0, 350 * MIB) for _ in range(3)),
    packages_s=6.0,
    # So that it takes as long as the run of the task that the documentation names.
    own_s=479.116,
    artifacts_s=8.0,
    pending_s=0.966,
    started=datetime.fromisoformat(STARTED),
)


def one_run() -> ExplainedPhases:
    """One run with every phase."""
    return report_phases([DOCUMENTED.phases()], [], [], ["live_backing.log"])


def two_pools() -> ExplainedPhases:
    """Six runs on two pools, of which one takes longer to load its image."""
    runs = [
        replace(
            SimulatedRun(),
            label=f"build-{number}",
            pool=pool,
            image_load_s=load_s + number,
            worker=f"us-central1/{pool[-5:]}-{number}",
        ).phases(writer)
        for pool, load_s, writer in (
            ("p/linux", 10.0, "d2g"),
            ("p/slow-linux", 30.0, DOCKER_WORKER),
        )
        for number in range(3)
    ]
    unreadable = ["logs of 2 runs cannot be read: it has no log"]
    return report_phases(runs, unreadable, [], ["group:Q0dZr3pPQ3m2cV9zqv1l9A"])


def nothing() -> ExplainedPhases:
    return report_phases([], ["task x: its log is empty"], [], ["task:x"])


def hostile() -> ExplainedPhases:
    """Names that would end a line, color a terminal or become markup."""
    bad = "[x](javascript:1) | \x1b[31m `a`\u202e<b>" + "long " * 60
    run = SimulatedRun(label=bad, pool=f"p/{bad}", worker=bad).phases()
    run = changed(run, messages=(bad,), is_complete=False, task_id=bad)
    return report_phases([run] * 5, [bad], [bad], [bad])
