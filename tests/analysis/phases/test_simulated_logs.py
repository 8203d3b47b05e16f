# SPDX-License-Identifier: MPL-2.0
"""Logs of simulated runs, of each worker: the phases that are read are those that were written."""

from dataclasses import replace

import pytest
from simulated_logs import (
    DOCKER_WORKER,
    MIB,
    NATIVE,
    TRAPS,
    WINDOWS,
    WRITERS,
    Fetch,
    SimulatedRun,
)

from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases

RUNS = {
    "everything": SimulatedRun(),
    "nothing but own work": SimulatedRun(
        image_download_s=0,
        image_load_s=0,
        checkout_s=0,
        fetches=(),
        packages_s=0,
        caches_s=0,
        caches_kept_s=0,
    ),
    "streamed fetches": SimulatedRun(fetches=(Fetch(9.0, is_streamed=True),)),
    "hg": SimulatedRun(checkout_bytes=900 * MIB),
}


def seconds(run: RunPhases) -> dict[PhaseName, float]:
    """Return how long each phase took, rounded as a log's stamps are."""
    phases = dict.fromkeys(span.phase for span in run.spans)
    return {phase: round(run.duration_ns(phase) / 10**9, 2) for phase in phases}


@pytest.mark.parametrize("trap", ["none", *TRAPS])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("name", RUNS)
def test_phases_are_those_that_were_written(name, writer, trap):
    """Whatever the task prints besides, each phase has its time, and all of them the run's."""
    simulated = RUNS[name]
    run = simulated.phases(writer, (trap,))
    truth = {phase: round(value, 2) for phase, value in simulated.truth(writer).items()}
    assert seconds(run) == pytest.approx(truth, abs=0.01)
    assert (run.is_complete, run.messages) == (True, ())


def test_bytes_and_rates():
    """Sizes are those that the lines have; fetches that come at once take more than the span."""
    run = SimulatedRun(checkout_bytes=900 * MIB).phases()
    amounts = {
        span.phase: (span.size_bytes, span.busy_ns and span.busy_ns / 10**9)
        for span in run.spans
        if span.size_bytes is not None or span.busy_ns is not None
    }
    assert amounts == {
        PhaseName.IMAGE_DOWNLOAD: (400 * MIB, None),
        PhaseName.CHECKOUT: (900 * MIB, 20.0),
        PhaseName.DOWNLOAD: (200 * MIB, 12.0),
        PhaseName.UNPACK: (200 * MIB, 6.0),
    }
    docker_worker = SimulatedRun().phases(DOCKER_WORKER)
    sizes = {span.phase: span.size_bytes for span in docker_worker.spans}
    assert sizes[PhaseName.IMAGE_DOWNLOAD] == 400 * MIB


def test_bytes_on_windows():
    """An archive is the one that was downloaded, whichever drive its path begins with."""
    run = SimulatedRun().phases(WINDOWS)
    (unpacked,) = [span for span in run.spans if span.phase is PhaseName.UNPACK]
    assert (unpacked.size_bytes, unpacked.busy_ns) == (200 * MIB, 6 * 10**9)


def test_streams_are_not_divided():
    """What is unpacked while it arrives is one phase, with the bytes of its downloads."""
    run = SimulatedRun(
        fetches=(Fetch(9.0, is_streamed=True), Fetch(4.0, is_streamed=True))
    ).phases()
    (streamed,) = [span for span in run.spans if span.phase is PhaseName.STREAMED]
    assert (streamed.size_bytes, streamed.busy_ns) == (200 * MIB, 13 * 10**9)
    assert PhaseName.DOWNLOAD not in seconds(run)


def test_fetches_of_unlike_times():
    """The time of all fetches is divided by what each kind of work took in sum."""
    fetches = (Fetch(20.0), Fetch(2.0, 10.0))
    run = SimulatedRun(fetches=fetches).phases()
    assert seconds(run)[PhaseName.UNPACK] == pytest.approx(20 * 10 / 32, abs=0.01)
    assert seconds(run)[PhaseName.DOWNLOAD] == pytest.approx(20 * 22 / 32, abs=0.01)


@pytest.mark.parametrize("phase", ["image_load_s", "image_download_s", "packages_s", "own_s"])
def test_a_longer_phase_is_longer_alone(phase):
    """One phase that takes 1.5 times as long changes no other."""
    usual = SimulatedRun()
    slow = replace(usual, **{phase: 1.5 * getattr(usual, phase)})
    before, after = seconds(usual.phases()), seconds(slow.phases())
    changed = {name for name in before if before[name] != pytest.approx(after[name], abs=0.01)}
    assert len(changed) == 1


def test_own_commands_without_run_task():
    """All of such a command is own work, and the report says so."""
    log = SimulatedRun().log(NATIVE)
    lines = [line for line in log.splitlines(keepends=True) if not line.startswith(b"[setup")]
    from io_benchmark.analysis.phases.read_log import LogReader

    reader = LogReader(SimulatedRun().facts(NATIVE))
    reader.take(b"".join(lines))
    run = reader.finish()
    assert [span.phase for span in run.spans] == [
        PhaseName.PENDING,
        PhaseName.OTHER,
        PhaseName.CACHES,
        PhaseName.OWN_WORK,
        PhaseName.ARTIFACTS,
        PhaseName.CACHES_KEPT,
    ]
    (message,) = run.messages
    assert message.startswith("its command does not begin with run-task, so all of it is own work")
