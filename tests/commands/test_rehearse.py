# SPDX-License-Identifier: MPL-2.0
"""The command rehearse, run as a user runs it: real generation, real commands, small sizes."""

import json
import re
from pathlib import Path

import program
from checkout import ROOT
from native_project import project

from io_benchmark.sources import run_files

POOLS = {"amd-16": "b-linux-docker-amd", "amd-30": "b-linux-docker-large-amd", "intel": "b-linux"}
ARTIFACTS = ["io-benchmark.json", "live.log", "perfherder-data-io-benchmark.json", "task.json"]


def rehearse(*arguments: str, folder: Path) -> program.Finished:
    return program.run("rehearse", "--root", ROOT, *arguments, folder=folder)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_all_pools_are_run_and_compared(tmp_path: Path) -> None:
    """The default: three pools, each in its folder as fetch would leave it, the seed's table."""
    done = rehearse(folder=tmp_path)
    lines = done.stdout.splitlines()
    assert len(lines) <= 23
    assert re.search(r"^ +intel +amd-16 +amd-30$", done.stdout, re.MULTILINE)
    assert len(re.findall(r" [0-9.,]+×", done.stdout)) >= len(POOLS) - 1
    first = (
        "Rehearsal on one machine, where all differences are noise: amd-16, amd-30 against intel"
    )
    assert " ".join(lines[:2]).startswith(first)
    assert len(re.findall("took .*× as long as intel: noise of this machine", done.stdout)) == 2
    assert "interval" not in done.stdout
    (results,) = (tmp_path / "io-benchmark-results").iterdir()
    assert f"Results: {results}" in done.stderr
    pools = {}
    for folder in results.iterdir():
        assert names(folder) == ARTIFACTS
        measured = run_files.read_run(folder)
        result, task = measured.result, measured.task
        assert task is not None
        assert task.task_id == result.task.task_id == folder.name.removesuffix(".0")
        assert (result.outcome.state, result.config.profile) == ("completed", "quick")
        pools[measured.pool] = task.task_queue.split("/")[1]
    assert pools == POOLS


def test_tasks_of_windows(tmp_path: Path) -> None:
    """They cannot run here: one line names those that are left out, or that nothing is left."""
    root = project(tmp_path / "project", {"container": "b-linux", "win": "t-win"})
    arguments = ("rehearse", "--root", str(root.path), "-j")
    line = "A Windows task cannot run here; push instead: io-benchmark-win"
    folder = tmp_path / "empty"
    folder.mkdir()
    done = program.run(*arguments, "win", folder=folder, expected=2)
    assert done.stderr.splitlines()[-1] == f"error: {line}"
    assert names(folder) == []
    done = program.run(*arguments, "container,win", folder=folder)
    assert line in done.stderr.splitlines()
    assert "Running 1 task, profile quick: io-benchmark-container" in done.stderr


def test_a_page_of_a_rehearsal_says_first_what_it_is(tmp_path: Path) -> None:
    """Who compares the folder later sees a rehearsal, noise, and no interval, in each format."""
    rehearse("-j", "amd-16,intel", "--output", "out", folder=tmp_path)
    forms = ("html", "markdown", "json")
    files = [word for form in forms for word in ("--write", f"{form}={form}")]
    done = program.run("compare", "out", "--details", *files, folder=tmp_path)
    page, markdown, document = ((tmp_path / form).read_text() for form in forms)
    first = "Rehearsal on one machine, where all differences are noise: amd-16 against intel"
    assert f"<title>{first}</title>" in page
    assert f"<h1>{first} (" in page
    assert markdown.startswith(f"## {first} (")
    assert done.stdout.startswith(first)
    assert (json.loads(document)["title"], json.loads(document)["is_only_noise"]) == (first, True)
    for text in (page, markdown, done.stdout):
        assert "noise of this machine" in text
        assert re.findall("[0-9] to [0-9.]+.*; 1 worker|is inconclusive|To settle", text) == []


def test_some_pools_elsewhere_as_json(tmp_path: Path) -> None:
    """-j chooses, --at moves a pool, --json prints figures alone, and nothing is left behind."""
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    options = ("--at", f"amd-16={elsewhere}", "--baseline", "amd-16", "--json", "--output", "out")
    done = rehearse("-j", "amd-16,intel", *options, folder=tmp_path)
    document = json.loads(done.stdout)
    assert document["baseline"] == "amd-16"
    # Disks that differ need more than a look.
    assert '"samples": 200' in json.dumps(document["subjects"])
    places_text = f"amd-16 in {elsewhere}, intel in {tmp_path / 'out'}"
    assert document["remarks"][0]["text"] == f"Only the folders differ: {places_text}"
    assert document["title"] == "Rehearsal on one machine: intel against amd-16"
    assert document["is_only_noise"] is False
    assert list(elsewhere.iterdir()) == []
    assert names(tmp_path) == ["other", "out"]
    results = [run_files.read_run(folder).result for folder in (tmp_path / "out").iterdir()]
    places = {Path(result.config.places[0].path).parent for result in results}
    assert places == {elsewhere, tmp_path / "out"}
