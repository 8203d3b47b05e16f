# SPDX-License-Identifier: MPL-2.0
"""The pages of --help: their size, their groups, and that their examples work."""

import importlib
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import program
import pytest
import real_tasks
import seed_case
from checkout import ROOT, copy_checkout
from documentation import example
from loopback import Loopback
from submitted_tasks import IDENTITY

from io_benchmark.cli import COMMANDS

SCREEN = {"COLUMNS": "80"}
EXAMPLES = [
    pytest.param(line, id=line)
    for command in COMMANDS
    for line in importlib.import_module(f"io_benchmark.commands.{command}").EXAMPLES
]
# They measure for minutes, or need more than a Taskcluster on the loopback: profiles of tasks.
PARSED_ONLY = ("io-benchmark rehearse", "io-benchmark submit --resume", "io-benchmark predict")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_on_a_screen(command: str) -> None:
    """80 columns and 40 lines."""
    lines = program.run(*command.split(), "--help", environment=SCREEN).stdout.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_groups_examples_and_a_manual(command: str) -> None:
    """Every option is in a named group; the page ends with two examples and the manual's page."""
    text = program.run(command, "--help", environment=SCREEN).stdout
    assert "\noptions:" not in text
    assert "\npositional arguments:" not in text
    assert "\noutput" in text
    head, last = text.rstrip().rsplit("\n\n", 1)
    assert (ROOT / last.removeprefix("Manual: ")).is_file()
    examples = head.rpartition("\nexamples:\n")[2].splitlines()
    assert len(examples) == 2
    assert all(f"io-benchmark {command}" in line for line in examples)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout with what the examples name: results and a Firefox checkout."""
    made = copy_checkout(tmp_path_factory.mktemp("examples") / "io-benchmark")
    for number, name in enumerate(("results", "before", "after")):
        seed_case.write(made / name, seed=number)
    (made / "runs.csv").write_text(real_tasks.table())
    (made / "prices.yml").write_text("{currency: USD, prices: {intel: 0.42, amd-16: 0.39}}")
    shutil.copytree(ROOT / "tests/firefox/checkout", made / "firefox")
    return made


@pytest.fixture(scope="module")
def taskcluster() -> Iterator[Loopback]:
    with Loopback(example()) as running:
        yield running


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples(line: str, folder: Path, taskcluster: Loopback) -> None:
    """Each example does what it says, with what it names."""
    words = shlex.split(line)
    if line.startswith(PARSED_ONLY):
        assert program.parse(*words[1:])
        return
    environment = {"TASKCLUSTER_ROOT_URL": taskcluster.url, **IDENTITY}
    program.run(*words[1:], folder=folder, environment=environment)
