# SPDX-License-Identifier: MPL-2.0
"""Records whose texts are made harmless, and statements as text."""

import pytest
from msgspec import Struct
from msgspec.structs import replace
from sample_report import seed_case

from io_benchmark.analysis.model.cause import Evidence, Observation, Seen
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, statement
from io_benchmark.report.content import (
    evidence_text,
    make_harmless,
    sentence_of,
    text_of,
    verdict_text,
)


class Sample(Struct, frozen=True):
    side: str
    message: str
    verdict: Verdict
    counts: dict[str, int]
    nested: tuple["Sample", ...] = ()


def sample(side: str, message: str = "", nested: tuple[Sample, ...] = ()) -> Sample:
    return Sample(side, message, Verdict.SLOWER, {side: 1}, nested)


def test_every_text_is_cleaned() -> None:
    """Texts in fields, keys and nested records are; enumerations and numbers stay as they are."""
    cleaned = make_harmless(sample("a\x1b[31m", "two\nlines", (sample("b\u202ec"),)))
    assert cleaned == sample("a\ufffd[31m", "two lines", (sample("b\ufffdc"),))


def test_names_that_differ_still_differ() -> None:
    """Names are cut in the middle, and show where they differ; the same name is the same."""
    first, second = "x" * 50 + "1" + "y" * 50, "x" * 50 + "2" + "y" * 50
    cleaned = make_harmless(sample(first, "m" * 1001, nested=(sample(second), sample(first))))
    assert (cleaned.side, cleaned.message) == ("x" * 20 + "…" + "y" * 19, "m" * 999 + "…")
    assert cleaned.nested[0].side == "…" + "x" * 8 + "2" + "y" * 10 + "…" + "y" * 19
    assert cleaned.nested[1].side == cleaned.side
    controls = make_harmless(sample("a\x01", nested=(sample("a\x02"),)))
    assert (controls.side, controls.nested[0].side) == ("a\ufffd", "a\ufffd (2)")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Quantity(12_345, Unit.OPERATIONS_PER_SECOND), "12,300 operations/s"),
        (Quantity(12_345, Unit.IOPS), "12,300 IOPS"),
        (Quantity(90, Unit.SECONDS), "90 s"),
        (Quantity(1.5, Unit.NUMBER), "1.50"),
        ("{other} \N{RIGHT-TO-LEFT OVERRIDE}", "{other} \N{REPLACEMENT CHARACTER}"),
    ],
    ids=str,
)
def test_value(value: Quantity | str, text: str) -> None:
    """Golden files have the other units; text from a worker is neither a template nor raw."""
    assert text_of(statement("It is {value}.", value=value)) == f"It is {text}."


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (Verdict.SLOWER, "amd-16 takes 1.92× as long as intel"),
        (Verdict.FASTER, "amd-16 takes 1.92× as long as intel"),
        (Verdict.EQUIVALENT, "amd-16 is equivalent to intel: 1.92× as long, within ±5 %"),
        (Verdict.INCONCLUSIVE, "amd-16 compared with intel is inconclusive: 1.92× as long"),
    ],
)
@pytest.mark.parametrize(
    ("workers", "shown"), [((1, 1), "1 worker each"), ((3, 1000), "3 and 1,000 workers")]
)
def test_verdict(verdict: Verdict, sentence: str, workers: tuple[int, int], shown: str) -> None:
    """The ratio is how long it takes, with the interval and both pools' workers."""
    compared = replace(next(iter(seed_case().subjects)).comparisons[0], verdict=verdict)
    lead, rest = verdict_text(compared, 0.05, workers)
    assert f"{lead}{rest}" == f"{sentence} (95 % interval 1.36 to 2.70; {shown})"


@pytest.mark.parametrize(("count", "ending"), [(4, "v3 on 1 of 9 workers"), (5, ", 1 more")])
def test_many_variants(count: int, ending: str) -> None:
    """Four values are named, and further ones counted."""
    seen = tuple(Seen(statement(f"v{number}"), 1) for number in range(count))
    assert evidence_text(Evidence((Observation("fact", seen, 9),))).endswith(ending)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (statement("run it on {pool}", pool="slow"), "Run it on slow."),
        (statement("{pool} has no results.", pool="slow"), "slow has no results."),
        (statement("{error}", error="http://h refuses"), "http://h refuses."),
        (statement("{number} of them", number=Quantity(2, Unit.COUNT)), "2 of them."),
    ],
)
def test_a_sentence(made: Statement, sentence: str) -> None:
    """It begins with a capital letter, unless it begins with a name, and ends with a full stop."""
    assert sentence_of(made) == sentence
