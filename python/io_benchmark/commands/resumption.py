# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Completes a group whose submission was stopped: from its journal, or from what the group holds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from io_benchmark.commands import task_group
from io_benchmark.commands.context import Context
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.submit.journal import Journal, JournalFile
from io_benchmark.submit.submission import GroupState, Submission
from io_benchmark.submit.task_creation import CreatedTasks, connect

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import ReadyTask, SelectedTask


def resume(arguments: argparse.Namespace, context: Context) -> int:
    group_id = task_group.group_of("--resume", arguments.resume, context.environment)
    task_group.check_comparison(arguments, None)
    found = _journal(group_id, context)
    submission = found.submission if found else _recorded(group_id, context)
    state = connect(context.environment, lambda queue: GroupState.read(queue, group_id, submission))
    ready: tuple[ReadyTask, ...] = ()
    context.tell(f"group:{group_id}: {len(state.existing)} of {state.count} tasks exist")
    if state.missing:
        chosen = found.chosen if found else _regenerated(arguments, group_id, submission, context)
        task_group.check_comparison(arguments, {one.pool for one in chosen})
        _announce(arguments, [chosen[number] for number in state.missing], submission, context)
        if not task_group.agreed(arguments, context, "Create them?"):
            return 1
        now = datetime.now(UTC)
        ready = submission.ready(chosen, group_id, found.dates_start(now) if found else now)
    existing = list(state.existing.values())
    return task_group.create(
        arguments,
        context,
        group_id,
        [ready[number] for number in state.missing],
        state.members(ready),
        CreatedTasks(existing, len(existing)),
    )


def _journal(group_id: str, context: Context) -> Journal | None:
    found = JournalFile.of(group_id, context.environment).read()
    root_url = default_root_url(context.environment)
    if found is not None and found.root_url != root_url:
        raise UsageError(
            f"--resume {group_id}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {found.root_url}"
        )
    return found


def _recorded(group_id: str, context: Context) -> Submission:
    return connect(context.environment, lambda queue: Submission.read(queue, group_id))


def _regenerated(
    arguments: argparse.Namespace, group_id: str, submission: Submission, context: Context
) -> tuple[SelectedTask, ...]:
    """Generate the tasks again; raise if the kind has changed since the submission."""
    from io_benchmark.commands.submit import generated

    chosen = generated(arguments, submission.jobs, submission.settings, context)
    made = Submission.of(submission.jobs, submission.settings, chosen)
    if made.sha256 != submission.sha256:
        raise ResultError(
            f"group:{group_id}: the kind here makes different tasks from those of the group; "
            "resume it from the same version of the checkout and of io-benchmark, or compare the "
            f"existing tasks with: io-benchmark compare group:{group_id}"
        )
    return chosen


def _announce(
    arguments: argparse.Namespace,
    chosen: Sequence[SelectedTask],
    submission: Submission,
    context: Context,
) -> None:
    from io_benchmark.commands.submit import announce

    announce(arguments, chosen, submission.settings, context)
