# SPDX-License-Identifier: MPL-2.0
"""`compare --variation-from`, as a user types it: a folder, the index, and mistakes."""

import shutil
from pathlib import Path
from typing import Any

import past
import program
import pytest
import seed_case
from loopback import Fault, Faults, Loopback, first
from loopback_deployment import Deployment

from io_benchmark.operations import history

POOLS = ("intel", "amd-16")


def compare(source: str, *arguments: str, folder: Path, **environment: str) -> dict[str, Any]:
    command = ("compare", "now", "--variation-from", source, *arguments)
    return program.document(*command, folder=folder, environment=environment)


def remarks(document: dict[str, Any]) -> list[str]:
    return [remark["text"] for remark in document["remarks"]]


def variation(document: dict[str, Any]) -> dict[str, Any]:
    ((comparison,),) = (subject["comparisons"] for subject in document["subjects"])
    assumed: dict[str, Any] = comparison["assumed_variation"]
    assert assumed["ratio"] == comparison["assumed_variation_ratio"]
    return assumed


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
    document = compare("past", folder=folder)
    assumed = variation(document)
    assert (assumed["source"], assumed["workers"]) == ("history", 6)
    assert assumed["shown_by"]["text"] == "6 earlier workers of amd-16 in 2 pushes (past)"
    assert 0.01 < assumed["measured_ratio"] < assumed["ratio"] < 0.2
    (problem,) = [entry for entry in document["problems"] if entry["rule"] == "one-worker"]
    assert problem["message"]["text"].endswith(" % is assumed")
    assert problem["explanation"]["text"] == (
        "6 earlier workers of amd-16 in 2 pushes (past) vary by 4.5 %, and so few may vary less than their pool "
        "does."
    )
    assert remarks(document) == [
        "earlier pushes that show variation: 2 of amd-16, 0 of intel (--variation-from past)"
    ]


def test_the_index(folder: Path, pushes: list[past.Push]) -> None:
    """The pool's entries in the index give the same; a pool that is not there is a remark."""
    deployment = Deployment()
    past.add(deployment, pushes)
    with Loopback(deployment) as loopback:
        document = compare("index", folder=folder, **loopback.environment)
    offline = variation(compare("past", folder=folder))
    online = variation(document)
    assert online["measured_ratio"] == pytest.approx(offline["measured_ratio"])
    assert online["shown_by"]["text"] == "6 earlier workers of amd-16 in 2 pushes (index)"
    (remark,) = remarks(document)
    route = "index:releng.v2.io-benchmark.date.io-benchmark.intel"
    counts = "earlier pushes that show variation: 2 of amd-16, 0 of intel"
    assert remark.startswith(f"{counts}; {route}: ")
    assert "has no results there" in remark


def test_a_run_does_not_count_twice(folder: Path, tmp_path: Path) -> None:
    """Neither one that is compared, nor a second copy of an earlier one."""
    shutil.copytree(folder / "now", tmp_path / "now")
    for source in ("past", "now"):
        shutil.copytree(folder / source, tmp_path / "past", dirs_exist_ok=True)
    for number, run in enumerate(sorted((folder / "past").iterdir())):
        # As a bare file: no record of the queue names its task.
        copied = tmp_path / "past" / f"copy-{number}"
        copied.mkdir()
        shutil.copy(run / "io-benchmark.json", copied)
    assert variation(compare("past", folder=tmp_path)) == variation(compare("past", folder=folder))


def test_an_index_that_cannot_be_read(folder: Path) -> None:
    """Nothing is assumed instead: one line, and nothing on stdout."""
    fault = Fault(status=503, headers={"Retry-After": "600"})
    command = ("compare", "now", "--variation-from", "index")
    with Loopback(Deployment(), faults=first(9, fault)) as loopback:
        here = loopback.environment
        done = program.run(*command, folder=folder, expected=1, environment=here)
    message = "error: --variation-from index: 127.0.0.1 answers 503; it demands"
    assert (done.stderr.startswith(message), done.stdout) == (True, "")


@pytest.fixture(scope="module")
def weeks() -> list[past.Push]:
    """Eleven weeks with one worker each, and two pushes of four."""
    _, *last = (push for push in past.pushes(13, change_at=None, workers=4) if push.at >= 10)
    return [*past.pushes(11, change_at=None), *last]


def compare_push(
    weeks: list[past.Push],
    *arguments: str,
    faults: Faults = lambda _request, _number: None,
    is_indexed: bool = True,
) -> tuple[dict[str, Any], int]:
    """Compare the newest push with the one before; return the report and the number of requests."""
    deployment = Deployment()
    past.add(deployment, weeks)
    if not is_indexed:
        deployment.index.clear()
    command = ("compare", f"group:{weeks[-1].group}", "--against", f"group:{weeks[-2].group}")
    with Loopback(deployment, faults=faults) as loopback:
        document = program.document(*command, *arguments, environment=loopback.environment)
        return document, len(loopback.requests)


def test_where_the_tasks_are_indexed(weeks: list[past.Push]) -> None:
    """The routes of the compared tasks show where earlier ones are; each takes two requests."""
    document, requests = compare_push(weeks)
    assert remarks(document) == [
        "earlier pushes that show variation: 11 of amd-16 (--variation-from none leaves them out)"
    ]
    ((comparison,),) = (subject["comparisons"] for subject in document["subjects"])
    assert comparison["method"] == "workers and the past of their pools"
    (pushes,) = (entry for entry in document["problems"] if entry["rule"] == "pushes")
    assert pushes["message"]["text"].endswith("by 11 earlier pushes of the pool")
    document, without = compare_push(weeks, "--variation-from", "none")
    assert remarks(document) == []
    # One lists the index, two have the definitions and states of tasks; then a result and its content.
    assert requests - without == 3 + 2 * 13


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(status=403), "refuses the request"),
        (Fault(status=503, headers={"Retry-After": "600"}), "answers 503"),
        (Fault(delay_s=2), "was not read in time"),
        (None, "has no results there"),
    ],
    ids=["no scope", "overloaded", "slow", "nothing there"],
)
def test_a_past_that_cannot_be_read(
    weeks: list[past.Push], fault: Fault | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One remark, and what is assumed without a past; nobody asked for it, so a slow index is left out."""
    if fault and fault.delay_s:
        monkeypatch.setattr(history, "_LONGEST_S", 0.2)
    faults = first(10 if fault else 0, fault or Fault(), part="/index/v1/tasks/")
    document, _ = compare_push(weeks, faults=faults, is_indexed=fault is not None)
    (remark,) = remarks(document)
    assert remark.startswith("earlier pushes that show variation: 0 of amd-16; ")
    assert f"{past.NAMESPACE}: " in remark
    assert reason in remark
    without, _ = compare_push(weeks, "--variation-from", "none")
    assert document["subjects"] == without["subjects"]
