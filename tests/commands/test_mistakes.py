# SPDX-License-Identifier: MPL-2.0
"""Mistakes in command lines: one line says what is wrong and what to do, and nothing is done."""

import importlib
import shlex
from pathlib import Path
from typing import Any

import program
import pytest
import real_tasks
import seed_case
from checkout import ROOT
from loopback_deployment import AMD_16, GROUP
from no_pauses import policy, waits
from predicted_tasks import profile_document, write_profile
from submitted_tasks import IDENTITY

from io_benchmark.commands.options.option import Option
from io_benchmark.commands.options.parsers import COMMANDS

__all__ = ["policy", "waits"]

# Nobody listens there.
NOWHERE = {"TASKCLUSTER_ROOT_URL": "http://127.0.0.1:9"}
FORMS = "task:ID, group:ID, index:ROUTE or a Taskcluster or Treeherder address"
IMAGE = "submit --image localhost/image:latest"
REHEARSE = f"rehearse --root {ROOT}"
ELSEWHERE = f"http://h/tasks/groups/{GROUP}"
NOT_HERE = "set TASKCLUSTER_ROOT_URL to http://h"

# By the words that all of a command's lines begin with: the others, and the mistake.
WRONG_USAGE = {
    "compare results": {
        "--allow x": "--allow x: not a validity rule",
        "--allow one-workr": "shared-worker; did you mean one-worker?",
        "--baseline amd-3": "there are amd-16, amd-30, intel; did you mean amd-30?",
        "--basline intel": "--basline is not an option; did you mean --baseline?",
        "--format htm": "is not one of text, markdown, html, json, perfherder; did you mean html?",
        "--write htm=x": "html, json, perfherder; did you mean html?",
        "--write html=-": "'html=-' is not a file; --format html prints to stdout",
        "--margin 0": "'0' is not a percentage",
        "--looks 6,3": "'6,3' is not a rising list of numbers from 2 to 100, such as 3,6,12",
        "--write pdf=x": "'pdf=x' is not FORMAT=FILE",
        "--json --format text": "--format cannot be combined with --json; omit one",
        "--expect nonsense": "write it like",
    },
    "fetch": {
        "results": f"results: is a path on this machine, which need not be fetched; give {FORMS}",
        f"task:{AMD_16} --output runs.csv": "--output runs.csv: is not a folder; name a folder for",
    },
    "history amd-16": {
        "--since May": "'May' is not a date such as",
        "x --project try": "--project cannot be combined with ADDRESS",
    },
    "investigate": {
        f"group:{GROUP}": "is not a task; give task:ID",
        f"http://h/tasks/{AMD_16}": NOT_HERE,
    },
    "predict --on results --": {
        "empty": "has no file whose name contains profile and ends in .json",
        "profile.json profile.json": "the same profile; use each profile once",
        # Copies would pretend that tasks do not differ.
        "profile.json copied.json": "profile.json and copied.json: the same profile; use each",
    },
    "predict profile.json --on results": {
        "--pool intel": "error: --pool intel: every profile names its pool; omit --pool",
    },
    REHEARSE: {
        "-j ,": "',' contains no name; try io-benchmark",
        "-j docker-image-update-verify": "no such task measures a pool; name a pool",
        "--baseline x": "--baseline x: no such pool here",
        "--at x=/": "--at x=/: pool is not selected",
        "--at intle=/": "choose one of amd-16, amd-30, intel; did you mean intel?",
        "--at intel=/no/where": "no such folder; create it first",
        "--output /proc/none": "--output /proc/none:",
        "--output runs.csv": "cannot be created (File exists); name a new folder",
    },
    "script": {"--otput x.pyz": "--otput is not an option; did you mean --output?"},
    "script -o x.pyz": {"--root /none": "--root /none: cannot read this path"},
    "submit": {
        "": "give --image NAME:TAG of a registry",
        "--pool x=a/b --pool x=c/d": "--pool x=c/d: pool given twice; use each pool",
        "--pool x=a": "'x=a' is not POOL=PROVISIONER/WORKERTYPE",
        "--pool x=a/b,y": "'y' is not POOL=PROVISIONER/WORKERTYPE",
        "--pool x=a/b,x=c/d": "--pool x=c/d: pool given twice; use each pool",
        "--replicates 101": "'101' is not a number from 1 to 100",
        "--budget 9": "--budget needs --until-decided",
        "--budget 0.0": "'0.0' is not a number above 0",
        "--until-decided --no-wait": "--no-wait cannot be combined",
        f"--resume task:{GROUP}": "is not a group",
        f"--resume {ELSEWHERE}": NOT_HERE,
        f"--confirm {GROUP} -j intel": "--jobs cannot be combined",
        f"--confirm {ELSEWHERE}": NOT_HERE,
        f"--cancel {ELSEWHERE}": NOT_HERE,
    },
    IMAGE: {
        "--pool x=a/b": "--pool x=a/b: no kind has this pool, so that it is the only one",
        "--pool intle=a/b": "--pool intle=a/b: did you mean intel?",
        "--pool 'a b=a/b,c=a/d'": "--pool a b=a/b: is not a pool's name",
        "--baseline x": "--baseline x: no such pool",
        "--owner 'a\n@b'": "'a @b' is not an e-mail address",
        "--write html=no/x": "--write no/x: no such folder; create it first",
        "--until-decided -j intel": "and intel is the only one",
        "--until-decided -j amd-30,intel --budget 5": "6 tasks can take 5.5 worker hours; raise it",
        f"--resume {GROUP}": "--image cannot be combined with --resume",
    },
    "tasks": {
        "missing.csv": "missing.csv: no such file or folder; check the path, or give an",
        "runs.csv --label (": "is not a regular expression",
        "runs.csv --baseline arm": "--baseline arm: no such pool here",
        "runs.csv --against runs.csv --baseline intel": "each pool is its own",
        "runs.csv --on results": "error: --on needs --rank; use both or none",
        "x --rank --baseline intel": "each label is compared with its fastest pool",
    },
}
FAILURES = {
    REHEARSE: {
        "-j amd-17": "no task is called 'amd-17'",
        "-j intle": "docker-image-io-benchmark-report; did you mean intel?",
    },
    "script": {
        "-o /none/x.pyz": "--output /none/x.pyz: No such file",
        "-o results": "--output results: Is a directory; name a file",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that the command lines name."""
    made = tmp_path_factory.mktemp("mistakes")
    seed_case.write(made / "results")
    (made / "runs.csv").write_text(real_tasks.table())
    for name in ("profile.json", "copied.json"):
        write_profile(made / name, profile_document((0, 50, 50, 0), cpu_s=1))
    (made / "empty").mkdir()
    return made


@pytest.mark.parametrize(
    ("code", "command", "words", "message"),
    [
        pytest.param(code, command, words, message, id=f"{command.split()[0]} {words}")
        for code, table in ((2, WRONG_USAGE), (1, FAILURES))
        for command, lines in table.items()
        for words, message in lines.items()
    ],
)
def test_mistakes(folder: Path, code: int, command: str, words: str, message: str) -> None:
    """The last line names the mistake; nothing is printed, written, or asked of a deployment."""
    before = sorted(folder.rglob("*"))
    done = program.run(
        *shlex.split(f"{command} {words}"),
        folder=folder,
        expected=code,
        environment=NOWHERE | IDENTITY,
    )
    assert message in done.stderr.splitlines()[-1]
    assert done.stdout == ""
    assert sorted(folder.rglob("*")) == before


NAMES = ("ADDRESS", "DIR", "FILE", "GROUP", "NAME", "PATH", "POOL", "PROFILE", "TASK")
DASHES = [
    (command, option)
    for command in COMMANDS
    for options in importlib.import_module(f"io_benchmark.commands.{command}").OPTIONS.values()
    for option in options
    if option.settings.get("metavar") in NAMES and (command, option.title) != ("script", "--output")
]


@pytest.mark.parametrize(
    ("command", "option"), DASHES, ids=lambda part: getattr(part, "title", part)
)
def test_a_dash_is_not_a_name(command: str, option: Option[Any], tmp_path: Path) -> None:
    """No command uses a file of this name where another program would use stdin or stdout."""
    words = [option.title, "-"] if option.title.startswith("-") else ["-"]
    if (command, option.title) == ("history", "ADDRESS"):
        words = ["amd-16", "-"]  # the pool comes first
    done = program.run(command, *words, folder=tmp_path, expected=2)
    problem = done.stderr.splitlines()[-1].partition(" argument ")[2]
    assert problem.partition(": ")[0].endswith(option.title)
    assert problem.partition(": ")[2].startswith("'-' is not a")
    assert sorted(tmp_path.iterdir()) == []


def test_dashes_are_tried_everywhere() -> None:
    """Each kind of name is tried at least once."""
    assert {option.settings["metavar"] for _, option in DASHES} == {*NAMES}


UNSET = "(TASKCLUSTER_ROOT_URL is not set; set it if another deployment is meant)"


@pytest.mark.parametrize(
    "words",
    [
        f"compare group:{GROUP}",
        f"fetch group:{GROUP}",
        f"tasks group:{GROUP}",
        f"predict task:{AMD_16} --on results",
        "predict profile.json --on group:" + GROUP,
        "history amd-16",
        f"investigate task:{AMD_16}",
        f"submit --resume group:{GROUP}",
    ],
)
def test_a_forgotten_variable(folder: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """Where the default deployment cannot be reached, commands name the variable for another."""
    default = "io_benchmark.sources.taskcluster.addresses.DEFAULT_ROOT_URL"
    monkeypatch.setattr(default, NOWHERE["TASKCLUSTER_ROOT_URL"])
    done = program.run(*shlex.split(words), folder=folder, expected=None, environment=IDENTITY)
    assert done.exit_code == 1
    said = " ".join((done.stderr + done.stdout).replace("`", "").split())
    assert UNSET in said
    assert "connection refused" in said
