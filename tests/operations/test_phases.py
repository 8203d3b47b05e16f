# SPDX-License-Identifier: MPL-2.0
"""Phases of runs that are known already: read several at once, within limits, and kept."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Loopback
from loopback_deployment import Artifact, Deployment, run
from msgspec.structs import replace
from simulated_logs import SimulatedRun

from io_benchmark.context import Context
from io_benchmark.operations.phases import read_run_phases
from io_benchmark.sources.protocol import LogLimits
from io_benchmark.sources.run_results import TaskRun

GROUP = "Y-fQPLZOR6-C3qSUTPDY0g"
NAME = "public/logs/live_backing.log"
SIMULATED = SimulatedRun()
LOG_BYTES = len(Artifact(SIMULATED.log()).stored)
RUNS = [
    TaskRun("build", "p/linux", f"ZRs_zVu8T1GsRTGMZC{number:02}aA", 0, "g/w", "completed", "")
    for number in range(30)
]


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    deployment = Deployment()
    for entry in RUNS:
        task_run = run(
            scheduled="2026-11-28T16:33:50.000Z",
            started="2026-11-28T16:33:52.000Z",
            resolved="2026-11-28T16:35:50.200Z",
        )
        deployment.add_task(entry.task_id, GROUP, "build", "build", "p/linux", [task_run])
        log = Artifact(SIMULATED.log(), content_type="text/plain")
        deployment.artifacts[entry.task_id, 0, NAME] = log
    with Loopback(deployment) as running:
        yield running


def context_of(loopback: Loopback) -> Context:
    return Context(None, io.StringIO(), io.StringIO(), loopback.environment)


def test_in_order(loopback: Loopback) -> None:
    """Each run has the phases of its log; a task that does not exist has none."""
    runs = [replace(RUNS[0], task_id="A" * 22), *reversed(RUNS)]
    context = context_of(loopback)
    gathered = read_run_phases(context, runs)
    assert [phases.task_id for phases in gathered.results] == [
        entry.task_id for entry in reversed(RUNS)
    ]
    assert {phases.spans for phases in gathered.results} == {SIMULATED.phases().spans}
    assert (gathered.unreadable, gathered.remarks) == ((), ())
    # The cost comes first, where there are many.
    assert context.stderr.getvalue() == (  # type: ignore[attr-defined]
        "reading the logs of 30 runs: at most 960 MiB, 10 min\n"
    )


def test_limits(loopback: Loopback, tmp_path: Path) -> None:
    """What is over a limit is named; the next reading goes on where the first one ended."""
    readings = tmp_path / "kept.json"
    limits = LogLimits(runs=10)
    gathered = read_run_phases(context_of(loopback), RUNS, limits=limits, readings=readings)
    assert len(gathered.results) == 10
    assert gathered.remarks == (
        "read the logs of 10 runs of 30; select fewer, or go on with --readings",
    )
    gathered = read_run_phases(context_of(loopback), RUNS, readings=readings)
    assert [phases.task_id for phases in gathered.results] == [entry.task_id for entry in RUNS]
    assert len(loopback.asked("storage")) == 30
    # Nothing is new.
    before = readings.stat().st_mtime_ns
    read_run_phases(context_of(loopback), RUNS, readings=readings)
    assert readings.stat().st_mtime_ns == before


def test_bytes_of_all_logs(loopback: Loopback) -> None:
    """Once their limit is reached, no further log is asked for; 8 are read at once."""
    limits = LogLimits(total_bytes=LOG_BYTES * 3)
    gathered = read_run_phases(context_of(loopback), RUNS, limits=limits)
    assert 3 <= len(gathered.results) <= 11
    (line,) = gathered.unreadable
    assert line.startswith(f"logs of {30 - len(gathered.results)} runs cannot be read: one command")


@pytest.mark.parametrize(("spare", "is_complete"), [(0, True), (-1, False)])
def test_bytes_of_a_log(loopback: Loopback, spare: int, is_complete: bool) -> None:
    """Of a log that is longer, only the begin is known, and the phases say so."""
    limits = LogLimits(log_bytes=LOG_BYTES + spare)
    gathered = read_run_phases(context_of(loopback), RUNS[:1], limits=limits)
    (phases,) = gathered.results
    assert phases.is_complete == is_complete
    assert bool(phases.messages) != is_complete


def test_time(loopback: Loopback) -> None:
    """At the end of the time, what was read is there, and how many were not."""
    gathered = read_run_phases(context_of(loopback), RUNS, limits=LogLimits(seconds=0.0))
    assert gathered.results == ()
    assert gathered.remarks == (
        "read 0 logs of 0 within 0 s; select fewer, or go on with --readings",
    )


def test_no_runs() -> None:
    """Without runs that have a task, nothing is asked for."""
    context = Context(None, io.StringIO(), io.StringIO(), {"TASKCLUSTER_ROOT_URL": "https://x.y"})
    assert read_run_phases(context, [replace(RUNS[0], task_id="")]).results == ()
