# SPDX-License-Identifier: MPL-2.0
"""Submits the tasks of a new group, or those that a stopped submission still lacks."""

from collections.abc import Sequence
from datetime import UTC, datetime

import slugid

from io_benchmark.errors import ResultError, UsageError
from io_benchmark.graph.root import Root
from io_benchmark.operations.announcement import Announcement
from io_benchmark.operations.group_work import GroupWork, check_baseline, group_of
from io_benchmark.operations.reading import unlimited_memory
from io_benchmark.operations.submission_options import (
    DONE,
    NOT_DONE,
    SubmissionOptions,
    SubmissionOutcome,
)
from io_benchmark.operations.until_decided import LookByLook
from io_benchmark.operations.user import User
from io_benchmark.paths import current_folder
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


def submit(options: SubmissionOptions, user: User) -> SubmissionOutcome:
    """Create the tasks of a new group after its journal, or only print them."""
    jobs, settings = options.jobs, _settings(options, user)
    chosen = _generated(options, jobs, settings, user)
    check_baseline(options, {task.pool for task in chosen})
    minutes = _earlier_minutes(options.like, chosen, settings.profile, user)
    looks = LookByLook.of(options, user, settings)
    remark = looks.announced_cost(chosen, minutes) if settings.looks else ""
    announcement = Announcement(chosen, settings.scheduler, minutes, remark, options.prices)
    if options.dry_run:
        announcement.print_instead(_ready(jobs, settings, chosen)[2], user)
        return DONE
    if not announcement.is_agreed(user, yes=options.yes):
        return NOT_DONE
    # Dated now: the queue takes no task that says it was created long ago.
    now, submission, tasks = _ready(jobs, settings, chosen)
    group_id = tasks[0].task_id
    root_url = default_root_url(user.environment)
    _write_journal(Journal(root_url, group_id, now, submission, chosen), user)
    work = GroupWork(group_id, tasks, tasks, journal=JournalFile.of(group_id, user.environment))
    work = looks.of_group(work) if settings.looks else work
    user.tell(f"Creating group:{group_id}; if this stops, resume with: {work.how_to_resume}")
    if settings.looks:
        return looks.run(work, CreatedTasks(), is_agreed=True)
    return work.create_and_wait_for_all(options, user, CreatedTasks())


def resume(text: str, options: SubmissionOptions, user: User) -> SubmissionOutcome:
    """Complete a group: from its journal, or from what the group holds and the kinds again."""
    group_id = group_of("--resume", text, user.environment)
    written = _read_journal(group_id, user)
    submission = (
        written.submission
        if written
        else TaskQueue.connect(user.environment, lambda queue: Submission.read(queue, group_id))
    )
    state = TaskQueue.connect(
        user.environment, lambda queue: GroupState.read(queue, group_id, submission)
    )
    ready: tuple[ReadyTask, ...] = ()
    settings = submission.settings
    _check_looks(options, settings, f"group:{group_id}")
    user.tell(f"group:{group_id}: {len(state.existing)} of {state.count} tasks exist")
    if state.missing:
        chosen = written.chosen if written else _regenerated(options, group_id, submission, user)
        check_baseline(options, {task.pool for task in chosen})
        missing = [chosen[number] for number in state.missing]
        minutes = _earlier_minutes(options.like, missing, settings.profile, user)
        announcement = Announcement(missing, settings.scheduler, minutes, prices=options.prices)
        if not announcement.is_agreed(user, yes=options.yes):
            return NOT_DONE
        now = datetime.now(UTC)
        ready = submission.ready(chosen, group_id, written.dates_start(now) if written else now)
    existing = list(state.existing.values())
    created = CreatedTasks(existing, len(existing))
    work = GroupWork(
        group_id,
        [ready[number] for number in state.missing],
        state.members(ready),
        journal=JournalFile.of(group_id, user.environment),
    )
    if settings.looks:
        looks = LookByLook.of(options, user, settings)
        return looks.run(looks.of_group(work), created, is_agreed=bool(state.missing))
    return work.create_and_wait_for_all(options, user, created)


def _write_journal(journal: Journal, user: User) -> None:
    file = JournalFile.of(journal.group_id, user.environment)
    try:
        file.write(journal)
    except OSError as error:
        user.tell(
            f"warning: {file.path}: cannot write the journal ({error.strerror}); resuming will need "
            "the same version of the kind"
        )


