# SPDX-License-Identifier: MPL-2.0
"""Submits the tasks of a new group, or those that a stopped submission still lacks."""

import re
import subprocess
from collections.abc import Mapping, Sequence

import slugid

from io_benchmark.analysis.plan import Plan
from io_benchmark.context import Context
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.graph.root import Root
from io_benchmark.operations.added_tasks import limit_of_looks, measure_until_decided
from io_benchmark.operations.group_work import (
    GroupWork,
    SubmissionOptions,
    SubmissionOutcome,
    announce,
    estimated_cost,
    group_of,
)
from io_benchmark.paths import current_folder
from io_benchmark.submit.definitions import (
    NewTask,
    SubmissionSettings,
    parse_image,
    select_tasks,
)
from io_benchmark.submit.measured_group import LOOKS
from io_benchmark.submit.submission import Submission
from io_benchmark.submit.task_creation import CreatedTasks, TaskQueue
from io_benchmark.text import clean, clean_name

# What the queue takes as an owner: at most 255 characters in the form of an e-mail address.
ADDRESS = re.compile(
    r"(?=.{3,255}$)[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*"
)
_GIT_S = 5
_ADVICE = "give your e-mail address with --owner, or set it with: git config user.email ADDRESS"


def submit(options: SubmissionOptions, context: Context) -> SubmissionOutcome:
    """Create the tasks of a new group, or only print them."""
    settings = _settings(options, context)
    chosen = _generated(options, options.jobs, settings, context)
    submission, group_id = Submission.of(options.jobs, settings, chosen), slugid.nice()
    tasks = submission.in_group(chosen, group_id)
    cost = estimated_cost(tasks, {}, options.prices)
    looks, budget = settings.looks, settings.budget_hours
    remark = limit_of_looks(tasks, cost, looks, budget) if looks else ""
    ended = announce(tasks, cost, options, context, remark)
    if ended is not None:
        return ended
    work = GroupWork(group_id, options, context)
    context.tell(f"Creating group:{group_id}; if this stops, resume with: {work.how_to_resume}")
    if looks:
        return measure_until_decided(work, tasks, looks, budget, is_agreed=True)
    return work.create_and_compare(tasks)


def resume(address: str, options: SubmissionOptions, context: Context) -> SubmissionOutcome:
    """Complete a group, by what its first task says of it and the kinds again."""
    group_id = group_of("--resume", address, context.environment)

    async def read(queue: TaskQueue) -> tuple[Submission, dict[str, str]]:
        submission = await Submission.read(queue, group_id)
        return submission, await submission.existing_tasks(queue, group_id)

    submission, existing = TaskQueue.connect(context.environment, read)
    settings = submission.settings
    _check_looks(options, settings, f"group:{group_id}")
    context.tell(f"group:{group_id}: {len(existing)} of {submission.tasks} tasks exist")
    missing: list[NewTask] = []
    if len(existing) < submission.tasks:
        chosen = _regenerated(options, group_id, submission, context)
        tasks = submission.in_group(chosen, group_id)
        missing = [task for task in tasks if task.task_id not in existing]
        ended = announce(missing, estimated_cost(missing, {}, options.prices), options, context)
        if ended is not None:
            return ended
    created = CreatedTasks(existing, len(existing))
    work = GroupWork(group_id, options, context, created=created)
    if settings.looks:
        budget = settings.budget_hours if options.budget is None else options.budget
        agreed = bool(missing)
        return measure_until_decided(work, missing, settings.looks, budget, is_agreed=agreed)
    return work.create_and_compare(missing)


def _regenerated(
    options: SubmissionOptions, group_id: str, submission: Submission, context: Context
) -> tuple[NewTask, ...]:
    """Generate the tasks again; raise if the kind has changed since the submission."""
    chosen = _generated(options, submission.jobs, submission.settings, context)
    made = Submission.of(submission.jobs, submission.settings, chosen)
    if made.sha256 != submission.sha256:
        raise ResultError(
            f"group:{group_id}: the kind here makes different tasks from those of the group; "
            "resume it from the same version of the checkout and of io-benchmark, or compare the "
            f"existing tasks with: io-benchmark compare group:{group_id}"
        )
    return chosen


def _settings(options: SubmissionOptions, context: Context) -> SubmissionSettings:
    pools: dict[str, str] = {}
    for pool, queue in options.pool:
        if pool in pools:
            raise UsageError(
                f"--pool {clean_name(pool)}={queue}: pool given twice; use each pool once"
            )
        pools[pool] = queue
    return SubmissionSettings(
        image=None if options.image is None else parse_image(options.image),
        pools=pools,
        replicates=LOOKS[0] if options.until_decided else options.replicates,
        priority=options.priority,
        scheduler=options.scheduler,
        profile=options.profile,
        owner=_owner(options, context),
        looks=LOOKS if options.until_decided else (),
        budget_hours=options.budget,
    )


def _check_looks(options: SubmissionOptions, settings: SubmissionSettings, group: str) -> None:
    """Refuse options that do not fit the group that is resumed."""
    if settings.looks and options.no_wait:
        raise UsageError(
            f"--no-wait cannot be combined with --resume here: {group} was submitted with "
            "--until-decided, which waits for each look; omit it"
        )
    if options.budget is not None and not settings.looks:
        raise UsageError(f"--budget: {group} was submitted without --until-decided; omit it")


def _owner(options: SubmissionOptions, context: Context) -> str | None:
    """Return --owner, else git's user.email; a task that is created needs one of them."""
    owner = options.owner or known_owner(context.environment)
    if options.owner is not None and not ADDRESS.fullmatch(options.owner):
        raise UsageError(
            f"--owner {clean(options.owner, 100)}: is not an e-mail address such as you@example.com"
        )
    if owner is None and not options.dry_run:
        raise UsageError(f"the tasks need an owner; {_ADVICE}")
    if owner is None:
        context.tell(f"warning: creating these tasks needs an owner; {_ADVICE}")
    return owner


def known_owner(environment: Mapping[str, str]) -> str | None:
    """Return git's user.email, if it is an address."""
    try:
        done = subprocess.run(
            ["git", "config", "user.email"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    address = done.stdout.decode("utf-8", "replace").strip()
    return address if ADDRESS.fullmatch(address) else None


def _generated(
    options: SubmissionOptions, jobs: Sequence[str], settings: SubmissionSettings, context: Context
) -> tuple[NewTask, ...]:
    # Imported here: generating takes half a second to load, and most resumed groups do not need it.
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    root = Root.find(options.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, jobs)
    chosen = select_tasks(tasks, settings)
    # A wrong baseline is refused before machines have run for an hour.
    Plan.of_pools({task.pool for task in chosen}, options.baseline)
    left_out = [task.label for task in tasks if not task.pool]
    if left_out:
        context.tell(f"Left out, because it does not measure a pool: {', '.join(left_out)}")
    return chosen
