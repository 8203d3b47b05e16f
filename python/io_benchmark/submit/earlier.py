# SPDX-License-Identifier: MPL-2.0
"""Durations of earlier results per task, for --like.

A pool may have tasks in several kinds, which take different times. Here a task is identified by its
*job*, the label without a replicate's number.
"""

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from io_benchmark.errors import UsageError
from io_benchmark.sources.run_results import RunResult
from io_benchmark.submit.definitions import SelectedTask, job_of
from io_benchmark.text import clean, clean_name

NS_PER_MINUTE = 60 * 10**9
_LABEL = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*)=(.+)", re.DOTALL)


class LikeOption(Struct, frozen=True):
    """The value of one --like: `ADDRESS` or `LABEL=ADDRESS`."""

    job: str | None  # None: each result is for its own job
    address: str

    @classmethod
    def parse(cls, text: str, chosen: Sequence[SelectedTask]) -> "LikeOption":
        """Parse a value; in an address with `=`, a character before it cannot be in a label."""
        match = _LABEL.fullmatch(text)
        if match is None:
            return cls(None, text)
        jobs = _jobs(chosen)
        if match[1] not in jobs:
            raise UsageError(
                f"--like {clean(text, 200)}: {clean_name(match[1])} is not a selected task; choose "
                f"one of {', '.join(jobs)}; write ./FILE for a file with = in its name"
            )
        return cls(match[1], match[2])


class EarlierResult(Struct, frozen=True):
    """A result at the address of a --like."""

    pool: str
    job: str | None  # None: a bare file, which does not say
    duration_ns: int
    source: str
    profile: str = "full"

    @classmethod
    def of(cls, measured: RunResult) -> "EarlierResult":
        record, pool = measured.task, measured.pool
        job = job_of(record.label, pool) if record is not None else None
        result = measured.result
        return cls(pool, job, result.duration_ns, measured.source, result.config.profile)


class EarlierResults(Struct, frozen=True):
    """What the addresses of one or several --like have."""

    results: tuple[EarlierResult, ...]

    def of_profile(self, profile: str) -> tuple["EarlierResults", str | None]:
        """Return the results of this profile, and a remark on the others, which do not tell its time."""
        kept = EarlierResults(tuple(result for result in self.results if result.profile == profile))
        others = len(self.results) - len(kept.results)
        if not others:
            return kept, None
        return (
            kept,
            f"--like: {others} of {len(self.results)} results have a profile other than {profile} and are not used",
        )

    def minutes_of_each(
        self, chosen: Sequence[SelectedTask], named: Collection[str] = ()
    ) -> tuple[dict[str, float], list[str]]:
        """Return the mean time by job, and remarks on jobs that have no results.

        `named` are jobs whose results are given by LABEL=ADDRESS.
        """
        jobs = {job: pool for job, pool in _jobs(chosen).items() if job not in named}
        of_jobs: dict[str, list[EarlierResult]] = {}
        seen: dict[str, dict[str, None]] = {}  # by pool: the jobs that its results are of
        for result in self.results:
            of_pool = [job for job, pool in jobs.items() if pool == result.pool]
            if result.job is None and len(of_pool) > 1:
                raise UsageError(
                    f"--like: {clean(result.source)} could belong to "
                    f"{' or '.join(of_pool)}; write --like LABEL=ADDRESS"
                )
            job = result.job if result.job is not None else next(iter(of_pool), None)
            if job is not None:
                seen.setdefault(result.pool, {})[clean_name(job)] = None
                if job in of_pool:
                    of_jobs.setdefault(job, []).append(result)
        remarks = [
            f"--like: {job} is estimated by its time budget, because the results of {pool} belong to "
            f"{', '.join(seen[pool])}; --like {job}=ADDRESS uses them nevertheless"
            for job, pool in jobs.items()
            if job not in of_jobs and pool in seen
        ]
        return {job: _mean_minutes(each) for job, each in of_jobs.items()}, remarks

    def minutes_of_job(self, job: str) -> float:
        """Return the mean time for LABEL=ADDRESS; all of them must belong to one task."""
        tasks = dict.fromkeys(
            result.job or f"an unnamed task of {result.pool}" for result in self.results
        )
        if len(tasks) > 1:
            raise UsageError(
                f"--like {job}=: the results belong to {len(tasks)} tasks, "
                f"{clean(', '.join(tasks))}; give the address of one task"
            )
        return _mean_minutes(self.results)


def _mean_minutes(results: Sequence[EarlierResult]) -> float:
    return sum(result.duration_ns for result in results) / len(results) / NS_PER_MINUTE


def _jobs(chosen: Sequence[SelectedTask]) -> dict[str, str]:
    """Job -> pool."""
    return {task.job: task.pool for task in chosen}
