# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Creates the tasks of a group, waits for them and compares; leaves or cancels them otherwise."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.commands.context import Context
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.submit import journal, task_creation

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import GroupMember, ReadyTask, SelectedTask
    from io_benchmark.submit.submission import Submission

HOW_TO_CANCEL = "io-benchmark submit --cancel"
HOW_TO_RESUME = "io-benchmark submit --resume"


def create_all(
    arguments: argparse.Namespace,
    context: Context,
    now: datetime,
    submission: Submission,
    chosen: Sequence[SelectedTask],
    tasks: Sequence[ReadyTask],
) -> int:
    """Create a new group, after its journal is written and its id is printed."""
    group_id = tasks[0].task_id
    root_url = task_creation.environment_access(context.environment).root_url
    path = journal.path_of(group_id, context.environment)
    try:
        journal.write(journal.Journal(root_url, group_id, now, submission, tuple(chosen)), path)
    except OSError as error:
        context.tell(
            f"warning: {path}: cannot write the journal ({error.strerror}); resuming will need the "
            "same version of the kind"
        )
    context.tell(
        f"Creating group:{group_id}; if this stops, resume with: {HOW_TO_RESUME} {group_id}"
    )
    return create(arguments, context, group_id, tasks, tasks, task_creation.CreatedTasks())


def create(
    arguments: argparse.Namespace,
    context: Context,
    group_id: str,
    missing: Sequence[ReadyTask],
    members: Sequence[GroupMember],
    created: task_creation.CreatedTasks,
) -> int:
    """Create the missing members of a group, wait for all of them, and compare."""
    from io_benchmark.submit.task_wait import wait

    root_url = task_creation.environment_access(context.environment).root_url
    timeout_s = None if arguments.timeout is None else arguments.timeout * 60
    try:
        task_creation.connect(
            context.environment,
            lambda deployment: task_creation.create(deployment, missing, created),
        )
        journal.remove(journal.path_of(group_id, context.environment))
        context.tell(f"{created.shown}: {root_url}/tasks/groups/{group_id}")
        if arguments.no_wait:
            context.print(f"group:{group_id}")
            context.tell(f"Compare them later with: io-benchmark compare group:{group_id}")
            return 0
        context.tell("Waiting; Ctrl-C stops waiting and asks whether to cancel the tasks")
        standing = task_creation.connect(
            context.environment,
            lambda deployment: wait(
                deployment, group_id, members, arguments.every, timeout_s, context.tell
            ),
        )
    except KeyboardInterrupt as interruption:
        may_ask = type(interruption) is KeyboardInterrupt
        _leave(context, created, group_id, may_ask=may_ask, total=len(members))
        raise
    except IoBenchmarkError as error:
        # Lost sight of while waiting, they may be well.
        may_ask = isinstance(error, task_creation.CreationError)
        _leave(context, created, group_id, may_ask=may_ask, total=len(members))
        raise
    if standing.resolved < standing.total:
        context.tell(
            f"--timeout: stopped waiting; {HOW_TO_CANCEL} {group_id} cancels the remaining tasks"
        )
    context.tell(f"Compare again with: io-benchmark compare group:{group_id}")
    return _compare(arguments, context, group_id)


def _leave(
    context: Context,
    created: task_creation.CreatedTasks,
    group_id: str,
    *,
    may_ask: bool,
    total: int,
) -> None:
    """Ask whether to cancel the tasks of an interrupted call; else leave them and say how."""
    path = journal.path_of(group_id, context.environment)
    if not created.sent:
        journal.remove(path)
        context.tell("no task was created")
        return
    state = "left as they are"
    try:
        if may_ask and context.is_interactive and context.confirm(f"\n{created.shown}. Cancel?"):
            state = "not all cancelled"
            done = task_creation.connect(
                context.environment,
                lambda deployment: task_creation.cancel_sent(deployment, created.sent),
            )
            journal.remove(path)
            _tell_cancelled(done, context)
            return
    except KeyboardInterrupt:
        context.tell("")
    how = f"to cancel: {HOW_TO_CANCEL} {group_id}"
    if created.confirmed < total:
        how += f"; to create the others: {HOW_TO_RESUME} {group_id}"
    context.tell(f"{created.shown} in group:{group_id}, {state}; {how}")


def cancel(text: str, context: Context) -> int:
    group_id = group_of("--cancel", text, context.environment)
    done = task_creation.connect(
        context.environment, lambda deployment: task_creation.cancel_group(deployment, group_id)
    )
    journal.remove(journal.path_of(group_id, context.environment))
    _tell_cancelled(done, context)
    return 1 if done.problems else 0


def group_of(option: str, text: str, environment: Mapping[str, str]) -> str:
    """Return the group in an option's value, an id or an address."""
    from io_benchmark.sources.taskcluster.addresses import GroupAddress, default_root_url, parse
    from io_benchmark.text import clean

    address = parse(text if ":" in text else f"group:{text}", environment)
    shown = f"{option} {clean(text, 200)}"
    if not isinstance(address, GroupAddress):
        raise UsageError(f"{shown}: is not a group; give its id, or group:ID")
    root_url = default_root_url(environment)
    if address.root_url != root_url:
        raise UsageError(
            f"{shown}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {address.root_url}"
        )
    return address.group_id


def _tell_cancelled(done: task_creation.CancelledTasks, context: Context) -> None:
    context.tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        context.tell(f"already resolved: {done.resolved}")
    if done.others:
        context.tell(f"not changed, because they are not the benchmark's: {done.others}")
    for problem in done.problems:
        context.tell(f"error: {problem}")


def _comparison(arguments: argparse.Namespace, group_id: str) -> argparse.Namespace:
    """Return the arguments of `compare group:ID` with the options that submit shares with it."""
    from io_benchmark.commands import compare

    parser = argparse.ArgumentParser()
    compare.add_arguments(parser)
    comparison = parser.parse_args([f"group:{group_id}"])
    for name in ("format", "expect", "write", "baseline"):
        setattr(comparison, name, getattr(arguments, name))
    return comparison


def check_comparison(arguments: argparse.Namespace, pools: Collection[str] | None) -> None:
    """Refuse a mistake before machines have run for an hour; None: the pools are not known."""
    from io_benchmark.analysis.expectations import Expectation
    from io_benchmark.analysis.plan import Plan

    for _, path in arguments.write:
        _check_writable(path)
    for text in arguments.expect:
        Expectation.parse(text)
    if pools is not None:
        Plan.of_pools(set(pools), arguments.baseline)


def _check_writable(path: Path) -> None:
    from io_benchmark.text import clean

    shown = clean(str(path), 200)
    try:
        path.exists()  # too long a name, or a loop of links
        is_folder = path.parent.is_dir()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"--write {shown}: {reason}; name another file") from None
    if not is_folder:
        raise UsageError(f"--write {shown}: no such folder; create it first")


def _compare(arguments: argparse.Namespace, context: Context, group_id: str) -> int:
    from io_benchmark.commands import compare

    return compare.run(_comparison(arguments, group_id), context)


def agreed(arguments: argparse.Namespace, context: Context, question: str) -> bool:
    """Ask on a terminal, unless --yes."""
    if arguments.yes or not context.is_interactive or context.confirm(question):
        return True
    context.tell("nothing was created")
    return False
