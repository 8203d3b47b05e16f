# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Creates a submission's tasks, waits for them, compares; and what becomes of them otherwise."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.commands.context import Context
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.submit import creating, journal

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import Chosen, Member, Ready
    from io_benchmark.submit.submission import Submission

HOW_TO_CANCEL = "io-benchmark submit --cancel"
HOW_TO_RESUME = "io-benchmark submit --resume"


def create_all(
    arguments: argparse.Namespace,
    context: Context,
    now: datetime,
    submission: Submission,
    chosen: Sequence[Chosen],
    tasks: Sequence[Ready],
) -> int:
    """Create a new group, after its journal is written and its name is printed."""
    group_id = tasks[0].task_id
    root_url = creating.access_of(context.environment).root_url
    path = journal.path_of(group_id, context.environment)
    try:
        journal.write(journal.Journal(root_url, group_id, now, submission, tuple(chosen)), path)
    except OSError as error:
        context.tell(
            f"warning: {path}: the journal cannot be written ({error.strerror}); to resume, the same "
            "version of the kind will be needed"
        )
    context.tell(
        f"Creating group:{group_id}; if this stops, continue with: {HOW_TO_RESUME} {group_id}"
    )
    return create(arguments, context, group_id, tasks, tasks, creating.Created())


def create(
    arguments: argparse.Namespace,
    context: Context,
    group_id: str,
    missing: Sequence[Ready],
    members: Sequence[Member],
    created: creating.Created,
) -> int:
    """Create the missing members of a group, wait for all of them, and compare."""
    from io_benchmark.submit.waiting import wait

    root_url = creating.access_of(context.environment).root_url
    timeout_s = None if arguments.timeout is None else arguments.timeout * 60
    try:
        creating.asked(
            context.environment, lambda deployment: creating.create(deployment, missing, created)
        )
        journal.remove(journal.path_of(group_id, context.environment))
        context.tell(f"{created.shown}: {root_url}/tasks/groups/{group_id}")
        if arguments.no_wait:
            context.print(f"group:{group_id}")
            context.tell(f"Compare them later with: io-benchmark compare group:{group_id}")
            return 0
        context.tell("Waiting; Ctrl-C stops that, and asks whether to cancel the tasks")
        standing = creating.asked(
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
        may_ask = isinstance(error, creating.CreationError)
        _leave(context, created, group_id, may_ask=may_ask, total=len(members))
        raise
    if standing.resolved < standing.total:
        context.tell(
            f"--timeout: not waiting any longer; {HOW_TO_CANCEL} {group_id} cancels the rest"
        )
    context.tell(f"Compare again with: io-benchmark compare group:{group_id}")
    return _compare(arguments, context, group_id)


def _leave(
    context: Context, created: creating.Created, group_id: str, *, may_ask: bool, total: int
) -> None:
    """Cancel the tasks that nobody waits for any more, or leave them."""
    path = journal.path_of(group_id, context.environment)
    if not created.sent:
        journal.remove(path)
        context.tell("no task was created")
        return
    state = "left as they are"
    try:
        if may_ask and context.is_interactive and context.confirm(f"\n{created.shown}. Cancel?"):
            state = "not all cancelled"
            done = creating.asked(
                context.environment,
                lambda deployment: creating.cancel_sent(deployment, created.sent),
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
    done = creating.asked(
        context.environment, lambda deployment: creating.cancel_group(deployment, group_id)
    )
    journal.remove(journal.path_of(group_id, context.environment))
    _tell_cancelled(done, context)
    return 1 if done.problems else 0


def group_of(option: str, text: str, environment: Mapping[str, str]) -> str:
    """The group that an option names, by its id or its address."""
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


def _tell_cancelled(done: creating.Cancelled, context: Context) -> None:
    context.tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        context.tell(f"resolved before that: {done.resolved}")
    if done.others:
        context.tell(f"not the benchmark's, and left alone: {done.others}")
    for problem in done.problems:
        context.tell(f"error: {problem}")


def _comparison(arguments: argparse.Namespace, group_id: str) -> argparse.Namespace:
    """The arguments of `compare group:ID`, as its own parser understands them."""
    from io_benchmark.commands import compare

    parser = argparse.ArgumentParser(prog="io-benchmark submit")
    compare.add_arguments(parser)
    given = [f"group:{group_id}", f"--format={arguments.format}"]
    given += [f"--expect={text}" for text in arguments.expect]
    given += [f"--write={text}" for text in arguments.write]
    if arguments.baseline is not None:
        given.append(f"--baseline={arguments.baseline}")
    return parser.parse_args(given)


def check_comparison(arguments: argparse.Namespace, pools: Collection[str] | None) -> None:
    """Refuse a mistake before machines have run for an hour; None: the pools are not known."""
    from io_benchmark.analysis import expectations, plan

    for form_and_path in _comparison(arguments, "none-yet").write:
        _check_writable(form_and_path[1])
    for text in arguments.expect:
        expectations.parse(text)
    if pools is not None:
        plan.pools(set(pools), arguments.baseline)


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
        raise UsageError(f"--write {shown}: no such folder; make it first")


def _compare(arguments: argparse.Namespace, context: Context, group_id: str) -> int:
    from io_benchmark.commands import compare

    return compare.run(_comparison(arguments, group_id), context)


def agreed(arguments: argparse.Namespace, context: Context, question: str) -> bool:
    """Ask on a terminal, unless --yes."""
    if arguments.yes or not context.is_interactive or context.confirm(question):
        return True
    context.tell("nothing was created")
    return False
