# SPDX-License-Identifier: MPL-2.0
"""The two recorded logs of a Taskcluster 106: each phase as it was read off by hand."""

import json

import pytest
from checkout import ROOT

from io_benchmark.analysis.phases.phase_model import Part, PhaseName, RunPhases
from io_benchmark.analysis.phases.read_log import LogReader, RunFacts
from io_benchmark.sources.run_results import parse_time

LOGS = ROOT / "tests/fixtures/logs"
DECISION, BUILD = "Y-fQPLZOR6-C3qSUTPDY0g", "ZRs_zVu8T1GsRTGMZCLaEw"

# Milliseconds, and the line that begins the phase. The queue has the first and the last time:
# started 16:33:52.091, resolved 16:34:16.189.
OF_DECISION = [
    (PhaseName.PENDING, 19),  # scheduled 52.072
    (PhaseName.OTHER, 412),  # started 52.091: claim, live log and proxy
    (PhaseName.CACHES, 1),  # 52.503 [mounts] Moving existing writable directory cache
    (PhaseName.OTHER, 165),  # 52.504 [d2g] Using cached docker image
    (PhaseName.CONTAINER_START, 372),  # 52.669 Executing command 0: docker run
    (PhaseName.OTHER, 58),  # 53.041 run-task started
    (PhaseName.CHECKOUT, 352),  # 53.099 [vcs] executing git config
    (PhaseName.PACKAGES, 15_627),  # 53.451 [pip-install] executing
    (PhaseName.OWN_WORK, 2_937),  # 34:09.078 [task] executing
    (PhaseName.ARTIFACTS, 4_027),  # 34:12.015 === Task Finished ===
    (PhaseName.CACHES_KEPT, 147),  # 34:16.042 [mounts] Preserving cache, until it was resolved
]
# Started 16:34:19.256, resolved 16:34:30.652.
OF_BUILD = [
    (PhaseName.PENDING, 870),  # scheduled 18.386
    (PhaseName.OTHER, 377),  # started 19.256
    (PhaseName.CACHES, 1),  # 19.633 [mounts] No SHA256 specified: the image is there already
    (PhaseName.OTHER, 11),  # 19.634 [d2g] Using cached docker image
    (PhaseName.CONTAINER_START, 656),  # 19.645 Executing command 0: docker run
    (PhaseName.OTHER, 60),  # 20.301 run-task started
    (PhaseName.CACHES, 2),  # 20.361 [volume] changing ownership
    (PhaseName.OWN_WORK, 9_730),  # 20.363 [task] executing, after [setup] running as worker
    (PhaseName.ARTIFACTS, 559),  # 30.093 === Task Finished ===, until it was resolved
]


def read(task_id: str, *, part_bytes: int = 65_536, with_status: bool = True) -> RunPhases:
    facts = RunFacts()
    if with_status:
        status = json.loads((LOGS / f"{task_id}.status.json").read_text())["status"]
        (run,) = status["runs"]
        moments = map(parse_time, (run["scheduled"], run["started"], run["resolved"]))
        scheduled_ns, started_ns, resolved_ns = (
            None if moment is None else round(moment.timestamp() * 1000) * 10**6
            for moment in moments
        )
        facts = RunFacts(scheduled_ns=scheduled_ns, started_ns=started_ns, resolved_ns=resolved_ns)
    reader = LogReader(facts)
    content = (LOGS / f"{task_id}.log").read_bytes()
    for start in range(0, len(content), part_bytes):
        reader.take(content[start : start + part_bytes])
    return reader.finish()


@pytest.mark.parametrize("part_bytes", [65_536, 997, 1_000_000])
@pytest.mark.parametrize(
    ("task_id", "expected"), [(DECISION, OF_DECISION), (BUILD, OF_BUILD)], ids=["decision", "build"]
)
def test_phases_to_the_millisecond(task_id, expected, part_bytes):
    """Each phase is as long as between its lines, however the log arrives, and nothing is left."""
    run = read(task_id, part_bytes=part_bytes)
    assert [(span.phase, span.duration_ns / 10**6) for span in run.spans] == expected
    inside = [span for span in run.spans if not span.phase.is_before_run]
    assert sum(span.duration_ns for span in inside) == run.run_ns
    assert (run.is_complete, run.messages) == (True, ())


def test_facts_of_the_log_alone():
    """Without the queue, the log names its pool and its task; it begins at its first stamp."""
    run = read(BUILD, with_status=False)
    assert (run.pool, run.task_id, run.started) == (
        "releng-3/b-linux",
        BUILD,
        "2026-11-28T16:34:19.292Z",
    )
    # From 19.292 to 30.094.
    assert (run.run_ns, run.is_complete) == (10_802 * 10**6, True)
    assert run.spans[0].phase is PhaseName.OTHER


def test_what_run_task_measured_of_the_checkout():
    """Perfherder's data in the log divide the checkout; what is about all of it is left out."""
    parts = [part for part in read(DECISION).parts if part.phase is PhaseName.CHECKOUT]
    names_ms = [(part.name, round(part.duration_ns / 10**6)) for part in parts]
    assert names_ms == [("fetch_base", 80), ("pull", 135), ("update", 58), ("purge", 39)]
    assert read(BUILD).parts == tuple[Part]()
