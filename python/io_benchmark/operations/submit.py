# SPDX-License-Identifier: MPL-2.0
"""Submit the tasks of a new group."""

import re
import subprocess
from collections.abc import Mapping

import slugid

from io_benchmark.analysis.plan import Plan
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.graph.root import Root
from io_benchmark.operations.added_tasks import limit_of_looks, measure_until_decided
from io_benchmark.operations.group_work import (
    HOW_TO_CANCEL,
    RESUME,
    GroupWork,
    SubmissionOptions,
    SubmissionOutcome,
    announce,
    estimated_cost,
)
from io_benchmark.paths import current_folder
from io_benchmark.submit.definitions import (
    NewTask,
    SubmissionSettings,
    parse_image,
    select_tasks,
)
from io_benchmark.submit.measured_group import LOOKS
from io_benchmark.submit.task_creation import in_group
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
    chosen = _generated(options, settings, context)
    group_id = slugid.nice()
    tasks = in_group(chosen, group_id)
    cost = estimated_cost(tasks, {}, options.prices)
    remark = limit_of_looks(tasks, cost, options.budget) if options.until_decided else ""
    ended = announce(tasks, cost, options, context, remark)
    if ended is not None:
        return ended
    if not options.until_decided:
        context.tell(f"Creating group:{group_id}; to cancel it: {HOW_TO_CANCEL} {group_id}")
        return GroupWork(group_id, options, context).create_and_compare(tasks)
    work = GroupWork(group_id, options, context, RESUME)
    context.tell(f"Creating group:{group_id}; if this stops, go on with: {work.how_to_resume}")
    return measure_until_decided(work, tasks, options.budget)


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
    )


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
    options: SubmissionOptions, settings: SubmissionSettings, context: Context
) -> tuple[NewTask, ...]:
    # Imported here: generating takes half a second to load.
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    root = Root.find(options.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, options.jobs)
    chosen = select_tasks(tasks, settings)
    # A wrong baseline is refused before machines have run for an hour.
    Plan.of_pools({task.pool for task in chosen}, options.baseline)
    left_out = [task.label for task in tasks if not task.pool]
    if left_out:
        context.tell(f"Left out, because it does not measure a pool: {', '.join(left_out)}")
    return chosen
