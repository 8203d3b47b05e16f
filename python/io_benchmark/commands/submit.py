# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Create the tasks on Taskcluster without a push, wait for them, and compare.

The environment gives root URL and credentials (TASKCLUSTER_*). The command
shows the cost and, on a terminal, asks before it creates anything.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from io_benchmark.commands import submit_options
from io_benchmark.commands.context import Context
from io_benchmark.commands.options import parse_job_names
from io_benchmark.errors import UsageError
from io_benchmark.paths import current_folder

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import ReadyTask, SelectedTask, SubmissionSettings
    from io_benchmark.submit.earlier import EarlierResult
    from io_benchmark.submit.submission import Submission

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark submit --image ubuntu:24.04 --replicates 6 --dry-run",
    "io-benchmark submit --resume Fqm6GL_zRPurCmd1rRuTRQ",
)
MANUAL = "submit.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    submit_options.add(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.commands import resumption, task_group

    if arguments.cancel is not None:
        return task_group.cancel(arguments.cancel, context)
    if arguments.resume is not None:
        submit_options.refuse_with_resume(arguments)
        return resumption.resume(arguments, context)
    jobs, settings = parse_job_names(arguments.jobs), _settings(arguments, context)
    chosen = generated(arguments, jobs, settings, context)
    task_group.check_comparison(arguments, {one.pool for one in chosen})
    if arguments.dry_run:
        announce_cost(arguments, chosen, settings, context)
        _print_tasks(_ready(jobs, settings, chosen)[2], context)
        return 0
    announce(arguments, chosen, settings, context)
    if not task_group.agreed(arguments, context, "Create them?"):
        return 1
    # Dated now: the queue takes no task that says it was created long ago.
    now, submission, tasks = _ready(jobs, settings, chosen)
    return task_group.create_all(arguments, context, now, submission, chosen, tasks)


def _settings(arguments: argparse.Namespace, context: Context) -> SubmissionSettings:
    from io_benchmark.submit.definitions import SubmissionSettings, parse_image
    from io_benchmark.text import clean_name

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
        replicates=arguments.replicates,
        priority=arguments.priority,
        scheduler=arguments.scheduler,
        profile=arguments.profile,
        owner=_owner(arguments, context),
    )


def _owner(arguments: argparse.Namespace, context: Context) -> str | None:
    from io_benchmark.submit.owner import ADVICE, known_owner

    owner: str | None = arguments.owner or known_owner(context.environment)
    if owner is None and not arguments.dry_run:
        raise UsageError(f"the tasks need an owner; {ADVICE}")
    if owner is None:
        context.tell(f"warning: creating these tasks needs an owner; {ADVICE}")
    return owner


def generated(
    arguments: argparse.Namespace,
    jobs: Sequence[str],
    settings: SubmissionSettings,
    context: Context,
) -> tuple[SelectedTask, ...]:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import find_root
    from io_benchmark.submit.definitions import select_tasks

    root = find_root(arguments.root, current_folder())
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
    import slugid

    from io_benchmark.submit.submission import Submission

    now = datetime.now(UTC)
    submission = Submission.of(jobs, settings, chosen)
    return now, submission, submission.ready(chosen, slugid.nice(), now)


def _print_tasks(tasks: Sequence[ReadyTask], context: Context) -> None:
    """Print the tasks in the form of `taskgraph morphed -J`."""
    printed = {
        one.label: {"label": one.label, "task_id": one.task_id, "task": one.definition}
        for one in tasks
    }
    context.print(json.dumps(printed, indent=2, ensure_ascii=False))


def announce(
    arguments: argparse.Namespace,
    chosen: Sequence[SelectedTask],
    settings: SubmissionSettings,
    context: Context,
) -> None:
    """Show the deployment, the client, the cost and the scopes; warn about unknown queues."""
    from io_benchmark.sources.taskcluster.access import access_for
    from io_benchmark.sources.taskcluster.addresses import default_root_url
    from io_benchmark.submit.task_creation import connect

    access = access_for(default_root_url(context.environment), context.environment)
    announce_cost(arguments, chosen, settings, context, f", at {access.root_url}, {access.who}")
    if access.who == "anonymously":
        context.tell(
            "warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN"
        )
    queues = [one.queue for one in chosen]
    for pool in connect(context.environment, lambda queue: queue.unknown_pools(queues)):
        context.tell(
            f"warning: {access.root_url} has no worker pool {pool}: a task for it may wait "
            "until its deadline; check the name, or choose another pool with --pool"
        )


def announce_cost(
    arguments: argparse.Namespace,
    chosen: Sequence[SelectedTask],
    settings: SubmissionSettings,
    context: Context,
    where: str = "",
) -> None:
    from io_benchmark.submit import cost
    from io_benchmark.submit.definitions import submitter_scopes

    found = cost.estimate(
        chosen, _earlier_minutes(arguments.like, chosen, settings.profile, context)
    )
    context.tell(f"{found.shown}{where}")
    for share in found.shares:
        context.tell(f"  {share.shown}")
    context.tell(f"Scopes needed: {', '.join(submitter_scopes(chosen, settings.scheduler))}")
    own = sorted({scope for one in chosen for scope in one.definition["scopes"]})
    context.tell(f"Scopes the tasks get: {', '.join(own) or 'none'}")


def _earlier_minutes(
    texts: Sequence[str], chosen: Sequence[SelectedTask], profile: str, context: Context
) -> dict[str, float]:
    """Return the minutes that each job took in the results of --like."""
    if not texts:
        return {}
    from io_benchmark.submit import earlier

    likes = [earlier.LikeOption.parse(text, chosen) for text in texts]
    named = dict.fromkeys(like.job for like in likes if like.job is not None)
    of_each = _gathered([like.address for like in likes if like.job is None], profile, context)
    minutes, remarks = earlier.minutes_of_each(of_each, chosen, named)
    for job in named:
        own = _gathered([like.address for like in likes if like.job == job], profile, context)
        if own:
            minutes[job] = earlier.minutes_of_job(job, own)
    for remark in remarks:
        context.tell(remark)
    return minutes


def _gathered(addresses: Sequence[str], profile: str, context: Context) -> Sequence[EarlierResult]:
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.gather import gather
    from io_benchmark.submit.earlier import EarlierResult, with_profile

    with show_progress(context.stderr) as progress:
        # Of a result only its duration is kept.
        budget = Budget(kept_bytes=math.inf, most_subjects=math.inf)
        gathered = gather(addresses, context.environment, progress, EarlierResult.of, budget=budget)
    for line in gathered.unreadable:
        context.tell(f"--like: {line}")
    kept, remark = with_profile(gathered.results, profile)
    if remark is not None:
        context.tell(remark)
    return kept
