# SPDX-License-Identifier: MPL-2.0
"""Create the tasks on Taskcluster without a push, wait for them, and compare.

Needs io-benchmark[all].
"""

from io_benchmark.command_lines import compare_group, predict_on_group, show_everything
from io_benchmark.commands import options
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.report.formats import FORMATS
from io_benchmark.submit.values import OWNER_PATTERN, parse_image
from io_benchmark.text import clean

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark submit --image ubuntu:24.04 --replicates 6 --dry-run",
    "io-benchmark submit --resume Fqm6GL_zRPurCmd1rRuTRQ",
)
MANUAL = "submit.md"
_ADDS_TASKS = "it waits for each look and adds tasks then"
OWNER = options.option(
    "--owner",
    "EMAIL",
    "owner of the tasks (default: git's user.email)",
    options.matching(OWNER_PATTERN, "is not an e-mail address such as you@example.com"),
)
# Decided when the group was submitted.
_KEEPS = "the group keeps the options that it was submitted with"
_KEPT = dict.fromkeys(("--jobs", "--root", "--pool", "--image", "--replicates", "--owner"), _KEEPS)
OPTIONS = {
    "what to create, at TASKCLUSTER_ROOT_URL": (
        options.JOBS,
        options.ROOT._replace(summary="tree with the kinds (default: as for rehearse)"),
        options.option(
            "--pool",
            "POOL=QUEUE",
            "run a pool's tasks on PROVISIONER/WORKERTYPE *",
            **options.per_pool(
                "([^=]+)=([a-zA-Z0-9_-]{1,38}/[a-z](?:[-a-z0-9]{0,36}[a-z0-9])?)",
                "is not POOL=PROVISIONER/WORKERTYPE",
            ),
        ),
        options.option(
            "--image", "IMAGE", "NAME:TAG of a registry, task:ID or index:ROUTE", parse_image
        ),
        options.option(
            "--replicates",
            "N",
            "tasks per pool, interleaved",
            options.whole_number(100),
        ),
        options.flag(
            "--capacities",
            "measure what 'predict' uses, a minute per pool",
            excludes={
                "--until-decided": "it decides nothing about pools",
                **dict.fromkeys(
                    ("--baseline", "--expect", "--format", "--json", "--write"),
                    "it compares nothing",
                ),
                **dict.fromkeys(("--resume", "--confirm", "--cancel"), _KEEPS),
            },
        ),
        OWNER,
    ),
    "what to do": (
        options.flag("--dry-run", "print the tasks as JSON, create nothing"),
        options.flag("--yes", "show the cost, but do not ask"),
        options.flag("--no-wait", "print the group's address and exit"),
        options.flag(
            "--until-decided",
            "add tasks until all pools are decided",
            excludes={
                **dict.fromkeys(("--replicates", "--no-wait"), _ADDS_TASKS),
                **dict.fromkeys(("--resume", "--confirm", "--cancel"), ""),
            },
        ),
        options.option(
            "--budget",
            "HOURS",
            "most worker time for --until-decided",
            options.parse_hours,
            needs=("--until-decided", "--resume"),
        ),
        options.option(
            "--resume",
            "GROUP",
            "go on with a group of --until-decided that was stopped",
            excludes={
                **_KEPT,
                **dict.fromkeys(("--dry-run", "--confirm", "--cancel"), ""),
                "--no-wait": _ADDS_TASKS,
            },
        ),
        options.option(
            "--confirm",
            "GROUP",
            "run what confirms the causes in this group",
            excludes={**_KEPT, "--cancel": ""},
        ),
        options.option("--cancel", "GROUP", "cancel the benchmark's tasks"),
    ),
    options.REPORT_OUTPUT: (
        options.BASELINE,
        options.EXPECT,
        options.PRICES,
        *options.report_options(FORMATS),
    ),
}


def run(given: options.Given, context: Context) -> int:
    # Imported here: --help must not wait for the client.
    from io_benchmark.commands.output import print_comparison
    from io_benchmark.operations import submit
    from io_benchmark.operations.compare import compare
    from io_benchmark.submit.definitions import SubmissionOptions

    for _, path in given.get("write", ()):
        # Before machines have run for an hour.
        subject = f"--write {clean(str(path), 200)}"
        if not resolve_path(path, subject).parent.is_dir():
            raise UsageError(f"{subject}: no such folder; create it first")
    settings = SubmissionOptions(**options.arguments(SubmissionOptions, given))
    if "cancel" in given:
        submit.cancel(given["cancel"], context)
        return 0
    if "resume" in given:
        group_id = submit.resume(given["resume"], settings, context)
    elif "confirm" in given:
        group_id = submit.confirm(given["confirm"], settings, context)
    else:
        group_id = submit.submit(settings, context)
    if group_id is None:
        return 0
    address = f"group:{group_id}"
    if settings.capacities:
        submit.check_results(address, context)
        context.tell(f"Predict with: {predict_on_group(group_id)}")
        return 0
    context.tell(f"Compare again with: {compare_group(group_id)}")
    report = compare(context, [address], **options.arguments(compare, given))
    return print_comparison(report, given, context, whole=show_everything(address))
