# SPDX-License-Identifier: MPL-2.0
"""Changes of host and storage where a level changes."""

import pytest

from io_benchmark.analysis.history.changes import fact_changes
from io_benchmark.analysis.history.history_model import FactChange, Facts, FactSpread


def observed(name: str, *values: str | None) -> list[tuple[int, Facts]]:
    """A worker a point; `a|b` are two workers, None one of which nothing was observed."""
    return [
        (at, () if value is None else ((name, value),))
        for at, point in enumerate(values)
        for value in (point.split("|") if point is not None else [None])
    ]


@pytest.mark.parametrize(
    ("values", "changed", "varied"),
    [
        pytest.param("2 2 2 1 1 1", (FactChange("disks", "2", "1", 0),), (), id="here"),
        pytest.param("2|2 2 2 1|1 1 1", (FactChange("disks", "2", "1", 0),), (), id="workers"),
        pytest.param("2 2 1 1 1 1", (FactChange("disks", "2", "1", -1),), (), id="earlier"),
        pytest.param("2 2 2 2 2 1", (FactChange("disks", "2", "1", 2),), (), id="later"),
        pytest.param("2 2 2 2 2 2", (), (), id="constant"),
        pytest.param(
            "2 2 2 2 2 2 2 1", (), (FactSpread("disks", ("2",), ("1", "2")),), id="far-off"
        ),
        pytest.param("2 1 2 1 2 1", (), (FactSpread("disks", ("1", "2"), ("1", "2")),), id="both"),
        pytest.param(
            "2 2 1|2 1 1 1", (), (FactSpread("disks", ("1", "2"), ("1",)),), id="mixed-point"
        ),
        pytest.param("2 2 2 1 3 1", (), (FactSpread("disks", ("2",), ("1", "3")),), id="three"),
        pytest.param(
            "2 2 2 1 1 2", (), (FactSpread("disks", ("2",), ("1", "2")),), id="there-and-back"
        ),
    ],
)
def test_one_fact(
    values: str, changed: tuple[FactChange, ...], varied: tuple[FactSpread, ...]
) -> None:
    """Constant on each side and different is a change; so is a single switch close by."""
    found = fact_changes(observed("disks", *values.split()), 3)
    assert found == (changed, varied, False)


@pytest.mark.parametrize(
    ("values", "unobserved"),
    [
        pytest.param((None, None, None, "1", "1"), True, id="not-before"),
        pytest.param(("1", "1", "1", None, None), True, id="not-after"),
        pytest.param((), True, id="nothing"),
        pytest.param(("1", None, "1", "1", None), False, id="sometimes"),
    ],
)
def test_what_was_not_observed(values: tuple[str | None, ...], unobserved: bool) -> None:
    """A fact that one side lacks is not a change; `unobserved` marks a change without any fact on both sides."""
    assert fact_changes(observed("disks", *values), 3) == ((), (), unobserved)


def test_the_order() -> None:
    """Changes at the point come before changes near it."""
    near = observed("kernel", "a", "a", "b", "b", "b")
    here = observed("disks", "2", "2", "2", "1", "1")
    both = [(at, one + other) for (at, one), (_, other) in zip(near, here, strict=True)]
    changed, _, _ = fact_changes(both, 3)
    assert [fact.name for fact in changed] == ["disks", "kernel"]
