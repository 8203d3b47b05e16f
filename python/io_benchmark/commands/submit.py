# SPDX-License-Identifier: MPL-2.0
"""Create the tasks on Taskcluster without a push, wait for them, and compare."""

import re
from pathlib import Path

from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.report.formats import FORMATS
from io_benchmark.submit.definitions import PRIORITIES, QUEUE_NAME, UNGROUPED
from io_benchmark.text import clean

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark submit --image ubuntu:24.04 --replicates 6 --dry-run",
    "io-benchmark submit --resume Fqm6GL_zRPurCmd1rRuTRQ",
)
MANUAL = "submit.md"
MAXIMUM_REPLICATES = 100
_KEPT = "the group keeps the options that it was submitted with"
# Decided when the group was submitted.
_FIXED = dict.fromkeys(
    (
        *("--jobs", "--pool", "--image", "--quick"),
        *("--replicates", "--owner", "--priority", "--scheduler"),
    ),
    _KEPT,
)
_STARTS = ("--until-decided", "--resume", "--confirm", "--cancel")
_ADDS_TASKS = "it waits for each look and adds tasks then"


def _parse_pool_and_queue(value: str) -> tuple[str, str]:
    pool, equals, queue = value.partition("=")
    if not pool or not equals or not QUEUE_NAME.fullmatch(queue):
        raise options.wrong_value(value, "is not POOL=PROVISIONER/WORKERTYPE")
    return pool, queue


def _parse_scheduler(value: str) -> str:
    if not re.fullmatch("[a-zA-Z0-9_-]{1,38}", value):
        raise options.wrong_value(
            value, "is not a schedulerId: use 1 to 38 letters, digits, _ and -"
        )
    return value


def _parse_positive(value: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", value) or not float(value) > 0:
        raise options.wrong_value(value, "is not a number above 0")
    return float(value)


OPTIONS = {
    "what to create, at TASKCLUSTER_ROOT_URL": (
        options.jobs(""),
        options.ROOT._replace(help="tree with the kinds (default: as for rehearse)"),
        options.repeatable(
            "--pool",
            "POOL=QUEUE",
            "run a pool's tasks on PROVISIONER/WORKERTYPE *",
            _parse_pool_and_queue,
        ),
        options.option("--image", "IMAGE", "NAME:TAG of a registry, task:ID or index:ROUTE"),
        options.flag("--quick", "small sizes; not comparable with full sizes"),
        options.option(
            "--replicates",
            "N",
            "tasks per pool, interleaved",
            options.whole_number(MAXIMUM_REPLICATES),
        ),
        options.option("--owner", "EMAIL", "owner of the tasks (default: git's user.email)"),
        options.option("--priority", "PRIORITY", "from lowest to highest", choices=PRIORITIES),
        options.option(
            "--scheduler",
            "ID",
            f"schedulerId of the tasks (default: {UNGROUPED})",
            _parse_scheduler,
        ),
    ),
    "what to do": (
        options.flag("--dry-run", "print the tasks as JSON, create nothing"),
        options.flag("--yes", "show the cost, but do not ask"),
        options.flag("--no-wait", "print the group's address and exit"),
        options.option(
            "--every", "SECONDS", "time between looks at the group (default: 15)", _parse_positive
        ),
        options.option("--timeout", "MINUTES", "wait at most this long", _parse_positive),
        options.flag(
            "--until-decided",
            "add tasks until all pools are decided",
            excludes={
                **dict.fromkeys(("--replicates", "--no-wait"), _ADDS_TASKS),
                **dict.fromkeys(_STARTS[1:], ""),
            },
        ),
        options.option(
            "--budget",
            "HOURS",
            "most worker time for --until-decided",
            _parse_positive,
            needs=("--until-decided", "--resume"),
        ),
        options.option(
            "--resume",
            "GROUP",
            "go on with a group of --until-decided that was stopped",
            excludes={
                **_FIXED,
                **dict.fromkeys(("--root", "--dry-run"), _KEPT),
                "--no-wait": _ADDS_TASKS,
                **dict.fromkeys(_STARTS[2:], ""),
            },
        ),
        options.option(
            "--confirm",
            "GROUP",
            "run what confirms the causes in this group",
            excludes={
                **_FIXED,
                **dict.fromkeys(("--root", "--budget"), _KEPT),
                "--cancel": "",
            },
        ),
        options.option("--cancel", "GROUP", "cancel the benchmark's tasks"),
    ),
    options.REPORT_OUTPUT: (
        options.option("--baseline", "POOL", "pool to compare with, as for compare"),
        options.expectation("not met, as for compare"),
        options.PRICES,
        *options.report_options(FORMATS, "format on stdout, as for compare"),
    ),
}


def run(given: options.Given, context: Context) -> int:
    # Imported here: --help must not wait for the client.
    from io_benchmark.commands.output import EXIT_FAILED, print_comparison
    from io_benchmark.operations import added_tasks, group_work, submit
    from io_benchmark.operations.compare import ComparisonOptions, compare

    for _, path in given.get("write", ()):
        _check_writable(path)
    settings = options.read_options(group_work.SubmissionOptions, given)
    if "cancel" in given:
        outcome = group_work.cancel(given["cancel"], context)
    elif "resume" in given:
        outcome = added_tasks.resume(given["resume"], settings, context)
    elif "confirm" in given:
        outcome = added_tasks.confirm(given["confirm"], settings, context)
    else:
        outcome = submit.submit(settings, context)
    if not outcome.group_id:
        return 0 if outcome.is_done else EXIT_FAILED
    comparison = options.read_options(ComparisonOptions, given)
    report = compare([f"group:{outcome.group_id}"], comparison, context)
    return print_comparison(report, given, context)


def _check_writable(path: Path) -> None:
    """Refuse a wrong path before machines have run for an hour."""
    subject = f"--write {clean(str(path), 200)}"
    if not resolve_path(path, subject).parent.is_dir():
        raise UsageError(f"{subject}: no such folder; create it first")
