# SPDX-License-Identifier: MPL-2.0
"""From a slow task's address to what to change, with the evidence, for a bug.

The steps: what is slow, what the machines do, why, and what the task asks of
them. Each is shown with its cost before it starts. A journal remembers the
tasks that were created, so the same command resumes. Needs io-benchmark[all].

Exit code: 0 concluded, also that nothing is to change, 1 failed, 2 wrong usage,
3 not decided: the report has what a person must do.
"""

from io_benchmark.commands import options
from io_benchmark.commands.submit import OWNER
from io_benchmark.context import Context
from io_benchmark.report.formats import GENERAL_FORMATS
from io_benchmark.submit.values import parse_image

USAGE = "TASK [OPTION ...]"
EXAMPLES = (
    "io-benchmark investigate task:cQ4kTnR7QTq1p2L0dJ8wXg --write markdown=bug.md",
    "io-benchmark investigate task:cQ4kTnR7QTq1p2L0dJ8wXg --runs runs.csv --dry-run",
)
MANUAL = "deciding.md"
OPTIONS = {
    "what is known (each can have several values)": (
        options.option("address", "TASK", "the slow task: task:ID, or its web address"),
        options.option(
            "--runs", "ADDRESS", "more runs of the task (default: earlier pushes)", nargs="+"
        ),
        options.option("--on", "ADDRESS", "results of the pools (default: the index)", nargs="+"),
        options.option("--profile", "ADDRESS", "profiles of the task", nargs="+"),
        options.PROJECT,
        options.option(
            "--pools-file", "FILE", "worker-pools.yml, to make a patch of it", options.parse_path
        ),
    ),
    "what to do": (
        options.option(
            "--journal", "DIR", "folder for pages, and what was created", options.parse_path
        ),
        options.flag("--dry-run", "show the steps and their costs, do nothing"),
        options.flag("--yes", "create tasks without asking"),
        options.option(
            "--budget",
            "HOURS",
            "most worker time of the tasks of a step (default: 12)",
            options.parse_hours,
        ),
        options.option("--image", "IMAGE", "of new tasks (default: the task's)", parse_image),
        OWNER._replace(summary="owner of new tasks (default: git's user.email)"),
        options.ROOT,
    ),
    options.REPORT_OUTPUT: (options.PRICES, *options.report_options(GENERAL_FORMATS)),
}


def run(given: options.Given, context: Context) -> int:
    from io_benchmark.analysis.investigation.investigation_model import Outcome
    from io_benchmark.commands.output import EXIT_UNDECIDED, print_report
    from io_benchmark.operations.investigate import investigate
    from io_benchmark.operations.investigation_tasks import InvestigationOptions

    settings = InvestigationOptions(**options.arguments(InvestigationOptions, given))
    report = investigate(given["address"], settings, context)
    exit_code = print_report(report, given, context)
    is_open = report.conclusion.outcome is Outcome.OPEN and not settings.dry_run
    return exit_code or (EXIT_UNDECIDED if is_open else 0)
