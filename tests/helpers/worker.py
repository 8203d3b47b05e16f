# SPDX-License-Identifier: MPL-2.0
"""Runs the worker's script as a worker does, in folders of the test's own."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from process_groups import processes_of
from system.linux import page_cache  # type: ignore[import-not-found] # on the worker's path

from io_benchmark.results import BatchEntry, CacheRetrieveEntry, Result
from io_benchmark.sources.run_files import read_run

SCRIPT = ROOT / "scripts" / "io-benchmark"
WORKLOADS = sorted(path.stem.replace("_", "-") for path in (SCRIPT / "workloads").glob("*.py"))

# Runs the script after a few lines of Python have changed something in it.
DRIVER = """
import runpy, sys
folder = sys.argv.pop(1)
sys.path.insert(0, folder)
{prelude}
runpy.run_path(folder, run_name="__main__")
"""


def at_import(module: str, number: int) -> str:
    """Lines of Python with which the script gets a signal while it imports a module."""
    return (
        "import os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        f"            os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Finder())\n"
    )


def script(*arguments: str, python: str = sys.executable, prelude: str = "") -> list[str]:
    """Return the command line of the script; the lines of `prelude` change something in it."""
    driver = ["-c", DRIVER.format(prelude=prelude)] if prelude else []
    return [python, "-u", "-B", *driver, str(SCRIPT), *arguments]


def needs_disk(folder: Path) -> None:
    """Skip where the file system keeps files in memory alone: nothing is written or cold."""
    path = folder / "written-and-evicted"
    path.write_bytes(bytes(2**20))
    page_cache.sync_filesystem(str(folder))
    page_cache.evict(str(path))
    is_in_memory = page_cache.resident_bytes(str(path))
    path.unlink()
    if is_in_memory:
        pytest.skip(f"needs a disk, and {folder} is in memory")


def wait_for(process: "subprocess.Popen[str]", text: str) -> None:
    """Read its log up to a line with this text."""
    assert process.stdout is not None
    assert any(text in line for line in process.stdout), f"never printed: {text}"


def outcome_of(part: Result | CacheRetrieveEntry | BatchEntry) -> tuple[str, str | None]:
    """How a run or an entry of it ended."""
    return part.outcome.state.value, part.outcome.reason


def retrieves_of(result: Result) -> list[CacheRetrieveEntry]:
    entries = [entry for entry in result.workloads if isinstance(entry, CacheRetrieveEntry)]
    assert len(entries) == len(result.workloads)
    return entries


@dataclass
class Worker:
    """A workspace, an artifacts folder, and the script's command line for them."""

    workspace: Path
    artifacts: Path
    python: str = sys.executable
    workloads: tuple[str, ...] = ("cache-retrieve",)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """How messages begin that are about its place."""
        return f"place workspace ({self.workspace}): "

    @property
    def result_path(self) -> Path:
        return self.artifacts / "io-benchmark" / "io-benchmark.json"

    def result(self) -> Result:
        return read_run(self.result_path).result

    def retrieves(self) -> list[CacheRetrieveEntry]:
        """The entries of a run of cache-retrieve alone."""
        return retrieves_of(self.result())

    def document(self) -> Any:
        """The file as it stands, for what the reader's types leave out."""
        return json.loads(self.result_path.read_text())

    def measure(self, *extra: str, prelude: str = "") -> list[dict[str, Any]]:
        """The entries of a quick run that succeeds and reads."""
        self.complete("--profile", "quick", *extra, prelude=prelude)
        assert self.result().outcome.state == "completed"
        entries: list[dict[str, Any]] = self.document()["workloads"]
        return entries

    def limit_path(self, folder: Path, *tools: str) -> None:
        """A PATH with links to these tools and no other."""
        folder.mkdir()
        for name in tools:
            (folder / name).symlink_to(str(shutil.which(name)))
        self.environment["PATH"] = str(folder)

    def command(self, *extra: str, prelude: str = "") -> list[str]:
        given = [
            "--pool",
            "amd-16",
            *(part for name in self.workloads for part in ("--workload", name)),
            "--output",
            str(self.artifacts),
            "--profile",
            "full",
            "--perfherder",
            "pool",
            "--trials",
            "never",
            *extra,
        ]
        if "--place" not in extra:
            given += ["--place", f"workspace={self.workspace}"]
        if "--sizes" not in extra:
            given += ["--sizes", "4x0.5,4x0.25,2x0.01"]
        return script(*given, python=self.python, prelude=prelude)

    def start(self, *extra: str, prelude: str = "") -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*extra, prelude=prelude),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **self.environment},
            start_new_session=True,
        )

    def complete(self, *extra: str, prelude: str = "") -> str:
        """The log of a run that succeeds."""
        code, output = self.run(*extra, prelude=prelude)
        assert code == 0, output
        return output

    def run(self, *extra: str, prelude: str = "") -> tuple[int, str]:
        """The exit code and the log; no folder of the run is left in its place."""
        process = self.start(*extra, prelude=prelude)
        output, _ = process.communicate(timeout=120)
        assert "Traceback" not in output
        assert [*self.workspace.glob("io-benchmark-*")] == []
        return process.returncode, output

    def signalled(
        self, number: int, *extra: str, after: str, prelude: str = "", send: Any = os.kill
    ) -> tuple[int, str]:
        """A run that gets a signal (0: none) after a line with this text; nothing is left of it."""
        process = self.start(*extra, prelude=prelude)
        wait_for(process, after)
        send(process.pid, number)
        output, _ = process.communicate(timeout=120)
        assert "Traceback" not in output
        self.assert_clean(process.pid)
        return process.returncode, output

    def assert_clean(self, session: int) -> None:
        assert list(self.workspace.iterdir()) == []
        assert processes_of(session, self.workspace) == []
