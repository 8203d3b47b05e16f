# SPDX-License-Identifier: MPL-2.0
"""The pages of --help: their size, their groups, and their examples."""

import importlib
import shlex
from pathlib import Path

import program
import pytest
from checkout import ROOT

from io_benchmark.cli import COMMANDS

SCREEN = {"COLUMNS": "80"}
EXAMPLES = [
    pytest.param(line, id=line)
    for command in COMMANDS
    for line in importlib.import_module(f"io_benchmark.commands.{command}").EXAMPLES
]


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


@pytest.mark.parametrize("command", COMMANDS)
def test_rules_name_options(command: str) -> None:
    """What an option excludes or needs is an option of its command."""
    groups = importlib.import_module(f"io_benchmark.commands.{command}").OPTIONS.values()
    options = {option.title: option for group in groups for option in group}
    named = {name for option in options.values() for name in (*option.excludes, *option.needs)}
    assert named <= set(options)


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a command line that the program takes; pages with the same commands run them."""
    (tmp_path / "prices.yml").write_text("{currency: USD, prices: {intel: 0.42}}")
    monkeypatch.chdir(tmp_path)
    assert program.parse(*shlex.split(line)[1:])
