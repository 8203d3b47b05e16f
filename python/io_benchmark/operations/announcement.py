# SPDX-License-Identifier: MPL-2.0
"""Shows what creating tasks means, above all their cost, and asks for it."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Cost, CostShare, Price
from io_benchmark.errors import UsageError
from io_benchmark.operations.group_work import DONE, NOT_DONE, SubmissionOptions, SubmissionOutcome
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import default_root_url
from io_benchmark.submit.definitions import NewTask, limit_s, submitter_scopes
from io_benchmark.submit.submission import dated
from io_benchmark.submit.task_creation import TaskQueue


def estimated_cost(
    tasks: Sequence[NewTask], minutes: Mapping[str, float], prices: Mapping[str, Price]
) -> Cost:
    """Estimate the cost by the minutes that earlier tasks of each job took, else by the time budget."""
    jobs: dict[str, list[NewTask]] = {}
    for task in tasks:
        jobs.setdefault(task.job, []).append(task)
    pools = Counter(replicates[0].pool for replicates in jobs.values())
    shares = []
    for job, replicates in jobs.items():
        first = replicates[0]
        task_minutes = minutes.get(job, limit_s(first.definition["payload"]) / 60)
        shares.append(
            CostShare(
                name=first.pool if pools[first.pool] == 1 else job,
                tasks=len(replicates),
                minutes=max(1, math.ceil(task_minutes)),
                is_limit=job not in minutes,
                price=Price.find(prices, first.pool, first.queue),
                queue=first.queue,
            )
        )
    return Cost(tuple(shares), with_prices=bool(prices))


def announce(
    tasks: Sequence[NewTask],
    cost: Cost,
    options: SubmissionOptions,
    context: Context,
    remark: str = "",
) -> SubmissionOutcome | None:
    """Show what creating these tasks means, and ask on a terminal; or print them instead.

    Return how the submission ends where they are not to be created.
    """
    tell = context.tell
    access = Access.of(default_root_url(context.environment), context.environment)
    tell(cost.shown + ("" if options.dry_run else f", at {access.root_url}, {access.who}"))
    for share in cost.shares:
        tell(f"  {share.shown}")
    if remark:
        tell(remark)
    tell(f"Scopes needed: {', '.join(submitter_scopes(tasks))}")
    scopes = sorted({scope for task in tasks for scope in task.definition["scopes"]})
    tell(f"Scopes the tasks get: {', '.join(scopes) or 'none'}")
    if options.dry_run:
        _print(tasks, context)
        return DONE
    if access.who == "anonymously":
        tell("warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN")
    images, pools = TaskQueue.connect(context.environment, lambda queue: queue.missing(tasks))
    for address in images:
        raise UsageError(
            f"{address}: does not exist at {access.root_url}, and is to have the tasks' image; "
            "check --image and the root URL"
        )
    for pool in pools:
        tell(
            f"warning: {access.root_url} has no worker pool {pool}: a task for it may wait "
            "until its deadline; check the name, or choose another pool with --pool"
        )
    if options.yes or not context.is_interactive or context.confirm("Create them?"):
        return None
    tell("nothing was created")
    return NOT_DONE


def _print(tasks: Sequence[NewTask], context: Context) -> None:
    """Print tasks in the form of `taskgraph morphed -J`."""
    now = datetime.now(UTC)
    printed = {
        task.label: {
            "label": task.label,
            "task_id": task.task_id,
            "task": dated(task.definition, now),
        }
        for task in tasks
    }
    context.print(json.dumps(printed, indent=2, ensure_ascii=False))
