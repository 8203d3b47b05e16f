# SPDX-License-Identifier: MPL-2.0
"""The gate: met only when the interval says so."""

import every_workload
import pytest
import simulation

from io_benchmark.analysis.expectations import Expectation
from io_benchmark.analysis.model import Comparison, Interval, Subject, Verdict
from io_benchmark.analysis.report_model import Report, SubjectReport
from io_benchmark.errors import UsageError
from io_benchmark.report.content.statement_text import text_of


def part(subject: Subject, *intervals: tuple[float, float]) -> SubjectReport:
    """b was compared with a on this subject, if there is an interval."""
    return SubjectReport(
        subject,
        {},
        tuple(
            Comparison(
                subject,
                "a",
                "b",
                1.0,
                Interval(*interval, 0.95),
                Interval(*interval, 0.9),
                0.5,
                Verdict.INCONCLUSIVE,
                "workers",
                None,
                None,
                None,
            )
            for interval in intervals
        ),
        (),
    )


def report_of(*subjects: SubjectReport) -> Report:
    return Report("", "a", "", 0.05, subjects, (), (), (), (), (), (), ())


def report(*intervals: tuple[float, float]) -> Report:
    """One subject an interval, on which b was compared with a."""
    return report_of(*(part(simulation.SUBJECT, interval) for interval in intervals))


@pytest.mark.parametrize(
    ("text", "intervals", "met", "message"),
    [
        pytest.param("b/a<1.05", [(0.9, 1.04)], True, "b/a<1.05: met", id="below"),
        pytest.param(
            "b/a<1.05", [(0.9, 1.05)], False, "not decided, 1.00× (0.90 to 1.05)", id="touching"
        ),
        pytest.param("b/a<1.05", [(1.0, 1.2)], False, "not decided", id="undecided"),
        pytest.param("b/a<1.05", [(1.06, 1.2)], False, "not met", id="above"),
        pytest.param("b/a>1.5", [(1.6, 2.2)], True, "met", id="wanted-above"),
        pytest.param("b/a>1.5", [(1.1, 1.4)], False, "not met", id="wanted-above-missed"),
        pytest.param(
            "b/a<1.05", [(0.9, 1.0), (0.9, 2.0)], False, "not decided", id="every-subject"
        ),
        pytest.param(
            "a/b<1.05",
            [(0.9, 1.0)],
            False,
            "a/b<1.05: not met, these two were not compared; there are: b/a",
            id="not-compared",
        ),
        pytest.param(" b / a < 1.05 ", [(0.9, 1.0)], True, "met", id="spaces"),
        pytest.param(
            "b/a<1.05",
            [(0.9, 1.0), (0.9, 2.0), (1.3, 1.4)],
            False,
            "not met, 1.00× (1.300 to 1.400) on cache-retrieve, place workspace, destination "
            "overwrite, fidelity seed, and 1 more",
            id="the-broken-one-first",
        ),
        pytest.param(
            "b/a<1.05", [(0.9, 1.0)] * 3, True, "b/a<1.05: met on 3 measurements", id="on-each"
        ),
        pytest.param(
            "b/a<1.05", [], False, "these two were not compared; there are: none", id="no-results"
        ),
    ],
)
def test_outcomes(text: str, intervals: list[tuple[float, float]], met: bool, message: str) -> None:
    """The interval's end decides, on every subject; an undecided one is not met."""
    outcome = Expectation.parse(text).judge(report(*intervals))
    assert outcome.met is met
    assert message in text_of(outcome.message)


APPEND = Subject("sync-write", "workspace", variant="dsync-append")
APPEND_IN_MEMORY = Subject("sync-write", "memory", variant="dsync-append")
FSYNC = Subject("sync-write", "workspace", variant="append-fsync")
STAT = [Subject("metadata", "workspace", variant="stat", threads=threads) for threads in (1, 4)]
MEASURED = report_of(
    part(APPEND, (0.9, 1.0)),
    part(APPEND_IN_MEMORY),
    part(FSYNC, (1.3, 1.4)),
    part(STAT[0], (0.9, 1.2)),
    part(STAT[1], (0.9, 1.0)),
)
WORDS = (
    "sync-write, place workspace, dsync-append, place memory, append-fsync, metadata, stat, "
    "1 at once, 4 at once"
)


@pytest.mark.parametrize(
    ("words", "met", "said"),
    [
        pytest.param("place workspace, dsync-append", True, "met", id="one"),
        pytest.param("dsync-append", True, "met on 1 measurement; 1 not compared", id="variant"),
        pytest.param(" 4 at once ,  metadata ", True, "met", id="threads"),
        pytest.param(
            "sync-write",
            False,
            "not met, 1.00× (1.300 to 1.400) on sync-write, place workspace, append-fsync",
            id="workload",
        ),
        pytest.param(
            "metadata",
            False,
            "not decided, 1.00× (0.90 to 1.20) on metadata, place workspace, stat, 1 at once",
            id="one-of-two",
        ),
        pytest.param(
            "place memory",
            False,
            "not met, these two were not compared on place memory; the report has the reason",
            id="not-compared",
        ),
        pytest.param(
            "sync-write, 8",
            False,
            f"not met, no measurement has '8' in its name; there are: {WORDS}",
            id="unknown",
        ),
        pytest.param(
            "metadata, place memory",
            False,
            "not met, no measurement has all of metadata, place memory in its name; the report lists "
            "the measurements",
            id="no-such-combination",
        ),
    ],
)
def test_of_one_measurement(words: str, met: bool, said: str) -> None:
    """The words of a measurement's title choose it, in any order; the rest does not count."""
    text = f"b/a<1.05 on {words}"
    outcome = Expectation.parse(text).judge(MEASURED)
    assert (outcome.met, text_of(outcome.message)) == (met, f"{' '.join(text.split())}: {said}")


def test_before_and_after() -> None:
    """The sides of two pushes have a space in their names, which no word of a title takes."""
    parsed = Expectation.parse("amd-16 after/amd-16 before<1.05 on spawn, place workspace")
    assert (parsed.candidate, parsed.baseline) == ("amd-16 after", "amd-16 before")
    assert parsed.parts == ("spawn", "place workspace")


def test_a_title_as_the_report_has_it_is_one_measurement() -> None:
    """Each of a report's measurements can be named by its own title, pasted as it stands."""
    report = every_workload.report()
    for chosen in report.subjects:
        expectation = Expectation.parse(f"amd-16/intel>0.001 on {chosen.subject}")
        assert text_of(expectation.judge(report).message).endswith(": met")


@pytest.mark.parametrize(
    "text",
    [
        *("", "a<1", "a/b", "a/b<x", "a/b<0", "a/b=1", "a/b<1e5", "a/b<1/2"),
        *("a/b<1 on", "a/b<1 on ,", "a/b<1 on c,", "a/b<1 on c,,d", "a/b<1 of c", "a/b<1on c"),
    ],
)
def test_what_is_no_expectation_is_told(text: str) -> None:
    """One line with the form that is wanted."""
    with pytest.raises(UsageError, match=r"write it like 'amd-30/intel<1\.05'"):
        Expectation.parse(text)
