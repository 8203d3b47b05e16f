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
from io_benchmark.submit import group_state, journal, task_creation
from io_benchmark.submit.submission import make_all_ready, submission_of

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import ReadyTask, SelectedTask
    from io_benchmark.submit.submission import Submission


def resume(arguments: argparse.Namespace, context: Context) -> int:
    group_id = task_group.group_of("--resume", arguments.resume, context.environment)
    task_group.check_comparison(arguments, None)
    found = _journal(group_id, context)
    submission = found.submission if found else _recorded(group_id, context)
    state = task_creation.connect(
        context.environment,
        lambda deployment: group_state.read_group_state(deployment, group_id, submission),
    )
    missing: Sequence[ReadyTask] = ()
    ready: tuple[ReadyTask, ...] | None = None
    context.tell(f"group:{group_id}: {len(state.existing)} of {state.count} tasks exist")
    if state.missing:
        chosen = found.chosen if found else _regenerated(arguments, group_id, submission, context)
        task_group.check_comparison(arguments, {one.pool for one in chosen})
        _announce(arguments, [chosen[number] for number in state.missing], submission, context)
        if not task_group.agreed(arguments, context, "Create them?"):
            return 1
        now = datetime.now(UTC)
        created = group_state.dates_start(found.created, now) if found else now
        ready = make_all_ready(chosen, submission, group_id, created)
        missing = [ready[number] for number in state.missing]
    members = group_state.all_members(state, ready)
    existing = list(state.existing.values())
    return task_group.create(
        arguments,
        context,
        group_id,
        missing,
        members,
        task_creation.CreatedTasks(existing, len(existing)),
    )


def _journal(group_id: str, context: Context) -> journal.Journal | None:
    found = journal.read(journal.path_of(group_id, context.environment))
    root_url = task_creation.environment_access(context.environment).root_url
    if found is not None and found.root_url != root_url:
        raise UsageError(
            f"--resume {group_id}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {found.root_url}"
        )
    return found


def _recorded(group_id: str, context: Context) -> Submission:
    return task_creation.connect(
        context.environment,
        lambda deployment: group_state.read_submission(deployment, group_id),
    )


def _regenerated(
    arguments: argparse.Namespace, group_id: str, submission: Submission, context: Context
) -> tuple[SelectedTask, ...]:
    """Generate the tasks again; raise if the kind has changed since the submission."""
    from io_benchmark.commands.submit import generated

    chosen = generated(arguments, submission.jobs, submission.settings, context)
    made = submission_of(submission.jobs, submission.settings, chosen)
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
