# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Completes a group whose submission was stopped: from its journal, or from what the group holds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from io_benchmark.commands import submitting
from io_benchmark.commands.context import Context
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.submit import creating, journal, resuming
from io_benchmark.submit.submission import ready_all, submission_of

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import Chosen, Ready
    from io_benchmark.submit.submission import Submission


def resume(arguments: argparse.Namespace, context: Context) -> int:
    group_id = submitting.group_of("--resume", arguments.resume, context.environment)
    submitting.check_comparison(arguments, None)
    found = _journal(group_id, context)
    submission = found.submission if found else _recorded(group_id, context)
    state = creating.asked(
        context.environment, lambda deployment: resuming.state_of(deployment, group_id, submission)
    )
    missing: Sequence[Ready] = ()
    ready: tuple[Ready, ...] | None = None
    context.tell(f"group:{group_id}: {len(state.existing)} of {state.count} tasks exist")
    if state.missing:
        chosen = found.chosen if found else _regenerated(arguments, group_id, submission, context)
        submitting.check_comparison(arguments, {one.pool for one in chosen})
        _announce(arguments, [chosen[number] for number in state.missing], submission, context)
        if not submitting.agreed(arguments, context, "Create them?"):
            return 1
        now = datetime.now(UTC)
        created = resuming.dated(found.created, now) if found else now
        ready = ready_all(chosen, submission, group_id, created)
        missing = [ready[number] for number in state.missing]
    members = resuming.members_of(state, ready)
    existing = list(state.existing.values())
    return submitting.create(
        arguments, context, group_id, missing, members, creating.Created(existing, len(existing))
    )


def _journal(group_id: str, context: Context) -> journal.Journal | None:
    found = journal.read(journal.path_of(group_id, context.environment))
    root_url = creating.access_of(context.environment).root_url
    if found is not None and found.root_url != root_url:
        raise UsageError(
            f"--resume {group_id}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {found.root_url}"
        )
    return found


def _recorded(group_id: str, context: Context) -> Submission:
    return creating.asked(
        context.environment, lambda deployment: resuming.recorded_submission(deployment, group_id)
    )


def _regenerated(
    arguments: argparse.Namespace, group_id: str, submission: Submission, context: Context
) -> tuple[Chosen, ...]:
    """The tasks from the kind, which has to be what it was."""
    from io_benchmark.commands.submit import generated

    chosen = generated(arguments, submission.jobs, submission.settings, context)
    made = submission_of(submission.jobs, submission.settings, chosen)
    if made.sha256 != submission.sha256:
        raise ResultError(
            f"group:{group_id}: the kind here makes other tasks than the group was submitted with; "
            "resume it from the same version of the checkout and of io-benchmark, or compare what "
            f"is there with: io-benchmark compare group:{group_id}"
        )
    return chosen


def _announce(
    arguments: argparse.Namespace,
    chosen: Sequence[Chosen],
    submission: Submission,
    context: Context,
) -> None:
    from io_benchmark.commands.submit import announce

    announce(arguments, chosen, submission.settings, context)
