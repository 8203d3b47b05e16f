# SPDX-License-Identifier: MPL-2.0
"""The command line as a user types it."""

import itertools
import subprocess
import sys
from pathlib import Path

import program
import pytest
import seed_case
import seed_workers

from io_benchmark.commands import script
from io_benchmark.errors import ResultError, UsageError


def test_help_loads_nothing_heavy() -> None:
    """Help comes before any library that takes long to load."""
    code = (
        "import sys; from io_benchmark import cli\n"
        "cli.main(['rehearse', '--help'], sys.stdin, sys.stdout, sys.stderr, {})\n"
        "heavy = {'numpy', 'rich', 'taskgraph', 'scipy', 'taskcluster', 'matplotlib'}\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_version() -> None:
    """One line says which package's results this program reads."""
    done = program.run("--version")
    assert done.stdout == "io-benchmark 1.0.0 reads results of io-benchmark-taskgraph 1.x\n"


def test_what_is_loaded(tmp_path: Path) -> None:
    """The top-level help needs no data classes, and a comparison no history, page or network."""
    seed_case.write(tmp_path / "seed")
    code = (
        "import sys; from io_benchmark import cli\n"
        "late = {'dataclasses', 'inspect', 'msgspec'}\n"
        "cli.main(['--help'], sys.stdin, sys.stderr, sys.stderr, {})\n"
        "print(*sorted(late & set(sys.modules)))\n"
        "unused = {'asyncio', 'io_benchmark.analysis.history.series'}\n"
        "cli.main(['compare', sys.argv[1]], sys.stdin, sys.stderr, sys.stderr, {})\n"
        "print(*sorted(unused & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "seed")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "\n\n"


def test_comparisons_load_no_numpy(tmp_path: Path) -> None:
    """Importing numpy takes longer than comparing: looks, zones and batches do without it as well."""
    located = {
        f"{pool}/{number}": {
            "task.location": {"zone": "ab"[number % 2]},
            **seed_workers.measured(seed=number),
        }
        for pool, number in itertools.product(("intel", "amd-16"), range(3))
    }
    seed_case.write(tmp_path / "seed", 3, between=0.05, pools=("intel", "amd-16"), change=located)
    code = (
        "import os, sys; from io_benchmark import cli\n"
        "for form in ('text', 'json', 'markdown', 'html', 'perfherder'):\n"
        "    arguments = ['compare', sys.argv[1], '--details', '--format', form]\n"
        "    assert cli.main(arguments, sys.stdin, sys.stdout, sys.stderr, {}) == 0\n"
        "sys.exit('numpy' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "seed")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "code"),
    [pytest.param(UsageError, 2, id="usage"), pytest.param(ResultError, 1, id="failure")],
)
def test_errors_are_one_line_and_a_code(
    error: type[Exception], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the outermost function turns an error into text."""

    def fail(_arguments: object, _context: object) -> int:
        raise error("a.json: what is wrong")

    monkeypatch.setattr(script, "run", fail)
    done = program.run("script", "--output", "x", expected=code)
    assert done.stderr == "error: a.json: what is wrong\n"
