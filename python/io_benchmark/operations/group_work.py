# SPDX-License-Identifier: MPL-2.0
"""Creates the tasks of a group, waits for them and compares; leaves or cancels them otherwise."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from io_benchmark.analysis.plan import Plan
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.operations.submission_options import (
    DONE,
    NOT_DONE,
    SubmissionOptions,
    SubmissionOutcome,
)
from io_benchmark.operations.user import User
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

    def create_and_wait_for_all(
        self,
        options: SubmissionOptions,
        user: User,
        created: task_creation.CreatedTasks,
    ) -> SubmissionOutcome:
        """Create the missing members of a group and wait for all of them."""
        self.create_and_wait(options, user, created)
        return DONE if options.no_wait else self.to_compare(user)

    def to_compare(self, user: User) -> SubmissionOutcome:
        """Return the group as one to compare; tell how to do that again."""
        user.tell(f"Compare again with: io-benchmark compare group:{self.group_id}")
        return SubmissionOutcome(self.group_id)

    def create_and_wait(
        self,
        options: SubmissionOptions,
        user: User,
        created: task_creation.CreatedTasks,
    ) -> bool:
        """Create the missing members and wait, unless --no-wait; return whether all are resolved."""
        group_id, members = self.group_id, self.members
        root_url = default_root_url(user.environment)
        timeout_s = None if options.timeout is None else options.timeout * 60
        try:
            task_creation.TaskQueue.connect(
                user.environment, lambda queue: queue.create(self.missing, created)
            )
            self.remove_journal()
            count = len(self.missing)
            made = f"{count or 'no'} task{'' if count == 1 else 's'} created"
            user.tell(f"{made}: {root_url}/tasks/groups/{group_id}")
            if options.no_wait:
                user.print(f"group:{group_id}")
                user.tell(f"Compare them later with: io-benchmark compare group:{group_id}")
                return False
            user.tell("Waiting; Ctrl-C stops waiting and asks whether to cancel the tasks")
            standing = task_creation.TaskQueue.connect(
                user.environment,
                lambda queue: wait_in_group(
                    queue,
                    group_id,
                    {member.task_id: member.label for member in members},
                    user.tell,
                    every_s=options.every,
                    limit_s=timeout_s,
                ),
            )
        except (KeyboardInterrupt, IoBenchmarkError) as error:
            # Not on SIGTERM; nor after other errors: lost sight of while waiting, tasks may be well.
            may_ask = type(error) is KeyboardInterrupt or isinstance(
                error, task_creation.CreationError
            )
            _leave(user, created, self, may_ask=may_ask)
            raise
        if standing.resolved < standing.total:
            user.tell(
                f"--timeout: stopped waiting; {HOW_TO_CANCEL} {group_id} cancels the remaining tasks"
            )
        return standing.resolved == standing.total


def _leave(
    user: User, created: task_creation.CreatedTasks, work: GroupWork, *, may_ask: bool
) -> None:
    """Ask whether to cancel the tasks of an interrupted call; else leave them and say how."""
    if not created.sent and not work.goes_on:
        work.remove_journal()
        user.tell("no task was created")
        return
    state = "left as they are"
    try:
        if may_ask and user.is_interactive and user.confirm(f"\n{created.shown}. Cancel?"):
            state = "not all cancelled"
            done = task_creation.TaskQueue.connect(
                user.environment, lambda queue: queue.cancel(created.sent)
            )
            work.remove_journal()
            _tell_cancelled(done, user)
            return
    except KeyboardInterrupt:
        user.tell("")
    how = f"to cancel: {HOW_TO_CANCEL} {work.group_id}"
    if work.goes_on:
        how += f"; to go on: {work.how_to_resume}"
    elif created.confirmed < len(work.members):
        how += f"; to create the others: {work.how_to_resume}"
    user.tell(f"{created.shown} in group:{work.group_id}, {state}; {how}")


def cancel(text: str, user: User) -> SubmissionOutcome:
    """Cancel the benchmark's tasks of a group."""
    group_id = group_of("--cancel", text, user.environment)
    done = task_creation.TaskQueue.connect(
        user.environment, lambda queue: queue.cancel_group(group_id)
    )
    JournalFile.of(group_id, user.environment).remove()
    _tell_cancelled(done, user)
    return NOT_DONE if done.problems else DONE


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


def _tell_cancelled(done: task_creation.CancelledTasks, user: User) -> None:
    user.tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        user.tell(f"already resolved: {done.resolved}")
    if done.others:
        user.tell(f"not changed, because they are not the benchmark's: {done.others}")
    for problem in done.problems:
        user.tell(f"error: {problem}")


def check_baseline(options: SubmissionOptions, pools: Collection[str]) -> None:
    """Refuse a wrong baseline before machines have run for an hour."""
    Plan.of_pools(set(pools), options.baseline)
