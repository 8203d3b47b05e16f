# SPDX-License-Identifier: MPL-2.0
"""Every page of the documentation: its commands print what it shows, its links lead somewhere."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import program
import pytest
import real_tasks
import sample_machines
from checkout import ROOT, copy_checkout, copy_firefox
from documentation import DEPLOYMENT, blocks, command_lines, example, pages
from loopback import Loopback

from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root
from io_benchmark.report.formats.text import _TEXT_WIDTH
from io_benchmark.sources.run_table import _Row

README = ROOT / "README.md"
DOCS = ROOT / "taskcluster/docs"
COMMANDS = ("sh", "sh bare", "sh taskcluster")
# A machine on which nothing is installed.
BARE = "/usr/bin:/bin"
PAGES = [pytest.param(page, id=page.stem) for page in pages()]
WITH_COMMANDS = [pytest.param(page, id=page.stem) for page in pages() if blocks(page, *COMMANDS)]
# In the place of the client's command line, which is not among the tests' packages.
SIGN_IN = "#!/bin/sh\necho export TASKCLUSTER_CLIENT_ID=me TASKCLUSTER_ACCESS_TOKEN=secret-token\n"
# A command line without anything that only a shell understands.
PLAIN = re.compile(r"io-benchmark( [\w./:=,%-]+| '[^']*')*")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A checkout that commands may write into, of someone with Firefox and Taskcluster's client."""
    copy_firefox(tmp_path / "firefox")
    client = tmp_path / "bin/taskcluster"
    client.parent.mkdir()
    client.write_text(SIGN_IN)
    client.chmod(0o755)
    clone = copy_checkout(tmp_path / "io-benchmark")
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    return clone


