# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The options of `io-benchmark submit`; the last group is handed to `compare`."""

import argparse
import re
from pathlib import Path

from io_benchmark.report import FORMATS
from io_benchmark.submit.definitions import PRIORITIES, QUEUE_NAME, UNGROUPED

MAXIMUM_REPLICATES = 100
EVERY_S = 15.0


def add(parser: argparse.ArgumentParser) -> None:
    _what_is_created(parser)
    _how_it_goes(parser)
    _comparison(parser)


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
        help="run a pool's tasks on these workers instead; may repeat",
    )
    add("--image", metavar="IMAGE", help="NAME:TAG of a registry, task:ID or index:NAMESPACE")
    add(
        "--replicates",
        type=_replicates,
        metavar="N",
        help="so many tasks a pool, in turn (default: as many as the kind has)",
    )
    add("--priority", choices=PRIORITIES, metavar="PRIORITY", help=", ".join(PRIORITIES))
    add(
        "--scheduler",
        default=UNGROUPED,
        type=_scheduler,
        metavar="ID",
        help=f"the tasks' schedulerId (default: {UNGROUPED}, which people's scopes allow)",
    )
    add(
        "--keep-routes",
        action="store_true",
        help="keep the routes to Treeherder and others, which need scopes of their own",
    )


def _how_it_goes(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--like",
        action="append",
        default=[],
        metavar="[LABEL=]ADDRESS",
        help="say the cost by these earlier results instead of the time budget, each for the task "
        "that it is of, or all for the task LABEL; may repeat",
    )
    add("--dry-run", action="store_true", help="print the tasks as JSON and create nothing")
    add("--yes", action="store_true", help="do not ask")
    add("--no-wait", action="store_true", help="create them, print the group's address, end")
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
        help="wait no longer and compare what there is (default: until all are resolved)",
    )
    add("--cancel", metavar="GROUP", help="cancel the benchmark's tasks of this group, no more")


def _comparison(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--baseline", metavar="POOL", help="as for compare")
    add("--expect", action="append", default=[], metavar="A/B<RATIO", help="as for compare")
    add("--write", action="append", default=[], metavar="FORMAT=FILE", help="as for compare")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=FORMATS, default="text", help="what stdout gets")
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )


def _pool_and_queue(text: str) -> tuple[str, str]:
    pool, equals, queue = text.partition("=")
    if not pool or not equals or not QUEUE_NAME.fullmatch(queue):
        raise argparse.ArgumentTypeError(f"{text!r} is not POOL=PROVISIONER/WORKERTYPE")
    return pool, queue


def _replicates(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MAXIMUM_REPLICATES:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 to {MAXIMUM_REPLICATES}")
    return int(text)


def _scheduler(text: str) -> str:
    if not re.fullmatch("[a-zA-Z0-9_-]{1,38}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no schedulerId")
    return text


def _positive(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", text) or not float(text) > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return float(text)
