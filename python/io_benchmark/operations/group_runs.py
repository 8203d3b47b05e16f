# SPDX-License-Identifier: MPL-2.0
"""The results of a group to which tasks may be added."""

from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Worker
from io_benchmark.operations.user import User
from io_benchmark.sources.gather import gather
from io_benchmark.sources.run_results import RunResult
from io_benchmark.submit.definitions import job_of
from io_benchmark_taskgraph.repeating import CONFIRMING


class GroupRun(Struct, frozen=True):
    """A run of the group."""

    worker: Worker
    label: str
    duration_ns: int

    @classmethod
    def of(cls, measured: RunResult) -> "GroupRun":
        """Return the run of a result; without a task record its label is that of its pool."""
        label = measured.task.label if measured.task is not None else measured.pool
        worker = worker_of(measured, measured.pool)
        return cls(worker, label, measured.result.duration_ns)

    @classmethod
    def read_all(cls, group_id: str, user: User) -> Sequence["GroupRun"]:
        """Read the results of a group; name those that are missing."""
        with user.progress() as progress:
            gathered = gather([f"group:{group_id}"], user.environment, progress, cls.of)
        for line in gathered.unreadable:
            user.tell(f"missing: {line}")
        return gathered.results

    @property
    def job(self) -> str:
        return job_of(self.label, self.worker.pool) or self.label

    @property
    def is_confirming(self) -> bool:
        return self.label.startswith(f"{self.job}{CONFIRMING}")

    @property
    def has_ceilings(self) -> bool:
        trials = (entry.trials for entry in self.worker.entries)
        return any(trial is not None and bool(trial.ceilings) for trial in trials)