def _read_journal(group_id: str, user: User) -> Journal | None:
    journal = JournalFile.of(group_id, user.environment).read()
    root_url = default_root_url(user.environment)
    if journal is not None and journal.root_url != root_url:
        raise UsageError(
            f"--resume {group_id}: is not at {root_url}; "
            f"set TASKCLUSTER_ROOT_URL to {journal.root_url}"
        )
    return journal


def _regenerated(
    options: SubmissionOptions, group_id: str, submission: Submission, user: User
) -> tuple[SelectedTask, ...]:
    """Generate the tasks again; raise if the kind has changed since the submission."""
    chosen = _generated(options, submission.jobs, submission.settings, user)
    made = Submission.of(submission.jobs, submission.settings, chosen)
    if made.sha256 != submission.sha256:
        raise ResultError(
            f"group:{group_id}: the kind here makes different tasks from those of the group; "
            "resume it from the same version of the checkout and of io-benchmark, or compare the "
            f"existing tasks with: io-benchmark compare group:{group_id}"
        )
    return chosen


def _settings(options: SubmissionOptions, user: User) -> SubmissionSettings:
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
        owner=_owner(options, user),
        looks=LOOKS if options.until_decided else (),
        budget_hours=options.budget,
    )


def _check_looks(options: SubmissionOptions, settings: SubmissionSettings, shown: str) -> None:
    """Refuse options that do not fit the group that is resumed."""
    if settings.looks and options.no_wait:
        raise UsageError(
            f"--no-wait cannot be combined with --resume here: {shown} was submitted with "
            "--until-decided, which waits for each look; omit it"
        )
    if options.budget is not None and not settings.looks:
        raise UsageError(f"--budget: {shown} was submitted without --until-decided; omit it")


def _owner(options: SubmissionOptions, user: User) -> str | None:
    owner: str | None = options.owner or known_owner(user.environment)
    if owner is None and not options.dry_run:
        raise UsageError(f"the tasks need an owner; {ADVICE}")
    if owner is None:
        user.tell(f"warning: creating these tasks needs an owner; {ADVICE}")
    return owner


def _generated(
    options: SubmissionOptions,
    jobs: Sequence[str],
    settings: SubmissionSettings,
    user: User,
) -> tuple[SelectedTask, ...]:
    # Imported here: generating takes half a second to load, and most resumed groups do not need it.
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    root = Root.find(options.root, current_folder())
    user.tell(f"Generating the graph from {root}")
    tasks = generate(root, jobs)
    chosen = select_tasks(tasks, settings)
    others = [task.label for task in tasks if not task.pool]
    if others:
        user.tell(f"Left out, because it does not measure a pool: {', '.join(others)}")
    return chosen


def _ready(
    jobs: Sequence[str], settings: SubmissionSettings, chosen: Sequence[SelectedTask]
) -> tuple[datetime, Submission, tuple[ReadyTask, ...]]:
    now = datetime.now(UTC)
    submission = Submission.of(jobs, settings, chosen)
    return now, submission, submission.ready(chosen, slugid.nice(), now)


def _earlier_minutes(
    texts: Sequence[str], chosen: Sequence[SelectedTask], profile: str, user: User
) -> dict[str, float]:
    """Return the minutes that each job took in the results of --like."""
    if not texts:
        return {}
    likes = [earlier.LikeOption.parse(text, chosen) for text in texts]
    named = dict.fromkeys(like.job for like in likes if like.job is not None)
    each_job = _gathered([like.address for like in likes if like.job is None], profile, user)
    minutes, remarks = each_job.minutes_of_each(chosen, named)
    for job in named:
        results = _gathered([like.address for like in likes if like.job == job], profile, user)
        if results.results:
            minutes[job] = results.minutes_of_job(job)
    for remark in remarks:
        user.tell(remark)
    return minutes


def _gathered(addresses: Sequence[str], profile: str, user: User) -> earlier.EarlierResults:
    with user.progress() as progress:
        # Of a result only its duration is kept.
        gathered = gather(
            addresses,
            user.environment,
            progress,
            earlier.EarlierResult.of,
            budget=unlimited_memory(),
        )
    for line in gathered.unreadable:
        user.tell(f"--like: {line}")
    kept, remark = earlier.EarlierResults(gathered.results).of_profile(profile)
    if remark is not None:
        user.tell(remark)
    return kept
