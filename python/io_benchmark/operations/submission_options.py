# SPDX-License-Identifier: MPL-2.0
"""The options of `submit`, and how a submission ended."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.costs.worker_time import Price
from io_benchmark.submit import sizes
from io_benchmark.submit.definitions import UNGROUPED

DEFAULT_INTERVAL_S = 15.0


class SubmissionOptions(Struct, frozen=True, kw_only=True):
    """Which tasks are created, and what happens before and after."""

    jobs: Sequence[str] = ("io-benchmark",)
    root: Path | None = None
    pool: Sequence[tuple[str, str]] = ()  # a pool, and the queue of its tasks
    image: str | None = None
    quick: bool = False
    replicates: int | None = None
    owner: str | None = None
    priority: str | None = None
    scheduler: str = UNGROUPED
    like: Sequence[str] = ()
    dry_run: bool = False
    yes: bool = False
    no_wait: bool = False
    every: float = DEFAULT_INTERVAL_S  # seconds between looks at the group
    timeout: float | None = None  # minutes
    until_decided: bool = False
    budget: float | None = None  # hours
    baseline: str | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def profile(self) -> str:
        return sizes.QUICK if self.quick else sizes.FULL


class SubmissionOutcome(Struct, frozen=True):
    """How a submission ended."""

    group_id: str = ""  # of the group to compare; empty: there is nothing to compare now
    is_done: bool = True  # False: the user declined, or something could not be done


DONE = SubmissionOutcome()
NOT_DONE = SubmissionOutcome(is_done=False)
