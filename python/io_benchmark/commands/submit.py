# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Create the tasks in a Taskcluster from here, without a decision task; wait, and compare.

TASKCLUSTER_ROOT_URL names the deployment; TASKCLUSTER_CLIENT_ID, TASKCLUSTER_ACCESS_TOKEN and
TASKCLUSTER_CERTIFICATE are the credentials; inside a task TASKCLUSTER_PROXY_URL serves instead.
It says first what it will cost and, on a terminal, asks. In the end it compares the group as
`io-benchmark compare group:ID` does.

The kind's tasks run in an image that a decision task builds. Without one, --image names an image
of a registry, or `task:ID` or `index:NAMESPACE` of a task that built it.

Ctrl-C while it waits asks whether to cancel what was created; a second one leaves it running.

Exit code: as compare's; 1 as well when a task could not be created.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from io_benchmark.commands.common import names_of_jobs, tell
from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.submit import options

if TYPE_CHECKING:
    from io_benchmark.submit.creating import Cancelled, Created
    from io_benchmark.submit.definitions import Chosen, Ready, Settings
    from io_benchmark.submit.earlier import Earlier

_HOW_TO_CANCEL = "io-benchmark submit --cancel"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.cancel is not None:
        return _cancel(arguments.cancel)
    settings = _settings(arguments)
    chosen = _chosen(arguments, settings)
    _check_comparison(arguments, chosen)
    if arguments.dry_run:
        _print_tasks(_ready(chosen, settings))
        return 0
    _announce(arguments, settings, chosen)
    if not arguments.yes and _on_terminal() and not _agreed("Create them?"):
        tell("nothing was created")
        return 1
    # Dated now: the queue takes no task that says it was created long ago.
    tasks = _ready(chosen, settings)
    return _submit(arguments, tasks)


def _settings(arguments: argparse.Namespace) -> Settings:
    from io_benchmark.submit.definitions import Settings
    from io_benchmark.submit.images import parse_image

    pools: dict[str, str] = {}
    for pool, queue in arguments.pool:
        if pool in pools:
            raise UsageError(f"--pool {pool}={queue}: the pool stands twice")
        pools[pool] = queue
    return Settings(
        image=None if arguments.image is None else parse_image(arguments.image),
        pools=pools,
        replicates=arguments.replicates,
        priority=arguments.priority,
        scheduler=arguments.scheduler,
        keep_routes=arguments.keep_routes,
    )


def _chosen(arguments: argparse.Namespace, settings: Settings) -> tuple[Chosen, ...]:
    # Imported here: generating takes half a second to load, and --help must not wait for it.
    from io_benchmark.graph.generate import generate
    from io_benchmark.graph.root import find_root
    from io_benchmark.submit.definitions import choose

    jobs = names_of_jobs(arguments.jobs)
    root = find_root(arguments.root, Path.cwd())
    tell(f"Generating the graph from {root}")
    tasks = generate(root, jobs).tasks
    chosen = choose(tasks, settings)
    others = [task.label for task in tasks if not task.pool]
    if others:
        tell(f"Left out, as it measures no pool: {', '.join(others)}")
    return chosen


def _ready(chosen: Sequence[Chosen], settings: Settings) -> tuple[Ready, ...]:
    import slugid

    from io_benchmark.submit.definitions import ready

    return ready(chosen, settings, datetime.now(UTC), slugid.nice)


def _print_tasks(tasks: Sequence[Ready]) -> None:
    """In the form of `taskgraph morphed -J`."""
    printed = {
        one.label: {"label": one.label, "task_id": one.task_id, "task": one.definition}
        for one in tasks
    }
    print(json.dumps(printed, indent=2, ensure_ascii=False))


def _announce(arguments: argparse.Namespace, settings: Settings, chosen: Sequence[Chosen]) -> None:
    """What it will cost, where, as whom, and what that takes."""
    from io_benchmark.submit import cost
    from io_benchmark.submit.creating import access_of, asked, unknown_pools
    from io_benchmark.submit.definitions import submitter_scopes

    earlier = _earlier_minutes(arguments.like, chosen)
    access = access_of(os.environ)
    queues = [one.queue for one in chosen]
    unknown = asked(os.environ, lambda deployment: unknown_pools(deployment, queues))
    found = cost.estimate(chosen, earlier)
    tell(f"{found.shown}, at {access.root_url}, {access.who}")
    for share in found.shares:
        tell(f"  {share.shown}")
    tell(f"Scopes needed: {', '.join(submitter_scopes(chosen, settings.scheduler))}")
    own = sorted({scope for one in chosen for scope in one.definition["scopes"]})
    tell(f"Scopes the tasks get: {', '.join(own) or 'none'}")
    if access.who == "anonymously":
        tell("warning: no credentials; set TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN")
    for queue in unknown:
        tell(
            f"warning: {access.root_url} knows no worker pool {queue}, and a task there may wait "
            "until its deadline; check it, or name another with --pool"
        )


def _earlier_minutes(texts: Sequence[str], chosen: Sequence[Chosen]) -> dict[str, float]:
    """By --like: minutes that each task took, by its label without a replicate's number."""
    if not texts:
        return {}
    from io_benchmark.submit import earlier

    likes = [earlier.parse(text, chosen) for text in texts]
    named = dict.fromkeys(like.job for like in likes if like.job is not None)
    of_each = _gathered([like.address for like in likes if like.job is None])
    durations, remarks = earlier.durations_of_each(of_each, chosen, named)
    for job in named:
        own = _gathered([like.address for like in likes if like.job == job])
        durations[job] = earlier.durations_of(job, own)
    for remark in remarks:
        tell(remark)
    return earlier.minutes_of(durations)


