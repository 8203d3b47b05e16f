# SPDX-License-Identifier: MPL-2.0
"""Read where the time of runs went, by their logs."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from io_benchmark.analysis.phases.phase_model import RunPhases
from io_benchmark.context import Context
from io_benchmark.sources.gather import Gathered
from io_benchmark.sources.run_results import TaskRun

_MIB = 1024 * 1024


class LogLimits(Struct, frozen=True):
    """The most that one command reads of logs, as they are transferred."""

    runs: int = 1_000
    log_bytes: int = 32 * _MIB
    total_bytes: int = 1024 * _MIB
    seconds: float = 600.0


def read_run_phases(
    context: Context,
    runs: Sequence[TaskRun],
    *,
    root_url: str | None = None,
    limits: LogLimits | None = None,
    readings: Path | None = None,
) -> Gathered[RunPhases]:
    """Return the phases of these runs, in their order; a run without a log is a remark.

    `root_url` is the deployment of the runs; None: that of the environment. The file `readings`
    keeps what was read, and what it has is not read again. The most that is read is shown first.
    """
    raise NotImplementedError
