# SPDX-License-Identifier: MPL-2.0
"""Every page of the documentation: its commands work, its links and pictures lead somewhere."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import decision_example
import program
import pytest
from checkout import ROOT, copy_checkout
from documentation import DEPLOYMENT, blocks, command_lines, example, pages
from loopback import Loopback
from loopback_deployment import GROUP

PAGES = [pytest.param(page, id=page.stem) for page in pages()]
RUN = [
    pytest.param(page, id=page.stem)
    for page in pages()
    if any(block.how != "skip" for block in blocks(page, "sh"))
]
# Stands for the client's command line, which is not among the tests' packages.
SIGN_IN = "#!/bin/sh\necho export TASKCLUSTER_CLIENT_ID=me TASKCLUSTER_ACCESS_TOKEN=secret-token\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of someone with a Firefox checkout and Taskcluster's own command."""
    shutil.copytree(ROOT / "tests/firefox/checkout", tmp_path / "firefox")
    (tmp_path / "bin").mkdir()
    client = tmp_path / "bin/taskcluster"
    client.write_text(SIGN_IN)
    client.chmod(0o755)
    return tmp_path


@pytest.fixture
def clone(home: Path) -> Path:
    """A copy of the checkout that commands may write into."""
    clone = copy_checkout(home / "io-benchmark")
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    # What is measured is no subject here, so that it may be little.
    kind = clone / "taskcluster/kinds/io-benchmark/kind.yml"
    usual = "retrieves: 2000"
    assert usual in kind.read_text()
    kind.write_text(kind.read_text().replace(usual, "retrieves: 20"))
    return clone


# A command line without anything that only a shell understands.
PLAIN = re.compile(r"io-benchmark( [\w./:=,%-]+| '[^']*')*")


def run_block(clone: Path, text: str, **environment: str) -> None:
    """Run a block by a shell; in this process, which is quick, where it needs no shell."""
    lines = text.strip().splitlines()
    if all(PLAIN.fullmatch(line) for line in lines):
        for line in lines:
            variables = {"HOME": str(clone.parent), **environment}
            program.run(*shlex.split(line)[1:], folder=clone, environment=variables)
        return
    done = subprocess.run(
        ["bash", "-euc", text],
        cwd=clone,
        env={
            "PATH": f"{clone.parent}/bin:{sys.prefix}/bin:{os.environ['PATH']}",
            "HOME": str(clone.parent),
            # What scripts/rehearse would install is there already.
            "IO_BENCHMARK_ENVIRONMENT": sys.prefix,
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", RUN)
def test_commands_run(page: Path, clone: Path) -> None:
    """The page's commands, in its order, each to its end without an error."""
    with Loopback(example()) as taskcluster:
        for block in blocks(page, "sh"):
            if block.how == "taskcluster":
                text = block.text.replace(DEPLOYMENT, taskcluster.url)
                run_block(clone, text, TASKCLUSTER_ROOT_URL=taskcluster.url)
            elif block.how == "":
                run_block(clone, block.text)


@pytest.mark.parametrize("name", ["README.md", "taskcluster/docs/tutorial.md"])
def test_answers_are_the_programs(name: str, tmp_path: Path) -> None:
    """The answer that a page shows is, letter by letter, what its command prints."""
    (shown,) = [block.text for block in blocks(ROOT / name, "text") if "is 1.92×" in block.text]
    with Loopback(example()) as taskcluster:
        done = program.run(
            *("compare", f"group:{GROUP}"),
            folder=tmp_path,
            environment={"TASKCLUSTER_ROOT_URL": taskcluster.url},
        )
    assert shown in done.stdout


@pytest.mark.parametrize("name", ["deciding.md", "predicting.md"])
def test_predictions_are_the_programs(name: str, tmp_path: Path) -> None:
    """What these pages show is, letter by letter, what their commands print."""
    page = ROOT / "taskcluster/docs" / name
    (tmp_path / "task-profile.json").write_bytes(decision_example.profile())
    printed = []
    with Loopback(example()) as taskcluster:
        environment = {"TASKCLUSTER_ROOT_URL": taskcluster.url}
        for block in blocks(page, "sh"):
            if block.text.startswith("cat "):
                subprocess.run(["bash", "-euc", block.text], cwd=tmp_path, check=True)
            for line in command_lines(block.text):
                done = program.run(*shlex.split(line)[1:], folder=tmp_path, environment=environment)
                printed.append(done.stdout)
    shown = [block.text for block in blocks(page, "text")]
    assert shown
    assert [text for text in shown if not any(text in output for output in printed)] == []


def test_the_readme_shows_the_cost(tmp_path: Path) -> None:
    """The command that README gives for it prints it, for each pool and in all; nobody is asked."""
    (line,) = [
        line
        for block in blocks(ROOT / "README.md", "sh")
        for line in command_lines(block.text)
        if line.startswith("io-benchmark submit")
    ]
    done = program.run(*shlex.split(line)[1:], folder=ROOT, environment={"HOME": str(tmp_path)})
    assert "3 tasks, at most 2.8 worker hours in all\n" in done.stderr
    for pool in ("amd-16", "amd-30", "intel"):
        assert (
            f"\n  {pool}: at most 55 minutes of worker time (1 task of 55 minutes on "
            in done.stderr
        )


def test_every_block_says_how_it_is_run() -> None:
    """A misspelt word after `sh` would leave a command untested."""
    found = {block.how for page in pages() for block in blocks(page, "sh")}
    assert found <= {"", "taskcluster", "skip"}


LINES = [
    pytest.param(line, id=f"{page.stem}: {line}")
    for page in pages()
    for block in blocks(page, "sh")
    if block.how == "skip"
    for line in command_lines(block.text)
]


@pytest.mark.parametrize("line", LINES)
def test_commands_that_are_not_run_are_understood(line: str) -> None:
    """What needs more than this machine is a command line that the program takes all the same."""
    assert program.parse(*shlex.split(line)[1:])


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
    """As GitHub makes them."""
    titles = re.findall(r"^#+ +(.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_index_names_every_page() -> None:
    """No page is there that nobody finds."""
    folder = ROOT / "taskcluster/docs"
    named = set(re.findall(r"\]\(([a-z.-]+)\)", (folder / "index.md").read_text()))
    there = {path.name for path in folder.iterdir() if path.is_file()} - {"index.md"}
    assert there - named == set()
