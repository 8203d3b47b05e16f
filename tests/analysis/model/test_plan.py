# SPDX-License-Identifier: MPL-2.0
"""The gate: met only when the interval says so."""

from typing import Any

import pytest
import simulation

from io_benchmark.analysis.expectations import Expectation
from io_benchmark.analysis.model.comparison import Comparison, Interval, Verdict
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.errors import UsageError
from io_benchmark.report.content import text_of


def part(subject: Subject, low: float | None = None, high: float = 0.0) -> SubjectReport:
    """Return a measurement; b was compared with a on it, if there is an interval."""
    if low is None:
        return SubjectReport(subject, {}, ())
    intervals = (Interval(low, high, 0.95), Interval(low, high, 0.9))
    rest: Any = (0.5, Verdict.INCONCLUSIVE, "workers", None, None, None)
    comparison = Comparison(subject, "a", "b", 1.0, *intervals, *rest)
    return SubjectReport(subject, {}, (comparison,))


def report_of(*subjects: SubjectReport) -> Report:
    return Report("", "a", "", 0.05, subjects, (), (), (), (), (), (), ())


NOT_COMPARED = "not met, these two were not compared"
BROKEN = "not met, 1.00× (1.300 to 1.400) on cache-retrieve, place workspace, destination overwrite"


@pytest.mark.parametrize(
    ("expectation", "intervals", "met", "message"),
    [
        ("b/a<1.05", [(0.9, 1.04)], True, "met"),
        ("b/a<1.05", [(0.9, 1.05)], False, "not decided, 1.00× (0.90 to 1.05)"),
        ("b/a<1.05", [(1.0, 1.2)], False, "not decided, 1.00× (1.00 to 1.20)"),
        ("b/a<1.05", [(1.05, 1.2)], False, "not met, 1.00× (1.05 to 1.20)"),
        ("b/a>1.5", [(1.6, 2.2)], True, "met"),
        ("b/a>1.5", [(1.5, 2.2)], False, "not decided, 1.00× (1.50 to 2.20)"),
        ("b/a>1.5", [(1.1, 1.5)], False, "not met, 1.00× (1.10 to 1.50)"),
        ("b/a<1.05", [(0.9, 1.0), (0.9, 2.0)], False, "not decided, 1.00× (0.90 to 2.00)"),
        ("b/a<1.05", [(0.9, 1.0), (0.9, 2.0), (1.3, 1.4)], False, f"{BROKEN}, and 1 more"),
        ("b/a<1.05", [(0.9, 1.0)] * 3, True, "met on 3 measurements"),
        ("b/a<1.05", [], False, f"{NOT_COMPARED}; there are: none"),
        ("a/b<1.05", [(0.9, 1.0)], False, f"{NOT_COMPARED}; there are: b/a"),
        ("bb/a<1", [(0.9, 1.0)], False, f"{NOT_COMPARED}; there are: b/a; did you mean b/a?"),
    ],
)
def test_outcomes(expectation, intervals, met, message):
    """The interval's end decides, on every subject; an undecided one is not met."""
    report = report_of(*(part(simulation.SUBJECT, *interval) for interval in intervals))
    outcome = Expectation.parse(expectation).judge(report)
    assert outcome.met is met
    assert text_of(outcome.message).startswith(f"{expectation}: {message}")


APPEND = Subject("sync-write", "workspace", variant="dsync-append")
APPEND_IN_MEMORY = Subject("sync-write", "memory", variant="dsync-append")
FSYNC = Subject("sync-write", "workspace", variant="append-fsync")
STAT = [Subject("metadata", "workspace", variant="stat", threads=threads) for threads in (1, 4)]
MEASURED = report_of(
    part(APPEND, 0.9, 1.0),
    part(APPEND_IN_MEMORY),
    part(FSYNC, 1.3, 1.4),
    part(STAT[0], 0.9, 1.2),
    part(STAT[1], 0.9, 1.0),
)
FSYNC_NAME = "sync-write, place workspace, append-fsync"
STAT_NAME = "metadata, place workspace, stat, 1 at once"
WORDS = (
    "there are: sync-write, place workspace, dsync-append, place memory, append-fsync, metadata, "
    "stat, 1 at once, 4 at once"
)


