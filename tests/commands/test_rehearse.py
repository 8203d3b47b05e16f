# SPDX-License-Identifier: MPL-2.0
"""The command rehearse, run as a user runs it: real generation, real commands, small sizes."""

import json
import os
import re
import subprocess
from pathlib import Path

import program
import pytest
from checkout import copy_checkout

from io_benchmark.sources import run_files

ROOT = Path(__file__).parents[2]
COMMAND = [*program.PROGRAM, "rehearse"]
POOLS = ("amd-16", "amd-30", "intel")


def rehearse(*arguments: str, folder: Path, expected: int | None = 0) -> program.Finished:
    return program.run("rehearse", "--root", ROOT, *arguments, folder=folder, expected=expected)


def test_all_pools_are_run_and_compared(tmp_path: Path) -> None:
    """The default: three pools, each in its folder as fetch would leave it, the seed's table.

    And what the report's task makes of them, as it would of a push.
    """
    done = subprocess.run(
        [*COMMAND, "--root", str(ROOT)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 23
    assert re.search(r"^ +intel +amd-16 +amd-30$", done.stdout, re.MULTILINE)
    assert len(re.findall(r" [0-9.,]+×", done.stdout)) >= len(POOLS) - 1
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Rehearsal on one machine: amd-16, amd-30 against intel")
    (results,) = (tmp_path / "io-benchmark-results").iterdir()
    assert f"Results: {results}" in done.stderr
    report = results / "io-benchmark-report"
    assert f"Report of the report task: {report / 'report.html'}" in done.stderr
    reports = ["live.log", "report.html", "report.json", "report.md"]
    assert sorted(path.name for path in report.iterdir()) == reports
    document = json.loads((report / "report.json").read_text())
    assert sorted(worker["pool"] for worker in document["workers"]) == sorted(POOLS)
    assert document["unreadable"] == []
    pools = {}
    for folder in set(results.iterdir()) - {report}:
        assert run_files.FOLDER.fullmatch(folder.name)
        names = sorted(path.name for path in folder.iterdir())
        perfherder = "perfherder-data-io-benchmark.json"
        assert names == ["io-benchmark.json", "live.log", perfherder, "task.json"]
        measured = run_files.read_run(folder)
        result = measured.result
        assert measured.task is not None
        assert measured.task.task_id == result.task.task_id == folder.name.removesuffix(".0")
        assert (result.outcome.state, result.config.profile) == ("completed", "quick")
        pools[measured.pool] = measured.task.task_queue.split("/")[1]
    assert pools == {
        "amd-16": "b-linux-docker-amd",
        "amd-30": "b-linux-docker-large-amd",
        "intel": "b-linux",
    }


def test_some_pools_elsewhere_as_json(tmp_path: Path) -> None:
    """-j chooses, --at moves a pool, --json prints the figures alone, and nothing is left behind."""
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    done = rehearse(
        *("-j", "amd-16,intel", "--at", f"amd-16={elsewhere}", "--baseline", "amd-16", "--json"),
        *("--output", "out"),
        folder=tmp_path,
    )
    document = json.loads(done.stdout)
    assert document["baseline"] == "amd-16"
    (subject,) = document["subjects"]
    assert '"samples": 200' in json.dumps(subject)  # disks that differ need more than a look
    assert list(elsewhere.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]
    places = set()
    for folder in (tmp_path / "out").iterdir():
        places.add(Path(run_files.read_run(folder).result.config.places[0].path).parent)
    assert places == {elsewhere, tmp_path / "out"}
    assert "Only the folders differ" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-j", "amd-17"], "no task is called 'amd-17'"),
        (["-j", "io-benchmark-report"], "does not measure a pool; name a pool"),
        (["--baseline", "x"], "--baseline x: no such pool here"),
        (["--at", "x=/"], "--at x=/: pool is not selected"),
        (["--at", "intel=/no/where"], "no such folder; create it first"),
        (["--at", "intel=/tmp", "--at", "intel=/"], "--at intel=/: pool given twice; use each"),
        (["--output", "/proc/none"], "--output /proc/none:"),
        (["--output", str(ROOT)], "is not empty, or another command"),
        (["--quick", "--full"], "--quick cannot be combined with --full"),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    """One line that names the option and what to do; nothing is measured, nothing is made."""
    done = rehearse(*arguments, folder=tmp_path, expected=None)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def one_retrieve(tmp_path: Path) -> Path:
    """A tree whose tasks measure nearly nothing; the report's is the one to look at."""
    tree = copy_checkout(tmp_path / "tree")
    kind = tree / "taskcluster/kinds/io-benchmark/kind.yml"
    kind.write_text(kind.read_text().replace("retrieves: 2000", "retrieves: 20"))
    return tree


def rehearse_tree(tree: Path, *arguments: str, expected: int) -> program.Finished:
    return program.run(
        *("rehearse", "--root", str(tree), "--output", "out", *arguments),
        folder=tree.parent,
        expected=expected,
    )


def test_a_task_that_fails_is_named_and_the_others_are_shown(
    tmp_path: Path, one_retrieve: Path
) -> None:
    """One pool's folder is too small: its reason is told, the code is 1, the rest is compared."""
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a small file system")
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=10m", "none", small], check=True)
    try:
        done = rehearse_tree(one_retrieve, "--at", f"amd-30={small}", expected=1)
    finally:
        subprocess.run(["umount", small], check=True)
    assert "error: io-benchmark-amd-30: failed, exit code 1; its log is" in done.stderr
    assert re.search(r"^ +intel.* amd-16", done.stdout, re.MULTILINE)
    assert "amd-30" in done.stdout  # its run is named among the problems
    assert len(list((tmp_path / "out").iterdir())) == 4
    report = (tmp_path / "out" / "io-benchmark-report" / "report.md").read_text()
    assert "amd-16" in report


def test_an_expectation_of_the_kind_fails_the_rehearsal(one_retrieve: Path) -> None:
    """As it would fail the push: the task's own exit code decides; its page is there all the same."""
    kind = one_retrieve / "taskcluster/kinds/io-benchmark-report/kind.yml"
    before = kind.read_text()
    kind.write_text(before.replace("expectations: []", "expectations: [amd-16/intel<0.01]"))
    assert kind.read_text() != before
    jobs = ("-j", "amd-16,intel,io-benchmark-report")
    done = rehearse_tree(one_retrieve, *jobs, expected=1)
    assert "error: io-benchmark-report: failed, exit code 3; its log is" in done.stderr
    folder = one_retrieve.parent / "out" / "io-benchmark-report"
    assert "amd-16/intel<0.01: not " in (folder / "live.log").read_text()
    assert (folder / "report.html").is_file()
