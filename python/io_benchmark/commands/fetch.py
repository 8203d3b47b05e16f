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
from io_benchmark.sources import address, folders
from io_benchmark.sources.run_store import RunStore

if TYPE_CHECKING:
    from io_benchmark.sources import layout
    from io_benchmark.sources.found import Account

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
        help=f"the folder for the runs (default: a new one, {folders.DEFAULT}/fetch-TIME)",
    )
    add("--json", action="store_true", help="print a list of what was fetched as JSON")


def run(arguments: argparse.Namespace, context: Context) -> int:
    from io_benchmark.commands.fetching import shown_progress
    from io_benchmark.sources.gather import remarks_on

    remote, meanings = _remote(arguments.addresses, context)
    store = RunStore(arguments.output if arguments.output is not None else folders.default("fetch"))
    # Imported here: the client takes 0.2 s to load, and --help must not wait for it.
    from io_benchmark.sources.budget import Budget
    from io_benchmark.sources.remote import collect
    from io_benchmark.sources.retrying import Policy
    from io_benchmark.sources.running import run as run_to_end

    remarks = [text for _, text in remarks_on(arguments.addresses, meanings, context.environment)]
    with store, shown_progress(context.stderr) as progress:
        account = run_to_end(
            collect(
                remote,
                context.environment,
                Policy(),
                accept=store.accept,
                progress=progress,
                have=store.has,
                budget=Budget(read_bytes=READ_BYTES),
            )
        )
    remarks += [text for _, text in sorted(account.remarks)]
    problems = [text for _, text in sorted(account.problems)]
    _report(store, account, remarks, problems, context, as_json=arguments.json)
    return 1 if problems or not store.runs else 0


def _remote(
    texts: Sequence[str], context: Context
) -> tuple[list[tuple[int, address.RemoteAddress]], list[address.Address]]:
    meanings = [address.parse(text, context.environment) for text in texts]
    remote = []
    for at, meaning in enumerate(meanings):
        if isinstance(meaning, address.FileAddress):
            raise UsageError(
                f"{meaning}: is a path on this machine, not in Taskcluster; give task:ID, "
                f"group:ID, index:ROUTE or an address"
            )
        remote.append((at, meaning))
    return remote, meanings


def _report(
    store: RunStore,
    account: Account,
    remarks: Sequence[str],
    problems: Sequence[str],
    context: Context,
    *,
    as_json: bool,
) -> None:
    fetched = len(store.runs) - store.kept
    runs = sorted(store.runs, key=lambda run: run[1])
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
    context.tell(f"{runs_fetched} fetched{already}{missing} ({account.requests} requests)")


def _as_json(folder: Path, record: layout.TaskRecord | None, name: str) -> dict[str, Any]:
    known: dict[str, Any] = {"folder": str(folder / name), "fetched": record is not None}
    if record is None:
        task_id, _, run_id = name.rpartition(".")
        return {**known, "task_id": task_id, "run_id": int(run_id)}
    described: dict[str, Any] = msgspec.to_builtins(record)
    described.pop("version")
    return {**known, **described}