def run_block(clone: Path, text: str, variables: dict[str, str]) -> str:
    """Return what a block prints.

    It runs in this process, which is quick, unless it needs a shell.
    """
    lines = text.strip().splitlines()
    if all(PLAIN.fullmatch(line) for line in lines):
        calls = [
            program.run(*shlex.split(line)[1:], folder=clone, environment=variables)
            for line in lines
        ]
        return "".join(call.stdout + call.stderr for call in calls)
    done = subprocess.run(
        ["bash", "-euc", text],
        cwd=clone,
        env={
            "PATH": f"{clone.parent}/bin:{sys.prefix}/bin:{os.environ['PATH']}",
            # What scripts/rehearse would install is there already.
            "IO_BENCHMARK_ENVIRONMENT": sys.prefix,
            **variables,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}"
    assert "Traceback" not in done.stdout
    return done.stdout


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_print_what_the_page_shows(page: Path, clone: Path) -> None:
    """The commands end without an error, in the page's order.

    Each answer is theirs, letter by letter.
    """
    kind = clone / "taskcluster/kinds/io-benchmark/kind.yml"
    usual = "retrieves: 2000"
    assert usual in kind.read_text()
    kind.write_text(kind.read_text().replace(usual, "retrieves: 20"))
    printed = ""
    with Loopback(example() if blocks(page, "sh taskcluster") else None) as taskcluster:
        for block in blocks(page, *COMMANDS):
            variables = {"HOME": str(clone.parent), "COLUMNS": "80"}
            if block.how == "sh taskcluster":
                variables["TASKCLUSTER_ROOT_URL"] = taskcluster.url
            if block.how == "sh bare":
                variables["PATH"] = BARE
            if "curl" in block.text and shutil.which("curl") is None:
                pytest.skip("needs curl")
            text = block.text.replace(DEPLOYMENT, taskcluster.url)
            printed += run_block(clone, text, variables)
    missing = [block.text for block in blocks(page, "text") if block.text not in printed]
    assert missing == []


def test_each_block_says_how_it_is_tested() -> None:
    """A misspelt word after `sh` would leave a command untested."""
    known = {*COMMANDS, "sh skip", "text", "text skip", "yaml", "json", "groovy"}
    assert {block.how for page in pages() for block in blocks(page)} <= known


LINES = [
    pytest.param(line, id=f"{page.stem}: {line}")
    for page in pages()
    for block in blocks(page, "sh skip")
    for line in command_lines(block.text)
]


@pytest.mark.parametrize("line", LINES)
def test_commands_that_are_not_run_are_understood(line: str) -> None:
    """What needs more than this machine is a command line that the program takes all the same."""
    program.parse(*shlex.split(line)[1:])


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    """Every link and picture within the project is a file, and a heading where it names one."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    missing = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        file = page.parent / name if name else page
        if not file.is_file() or (heading and heading not in _headings(file)):
            missing.append(target)
    assert missing == []


def _headings(page: Path) -> set[str]:
    """Return the anchors that GitHub makes."""
    titles = re.findall(r"^#+ +(.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_index_names_every_page() -> None:
    """No page is there that nobody finds."""
    named = set(re.findall(r"\]\(([a-z.-]+)\)", (DOCS / "index.md").read_text()))
    files = {path.name for path in DOCS.iterdir() if path.is_file()}
    assert files - named == {"index.md"}


def test_the_readmes_new_pool(clone: Path) -> None:
    """It is four lines and generates a task of each kind, named as the README says."""
    (text,) = [block.text for block in blocks(README, "yaml")]
    assert len(text.splitlines()) == 4
    kind = clone / "taskcluster/kinds/io-benchmark/kind.yml"
    kind.write_text(kind.read_text().rstrip("\n") + "\n\n" + text)
    name = text.split(":")[0].strip()
    task, model = generate(Root.find(clone), [name, "intel"])
    assert f"`{task.label}`" in README.read_text()
    payload = {**model.definition["payload"]}
    payload["command"] = [word.replace("intel ", f"{name} ") for word in payload["command"]]
    assert (task.pool, task.definition["payload"]) == (name, payload)
    tasks = generate(Root.find(clone), ["io-benchmark-all"])
    assert f"io-benchmark-all-{name}" in [task.label for task in tasks]


def test_tables_of_task_runs_are_documented() -> None:
    """Published examples are the tests', and tasks.md has each column with its further names."""
    assert (DOCS / "tasks-example.csv").read_text() == real_tasks.table()
    assert (DOCS / "machines-example.csv").read_text() == sample_machines.example()
    rows = re.findall(r"^\| (`.*?) \|(.*?)\|", (DOCS / "tasks.md").read_text(), re.MULTILINE)
    named = {name for row in rows for cell in row for name in re.findall(r"`([a-z_]+)`", cell)}
    assert {*_Row.__struct_fields__} <= named


def test_the_width_of_text() -> None:
    """reports.md has the width of sentences."""
    row = re.search(r"^\| `text` \|.*$", (DOCS / "reports.md").read_text(), re.MULTILINE)
    assert row is not None
    assert f"sentences at most {_TEXT_WIDTH} columns" in row[0]


def test_the_entries_in_firefox(tmp_path: Path) -> None:
    """firefox.md, its first page and the help count the files and entries that are really added."""
    patch = program.run("firefox", copy_firefox(tmp_path / "firefox"), "--diff").stdout
    parts = re.split(r"^(?=--- )", patch, flags=re.MULTILINE)[1:]
    added = [part for part in parts if part.startswith("--- /dev/null")]
    changed = [part for part in parts if part not in added]
    # A section of a page, a group of Treeherder, and a fetch begin so.
    entries = re.findall(
        r"^\+(?:## |        '\w+': |[a-z][\w-]*:$)", "".join(changed), re.MULTILINE
    )
    lines = re.findall(r"^\+(?!\+\+ )", patch, re.MULTILINE)
    assert (len(added), len(entries), len(changed), round(len(lines), -1)) == (2, 5, 3, 180)
    counted = "adds two files and five entries in three other files"
    assert counted in (DOCS / "firefox.md").read_text()
    assert counted in " ".join(program.run("firefox", "--help").stdout.split())
    assert "These are about 180 lines" in (DOCS / "first-firefox.md").read_text()


def test_files_of_contributing() -> None:
    """Each module and folder that CONTRIBUTING.md names is there, under the end of its path."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`([\w./-]+(?:\.(?:py|md|yml)|/))`", text))
    assert {"analysis/compare.py", "report/sections/causes.py", "explaining/"} <= named
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    files = [f"/{line}" for line in listed.stdout.decode().splitlines()]

    def is_there(name: str) -> bool:
        if name.endswith("/"):
            return any(f"/{name}" in file for file in files)
        return any(file.endswith(f"/{name}") for file in files)

    # What a build makes is not in the repository.
    made = {".tox/", "site/"}
    assert [name for name in sorted(named - made) if not is_there(name)] == []


def test_commands_of_contributing() -> None:
    """Each environment that CONTRIBUTING.md names is one of tox.ini.

    The programs it names are there.
    """
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert "/bootstrap/" not in text
    programs = set(re.findall(r"`(scripts/\w+)[ `]", text))
    assert {"scripts/test", "scripts/tox"} <= programs
    assert [name for name in programs if not os.access(ROOT / name, os.X_OK)] == []
    (table,) = re.findall(r"\| name \| what it runs \|\n.*?\n\n", text, re.DOTALL)
    named = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    environments = set(
        re.findall(r"^\[testenv:(\w+)\]", (ROOT / "tox.ini").read_text(), re.MULTILINE)
    )
    assert named == environments


def test_the_index_of_helpers() -> None:
    """Each helper of the tests is named once in their index, and nothing else is."""
    folder = ROOT / "tests/helpers"
    named = re.findall(r"`(\w+\.py)`", (folder / "README.md").read_text())
    assert sorted(named) == sorted(path.name for path in folder.glob("*.py"))


def test_fixtures_alone_are_in_conftests() -> None:
    """A conftest defines fixtures and pytest's hooks; a name with an underscore is for these."""
    for path in (ROOT / "tests").rglob("conftest.py"):
        for node in ast.parse(path.read_text()).body:
            assert not isinstance(node, ast.ClassDef), path
            if isinstance(node, ast.FunctionDef) and not node.name.startswith(("pytest_", "_")):
                assert any("fixture" in ast.unparse(mark) for mark in node.decorator_list), path
