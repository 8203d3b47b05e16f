# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Where the time went: the parts of a difference in words."""

import re

import divided_reports
import pytest
import sample_report
import several_places
import simulated_cases
from divided_reports import Times, pair, with_parts
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from seed_workers import pair_report
from simulated_push import Pool

from io_benchmark.analysis.model import DIFFERENT
from io_benchmark.analysis.parts.time_parts import Kind, Part, Phase
from io_benchmark.number_text import NOTHING
from io_benchmark.report.content.divisions import DivisionsPart
from io_benchmark.report.content.document import build

LOOKUP_USER = Part(Phase.LOOKUP, Kind.USER)
LOOKUP_KERNEL = Part(Phase.LOOKUP, Kind.KERNEL)
COPY_USER, COPY_KERNEL, COPY_WAITING, COPY_BLOCKED, COPY_UNEXPLAINED = (
    Part(Phase.COPY, kind) for kind in Kind
)

SEED_CASE = sample_report.seed_case(10)


def divided(report, **options) -> DivisionsPart:
    part = build(report, **options).divisions
    assert part is not None
    return part


def with_sample_parts(parts):
    """The only divided difference of a report whose amd-16 is slower than intel."""
    (only,) = divided(with_parts(sample_report.seed_case(10), parts)).leading
    return only


def cells(difference):
    return {row.name: row.cells for row in difference.rows.shown}


@pytest.mark.parametrize(
    ("truth", "workers", "lead", "sentence"),
    [
        pytest.param(
            "one disk",
            3,
            "amd-16, +75.0 ms per retrieve against intel:",
            "copies blocked (I/O, writeback, memory) +75.1 ms (100 %).",
            id="one-disk-against-two",
        ),
        pytest.param(
            "slow grep",
            3,
            "amd-16, +10.3 ms per retrieve against intel:",
            "lookups on a CPU in user mode +10.3 ms (100 %).",
            id="slow-grep",
        ),
        pytest.param(
            "half a CPU",
            3,
            "amd-16, +19.9 ms per retrieve against intel:",
            "copies waiting for a CPU +18.0 ms (91 %), lookups waiting for a CPU +1.9 ms (9 %).",
            id="half-a-cpu",
        ),
        pytest.param(
            "one disk",
            1,
            "amd-16, +79.5 ms per retrieve against intel:",
            "copies blocked (I/O, writeback, memory) +79.4 ms (100 %).",
            id="one-worker",
        ),
    ],
)
def test_sentence(truth, workers, lead, sentence):
    """The sentence names the part in which the machines differ, and no other."""
    (only,) = divided(pair(truth, workers=workers)).leading
    assert (only.lead, only.sentence) == (lead, sentence)


def test_faster():
    """A share is of the difference, so it is positive where less time is spent."""
    case = simulated_cases.make(("one disk",))
    report = divided_reports.of_pools(Pool("intel", case.fast), Pool("amd-16", case.slow))
    (only,) = divided(report).leading
    assert only.lead == "intel, −75.0 ms per retrieve against amd-16:"
    assert only.sentence == "copies blocked (I/O, writeback, memory) −75.1 ms (100 %)."


def test_table():
    """Each part that is not small has a row; the shares add up, and the whole is the average."""
    report = pair("one disk", "slow grep")
    (only,) = divided(report).shown
    assert only.title == "amd-16 against intel, ms per retrieve"
    assert only.heads == ("intel", "amd-16", "Difference", "95 % interval", "Share")
    assert cells(only) == {
        "lookups on a CPU in user mode": ("0.4", "10.6", "+10.3", "+9.8 to +10.8", "14 %"),
        "copies on a CPU in the kernel": ("12.0", "12.0", "0.0", "−0.4 to +0.4", "0 %"),
        "copies blocked (I/O, writeback, memory)": (
            *("58.1", "123.8", "+65.7", "+57.3 to +74.0"),
            "86 %",
        ),
        "other parts": ("0.9", "0.9", "0.0", NOTHING, "0 %"),
    }
    assert only.rows.whole.cells == ("71.5", "147.4", "+75.9", NOTHING, "100 %")
    figures = report.subjects[0].figures
    assert only.rows.baseline_ns == pytest.approx(figures["intel"].mean_ns)
    assert only.rows.candidate_ns == pytest.approx(figures["amd-16"].mean_ns)


