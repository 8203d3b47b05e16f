# SPDX-License-Identifier: MPL-2.0
"""Creates the tasks of a group, waits for them and compares; leaves or cancels them otherwise."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from io_benchmark.analysis.expectations import Expectation
from io_benchmark.analysis.plan import Plan
from io_benchmark.commands import compare
from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.sources.taskcluster.addresses import (
    GroupAddress,
    TaskclusterAddress,
    default_root_url,
    parse,
)
from io_benchmark.sources.taskcluster.task_watch import wait_in_group
from io_benchmark.submit import task_creation
from io_benchmark.submit.definitions import GroupMember, ReadyTask
from io_benchmark.submit.journal import JournalFile
from io_benchmark.text import clean

HOW_TO_CANCEL = "io-benchmark submit --cancel"


class GroupWork(Struct, frozen=True):
    """The tasks of a group to create and to wait for, and what completes them."""

    group_id: str
    missing: Sequence[ReadyTask]
    members: Sequence[GroupMember]  # to wait for, with the missing ones
    resumption: str = "--resume"  # the option that goes on with the group
    baseline: str | None = None  # that decides what is missing
    journal: JournalFile | None = None
    goes_on: bool = False  # more tasks may follow

    @property
    def how_to_resume(self) -> str:
        baseline = "" if self.baseline is None else f"--baseline {self.baseline} "
        return f"io-benchmark submit {baseline}{self.resumption} {self.group_id}"

    def remove_journal(self) -> None:
        if self.journal is not None:
            self.journal.remove()

    def create_and_compare(
        self,
        arguments: argparse.Namespace,
        context: Context,
        created: task_creation.CreatedTasks,
    ) -> int:
        """Create the missing members of a group, wait for all of them, and compare."""
        self.create_and_wait(arguments, context, created)
        return (
            0
            if arguments.no_wait
            else compare_group(arguments, context, self.group_id, tells_how=True)
        )

    def create_and_wait(
        self,
        arguments: argparse.Namespace,
        context: Context,
        created: task_creation.CreatedTasks,
    ) -> bool:
        """Create the missing members and wait, unless --no-wait; return whether all are resolved."""
        group_id, members = self.group_id, self.members
        root_url = default_root_url(context.environment)
        timeout_s = None if arguments.timeout is None else arguments.timeout * 60
        try:
            task_creation.TaskQueue.connect(
                context.environment, lambda queue: queue.create(self.missing, created)
            )
            self.remove_journal()
            count = len(self.missing)
            made = f"{count or 'no'} task{'' if count == 1 else 's'} created"
            context.tell(f"{made}: {root_url}/tasks/groups/{group_id}")
            if arguments.no_wait:
                context.print(f"group:{group_id}")
                context.tell(f"Compare them later with: io-benchmark compare group:{group_id}")
                return False
            context.tell("Waiting; Ctrl-C stops waiting and asks whether to cancel the tasks")
            are_resolved = task_creation.TaskQueue.connect(
                context.environment,
                lambda queue: wait_in_group(
                    queue,
                    group_id,
                    {member.task_id: member.label for member in members},
                    context.tell,
                    every_s=arguments.every,
                    limit_s=timeout_s,
                ),
            )
        except (KeyboardInterrupt, IoBenchmarkError) as error:
            # Not on SIGTERM; nor after other errors: lost sight of while waiting, tasks may be well.
            may_ask = type(error) is KeyboardInterrupt or isinstance(
                error, task_creation.CreationError
            )
            _leave(context, created, self, may_ask=may_ask)
            raise
        if not are_resolved:
            context.tell(
                f"--timeout: stopped waiting; {HOW_TO_CANCEL} {group_id} cancels the remaining tasks"
            )
        return are_resolved


def _leave(
    context: Context, created: task_creation.CreatedTasks, work: GroupWork, *, may_ask: bool
) -> None:
    """Ask whether to cancel the tasks of an interrupted call; else leave them and say how."""
    if not created.sent and not work.goes_on:
        work.remove_journal()
        context.tell("no task was created")
        return
    state = "left as they are"
    try:
        if may_ask and context.is_interactive and context.confirm(f"\n{created.shown}. Cancel?"):
            state = "not all cancelled"
            done = task_creation.TaskQueue.connect(
                context.environment, lambda queue: queue.cancel(created.sent)
            )
            work.remove_journal()
            _tell_cancelled(done, context)
            return
    except KeyboardInterrupt:
        context.tell("")
    how = f"to cancel: {HOW_TO_CANCEL} {work.group_id}"
    if work.goes_on:
        how += f"; to go on: {work.how_to_resume}"
    elif created.confirmed < len(work.members):
        how += f"; to create the others: {work.how_to_resume}"
    context.tell(f"{created.shown} in group:{work.group_id}, {state}; {how}")


def cancel(text: str, context: Context) -> int:
    group_id = group_of("--cancel", text, context.environment)
    done = task_creation.TaskQueue.connect(
        context.environment, lambda queue: queue.cancel_group(group_id)
    )
    JournalFile.of(group_id, context.environment).remove()
    _tell_cancelled(done, context)
    return EXIT_FAILED if done.problems else 0


def group_of(option: str, text: str, environment: Mapping[str, str]) -> str:
    """Return the group in an option's value, an id or an address."""
    address = address_of(option, text, environment)
    if not isinstance(address, GroupAddress):
        raise UsageError(f"{option} {clean(text, 200)}: is not a group; give its id, or group:ID")
    return address.group_id


def address_of(option: str, text: str, environment: Mapping[str, str]) -> TaskclusterAddress:
    """Return the address in an option's value; an id alone is a group's."""
    address = parse(text if ":" in text else f"group:{text}", environment)
    shown = f"{option} {clean(text, 200)}"
    if address is None:
        raise UsageError(f"{shown}: is not a group; give its id, or group:ID")
    root_url = default_root_url(environment)
    if address.root_url != root_url:
        raise UsageError(
            f"{shown}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {address.root_url}"
        )
    return address


def _tell_cancelled(done: task_creation.CancelledTasks, context: Context) -> None:
    context.tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        context.tell(f"already resolved: {done.resolved}")
    if done.others:
        context.tell(f"not changed, because they are not the benchmark's: {done.others}")
    for problem in done.problems:
        context.tell(f"error: {problem}")


def compare_group(
    arguments: argparse.Namespace, context: Context, group_id: str, *, tells_how: bool = False
) -> int:
    """Run `compare group:ID` with the options that submit shares with it; tell how to do it later."""
    if tells_how:
        context.tell(f"Compare again with: io-benchmark compare group:{group_id}")
    parser = argparse.ArgumentParser()
    compare.add_arguments(parser)
    comparison = parser.parse_args([f"group:{group_id}"])
    for name in ("format", "expect", "write", "baseline", "prices"):
        setattr(comparison, name, getattr(arguments, name))
    return compare.run(comparison, context)


def check_comparison(arguments: argparse.Namespace, pools: Collection[str] | None) -> None:
    """Refuse a mistake before machines have run for an hour; None: the pools are not known."""
    for _, path in arguments.write:
        _check_writable(path)
    for text in arguments.expect:
        Expectation.parse(text)
    if pools is not None:
        Plan.of_pools(set(pools), arguments.baseline)


def _check_writable(path: Path) -> None:
    shown = clean(str(path), 200)
    try:
        path.exists()  # too long a name, or a loop of links
        is_folder = path.parent.is_dir()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"--write {shown}: {reason}; name another file") from None
    if not is_folder:
        raise UsageError(f"--write {shown}: no such folder; create it first")
