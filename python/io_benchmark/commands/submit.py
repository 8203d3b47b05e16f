# SPDX-License-Identifier: MPL-2.0
"""Create the tasks on Taskcluster without a push, wait for them, and compare.

Needs io-benchmark[all].
"""

from io_benchmark.command_lines import compare_group, predict_on_group, show_everything
from io_benchmark.commands.options import common
from io_benchmark.commands.options.option import Given, flag, option, per_pool
from io_benchmark.commands.options.values import matching, parse_hours, parse_name, whole_number
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.paths import resolve_path
from io_benchmark.submit.values import OWNER_PATTERN, parse_image
from io_benchmark.text import clean_name

USAGE = "[OPTION ...]"
EXAMPLES = (
    "io-benchmark submit --image ubuntu:24.04 --replicates 6 --dry-run",
    "io-benchmark submit --resume Fqm6GL_zRPurCmd1rRuTRQ",
)
MANUAL = "submit.md"
MOST_REPLICATES = 100  # chosen: no comparison needs more workers
# Why some options cannot be combined
_ADDS_TASKS = "it waits for each look and adds tasks then"
_KEEPS = "the group keeps the options that it was submitted with"
_NOTHING = "it compares nothing"
_KEPT = dict.fromkeys(("--jobs", "--root", "--pool", "--image", "--replicates", "--owner"), _KEEPS)

QUEUES = per_pool(
    "--pool",
    "POOL=QUEUE,...",
    "measure this pool on PROVISIONER/WORKERTYPE *",
    "([^=]+)=([a-zA-Z0-9_-]{1,38}/[a-z](?:[-a-z0-9]{0,36}[a-z0-9])?)",
    "is not POOL=PROVISIONER/WORKERTYPE",
    str,
    separator=",",
)
IMAGE = option(
    "--image", "IMAGE", "NAME:TAG of a registry, task:ID or index:ROUTE", parse_image, default=None
)
REPLICATES = option(
    "--replicates", "N", "tasks per pool, interleaved", whole_number(MOST_REPLICATES), default=None
)
CAPACITIES = flag(
    "--capacities",
    "measure what 'predict' uses, a minute per pool",
    excludes={
        "--until-decided": "it decides nothing about pools",
        **dict.fromkeys(
            ("--baseline", "--expect", "--gate", "--format", "--json", "--write"), _NOTHING
        ),
        **dict.fromkeys(("--resume", "--confirm", "--cancel"), _KEEPS),
    },
)
OWNER = option(
    "--owner",
    "EMAIL",
    "owner of the tasks (default: git's user.email)",
    matching(OWNER_PATTERN, "is not an e-mail address such as you@example.com", str),
    default=None,
)
DRY_RUN = flag("--dry-run", "print the tasks as JSON, create nothing")
YES = flag("--yes", "show the cost, but do not ask")
NO_WAIT = flag("--no-wait", "print the group's address and exit")
UNTIL_DECIDED = flag(
    "--until-decided",
    "add tasks until all pools are decided",
    excludes={
        "--replicates": _ADDS_TASKS,
        "--no-wait": _ADDS_TASKS,
        "--resume": "",
        "--confirm": "",
        "--cancel": "",
    },
)
BUDGET = option(
    "--budget",
    "HOURS",
    "most worker time for --until-decided",
    parse_hours,
    default=None,
    needs=("--until-decided", "--resume"),
)
RESUME = option(
    "--resume",
    "GROUP",
    "go on with a stopped group of --until-decided",
    parse_name,
    default=None,
    excludes={**_KEPT, "--dry-run": "", "--confirm": "", "--cancel": "", "--no-wait": _ADDS_TASKS},
)
CONFIRM = option(
    "--confirm",
    "GROUP",
    "run what confirms the causes in this group",
    parse_name,
    default=None,
    excludes={**_KEPT, "--cancel": ""},
)
CANCEL = option("--cancel", "GROUP", "cancel the benchmark's tasks", parse_name, default=None)
# Without the options that only compare has.
GATE = common.GATE._replace(
    excludes={name: common.GATE.excludes[name] for name in ("--baseline", "--expect")}
)
OPTIONS = {
    "what to create, at TASKCLUSTER_ROOT_URL": (
        common.JOBS,
        common.ROOT._replace(summary="tree with the kinds (default: as for rehearse)"),
        QUEUES,
        IMAGE,
        REPLICATES,
        CAPACITIES,
        OWNER,
    ),
    "what to do": (DRY_RUN, YES, NO_WAIT, UNTIL_DECIDED, BUDGET, RESUME, CONFIRM, CANCEL),
    common.REPORT_OUTPUT: (
        common.BASELINE,
        common.EXPECT,
        GATE,
        common.PRICES,
        *common.COMPARISON_OUTPUT,
    ),
}


def run(given: Given, context: Context) -> int:
    # Imported here: --help must not wait for the client.
    from io_benchmark.commands.output import print_comparison, print_gates
    from io_benchmark.operations import submit
    from io_benchmark.operations.compare import compare
    from io_benchmark.operations.gate import answer_gates
    from io_benchmark.submit.definitions import SubmissionOptions

    for _, path in given[common.WRITE]:
        # Before machines have run for an hour.
        subject = f"--write {clean_name(str(path))}"
        if not resolve_path(path, subject).parent.is_dir():
            raise UsageError(f"{subject}: no such folder; create it first")
    group_to_cancel = given[CANCEL]
    if group_to_cancel is not None:
        submit.cancel(group_to_cancel, context)
        return 0
    options = SubmissionOptions(
        jobs=given[common.JOBS],
        root=given[common.ROOT],
        queues=given[QUEUES],
        image=given[IMAGE],
        replicates=given[REPLICATES],
        capacities=given[CAPACITIES],
        owner=given[OWNER],
        dry_run=given[DRY_RUN],
        yes=given[YES],
        no_wait=given[NO_WAIT],
        until_decided=given[UNTIL_DECIDED],
        budget_hours=given[BUDGET],
        baseline=given[common.BASELINE],
        gates=given[GATE],
        prices=given[common.PRICES],
    )
    group_to_resume, group_to_confirm = given[RESUME], given[CONFIRM]
    if group_to_resume is not None:
        group_id = submit.resume(group_to_resume, options, context)
    elif group_to_confirm is not None:
        group_id = submit.confirm(group_to_confirm, options, context)
    else:
        group_id = submit.submit(options, context)
    if group_id is None:
        return 0
    address = f"group:{group_id}"
    if options.capacities:
        submit.check_results(address, context)
        context.tell(f"Predict with: {predict_on_group(group_id)}")
        return 0
    gates = options.written_gates
    context.tell(f"Compare again with: {compare_group(group_id, gates)}")
    whole = show_everything(address, gates)
    if options.gates:
        answers = answer_gates(context, [address], options.gates, prices=options.prices)
        return print_gates(answers, given, context, whole=whole)
    report = compare(context, [address], baseline=options.baseline, prices=options.prices)
    return print_comparison(report, given, context, whole=whole)
