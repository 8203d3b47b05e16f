# SPDX-License-Identifier: MPL-2.0
"""What earlier pushes of the pools show of two that are compared, where their tasks are indexed."""

from typing import Any

import past
import program
import pytest
from loopback import Fault, Faults, Loopback, first
from loopback_deployment import Deployment

from io_benchmark.operations import history


def remarks(document: dict[str, Any]) -> list[str]:
    return [remark["text"] for remark in document["remarks"]]


@pytest.fixture(scope="module")
def weeks() -> list[past.Push]:
    """Eleven weeks with one worker each, and two pushes of four."""
    options: dict[str, Any] = {"change_at": None, "retrieves": 200}  # enough for a mean
    _, *last = (push for push in past.pushes(13, workers=4, **options) if push.at >= 10)
    return [*past.pushes(11, **options), *last]


def compare_push(
    weeks: list[past.Push],
    *,
    faults: Faults = lambda _request, _number: None,
    is_indexed: bool = True,
    has_routes: bool = True,
) -> tuple[dict[str, Any], int]:
    """Compare the newest push with the one before; return the report and the number of requests."""
    deployment = Deployment()
    past.add(deployment, weeks)
    if not has_routes:
        for definition in deployment.definitions.values():
            definition["routes"] = []
    if not is_indexed:
        deployment.index.clear()
    command = ("compare", f"group:{weeks[-1].group}", "--against", f"group:{weeks[-2].group}")
    with Loopback(deployment, faults=faults) as loopback:
        document = program.document(*command, environment=loopback.environment)
        return document, len(loopback.requests)


def test_where_the_tasks_are_indexed(weeks: list[past.Push]) -> None:
    """The routes of the compared tasks show where earlier ones are; each takes two requests."""
    document, requests = compare_push(weeks)
    assert remarks(document) == ["earlier pushes that show variation: 11 of amd-16"]
    ((comparison,),) = (subject["comparisons"] for subject in document["subjects"])
    assert comparison["method"] == "workers"
    (pushes,) = (entry for entry in document["problems"] if entry["rule"] == "pushes")
    assert pushes["message"]["text"].endswith("by 11 earlier pushes of the pool")
    document, without = compare_push(weeks, has_routes=False)
    assert remarks(document) == []
    # One lists the index, two have the definitions and states of tasks; then result and content.
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
    """One remark, and what is assumed without a past.

    Nobody asked for it, so a slow index is left out.
    """
    if fault and fault.delay_s:
        monkeypatch.setattr(history, "_LONGEST_S", 0.2)
    faults = first(10 if fault else 0, fault or Fault(), part="/index/v1/tasks/")
    document, _ = compare_push(weeks, faults=faults, is_indexed=fault is not None)
    (remark,) = remarks(document)
    assert remark.startswith("earlier pushes that show variation: 0 of amd-16; ")
    assert f"{past.NAMESPACE}: " in remark
    assert reason in remark
    without, _ = compare_push(weeks, has_routes=False)
    assert document["subjects"] == without["subjects"]


def test_an_ordinary_comparison_reads_no_earlier_pushes(weeks: list[past.Push]) -> None:
    """Only the push itself is read, although its tasks have routes of the index."""
    deployment = Deployment()
    past.add(deployment, weeks)
    with Loopback(deployment) as loopback:
        # A single pool is compared with nothing.
        document = program.document(
            "compare", f"group:{weeks[-1].group}", environment=loopback.environment, expected=1
        )
        paths = [request.path for request in loopback.requests]
    assert remarks(document) == []
    assert not [path for path in paths if "/index/" in path]
