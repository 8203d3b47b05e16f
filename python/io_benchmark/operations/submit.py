# SPDX-License-Identifier: MPL-2.0
"""Submits the tasks of a new group, or those that a stopped submission still lacks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import fmean

import slugid
from msgspec.structs import replace

from io_benchmark.context import Context
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.graph.root import Root
from io_benchmark.operations.added_tasks import LookByLook
from io_benchmark.operations.announcement import Announcement
from io_benchmark.operations.group_work import (
    DONE,
    NOT_DONE,
    GroupWork,
    SubmissionOptions,
    SubmissionOutcome,
    check_baseline,
    group_of,
)
from io_benchmark.operations.reading import unlimited_memory
from io_benchmark.paths import current_folder
from io_benchmark.sources.gather import gather
from io_benchmark.sources.run_results import RunResult
from io_benchmark.submit.definitions import (
    ReadyTask,
    SelectedTask,
    SubmissionSettings,
    job_of,
    parse_image,
    select_tasks,
)
from io_benchmark.submit.measured_group import LOOKS
from io_benchmark.submit.owner import ADVICE, known_owner
from io_benchmark.submit.submission import Submission, existing_tasks
from io_benchmark.submit.task_creation import CreatedTasks, TaskQueue
from io_benchmark.text import clean_name

_NS_PER_MINUTE = 60 * 10**9


def submit(options: SubmissionOptions, context: Context) -> SubmissionOutcome:
    """Create the tasks of a new group, or only print them."""
    jobs, settings = options.jobs, _settings(options, context)
    chosen = _generated(options, jobs, settings, context)
    announcement = _announcement(options, settings, chosen, context)
    looks = LookByLook(options, context, settings.looks, settings.budget_hours)
    if settings.looks:
        remark = looks.announced_cost(announcement)
        announcement = replace(announcement, remark=remark)
    submission, group_id = Submission.of(jobs, settings, chosen), slugid.nice()
    if options.dry_run:
        tasks = submission.ready(chosen, group_id, datetime.now(UTC))
        announcement.print_instead(tasks, context)
        return DONE
    if not announcement.is_agreed(context, yes=options.yes):
        return NOT_DONE
    # Dated now: the queue takes no task that says it was created long ago.
    tasks = submission.ready(chosen, group_id, datetime.now(UTC))
    work = GroupWork(group_id, tasks, tasks)
    work = looks.of_group(work) if settings.looks else work
    context.tell(f"Creating group:{group_id}; if this stops, resume with: {work.how_to_resume}")
    if settings.looks:
        return looks.run(work, CreatedTasks(), is_agreed=True)
    return work.create_and_wait_for_all(options, context, CreatedTasks())


def resume(text: str, options: SubmissionOptions, context: Context) -> SubmissionOutcome:
    """Complete a group, by what its first task says of it and the kinds again."""
    group_id = group_of("--resume", text, context.environment)
    submission = TaskQueue.connect(
        context.environment, lambda queue: Submission.read(queue, group_id)
    )
    existing = TaskQueue.connect(
        context.environment, lambda queue: existing_tasks(queue, group_id, submission)
    )
    numbers = [number for number in range(submission.tasks) if number not in existing]
    settings = submission.settings
    _check_looks(options, settings, f"group:{group_id}")
    context.tell(f"group:{group_id}: {len(existing)} of {submission.tasks} tasks exist")
    missing: list[ReadyTask] = []
    if numbers:
        chosen = _regenerated(options, group_id, submission, context)
        to_create = [chosen[number] for number in numbers]
        announcement = _announcement(options, settings, to_create, context)
        if not announcement.is_agreed(context, yes=options.yes):
            return NOT_DONE
        ready = submission.ready(chosen, group_id, datetime.now(UTC))
        missing = [ready[number] for number in numbers]
    created = CreatedTasks(list(existing.values()), len(existing))
    work = GroupWork(group_id, missing, [*existing.values(), *missing])
    if settings.looks:
        budget = settings.budget_hours if options.budget is None else options.budget
        looks = LookByLook(options, context, settings.looks, budget)
        return looks.run(looks.of_group(work), created, is_agreed=bool(missing))
    return work.create_and_wait_for_all(options, context, created)


def _announcement(
    options: SubmissionOptions,
    settings: SubmissionSettings,
    chosen: Sequence[SelectedTask],
    context: Context,
) -> Announcement:
    check_baseline(options, {task.pool for task in chosen})
    minutes = _earlier_minutes(options.like, chosen, settings.profile, context)
    return Announcement(chosen, settings.scheduler, minutes, options.prices)


def _regenerated(
    options: SubmissionOptions, group_id: str, submission: Submission, context: Context
) -> tuple[SelectedTask, ...]:
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
    owner: str | None = options.owner or known_owner(context.environment)
    if owner is None and not options.dry_run:
        raise UsageError(f"the tasks need an owner; {ADVICE}")
    if owner is None:
        context.tell(f"warning: creating these tasks needs an owner; {ADVICE}")
    return owner


def _generated(
    options: SubmissionOptions,
    jobs: Sequence[str],
    settings: SubmissionSettings,
    context: Context,
) -> tuple[SelectedTask, ...]:
    # Imported here: generating takes half a second to load, and most resumed groups do not need it.
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    root = Root.find(options.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, jobs)
    chosen = select_tasks(tasks, settings)
    left_out = [task.label for task in tasks if not task.pool]
    if left_out:
        context.tell(f"Left out, because it does not measure a pool: {', '.join(left_out)}")
    return chosen


def _earlier_minutes(
    addresses: Sequence[str], chosen: Sequence[SelectedTask], profile: str, context: Context
) -> dict[str, float]:
    """Return the mean minutes that each job took in the results of --like."""
    minutes: dict[str, list[float]] = {}
    ignored = 0

    def accept(measured: RunResult) -> None:
        nonlocal ignored
        ignored += measured.result.config.profile != profile
        if measured.result.config.profile == profile:
            label = measured.task.label if measured.task is not None else ""
            pool_jobs = {task.job for task in chosen if task.pool == measured.pool}
            # A file alone does not name its task.
            job = job_of(label, measured.pool) or (min(pool_jobs) if len(pool_jobs) == 1 else "")
            minutes.setdefault(job, []).append(measured.result.duration_ns / _NS_PER_MINUTE)

    if addresses:
        with context.progress() as progress:
            gathered = gather(
                addresses, context.environment, progress, accept, budget=unlimited_memory()
            )
        for line in gathered.unreadable:
            context.tell(f"--like: {line}")
    if ignored:
        context.tell(f"--like: results with a profile other than {profile} are not used: {ignored}")
    return {job: fmean(values) for job, values in minutes.items()}
