# SPDX-License-Identifier: MPL-2.0
"""One run of --capacities has every figure that predictions use."""

import subprocess

from worker import Worker, needs_disk, script

from io_benchmark.analysis.prediction.pool_storage import PoolFigure, PoolStorage
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.sources.run_files import read_run

# The rest of it is limited by its time already.
SHORTER = """
from measuring import fixed_work, trials
fixed_work.BURST_NS //= 10
trials.GOOD_CEILING_S, trials.ROUNDS_WANTED, trials.ROUNDS_AT_LEAST = 0.2, 1, 1
trials.RESIDENT_SHARE = 0  # another run may drop what is in memory
"""
OF_THE_PLACE = (
    PoolFigure.WRITE_RATE,
    PoolFigure.SYNC,
    PoolFigure.WRITES,
    PoolFigure.FILE,
)
OF_THE_CPUS = (
    PoolFigure.OWN_CPU,
    PoolFigure.SPAWN,
    PoolFigure.USER_WORK,
    PoolFigure.KERNEL_COPY,
    PoolFigure.KERNEL_CALLS,
)


def test_every_figure(worker: Worker) -> None:
    """Of the place and of the CPUs; fixed work as often as in a long run."""
    needs_disk(worker.workspace)
    place = f"workspace={worker.workspace}"
    given = ("--place", place, "--output", str(worker.artifacts), "--capacities")
    command = script("run", "--pool", "amd-16", *given, prelude=SHORTER)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    # The option decides the sizes.
    assert "ends after 300 s at the latest" in done.stdout
    assert "--profile full" not in done.stdout
    measured = read_run(worker.result_path)
    storage = PoolStorage.of("amd-16", [worker_of(measured, "amd-16")], {})
    assert [figure for figure in OF_THE_PLACE if storage.mean(figure, "workspace") is None] == []
    assert [figure for figure in OF_THE_CPUS if storage.mean(figure) is None] == []
    document = worker.document()
    assert len(document["host"]["fixed_work"]) == 2 * 5 * 3
    assert document["config"]["capacities"] is True
