# SPDX-License-Identifier: MPL-2.0
"""Download results from Taskcluster to compare them offline.

ADDRESS is task:ID, group:ID, index:ROUTE, or an address pasted from
Taskcluster or Treeherder. Each run becomes a folder TASKID.RUNID. Runs that
were already fetched are skipped, so the same command resumes where it stopped.

Exit code: 0 all fetched, 1 something is missing, 2 wrong usage.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from io_benchmark.commands.option_table import Given, flag, option
from io_benchmark.context import Context
from io_benchmark.sources.folder.output_folder import DEFAULT_FOLDER

if TYPE_CHECKING:
    from io_benchmark.operations.fetch import FetchedRuns
    from io_benchmark.sources.run_results import TaskRecord

JSON_VERSION = 1
USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark fetch group:Fqm6GL_zRPurCmd1rRuTRQ --output results",
    "io-benchmark fetch task:intelAAARPurCmd1rRuTRQ --json",
)
MANUAL = "sources.md"
OPTIONS = {
    "what to fetch": (
        option("addresses", nargs="+", metavar="ADDRESS", help="where the results are"),
    ),
    "output": (
        option(
            "--output",
            type=Path,
            metavar="DIR",
            help=f"folder for the runs (default: a new one, {DEFAULT_FOLDER}/fetch-TIME)",
        ),
        flag("--json", help="print a list of the runs as JSON"),
    ),
}


def run(given: Given, context: Context) -> int:
    from io_benchmark.commands.output import EXIT_FAILED
    from io_benchmark.operations.fetch import fetch

    with context.progress() as progress:
        runs = fetch(given["addresses"], given.get("output"), context.environment, progress)
    problems = runs.log.problem_lines()
    if "json" in given:
        context.print(json.dumps(_document(runs), indent=2))
    elif runs.records:
        context.print(str(runs.folder))
    for remark in runs.log.remark_lines():
        context.tell(f"note: {remark}")
    context.tell_errors(problems)
    context.tell(_summary(runs, len(problems)))
    return EXIT_FAILED if problems or not runs.records else 0


def _summary(runs: "FetchedRuns", problems: int) -> str:
    fetched = sum(record is not None for record in runs.records.values())
    skipped = len(runs.records) - fetched
    already = f", {skipped} skipped" if skipped else ""
    missing = f", {problems} could not be fetched" if problems else ""
    count = "1 run" if fetched == 1 else f"{fetched} runs"
    return f"{count} fetched{already}{missing}"


def _document(runs: "FetchedRuns") -> dict[str, Any]:
    return {
        "version": JSON_VERSION,
        "folder": str(runs.folder) if runs.records else None,
        "runs": [
            {
                "folder": str(runs.folder / name),
                "fetched": record is not None,
                **_described(name, record),
            }
            for name, record in runs.records.items()
        ],
        "unreadable": list(runs.log.problem_lines()),
        "remarks": list(runs.log.remark_lines()),
    }


def _described(name: str, record: "TaskRecord | None") -> dict[str, Any]:
    if record is None:  # fetched before
        task_id, _, run_id = name.rpartition(".")
        return {"task_id": task_id, "run_id": int(run_id)}
    described: dict[str, Any] = msgspec.to_builtins(record)
    return {key: described[key] for key in described if key not in _NOT_LISTED}


_NOT_LISTED = ("version", "problem", "is_lost")
