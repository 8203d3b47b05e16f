# SPDX-License-Identifier: MPL-2.0
"""Repeat a group's task in the same group, as the actions do (io_benchmark_taskgraph/repeating.py)."""

from collections.abc import Mapping, Sequence
from typing import Any

from io_benchmark.errors import ResultError
from io_benchmark.submit.definitions import SelectedTask, job_of
from io_benchmark_taskgraph import repeating


def repeated_task(
    definition: Mapping[str, Any],
    label: str,
    pool: str,
    labels: Sequence[str],
    bytes_per_s: int | None = None,
) -> SelectedTask:
    """Return a task for one more worker, or with a pace to confirm a cause; `labels` are in use.

    All routes are dropped, as in a submission.
    """
    job = job_of(label, pool) or label
    end = "" if bytes_per_s is None else repeating.CONFIRMING
    new = repeating.new_label(job, labels, end)
    try:
        made = repeating.repeated(definition, job, new, bytes_per_s)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ResultError(f"{new}: the task that it repeats has malformed dates") from None
    return SelectedTask(new, job, pool, {**made, "routes": []})
