# SPDX-License-Identifier: MPL-2.0
"""tasks.md: its answer is the program's, its example is the tests', and its columns are those there are."""

import re
import shlex
from pathlib import Path

import program
import real_tasks
from checkout import ROOT
from documentation import blocks, command_lines, example
from loopback import Loopback

from io_benchmark.sources.folder.run_table import _COLUMNS

PAGE = ROOT / "taskcluster/docs/tasks.md"
EXAMPLE = ROOT / "taskcluster/docs/tasks-example.csv"


def test_the_answer_is_the_programs(tmp_path: Path) -> None:
    """Letter by letter, from the example and the documentation's deployment."""
    (shown,) = [block.text for block in blocks(PAGE, "text")]
    (prices,) = re.findall(r"<<'EOF'\n(.*?)EOF\n", PAGE.read_text(), re.DOTALL)
    (tmp_path / "prices.yml").write_text(prices)
    (line,) = [
        line
        for block in blocks(PAGE, "sh")
        for line in command_lines(block.text)
        if "--operations" in line
    ]
    words = [str(EXAMPLE) if word.endswith(".csv") else word for word in shlex.split(line)[1:]]
    with Loopback(example()) as taskcluster:
        variables = {"TASKCLUSTER_ROOT_URL": taskcluster.url, "COLUMNS": "80"}
        done = program.run(*words, folder=tmp_path, environment=variables)
    assert shown in done.stdout


def test_the_example_is_the_tests() -> None:
    """The published table is what the tests use."""
    assert EXAMPLE.read_text() == real_tasks.table()


def test_the_columns_are_documented() -> None:
    """Each column and each further name of one."""
    rows = re.findall(r"^\| (`.*?) \|(.*?)\|", PAGE.read_text(), re.MULTILINE)
    named = {name for row in rows for cell in row for name in re.findall(r"`([a-z_]+)`", cell)}
    assert {name for names in _COLUMNS.values() for name in names} <= named
