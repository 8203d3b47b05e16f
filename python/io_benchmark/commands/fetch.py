# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Bring results from Taskcluster onto this machine, so that they can be compared offline.

ADDRESS is task:ID, group:ID, index:ROUTE, or the address of a task, a group or a push as pasted
from a browser (Taskcluster, Treeherder). Each run becomes a folder TASKID.RUNID with
io-benchmark.json and task.json; a run that is there already is neither asked for nor changed, so
that the same command with the same --output goes on where it was stopped.

Private results are asked for with TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN. stdout gets
the folder's name. Exit code: 0 all is there, 1 something is not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from io_benchmark.commands.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import output_folder
from io_benchmark.sources.folder.run_store import RunStore

if TYPE_CHECKING:
    from io_benchmark.sources.protocol import ReadLog, SourceAddress, TaskRecord

JSON_VERSION = 1
# Results of 0.2 MB: ten thousand of them.
READ_BYTES = 2_000_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("addresses", nargs="+", metavar="ADDRESS", help="what to fetch")
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help=f"the folder for the runs (default: a new one, {output_folder.DEFAULT_FOLDER}/fetch-TIME)",
    )
    add("--json", action="store_true", help="print a list of what was fetched as JSON")


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.commands.fetching import shown_progress
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.gather import read_addresses
    from io_benchmark.sources.protocol import ReadRequest

    addresses = _remote_addresses(arguments.addresses, context)
    store = RunStore(
        arguments.output
        if arguments.output is not None
        else output_folder.default_output_folder("fetch")
    )
    with store, shown_progress(context.stderr) as progress:
        request = ReadRequest(
            context.environment,
            store.accept,
            progress,
            has_run=store.has_run,
            budget=Budget(read_bytes=READ_BYTES),
            accept_blocks=True,
        )
        log = read_addresses(addresses, request)
    _report(store, log, context, as_json=arguments.json)
    return 1 if log.problems or not store.runs else 0


def _remote_addresses(texts: Sequence[str], context: Context) -> list[SourceAddress]:
    from io_benchmark.sources.registry import address_forms, parse_addresses

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
    fetched = len(store.runs) - store.kept
    runs = sorted(store.runs, key=lambda run: run.folder_name)
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
    already = f", {store.kept} there already" if store.kept else ""
    missing = f", {len(problems)} could not be had" if problems else ""
    runs_fetched = "1 run" if fetched == 1 else f"{fetched} runs"
    context.tell(f"{runs_fetched} fetched{already}{missing} ({log.requests} requests)")


def _as_json(folder: Path, record: TaskRecord | None, name: str) -> dict[str, Any]:
    known: dict[str, Any] = {"folder": str(folder / name), "fetched": record is not None}
    if record is None:
        task_id, _, run_id = name.rpartition(".")
        return {**known, "task_id": task_id, "run_id": int(run_id)}
    described: dict[str, Any] = msgspec.to_builtins(record)
    described.pop("version")
    return {**known, **described}
