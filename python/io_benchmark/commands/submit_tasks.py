# SPDX-License-Identifier: MPL-2.0
"""Submits the tasks of a new group, or those that a stopped submission still lacks."""

import argparse
import math
from collections.abc import Sequence
from datetime import UTC, datetime

import slugid

from io_benchmark.commands import task_group
from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.commands.options import parse_job_names
from io_benchmark.commands.progress_display import show_progress
from io_benchmark.commands.submit_agreement import Announcement
from io_benchmark.commands.submit_until_decided import LookByLook
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import current_folder
from io_benchmark.sources.budget import Budget
from io_benchmark.sources.gather import gather
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.submit import earlier
from io_benchmark.submit.definitions import (
    ReadyTask,
    SelectedTask,
    SubmissionSettings,
    parse_image,
    select_tasks,
)
from io_benchmark.submit.journal import Journal, JournalFile
from io_benchmark.submit.next_look import LOOKS
from io_benchmark.submit.owner import ADVICE, known_owner
from io_benchmark.submit.submission import GroupState, Submission
from io_benchmark.submit.task_creation import CreatedTasks, TaskQueue
from io_benchmark.text import clean_name


def submit(arguments: argparse.Namespace, context: Context) -> int:
    """Create the tasks of a new group after its journal, or only print them."""
    jobs, settings = parse_job_names(arguments.jobs), _settings(arguments, context)
    chosen = _generated(arguments, jobs, settings, context)
    task_group.check_comparison(arguments, {task.pool for task in chosen})
    minutes = _earlier_minutes(arguments.like, chosen, settings.profile, context)
    looks = LookByLook.of(arguments, context, settings)
    remark = looks.announced_cost(chosen, minutes) if settings.looks else ""
    announcement = Announcement(chosen, settings.scheduler, minutes, remark, arguments.prices)
    if arguments.dry_run:
        announcement.print_instead(_ready(jobs, settings, chosen)[2], context)
        return 0
    if not announcement.is_agreed(context, yes=arguments.yes):
        return EXIT_FAILED
    # Dated now: the queue takes no task that says it was created long ago.
    now, submission, tasks = _ready(jobs, settings, chosen)
    group_id = tasks[0].task_id
    root_url = default_root_url(context.environment)
    _write_journal(Journal(root_url, group_id, now, submission, chosen), context)
    work = task_group.GroupWork(
        group_id, tasks, tasks, journal=JournalFile.of(group_id, context.environment)
    )
    work = looks.of_group(work) if settings.looks else work
    context.tell(f"Creating group:{group_id}; if this stops, resume with: {work.how_to_resume}")
    if settings.looks:
        return looks.run(work, CreatedTasks(), is_agreed=True)
    return work.create_and_compare(arguments, context, CreatedTasks())


def resume(arguments: argparse.Namespace, context: Context) -> int:
    """Complete a group: from its journal, or from what the group holds and the kinds again."""
    group_id = task_group.group_of("--resume", arguments.resume, context.environment)
    task_group.check_comparison(arguments, None)
    written = _read_journal(group_id, context)
    submission = (
        written.submission
        if written
        else TaskQueue.connect(context.environment, lambda queue: Submission.read(queue, group_id))
    )
    state = TaskQueue.connect(
        context.environment, lambda queue: GroupState.read(queue, group_id, submission)
    )
    ready: tuple[ReadyTask, ...] = ()
    settings = submission.settings
    _check_looks(arguments, settings, f"group:{group_id}")
    context.tell(f"group:{group_id}: {len(state.existing)} of {state.count} tasks exist")
    if state.missing:
        chosen = (
            written.chosen if written else _regenerated(arguments, group_id, submission, context)
        )
        task_group.check_comparison(arguments, {task.pool for task in chosen})
        missing = [chosen[number] for number in state.missing]
        minutes = _earlier_minutes(arguments.like, missing, settings.profile, context)
        announcement = Announcement(missing, settings.scheduler, minutes, prices=arguments.prices)
        if not announcement.is_agreed(context, yes=arguments.yes):
            return EXIT_FAILED
        now = datetime.now(UTC)
        ready = submission.ready(chosen, group_id, written.dates_start(now) if written else now)
    existing = list(state.existing.values())
    created = CreatedTasks(existing, len(existing))
    work = task_group.GroupWork(
        group_id,
        [ready[number] for number in state.missing],
        state.members(ready),
        journal=JournalFile.of(group_id, context.environment),
    )
    if settings.looks:
        looks = LookByLook.of(arguments, context, settings)
        return looks.run(looks.of_group(work), created, is_agreed=bool(state.missing))
    return work.create_and_compare(arguments, context, created)


def _write_journal(journal: Journal, context: Context) -> None:
    file = JournalFile.of(journal.group_id, context.environment)
    try:
        file.write(journal)
    except OSError as error:
        context.tell(
            f"warning: {file.path}: cannot write the journal ({error.strerror}); resuming will need "
            "the same version of the kind"
        )


