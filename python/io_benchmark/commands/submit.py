# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Create the tasks in a Taskcluster from here, without a decision task; wait, and compare.

TASKCLUSTER_ROOT_URL names the deployment; TASKCLUSTER_CLIENT_ID, TASKCLUSTER_ACCESS_TOKEN and
TASKCLUSTER_CERTIFICATE are the credentials; inside a task TASKCLUSTER_PROXY_URL serves instead.
It shows the cost first and, on a terminal, asks. In the end it compares the group as
`io-benchmark compare group:ID` does.

The kind's tasks run in an image that a decision task builds. Without one, --image names an image
of a registry, or `task:ID` or `index:NAMESPACE` of a task that built it.

The group is named before its first task is created. If the command is stopped before all tasks
are created, --resume GROUP creates the others. Ctrl-C while it waits asks whether to cancel the
tasks; a second one leaves them running.

Exit code: as compare's; 1 as well when a task could not be created.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from io_benchmark.commands.common import names_of_jobs
from io_benchmark.commands.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.paths import current_folder
from io_benchmark.submit import options

if TYPE_CHECKING:
    from io_benchmark.submit.definitions import Chosen, Ready, Settings
    from io_benchmark.submit.earlier import Earlier
    from io_benchmark.submit.submission import Submission


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.commands import resuming, submitting

    if arguments.cancel is not None:
        return submitting.cancel(arguments.cancel, context)
    if arguments.resume is not None:
        options.refuse_beside_resume(arguments)
        return resuming.resume(arguments, context)
    jobs, settings = names_of_jobs(arguments.jobs), _settings(arguments, context)
    chosen = generated(arguments, jobs, settings, context)
    submitting.check_comparison(arguments, {one.pool for one in chosen})
    if arguments.dry_run:
        announce_cost(arguments, chosen, settings, context)
        _print_tasks(_ready(jobs, settings, chosen)[2], context)
        return 0
    announce(arguments, chosen, settings, context)
    if not submitting.agreed(arguments, context, "Create them?"):
        return 1
    # Dated now: the queue takes no task that says it was created long ago.
    now, submission, tasks = _ready(jobs, settings, chosen)
    return submitting.create_all(arguments, context, now, submission, chosen, tasks)


def _settings(arguments: argparse.Namespace, context: Context) -> Settings:
    from io_benchmark.submit.definitions import Settings
    from io_benchmark.submit.images import parse_image
    from io_benchmark.text import clean_name

    pools: dict[str, str] = {}
    for pool, queue in arguments.pool:
        if pool in pools:
            raise UsageError(
                f"--pool {clean_name(pool)}={queue}: pool given twice; use each pool once"
            )
        pools[pool] = queue
    return Settings(
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
        context.tell(f"warning: to create these tasks, an owner is needed; {ADVICE}")
    return owner


def generated(
    arguments: argparse.Namespace, jobs: Sequence[str], settings: Settings, context: Context
) -> tuple[Chosen, ...]:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import find_root
    from io_benchmark.submit.definitions import choose

    root = find_root(arguments.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, jobs).tasks
    chosen = choose(tasks, settings)
    others = [task.label for task in tasks if not task.pool]
    if others:
        context.tell(f"Left out, as it measures no pool: {', '.join(others)}")
    return chosen


def _ready(
    jobs: Sequence[str], settings: Settings, chosen: Sequence[Chosen]
) -> tuple[datetime, Submission, tuple[Ready, ...]]:
    import slugid

    from io_benchmark.submit.submission import ready_all, submission_of

    now = datetime.now(UTC)
    submission = submission_of(jobs, settings, chosen)
    return now, submission, ready_all(chosen, submission, slugid.nice(), now)


def _print_tasks(tasks: Sequence[Ready], context: Context) -> None:
    """In the form of `taskgraph morphed -J`."""
    printed = {
        one.label: {"label": one.label, "task_id": one.task_id, "task": one.definition}
        for one in tasks
    }
    context.print(json.dumps(printed, indent=2, ensure_ascii=False))


def announce(
    arguments: argparse.Namespace,
    chosen: Sequence[Chosen],
    settings: Settings,
    context: Context,
) -> None:
    """Where, as whom, what it costs, and what that takes."""
    from io_benchmark.submit.creating import access_of, asked, unknown_pools

    access = access_of(context.environment)
    announce_cost(arguments, chosen, settings, context, f", at {access.root_url}, {access.who}")
    if access.who == "anonymously":
        context.tell(
            "warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN"
        )
    queues = [one.queue for one in chosen]
    for queue in asked(context.environment, lambda deployment: unknown_pools(deployment, queues)):
        context.tell(
            f"warning: {access.root_url} knows no worker pool {queue}, and a task there may wait "
            "until its deadline; check it, or name another with --pool"
        )


def announce_cost(
    arguments: argparse.Namespace,
    chosen: Sequence[Chosen],
    settings: Settings,
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
    texts: Sequence[str], chosen: Sequence[Chosen], profile: str, context: Context
) -> dict[str, float]:
    """By --like: minutes that each task took, by its label without a replicate's number."""
    if not texts:
        return {}
    from io_benchmark.submit import earlier

    likes = [earlier.parse(text, chosen) for text in texts]
    named = dict.fromkeys(like.job for like in likes if like.job is not None)
    of_each = _gathered([like.address for like in likes if like.job is None], profile, context)
    durations, remarks = earlier.durations_of_each(of_each, chosen, named)
    for job in named:
        own = _gathered([like.address for like in likes if like.job == job], profile, context)
        durations[job] = earlier.durations_of(job, own)
    for remark in remarks:
        context.tell(remark)
    return earlier.minutes_of(durations)


def _gathered(addresses: Sequence[str], profile: str, context: Context) -> Sequence[Earlier]:
    from io_benchmark.commands.fetching import shown_progress
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.gather import gather
    from io_benchmark.submit.earlier import earlier_of, of_profile

    with shown_progress(context.stderr) as progress:
        # Of a result only its duration is kept.
        budget = Budget(kept_bytes=math.inf, most_subjects=math.inf)
        gathered = gather(addresses, context.environment, progress, earlier_of, budget=budget)
    for line in gathered.unreadable:
        context.tell(f"--like: {line}")
    kept, remark = of_profile(gathered.results, profile)
    if remark is not None:
        context.tell(remark)
    return kept
