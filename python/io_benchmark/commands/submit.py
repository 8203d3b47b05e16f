# SPDX-License-Identifier: MPL-2.0
"""Create the tasks on Taskcluster without a push, wait for them, and compare."""

import argparse
import re
from collections.abc import Sequence

from io_benchmark.commands.context import Context
from io_benchmark.commands.options import add_output_options, add_root_option, whole_number
from io_benchmark.errors import UsageError
from io_benchmark.report.formats import FORMATS
from io_benchmark.submit import owner, sizes
from io_benchmark.submit.definitions import PRIORITIES, QUEUE_NAME, UNGROUPED
from io_benchmark.text import clean

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark submit --image ubuntu:24.04 --replicates 6 --dry-run",
    "io-benchmark submit --resume Fqm6GL_zRPurCmd1rRuTRQ",
)
MANUAL = "submit.md"
MAXIMUM_REPLICATES = 100
EVERY_S = 15.0
_VALUE_LENGTH = 100  # characters of a wrong value in a message
# Decided when the group was submitted.
_FIXED = (
    "jobs",
    "pool",
    "image",
    "profile",
    "replicates",
    "owner",
    "priority",
    "scheduler",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _add_tasks(parser)
    _add_steps(parser)
    _add_comparison(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    # Imported here: --help must not wait for the client.
    from io_benchmark.commands import submit_confirm, submit_tasks, task_group

    if arguments.cancel is not None:
        return task_group.cancel(arguments.cancel, context)
    if arguments.resume is not None:
        _refuse(arguments, "--resume", (*_FIXED, "dry_run"))
        return submit_tasks.resume(arguments, context)
    if arguments.confirm is not None:
        _refuse(arguments, "--confirm", (*_FIXED, "root", "like", "budget"))
        return submit_confirm.confirm(arguments, context)
    _check_looks(arguments)
    return submit_tasks.submit(arguments, context)


def _check_looks(arguments: argparse.Namespace) -> None:
    if arguments.budget is not None and not arguments.until_decided:
        raise UsageError("--budget needs --until-decided; add that, or omit it")
    if not arguments.until_decided:
        return
    for name in ("replicates", "no_wait"):
        if getattr(arguments, name):
            raise UsageError(
                f"--{name.replace('_', '-')} cannot be combined with --until-decided, which waits "
                "for each look and adds tasks then; omit it"
            )


def _refuse(arguments: argparse.Namespace, action: str, names: Sequence[str]) -> None:
    """Refuse options that would change the tasks of a group that was submitted before."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for name in names:
        if getattr(arguments, name) != parser.get_default(name):
            option = "--quick" if name == "profile" else f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} cannot be combined with {action}: the group keeps the options that it "
                "was submitted with; omit it"
            )


def _add_tasks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to create, at TASKCLUSTER_ROOT_URL")
    add = group.add_argument
    add(
        "-j",
        "--jobs",
        default="io-benchmark",
        metavar="NAME[,NAME]",
        help="tasks by job_try_name, label or pool",
    )
    add_root_option(group, "tree with the kinds (default: as for rehearse)")
    add(
        "--pool",
        action="append",
        default=[],
        type=_pool_and_queue,
        metavar="POOL=QUEUE",
        help="run a pool's tasks on PROVISIONER/WORKERTYPE *",
    )
    add("--image", metavar="IMAGE", help="NAME:TAG of a registry, task:ID or index:ROUTE")
    add(
        "--quick",
        dest="profile",
        action="store_const",
        const=sizes.QUICK,
        default=sizes.FULL,
        help="small sizes; not comparable with full sizes",
    )
    add(
        "--replicates",
        type=whole_number(MAXIMUM_REPLICATES),
        metavar="N",
        help="tasks per pool, interleaved",
    )
    add(
        "--owner",
        type=_owner,
        metavar="EMAIL",
        help="owner of the tasks (default: git's user.email)",
    )
    add("--priority", choices=PRIORITIES, metavar="PRIORITY", help="from lowest to highest")
    add(
        "--scheduler",
        default=UNGROUPED,
        type=_scheduler,
        metavar="ID",
        help=f"schedulerId of the tasks (default: {UNGROUPED})",
    )


def _add_steps(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to do")
    add = group.add_argument
    add(
        "--like",
        action="append",
        default=[],
        metavar="[LABEL=]ADDRESS",
        help="estimate the cost from these earlier results *",
    )
    add("--dry-run", action="store_true", help="print the tasks as JSON, create nothing")
    add("--yes", action="store_true", help="show the cost, but do not ask")
    add("--no-wait", action="store_true", help="print the group's address and exit")
    add(
        "--every",
        type=_positive,
        default=EVERY_S,
        metavar="SECONDS",
        help=f"time between looks at the group (default: {EVERY_S:.0f})",
    )
    add("--timeout", type=_positive, metavar="MINUTES", help="wait at most this long")
    exclusive = group.add_mutually_exclusive_group()
    exclusive.add_argument(
        "--until-decided",
        action="store_true",
        help="add tasks until all pools are decided",
    )
    add("--budget", type=_positive, metavar="HOURS", help="most worker time for --until-decided")
    exclusive.add_argument(
        "--resume", metavar="GROUP", help="create the missing tasks of a stopped submission"
    )
    exclusive.add_argument(
        "--confirm", metavar="ADDRESS", help="run what confirms the causes in this group"
    )
    exclusive.add_argument("--cancel", metavar="GROUP", help="cancel the benchmark's tasks")


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output (* can be given more than once)")
    add = group.add_argument
    add("--baseline", metavar="POOL", help="pool to compare with, as for compare")
    add(
        "--expect",
        action="append",
        default=[],
        metavar="A/B<RATIO",
        help="exit with 3 if not met, as for compare *",
    )
    add_output_options(
        group,
        FORMATS,
        "format on stdout, as for compare",
        "also write a file *",
        has_prices=True,
    )


def _mistake(text: str, problem: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{clean(text, _VALUE_LENGTH)!r} {problem}")


def _pool_and_queue(text: str) -> tuple[str, str]:
    pool, equals, queue = text.partition("=")
    if not pool or not equals or not QUEUE_NAME.fullmatch(queue):
        raise _mistake(text, "is not POOL=PROVISIONER/WORKERTYPE")
    return pool, queue


def _owner(text: str) -> str:
    if not owner.is_address(text):
        raise _mistake(text, "is not an e-mail address such as you@example.com")
    return text


def _scheduler(text: str) -> str:
    if not re.fullmatch("[a-zA-Z0-9_-]{1,38}", text):
        raise _mistake(text, "is not a schedulerId: use 1 to 38 letters, digits, _ and -")
    return text


def _positive(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", text) or not float(text) > 0:
        raise _mistake(text, "is not a number above 0")
    return float(text)