def _read_journal(group_id: str, context: Context) -> Journal | None:
    journal = JournalFile.of(group_id, context.environment).read()
    root_url = default_root_url(context.environment)
    if journal is not None and journal.root_url != root_url:
        raise UsageError(
            f"--resume {group_id}: is not at {root_url}; "
            f"set TASKCLUSTER_ROOT_URL to {journal.root_url}"
        )
    return journal


def _regenerated(
    arguments: argparse.Namespace, group_id: str, submission: Submission, context: Context
) -> tuple[SelectedTask, ...]:
    """Generate the tasks again; raise if the kind has changed since the submission."""
    chosen = _generated(arguments, submission.jobs, submission.settings, context)
    made = Submission.of(submission.jobs, submission.settings, chosen)
    if made.sha256 != submission.sha256:
        raise ResultError(
            f"group:{group_id}: the kind here makes different tasks from those of the group; "
            "resume it from the same version of the checkout and of io-benchmark, or compare the "
            f"existing tasks with: io-benchmark compare group:{group_id}"
        )
    return chosen


def _settings(arguments: argparse.Namespace, context: Context) -> SubmissionSettings:
    pools: dict[str, str] = {}
    for pool, queue in arguments.pool:
        if pool in pools:
            raise UsageError(
                f"--pool {clean_name(pool)}={queue}: pool given twice; use each pool once"
            )
        pools[pool] = queue
    return SubmissionSettings(
        image=None if arguments.image is None else parse_image(arguments.image),
        pools=pools,
        replicates=LOOKS[0] if arguments.until_decided else arguments.replicates,
        priority=arguments.priority,
        scheduler=arguments.scheduler,
        profile=arguments.profile,
        owner=_owner(arguments, context),
        looks=LOOKS if arguments.until_decided else (),
        budget_hours=arguments.budget,
    )


def _check_looks(arguments: argparse.Namespace, settings: SubmissionSettings, shown: str) -> None:
    """Refuse options that do not fit the group that is resumed."""
    if settings.looks and arguments.no_wait:
        raise UsageError(
            f"--no-wait cannot be combined with --resume here: {shown} was submitted with "
            "--until-decided, which waits for each look; omit it"
        )
    if arguments.budget is not None and not settings.looks:
        raise UsageError(f"--budget: {shown} was submitted without --until-decided; omit it")


def _owner(arguments: argparse.Namespace, context: Context) -> str | None:
    owner: str | None = arguments.owner or known_owner(context.environment)
    if owner is None and not arguments.dry_run:
        raise UsageError(f"the tasks need an owner; {ADVICE}")
    if owner is None:
        context.tell(f"warning: creating these tasks needs an owner; {ADVICE}")
    return owner


def _generated(
    arguments: argparse.Namespace,
    jobs: Sequence[str],
    settings: SubmissionSettings,
    context: Context,
) -> tuple[SelectedTask, ...]:
    # Imported here: generating takes half a second to load, and most resumed groups do not need it.
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import Root

    root = Root.find(arguments.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, jobs)
    chosen = select_tasks(tasks, settings)
    others = [task.label for task in tasks if not task.pool]
    if others:
        context.tell(f"Left out, because it does not measure a pool: {', '.join(others)}")
    return chosen


def _ready(
    jobs: Sequence[str], settings: SubmissionSettings, chosen: Sequence[SelectedTask]
) -> tuple[datetime, Submission, tuple[ReadyTask, ...]]:
    now = datetime.now(UTC)
    submission = Submission.of(jobs, settings, chosen)
    return now, submission, submission.ready(chosen, slugid.nice(), now)


def _earlier_minutes(
    texts: Sequence[str], chosen: Sequence[SelectedTask], profile: str, context: Context
) -> dict[str, float]:
    """Return the minutes that each job took in the results of --like."""
    if not texts:
        return {}
    likes = [earlier.LikeOption.parse(text, chosen) for text in texts]
    named = dict.fromkeys(like.job for like in likes if like.job is not None)
    of_each = _gathered([like.address for like in likes if like.job is None], profile, context)
    minutes, remarks = of_each.minutes_of_each(chosen, named)
    for job in named:
        own = _gathered([like.address for like in likes if like.job == job], profile, context)
        if own.results:
            minutes[job] = own.minutes_of_job(job)
    for remark in remarks:
        context.tell(remark)
    return minutes


def _gathered(addresses: Sequence[str], profile: str, context: Context) -> earlier.EarlierResults:
    with show_progress(context.stderr) as progress:
        # Of a result only its duration is kept.
        budget = Budget(kept_bytes=math.inf, most_subjects=math.inf)
        gathered = gather(
            addresses, context.environment, progress, earlier.EarlierResult.of, budget=budget
        )
    for line in gathered.unreadable:
        context.tell(f"--like: {line}")
    kept, remark = earlier.EarlierResults(gathered.results).of_profile(profile)
    if remark is not None:
        context.tell(remark)
    return kept
