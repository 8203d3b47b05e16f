# SPDX-License-Identifier: MPL-2.0
"""The command line as a user types it."""

import itertools
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import program
import pytest
import seed_case
import seed_workers

from io_benchmark.report.formats import FORMATS


def test_version() -> None:
    """One line says which package's results this program reads."""
    done = program.run("--version")
    assert done.stdout == "io-benchmark 1.0.0 reads results of io-benchmark-taskgraph 1.x\n"


OF_THE_FILE = (
    "is a command of the one file that measures a machine; write the file by io-benchmark script "
    "-o io-benchmark.pyz, and run python3 io-benchmark.pyz"
)


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("comapre", "'comapre' is not a command; did you mean compare?"),
        ("zzz", "'zzz' is not a command; io-benchmark --help lists them"),
        *(
            (
                word,
                f"{word} {OF_THE_FILE} {word}",
            )
            for word in ("run", "measure")
        ),
        ("--verson", "--verson is not an option; did you mean --version?"),
    ],
)
def test_unknown_commands(word: str, problem: str) -> None:
    """The message has what was probably meant, or where the command is."""
    done = program.run(word, "--pool", "x", expected=2)
    assert done.stderr.splitlines()[-1] == f"io-benchmark: error: {problem}"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--jsn", "x"], id="before"),
        pytest.param(["x", "--jsn=1"], id="with a value"),
    ],
)
def test_misspelt_options(words: list[str]) -> None:
    """They are named with what was meant, wherever they are."""
    done = program.run("compare", *words, expected=2)
    last = done.stderr.splitlines()[-1]
    assert last == "io-benchmark compare: error: --jsn is not an option; did you mean --json?"


@pytest.mark.parametrize("words", [["--", "--jsn"], ["--bas", "-x y"], ["x", "--label", "--a b"]])
def test_what_only_looks_like_an_option(words: list[str]) -> None:
    """After --, with a blank, or shortened where that is clear: as argparse reads it."""
    command = "tasks" if "--label" in words else "compare"
    done = program.run(command, *words, expected=2)
    assert "is not an option" not in done.stderr


HEAVY = ("numpy", "taskgraph", "scipy", "taskcluster", "asyncio", "shtab")
DATA = ("dataclasses", "inspect", "msgspec", "rich")


@pytest.mark.parametrize(
    ("lines", "unused"),
    [
        pytest.param(["--help"], (*HEAVY, *DATA), id="help"),
        pytest.param(["rehearse --help"], (*HEAVY, "rich"), id="help of a command"),
        # Importing numpy takes longer than comparing: looks, zones and batches do without it.
        pytest.param(
            ["compare seed", *(f"compare seed --details --format {form}" for form in FORMATS)],
            (*HEAVY, "io_benchmark.analysis.history.series"),
            id="compare",
        ),
    ],
)
def test_what_is_not_loaded(lines: list[str], unused: Sequence[str], tmp_path: Path) -> None:
    """Help loads no library that takes long, and a comparison loads no other report."""
    located = {
        f"{pool}/{number}": {
            "task.location": {"zone": "ab"[number % 2]},
            **seed_workers.measured(seed=number),
        }
        for pool, number in itertools.product(("intel", "amd-16"), range(3))
    }
    seed_case.write(tmp_path / "seed", 3, between=0.05, pools=("intel", "amd-16"), change=located)
    code = (
        "import os, sys; from io_benchmark import cli, context\n"
        "nowhere = open(os.devnull, 'w')\n"
        "for line in sys.argv[2:]:\n"
        "  code = cli.main(line.split(), context.Context(sys.stdin, nowhere, sys.stderr, {}))\n"
        "  code and sys.exit(code)\n"
        "sys.exit(' '.join(set(sys.argv[1].split()) & set(sys.modules)) or 0)"
    )
    command = [sys.executable, "-c", code, " ".join(unused), *lines]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