@pytest.mark.parametrize(
    ("parts", "met", "message"),
    [
        ("place workspace, dsync-append", True, "met"),
        ("dsync-append", True, "met on 1 measurement; 1 not compared"),
        (" 4 at once ,  metadata ", True, "met"),
        ("sync-write", False, f"not met, 1.00× (1.300 to 1.400) on {FSYNC_NAME}"),
        ("metadata", False, f"not decided, 1.00× (0.90 to 1.20) on {STAT_NAME}"),
        ("place memory", False, f"{NOT_COMPARED} on place memory; there are: none"),
        ("sync-write, 8", False, f"not met, no measurement has sync-write, 8 in its name; {WORDS}"),
    ],
)
def test_of_one_measurement(parts: str, met: bool, message: str) -> None:
    """The words of a measurement's title choose it, in any order; the rest does not count."""
    written = f"b/a<1.05 on {parts}"
    outcome = Expectation.parse(written).judge(MEASURED)
    expected = f"{' '.join(written.split())}: {message}"
    assert (outcome.met, text_of(outcome.message)) == (met, expected)


def test_before_and_after() -> None:
    """The sides of two pushes have a space in their names, which no word of a title takes."""
    parsed = Expectation.parse(" amd-16 after / amd-16 before < 1.05 on spawn, place workspace")
    sides = (parsed.candidate, parsed.baseline)
    assert (*sides, parsed.limit) == ("amd-16 after", "amd-16 before", 1.05)
    assert parsed.parts == ("spawn", "place workspace")


@pytest.mark.parametrize(
    "expectation",
    [
        "",
        "a<1",
        "a/b",
        "a/b<x",
        "a/b<0",
        "a/b=1",
        "a/b<1e5",
        "a/b<1/2",
        "a/b<1 on",
        "a/b<1 on ,",
        "a/b<1 on c,",
        "a/b<1 on c,,d",
        "a/b<1 of c",
        "a/b<1on c",
    ],
)
def test_wrong_forms(expectation: str) -> None:
    """The error is one line with the form to write."""
    with pytest.raises(UsageError, match=r"write it like 'amd-30/intel<1\.05'"):
        Expectation.parse(expectation)


LAST = "the last by name"


@pytest.mark.parametrize(
    ("requested", "first", "named", "baseline", "reason"),
    [
        (None, (), (), "c", LAST),
        (None, (), ("a",), "a", "named by the tasks' kind"),
        (None, (), ("a", "a", None), "a", "named by the tasks' kind"),
        (None, (), ("b", "a"), "c", f"{LAST}; the tasks' kinds name a, b"),
        (None, (), ("d",), "c", "instead of d, which has no result"),
        (None, ("b",), ("a",), "b", "the first address"),
        # An address with several pools says nothing about which of them.
        (None, ("b", "a"), ("a",), "a", "named by the tasks' kind"),
        ("c", ("b",), ("a",), "c", "--baseline"),
    ],
)
def test_the_baseline(requested, first, named, baseline, reason):
    """An option, then the first of several addresses, what the tasks name, and the last by name."""
    plan = Plan.of_pools("cab", requested, first=first, named=named)
    assert (plan.baseline, plan.baseline_reason) == (baseline, reason)
    assert {against for _, against in plan.pairs} == {baseline}


def test_one_pool_at_several_addresses():
    """There is nothing to compare it with."""
    plan = Plan.of_pools("a", None, first="a")
    assert (plan.pairs, plan.baseline_reason) == ((), LAST)


@pytest.mark.parametrize(
    ("pools", "end"), [(9, "h against i"), (10, "h and 1 more against j")], ids=["8", "9"]
)
def test_title(pools, end):
    """It names eight candidates, and counts the others."""
    assert Plan.of_pools("abcdefghij"[:pools], None).title == f"a, b, c, d, e, f, g, {end}"
    before_and_after = Plan.before_and_after("abcdefghij"[: pools - 1]).title
    assert (
        before_and_after == f"a, b, c, d, e, f, g, {end.split(' against')[0]}: after against before"
    )


@pytest.mark.parametrize(("fidelity", "end"), [("seed", ""), ("", ""), ("real", ", fidelity real")])
def test_the_usual_fidelity_is_not_named(fidelity, end):
    """Only what no worker measures today has its fidelity in its title."""
    subject = Subject("cache-retrieve", "workspace", "overwrite", fidelity)
    assert str(subject) == f"cache-retrieve, place workspace, destination overwrite{end}"
