# SPDX-License-Identifier: MPL-2.0
"""Submit the tasks of a new group."""

import re
import subprocess
from collections.abc import Mapping

import slugid
from msgspec.structs import replace

from io_benchmark.analysis.plan import Plan
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.graph.root import Root
from io_benchmark.operations.added_tasks import RESUME, limit_of_looks, measure_until_decided
from io_benchmark.operations.group_work import (
    HOW_TO_CANCEL,
    GroupWork,
    SubmissionOptions,
    confirm_creation,
    estimated_cost,
)
from io_benchmark.paths import current_folder
from io_benchmark.submit.definitions import OWNER_PATTERN, NewTask, select_tasks
from io_benchmark.submit.measured_group import LOOKS
from io_benchmark.submit.task_creation import in_group

_GIT_S = 5
_ADVICE = "give your e-mail address with --owner, or set it with: git config user.email ADDRESS"


def submit(options: SubmissionOptions, context: Context) -> str | None:
    """Create the tasks of a new group, or only print them; return the group to compare."""
    options = replace(options, owner=_owner(options, context))
    if options.until_decided:
        options = replace(options, replicates=LOOKS[0], looks=LOOKS)
    chosen = _generated(options, context)
    group_id = slugid.nice()
    tasks = in_group(chosen, group_id)
    cost = estimated_cost(tasks, {}, options.prices)
    remark = limit_of_looks(tasks, cost, options.budget) if options.until_decided else ""
    if not confirm_creation(tasks, cost, options, context, remark):
        return None
    if not options.until_decided:
        context.tell(f"Creating group:{group_id}; to cancel it: {HOW_TO_CANCEL} {group_id}")
        return GroupWork(group_id, options, context).create_and_wait(tasks)
    work = GroupWork(group_id, options, context, RESUME)
    context.tell(f"Creating group:{group_id}; if this stops, go on with: {work.how_to_resume}")
    return measure_until_decided(work, tasks)


def _owner(options: SubmissionOptions, context: Context) -> str | None:
    """Return --owner, else git's user.email; a task that is created needs one of them."""
    owner = options.owner or known_owner(context.environment)
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
    return address if re.fullmatch(OWNER_PATTERN, address) else None


def _generated(options: SubmissionOptions, context: Context) -> tuple[NewTask, ...]:
    # Imported here: generating takes half a second to load.
    from io_benchmark.graph.generate import generate  # noqa: PLC0415

    root = Root.find(options.root, current_folder())
    context.tell(f"Generating the graph from {root}")
    tasks = generate(root, options.jobs)
    chosen = select_tasks(tasks, options)
    # A wrong baseline is refused before machines have run for an hour.
    Plan.of_pools({task.pool for task in chosen}, options.baseline)
    left_out = [task.label for task in tasks if not task.pool]
    if left_out:
        context.tell(f"Left out, because it does not measure a pool: {', '.join(left_out)}")
    return chosen