def test_workers_measured_once():
    """Without intervals the table has no column for them."""
    (only,) = divided(pair("one disk", workers=1)).shown
    assert only.heads == ("intel", "amd-16", "Difference", "Share")
    assert {len(row.cells) for row in (*only.rows.shown, only.rows.whole)} == {4}


def test_results_without_accounting():
    """Older files know lookups and copies; the report says what they do not record."""
    (only,) = divided(pair_report({}, {})).leading
    assert only.sentence == (
        "copies +69.7 ms (100 %); the results do not record what the lookups and copies waited for."
    )
    assert cells(only) == {
        "lookups, not recorded": ("1.4", "1.4", "0.0", "0 %"),
        "copies, not recorded": ("74.6", "144.3", "+69.7", "100 %"),
    }


def test_results_without_waiting():
    """Where only CPU time is recorded, what is left has a name that says so."""
    only = with_sample_parts(
        {
            LOOKUP_USER: (1, 1, 0, 0),
            COPY_KERNEL: (10, 12, 1, 3),
            COPY_UNEXPLAINED: (65, 133, 60, 76),
        }
    )
    assert only.sentence == (
        "copies, not recorded +68.0 ms (97 %), copies on a CPU in the kernel +2.0 ms (3 %); "
        "the results do not record what the copies waited for."
    )


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(
            lambda: divided_reports.of_pools(
                *(Pool(name, simulated_cases.BASE) for name in ("amd-16", "intel"))
            ),
            id="no-difference",
        ),
        pytest.param(sample_report.refused, id="refused"),
        pytest.param(sample_report.empty, id="nothing-read"),
    ],
)
def test_nothing_to_divide(report):
    """Only a decided difference is divided."""
    assert build(report()).divisions is None


def test_an_operation_with_one_phase():
    """Its parts need no name of a phase."""
    only = with_sample_parts(
        {
            Part(Phase.OPERATION, Kind.KERNEL): (11, 13, 1, 3),
            Part(Phase.OPERATION, Kind.BLOCKED): (65, 133, 60, 76),
        }
    )
    assert only.sentence == (
        "blocked (I/O, writeback, memory) +68.0 ms (97 %), on a CPU in the kernel +2.0 ms (3 %)."
    )


def test_one_part_is_no_division():
    """Where an operation's time is not recorded in parts, there is nothing to show."""
    whole = {Part(Phase.OPERATION, Kind.UNEXPLAINED): (1, 2, None, None)}
    assert build(with_parts(sample_report.seed_case(10), whole)).divisions is None


def test_no_part_is_certain():
    """A part whose interval includes zero is not stated as a cause of the difference."""
    only = with_sample_parts({COPY_KERNEL: (30, 40, -5, 25), COPY_BLOCKED: (40, 60, -1, 41)})
    assert only.sentence == "no part alone is certain."
    assert only.rows.has_uncertain


def test_the_rest():
    """What the named parts leave over has its size, also where it is not certain."""
    only = with_sample_parts({COPY_KERNEL: (30, 40, -5, 25), COPY_BLOCKED: (40, 60, 15, 25)})
    assert only.sentence == (
        "copies blocked (I/O, writeback, memory) +20.0 ms (67 %), the rest +10.0 ms (33 %), "
        "of which no part alone is certain."
    )


def test_parts_in_both_directions():
    """Shares are signed: one above 100 % is shown with the part that lies the other way."""
    only = with_sample_parts({LOOKUP_USER: (15, 5, -11, -9), COPY_BLOCKED: (60, 140, 70, 90)})
    assert only.sentence == (
        "copies blocked (I/O, writeback, memory) +80.0 ms (114 %), "
        "lookups on a CPU in user mode −10.0 ms (−14 %)."
    )


def test_uncertain_part_in_the_other_direction():
    """It is in the rest, so that the shares still add up to 100 %."""
    only = with_sample_parts({LOOKUP_USER: (15, 5, -21, 1), COPY_BLOCKED: (60, 140, 70, 90)})
    assert only.sentence == (
        "copies blocked (I/O, writeback, memory) +80.0 ms (114 %), the rest −10.0 ms (−14 %), "
        "of which no part alone is certain."
    )


