# SPDX-License-Identifier: MPL-2.0
"""Download results from Taskcluster to compare them offline.

ADDRESS is task:ID, group:ID, index:ROUTE, or an address pasted from
Taskcluster or Treeherder. Each run becomes a folder TASKID.RUNID. Runs that
were already fetched are skipped, so the same command resumes where it stopped.

Exit code: 0 all fetched, 1 something is missing, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from io_benchmark.commands.context import EXIT_FAILED, Context
from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import output_folder
from io_benchmark.sources.folder.run_store import RunStore

if TYPE_CHECKING:
    from io_benchmark.sources.protocol import ReadLog, SourceAddress
    from io_benchmark.sources.run_results import TaskRecord

JSON_VERSION = 1
# Results of 0.2 MB: ten thousand of them.
READ_BYTES = 2_000_000_000

USAGE = "ADDRESS ... [OPTION ...]"
EXAMPLES = (
    "io-benchmark fetch group:Fqm6GL_zRPurCmd1rRuTRQ --output results",
    "io-benchmark fetch task:intelAAARPurCmd1rRuTRQ --json",
)
MANUAL = "sources.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what to fetch").add_argument
    add("addresses", nargs="+", metavar="ADDRESS", help="where the results are")
    add = parser.add_argument_group("output").add_argument
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"folder for the runs (default: a new one, {output_folder.DEFAULT_FOLDER}/fetch-TIME)",
    )
    add("--json", action="store_true", help="print a list of the runs as JSON")


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.commands.progress_display import show_progress
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.gather import read_addresses
    from io_benchmark.sources.protocol import ReadRequest

    addresses = _remote_addresses(arguments.addresses, context)
    store = RunStore(
        arguments.output
        if arguments.output is not None
        else output_folder.default_output_folder("fetch")
    )
    with show_progress(context.stderr) as progress:
        request = ReadRequest(
            context.environment,
            store.accept,
            progress,
            has_run=store.has_run,
            budget=Budget(read_bytes=READ_BYTES),
        )
        log = read_addresses(addresses, request)
        store.add_without_result(log.without_result)
    _report(store, log, context, as_json=arguments.json)
    return EXIT_FAILED if log.problems or not store.runs else 0


def _remote_addresses(texts: Sequence[str], context: Context) -> list[SourceAddress]:
    from io_benchmark.sources.gather import address_forms, parse_addresses

    addresses = parse_addresses(texts, context.environment)
    for address in addresses:
        if address.source.is_local:
            raise UsageError(
                f"{address.text}: is a path on this machine, which need not be fetched; give "
                f"{address_forms(local=False)}"
            )
    return addresses


def _report(
    store: RunStore,
    log: ReadLog,
    context: Context,
    *,
    as_json: bool,
) -> None:
    remarks, problems = log.remark_lines(), log.problem_lines()
    runs = sorted(store.runs, key=lambda run: run.folder_name)
    fetched = sum(run.record is not None for run in runs)
    if as_json:
        body = {
            "version": JSON_VERSION,
            "folder": str(store.folder) if runs else None,
            "runs": [_as_json(store.folder, record, name) for record, name in runs],
            "unreadable": list(problems),
            "remarks": list(remarks),
        }
        context.print(json.dumps(body, indent=2))
    elif runs:
        context.print(str(store.folder))
    for remark in remarks:
        context.tell(f"note: {remark}")
    for problem in problems:
        context.tell(f"error: {problem}")
    already = f", {len(runs) - fetched} skipped" if fetched < len(runs) else ""
    missing = f", {len(problems)} could not be fetched" if problems else ""
    runs_fetched = "1 run" if fetched == 1 else f"{fetched} runs"
    context.tell(f"{runs_fetched} fetched{already}{missing}")


def _as_json(folder: Path, record: TaskRecord | None, name: str) -> dict[str, Any]:
    known: dict[str, Any] = {"folder": str(folder / name), "fetched": record is not None}
    if record is None:
        task_id, _, run_id = name.rpartition(".")
        return {**known, "task_id": task_id, "run_id": int(run_id)}
    described: dict[str, Any] = msgspec.to_builtins(record)
    for key in ("version", "problem", "is_lost"):
        described.pop(key)
    return {**known, **described}
