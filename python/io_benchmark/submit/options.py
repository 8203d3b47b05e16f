# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The options of `io-benchmark submit`; the last group is handed to `compare`."""

import argparse
import re
from pathlib import Path

from io_benchmark.errors import UsageError
from io_benchmark.report.formats import FORMATS
from io_benchmark.submit import owner, sizes
from io_benchmark.submit.definitions import PRIORITIES, QUEUE_NAME, UNGROUPED
from io_benchmark.text import clean

MAXIMUM_REPLICATES = 100
EVERY_S = 15.0
_SHOWN = 100  # characters of a mistaken value
# What a group that is resumed was given when it was submitted.
_FIXED = (
    "jobs",
    "pool",
    "image",
    "profile",
    "replicates",
    "owner",
    "priority",
    "scheduler",
    "dry_run",
)


def add(parser: argparse.ArgumentParser) -> None:
    _what_is_created(parser)
    _how_it_goes(parser)
    _comparison(parser)


def refuse_beside_resume(arguments: argparse.Namespace) -> None:
    """What the group's tasks are was decided when they were submitted."""
    parser = argparse.ArgumentParser()
    add(parser)
    for name in _FIXED:
        if getattr(arguments, name) != parser.get_default(name):
            option = "--quick" if name == "profile" else f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} cannot be combined with --resume: the group keeps the options that it "
                "was submitted with"
            )


def _what_is_created(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-j",
        "--jobs",
        default="io-benchmark",
        metavar="NAME[,NAME]",
        help="tasks to create, by job_try_name, label or pool (default: io-benchmark)",
    )
    add("--root", type=Path, metavar="DIR", help="the folder that holds taskcluster/ and scripts/")
    add(
        "--pool",
        action="append",
        default=[],
        type=_pool_and_queue,
        metavar="POOL=PROVISIONER/WORKERTYPE",
        help="run a pool's tasks on these workers instead; can be given more than once",
    )
    add("--image", metavar="IMAGE", help="NAME:TAG of a registry, task:ID or index:NAMESPACE")
    add(
        "--quick",
        dest="profile",
        action="store_const",
        const=sizes.QUICK,
        default=sizes.FULL,
        help="a twentieth of the sizes, at most 200 retrieves; not comparable with full sizes",
    )
    add(
        "--replicates",
        type=_replicates,
        metavar="N",
        help="tasks per pool, interleaved (default: as many as the kind has)",
    )
    add(
        "--owner",
        type=_owner,
        metavar="ADDRESS",
        help="the tasks' owner, an e-mail address (default: git's user.email, or the address in "
        "the credentials' client id)",
    )
    add("--priority", choices=PRIORITIES, metavar="PRIORITY", help=", ".join(PRIORITIES))
    add(
        "--scheduler",
        default=UNGROUPED,
        type=_scheduler,
        metavar="ID",
        help=f"the tasks' schedulerId (default: {UNGROUPED}, which people's scopes allow)",
    )


def _how_it_goes(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--like",
        action="append",
        default=[],
        metavar="[LABEL=]ADDRESS",
        help="estimate the cost from these earlier results instead of the time budget: each result "
        "for its own task, or all for the task LABEL; can be given more than once",
    )
    add("--dry-run", action="store_true", help="print the tasks as JSON, create nothing")
    add("--yes", action="store_true", help="do not ask")
    add("--no-wait", action="store_true", help="print the group's address after creating, and exit")
    add(
        "--every",
        type=_positive,
        default=EVERY_S,
        metavar="SECONDS",
        help=f"how often to look, while something changes (default: {EVERY_S:.0f})",
    )
    add(
        "--timeout",
        type=_positive,
        metavar="MINUTES",
        help="wait at most this long for the tasks, then compare (default: until all are resolved)",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--resume",
        metavar="GROUP",
        help="create what is missing of a group whose submission was stopped; wait, and compare",
    )
    group.add_argument(
        "--cancel", metavar="GROUP", help="cancel the benchmark's tasks of this group, no others"
    )


def _comparison(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--baseline", metavar="POOL", help="as for compare")
    add("--expect", action="append", default=[], metavar="A/B<RATIO", help="as for compare")
    add("--write", action="append", default=[], metavar="FORMAT=FILE", help="as for compare")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="format printed to stdout")
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )


def _mistake(text: str, problem: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{clean(text, _SHOWN)!r} {problem}")


def _pool_and_queue(text: str) -> tuple[str, str]:
    pool, equals, queue = text.partition("=")
    if not pool or not equals or not QUEUE_NAME.fullmatch(queue):
        raise _mistake(text, "is not POOL=PROVISIONER/WORKERTYPE")
    return pool, queue


def _replicates(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MAXIMUM_REPLICATES:
        raise _mistake(text, f"is not 1 to {MAXIMUM_REPLICATES}")
    return int(text)


def _owner(text: str) -> str:
    if not owner.is_address(text):
        raise _mistake(text, "is not an e-mail address such as you@example.com")
    return text


def _scheduler(text: str) -> str:
    if not re.fullmatch("[a-zA-Z0-9_-]{1,38}", text):
        raise _mistake(text, "is not a schedulerId: 1 to 38 letters, digits, _ and -")
    return text


def _positive(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", text) or not float(text) > 0:
        raise _mistake(text, "is not a number above 0")
    return float(text)
