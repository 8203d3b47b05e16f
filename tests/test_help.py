# SPDX-License-Identifier: MPL-2.0
"""The pages of --help: their size, their groups, and their examples."""

import importlib
import shlex
import tomllib
from pathlib import Path

import program
import pytest
from checkout import ROOT

from io_benchmark.commands.options.parsers import COMMANDS

EXAMPLES = [
    pytest.param(line, id=line)
    for command in COMMANDS
    for line in importlib.import_module(f"io_benchmark.commands.{command}").EXAMPLES
]


def documentation() -> str:
    """Return the address of the documentation's site, as the package index shows it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return str(project["urls"]["Documentation"])


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fits on a screen.

    Every option is in a group; it ends with two examples and the manual's page.
    """
    monkeypatch.setenv("COLUMNS", "80")
    text = program.run(*command.split(), "--help").stdout
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    if not command:
        assert lines[-1] == f"Manual: {documentation()}"
        return
    assert "\noptions:" not in text
    assert "\npositional arguments:" not in text
    assert "\noutput" in text
    *_, first, second, _, last = lines
    page = last.removeprefix(f"Manual: {documentation()}").removesuffix("/") or "index"
    assert (ROOT / f"taskcluster/docs/{page}.md").is_file()
    assert all(line.startswith(f"  io-benchmark {command}") for line in (first, second))


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
