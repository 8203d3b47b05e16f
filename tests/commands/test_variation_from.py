# SPDX-License-Identifier: MPL-2.0
"""`compare --variation-from`, as a user types it: a folder, the index, and mistakes."""

import json
import shutil
from pathlib import Path
from typing import Any

import past
import program
import pytest
import seed_case
from loopback import Fault, Loopback
from loopback_deployment import Deployment

POOLS = ("intel", "amd-16")


def compare(
    *arguments: str, folder: Path, expected: int = 0, **environment: str
) -> program.Finished:
    return program.run(
        "compare", "now", *arguments, folder=folder, expected=expected, environment=environment
    )


def footnote(document: dict[str, Any]) -> str:
    """What is assumed of the sides with one worker, and why."""
    (problem,) = [each for each in document["problems"] if each["rule"] == "one-worker"]
    assert problem["message"]["text"].endswith(" % is assumed")
    return str(problem["explanation"]["text"])


def variation(document: dict[str, Any]) -> dict[str, Any]:
    (subject,) = document["subjects"]
    (comparison,) = subject["comparisons"]
    known: dict[str, Any] = comparison["assumed_variation"]
    assert known["ratio"] == comparison["assumed_variation_ratio"]
    return known


@pytest.fixture(scope="module")
def pushes() -> list[past.Push]:
    """Two weeks with three workers each, as different as workers are."""
    return list(past.pushes(2, change_at=None, workers=3))


@pytest.fixture(scope="module")
def folder(pushes: list[past.Push], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`now` has one worker per pool, `past` earlier ones of amd-16."""
    made = tmp_path_factory.mktemp("variation")
    seed_case.write(made / "now", pools=POOLS)
    past.write(made / "past", pushes)
    return made


def test_a_folder(folder: Path) -> None:
    """The sentence has the source, the number of workers and the variation; JSON has them as data."""
    done = compare("--variation-from", "past", "--json", folder=folder)
    document = json.loads(done.stdout)
    known = variation(document)
    assert known["source"] == "history"
    assert known["workers"] == 6
    assert known["shown_by"]["text"] == "6 earlier workers of amd-16 (past)"
    assert 0.01 < known["measured_ratio"] < known["ratio"] < 0.2
    assert footnote(document) == (
        "6 earlier workers of amd-16 (past) vary by 4.5 %, and so few may vary less than their pool "
        "does."
    )
    assert [each["text"] for each in document["remarks"]] == [
        "--variation-from past: has no other results of intel"
    ]
    text = compare("--variation-from", "past", "--details", folder=folder).stdout
    assert "from 6 earlier workers of amd-16 (past)" in " ".join(text.split())


def test_the_index(folder: Path, pushes: list[past.Push]) -> None:
    """The pool's entries in the index give the same; a pool that is not there is a remark."""
    deployment = Deployment()
    past.add(deployment, pushes)
    with Loopback(deployment) as loopback:
        done = compare(
            *("--variation-from", "index", "--json"),
            folder=folder,
            TASKCLUSTER_ROOT_URL=loopback.url,
        )
    document = json.loads(done.stdout)
    offline = json.loads(compare("--variation-from", "past", "--json", folder=folder).stdout)
    assert variation(document)["measured_ratio"] == pytest.approx(
        variation(offline)["measured_ratio"]
    )
    assert variation(document)["shown_by"]["text"] == "6 earlier workers of amd-16 (index)"
    (remark,) = (each["text"] for each in document["remarks"])
    assert remark.startswith("--variation-from index: index:releng.v2.io-benchmark.date.")
    assert remark.endswith("has no such pool; its pools are amd-16")


def test_an_index_that_does_not_answer(folder: Path) -> None:
    """Nothing is assumed instead: the command fails."""
    fault = Fault(status=503, headers={"Retry-After": "600"})
    with Loopback(Deployment(), faults=lambda _request, _number: fault) as loopback:
        done = compare(
            *("--variation-from", "index"),
            folder=folder,
            expected=1,
            TASKCLUSTER_ROOT_URL=loopback.url,
        )
    assert done.stdout == ""
    assert done.stderr.startswith(
        "error: --variation-from index: 127.0.0.1 answers 503; it demands"
    )


def test_a_run_does_not_count_twice(folder: Path, tmp_path: Path) -> None:
    """Neither one that is compared, nor a second copy of an earlier one."""
    shutil.copytree(folder / "now", tmp_path / "now")
    shutil.copytree(folder / "past", tmp_path / "past")
    for run in (tmp_path / "now").iterdir():
        shutil.copytree(run, tmp_path / "past" / run.name)
    for number, run in enumerate(sorted((folder / "past").iterdir())):
        # As a bare file: no record of the queue names its task.
        copied = tmp_path / "past" / f"copy-{number}"
        copied.mkdir()
        shutil.copy(run / "io-benchmark.json", copied)
    document = json.loads(compare("--variation-from", "past", "--json", folder=tmp_path).stdout)
    once = json.loads(compare("--variation-from", "past", "--json", folder=folder).stdout)
    assert variation(document) == variation(once)


def test_the_results_themselves_show_nothing(folder: Path) -> None:
    """Of the folder that is compared, no run is left."""
    document = json.loads(compare("--variation-from", "now", "--json", folder=folder).stdout)
    assert variation(document)["source"] == "default"
    assert footnote(document) == (
        "now has fewer than three earlier workers of amd-16 or of intel that measured the same."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([""], "an address is empty", id="nothing"),
        pytest.param(
            ["past", "--worker-variation", "5"],
            "--worker-variation cannot be combined with --variation-from",
            id="both",
        ),
    ],
)
def test_mistakes(arguments: list[str], message: str, folder: Path) -> None:
    """One line, exit code 2, and nothing on stdout."""
    (folder / "empty").mkdir(exist_ok=True)
    done = compare("--variation-from", *arguments, folder=folder, expected=2)
    assert done.stdout == ""
    assert message in done.stderr