def test_parts_that_cancel_each_other():
    """Twenty times the difference is no useful share, so none has one."""
    only = with_sample_parts({LOOKUP_USER: (30, 10, -21, -19), COPY_BLOCKED: (40, 61, 20, 22)})
    assert only.sentence == (
        "copies blocked (I/O, writeback, memory) +21.00 ms, "
        "lookups on a CPU in user mode −20.00 ms."
    )
    assert {row.cells[-1] for row in (*only.rows.shown, only.rows.whole)} == {NOTHING}


def test_small_parts():
    """Two small parts share a row; one alone keeps its name."""
    large = {COPY_BLOCKED: (80, 150, 60, 80)}
    two = {LOOKUP_USER: (1, 1.5, 0.4, 0.6), LOOKUP_KERNEL: (1, 0.9, -0.2, 0.0)}
    assert cells(with_sample_parts(large | two)) == {
        "copies blocked (I/O, writeback, memory)": (
            *("80.0", "150.0", "+70.0", "+60.0 to +80.0"),
            "99 %",
        ),
        "other parts": ("2.0", "2.4", "+0.4", NOTHING, "1 %"),
    }
    one = {LOOKUP_USER: (1, 1.5, 0.4, 0.6)}
    assert [*cells(with_sample_parts(large | one))] == [
        "copies blocked (I/O, writeback, memory)",
        "lookups on a CPU in user mode",
    ]


@given(st.data())
def test_shares_add_up(data):
    """Whatever the parts are: the shares of a sentence, and those of a table, add up to 100 %."""
    times = st.one_of(st.floats(0, 1e10), st.floats(0, 100), st.sampled_from([0.0, 1.0, 1e10]))
    ends = st.sampled_from([-1e3, -1.0, 0.0, 1.0, 1e3])
    has_intervals = data.draw(st.booleans())
    parts: dict[Part, Times] = {}
    for part in (LOOKUP_USER, LOOKUP_KERNEL, COPY_USER, COPY_WAITING, COPY_BLOCKED):
        low, high = sorted([data.draw(ends), data.draw(ends)])
        bounds = (low, high) if has_intervals else (None, None)
        parts[part] = (data.draw(times), data.draw(times), *bounds)
    report = with_parts(SEED_CASE, parts)
    only = divided(report).leading[0]
    shares = [row.percent for row in only.rows.shown if row.percent is not None]
    assert shares == [] or (len(shares) == len(only.rows.shown) and sum(shares) == 100)
    in_sentence = [
        int(text.replace("−", "-").replace(",", ""))
        for text in re.findall(r"\((−?[0-9,]+) %\)", only.sentence)
    ]
    assert in_sentence == [] or sum(in_sentence) == 100


def test_many_pools():
    """Each candidate has a sentence; three have a table, and the others are counted."""
    parts = {LOOKUP_USER: (1, 1, 0, 0), COPY_BLOCKED: (75, 145, 60, 80)}
    report = with_parts(sample_report.many_pools(10), parts)
    different = [each for each in report.subjects[0].comparisons if each.verdict in DIFFERENT]
    part = divided(report)
    assert [each.candidate for each in part.leading] == [each.candidate for each in different]
    assert part.shown == part.leading[:3]
    assert part.without_table == part.further == part.leading[3:]
    assert part.counted == (
        f"--details, the HTML page and the JSON have the parts of {len(different) - 3} further "
        "differences."
    )
    assert divided(report, details=True).shown == part.leading


def test_several_measurements():
    """The measurement that the answer names first leads; the others are counted."""
    report = several_places.few_measurements()
    first, second, *others = report.subjects
    twice = replace(
        second,
        comparisons=tuple(
            replace(each, subject=second.subject, ratio=1.5)
            for each in first.comparisons
            if each.verdict in DIFFERENT
        ),
        divisions=first.divisions,
    )
    report = replace(report, subjects=(first, twice, *others), diagnoses=())
    part = divided(report)
    assert [each.lead for each in part.leading] == [
        "amd-16, +74.0 ms per retrieve against intel in workspace:"
    ]
    assert [each.title for each in part.further] == [
        f"amd-16 against intel in {second.subject.place}, ms per retrieve"
    ]
    assert part.counted == (
        "--details, the HTML page and the JSON have the parts of 1 further difference."
    )
    assert len(divided(report, details=True).leading) == 2
