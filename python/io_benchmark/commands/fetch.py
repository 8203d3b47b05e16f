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
import asyncio
import json
import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from io_benchmark.commands.common import tell
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.paths import resolved
from io_benchmark.sources import address, folders, layout

if TYPE_CHECKING:
    from io_benchmark.sources.found import Account, Found

JSON_VERSION = 1


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


def run(arguments: argparse.Namespace) -> int:
    from io_benchmark.commands.fetching import shown_progress
    from io_benchmark.sources.gather import remarks_on

    remote, meanings = _remote(arguments.addresses)
    store = Store(arguments.output if arguments.output is not None else folders.default("fetch"))
    # Imported here: the client takes 0.2 s to load, and --help must not wait for it.
    from io_benchmark.sources.remote import collect
    from io_benchmark.sources.retrying import Policy
    from io_benchmark.sources.running import run as run_to_end

    remarks = [text for _, text in remarks_on(arguments.addresses, meanings, os.environ)]
    with shown_progress() as progress:
        account = run_to_end(
            collect(
                remote,
                os.environ,
                Policy(),
                accept=store.accept,
                progress=progress,
                have=store.has,
            )
        )
    remarks += [text for _, text in sorted(account.remarks)]
    problems = [text for _, text in sorted(account.problems)]
    _report(store, account, remarks, problems, as_json=arguments.json)
    return 1 if problems or not store.runs else 0


def _remote(
    texts: Sequence[str],
) -> tuple[list[tuple[int, address.RemoteAddress]], list[address.Address]]:
    meanings = [address.parse(text, os.environ) for text in texts]
    remote = []
    for at, meaning in enumerate(meanings):
        if isinstance(meaning, address.FileAddress):
            raise UsageError(
                f"{meaning}: is a path on this machine, not in Taskcluster; give task:ID, "
                f"group:ID, index:ROUTE or an address"
            )
        remote.append((at, meaning))
    return remote, meanings


@dataclass
class Store:
    """The folder that the runs go to. It is made with the first of them."""

    folder: Path
    runs: list[tuple[layout.TaskRecord | None, str]] = field(default_factory=list)
    kept: int = 0

    def __post_init__(self) -> None:
        whole = resolved(self.folder, f"--output {self.folder}")
        if whole.exists() and not whole.is_dir():
            raise UsageError(f"--output {self.folder}: is no folder")

    def has(self, task_id: str, run_id: int) -> bool:
        """Is the run there already? Then it is whole, for it came by rename."""
        folder = layout.run_folder(self.folder, task_id, run_id)
        if not os.path.lexists(folder):
            return False
        if not (folder / layout.RESULT_NAME).is_file() or not (folder / layout.TASK_NAME).is_file():
            raise ResultError(f"{folder}: is there already and is no whole run; remove it")
        self.kept += 1
        self.runs.append((None, folder.name))
        return True

    async def accept(self, found: Found) -> None:
        """Takes a run in. It is written in a thread: a slow disk must not hold up what arrives.

        A thread also is not cut short by Ctrl-C, so that what it writes becomes whole.
        """
        name = await asyncio.to_thread(self._write, found.record, found.data)
        self.runs.append((found.record, name))

    def _write(self, record: layout.TaskRecord, data: bytes) -> str:
        """Puts a run together aside and moves it to its place in one step."""
        target = layout.run_folder(self.folder, record.task_id, record.run_id)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            aside = self.folder / f".{target.name}-{secrets.token_hex(4)}"
            aside.mkdir()
            try:
                (aside / layout.RESULT_NAME).write_bytes(data)
                layout.write_task(aside, record)
                aside.rename(target)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        except OSError as error:
            raise ResultError(f"{target}: cannot be written: {error.strerror}") from None
        return target.name


def _report(
    store: Store,
    account: Account,
    remarks: Sequence[str],
    problems: Sequence[str],
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
        json.dump(body, sys.stdout, indent=2)
        print()
    elif runs:
        print(store.folder)
    for remark in remarks:
        tell(f"note: {remark}")
    for problem in problems:
        tell(f"error: {problem}")
    already = f", {store.kept} there already" if store.kept else ""
    missing = f", {len(problems)} could not be had" if problems else ""
    runs_fetched = "1 run" if fetched == 1 else f"{fetched} runs"
    tell(f"{runs_fetched} fetched{already}{missing} ({account.requests} requests)")


def _as_json(folder: Path, record: layout.TaskRecord | None, name: str) -> dict[str, Any]:
    known: dict[str, Any] = {"folder": str(folder / name), "fetched": record is not None}
    if record is None:
        task_id, _, run_id = name.rpartition(".")
        return {**known, "task_id": task_id, "run_id": int(run_id)}
    described: dict[str, Any] = msgspec.to_builtins(record)
    described.pop("version")
    return {**known, **described}
