# SPDX-License-Identifier: MPL-2.0
"""From a slow task's address to what to change, with the evidence, for a bug.

The steps: what is slow, what the machines do, why, and what the task asks of
them. Each is shown with its cost before it starts. A journal remembers the
tasks that were created, so the same command resumes. Needs io-benchmark[all].

Exit code: 0 concluded, also that nothing is to change, 1 failed, 2 wrong usage,
3 not decided: the report has what a person must do.
"""

from io_benchmark.commands.options.common import (
    GENERAL_OUTPUT,
    POOLS_FILE,
    PRICES,
    PROJECT,
    REPORT_OUTPUT,
    ROOT,
)
from io_benchmark.commands.options.option import Given, option, required, several
from io_benchmark.commands.options.values import parse_hours, parse_name, parse_path
from io_benchmark.commands.submit import DRY_RUN, IMAGE, OWNER, YES
from io_benchmark.context import Context

USAGE = "TASK [OPTION ...]"
EXAMPLES = (
    "io-benchmark investigate task:cQ4kTnR7QTq1p2L0dJ8wXg --write markdown=bug.md",
    "io-benchmark investigate task:cQ4kTnR7QTq1p2L0dJ8wXg --runs runs.csv --dry-run",
)
MANUAL = "deciding.md"
TASK = required("address", "TASK", "the slow task: task:ID, or its web address", parse_name)
RUNS = several("--runs", "ADDRESS", "more runs of the task (default: earlier pushes)", parse_name)
ON = several("--on", "ADDRESS", "results of the pools (default: the index)", parse_name)
PROFILES = several("--profile", "ADDRESS", "profiles of the task", parse_name)
JOURNAL = option(
    "--journal", "DIR", "folder for pages, and what was created", parse_path, default=None
)
_HOURS = 12.0
_BUDGET = f"most worker time of the tasks of a step (default: {_HOURS:g})"
BUDGET = option("--budget", "HOURS", _BUDGET, parse_hours, default=_HOURS)
OPTIONS = {
    "what is known (each can have several values)": (
        TASK,
        RUNS,
        ON,
        PROFILES,
        PROJECT,
        POOLS_FILE._replace(summary="worker-pools.yml, to make a patch of it"),
    ),
    "what to do": (
        JOURNAL,
        DRY_RUN._replace(summary="show the steps and their costs, do nothing"),
        YES._replace(summary="create tasks without asking"),
        BUDGET,
        IMAGE._replace(summary="of new tasks (default: the task's)"),
        OWNER._replace(summary="owner of new tasks (default: git's user.email)"),
        ROOT,
    ),
    REPORT_OUTPUT: (PRICES, *GENERAL_OUTPUT),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.analysis.investigation.investigation_model import Outcome
    from io_benchmark.commands.output import EXIT_UNDECIDED, print_report
    from io_benchmark.operations.investigate import investigate
    from io_benchmark.operations.investigation_tasks import InvestigationOptions

    options = InvestigationOptions(
        runs=given[RUNS],
        on=given[ON],
        profiles=given[PROFILES],
        project=given[PROJECT],
        pools_file=given[POOLS_FILE],
        journal=given[JOURNAL],
        dry_run=given[DRY_RUN],
        yes=given[YES],
        budget_hours=given[BUDGET],
        image=given[IMAGE],
        owner=given[OWNER],
        root=given[ROOT],
        prices=given[PRICES],
    )
    report = investigate(given[TASK], options, context)
    exit_code = print_report(report, given, context)
    is_open = report.conclusion.outcome is Outcome.OPEN and not given[DRY_RUN]
    return exit_code or (EXIT_UNDECIDED if is_open else 0)