def _gathered(addresses: Sequence[str]) -> Sequence[Earlier]:
    from io_benchmark.commands.fetching import shown_progress
    from io_benchmark.sources.gather import gather_as
    from io_benchmark.submit.earlier import earlier_of

    with shown_progress() as progress:
        gathered = gather_as(addresses, os.environ, progress, earlier_of)
    for line in gathered.unreadable:
        tell(f"--like: {line}")
    return gathered.measured


def _submit(arguments: argparse.Namespace, tasks: Sequence[Ready]) -> int:
    from io_benchmark.submit import creating
    from io_benchmark.submit.waiting import wait

    group_id = tasks[0].task_id
    created = creating.Created()
    root_url = creating.access_of(os.environ).root_url
    timeout_s = None if arguments.timeout is None else arguments.timeout * 60
    try:
        creating.asked(os.environ, lambda deployment: creating.create(deployment, tasks, created))
        tell(f"{created.shown}: {root_url}/tasks/groups/{group_id}")
        if arguments.no_wait:
            print(f"group:{group_id}")
            tell(f"Compare them later with: io-benchmark compare group:{group_id}")
            return 0
        tell("Waiting; Ctrl-C stops that, and asks whether to cancel the tasks")
        standing = creating.asked(
            os.environ,
            lambda deployment: wait(deployment, group_id, tasks, arguments.every, timeout_s, tell),
        )
    except KeyboardInterrupt as interruption:
        _leave(created, group_id, may_ask=type(interruption) is KeyboardInterrupt)
        raise
    except IoBenchmarkError as error:
        # Lost sight of while waiting, they may be well.
        _leave(created, group_id, may_ask=isinstance(error, creating.CreationError))
        raise
    if standing.resolved < standing.total:
        tell(f"--timeout: not waiting any longer; {_HOW_TO_CANCEL} {group_id} cancels the rest")
    return _compare(arguments, group_id)


def _leave(created: Created, group_id: str, *, may_ask: bool) -> None:
    """What becomes of tasks that nobody waits for any more."""
    from io_benchmark.submit.creating import asked, cancel_sent

    if not created.sent:
        tell("no task was created")
        return
    state = "left as they are"
    try:
        if may_ask and _on_terminal() and _agreed(f"\n{created.shown}. Cancel?"):
            state = "not all cancelled"
            done = asked(os.environ, lambda deployment: cancel_sent(deployment, created.sent))
            _tell_cancelled(done)
            return
    except KeyboardInterrupt:
        tell("")
    how = f"{_HOW_TO_CANCEL} {group_id}"
    tell(f"{created.shown} in group:{group_id}, {state}; to cancel: {how}")


def _cancel(text: str) -> int:
    from io_benchmark.sources.address import GroupAddress, default_root_url, parse
    from io_benchmark.submit.creating import asked, cancel_group

    address = parse(text if ":" in text else f"group:{text}", os.environ)
    if not isinstance(address, GroupAddress):
        raise UsageError(f"--cancel {text}: is no group; give its id, or group:ID")
    root_url = default_root_url(os.environ)
    if address.root_url != root_url:
        raise UsageError(
            f"--cancel {text}: is not at {root_url}; set TASKCLUSTER_ROOT_URL to {address.root_url}"
        )
    done = asked(os.environ, lambda deployment: cancel_group(deployment, address.group_id))
    _tell_cancelled(done)
    return 1 if done.problems else 0


def _tell_cancelled(done: Cancelled) -> None:
    tell(f"cancelled {len(done.labels)}: {', '.join(done.labels) or 'none'}")
    if done.resolved:
        tell(f"resolved before that: {done.resolved}")
    if done.others:
        tell(f"not the benchmark's, and left alone: {done.others}")
    for problem in done.problems:
        tell(f"error: {problem}")


def _comparison(arguments: argparse.Namespace, group_id: str) -> argparse.Namespace:
    """The arguments of `compare group:ID`, as its own parser understands them."""
    from io_benchmark.commands import compare

    parser = argparse.ArgumentParser(prog="io-benchmark submit")
    compare.add_arguments(parser)
    given = [f"group:{group_id}", f"--format={arguments.format}"]
    given += [f"--expect={text}" for text in arguments.expect]
    given += [f"--write={text}" for text in arguments.write]
    if arguments.baseline is not None:
        given.append(f"--baseline={arguments.baseline}")
    return parser.parse_args(given)


def _check_comparison(arguments: argparse.Namespace, chosen: Sequence[Chosen]) -> None:
    """A mistake is told before machines have run for an hour."""
    from io_benchmark.analysis import expectations, plan

    _comparison(arguments, "none-yet")
    for text in arguments.expect:
        expectations.parse(text)
    plan.pools({one.pool for one in chosen}, arguments.baseline)


def _compare(arguments: argparse.Namespace, group_id: str) -> int:
    from io_benchmark.commands import compare

    tell(f"Compare again with: io-benchmark compare group:{group_id}")
    return compare.run(_comparison(arguments, group_id))


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _agreed(question: str) -> bool:
    """Only a yes is one; the question goes to stderr, as stdout is for the report."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
