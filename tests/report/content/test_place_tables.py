# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Places side by side, in every format for people."""

import pytest
import sample_report
import several_places
from msgspec.structs import replace
from page import Page, assert_harmless

from io_benchmark.analysis.report_model import PlaceRow, Places, Report
from io_benchmark.number_text import NOTHING
from io_benchmark.report.content import document
from io_benchmark.report.content.place_tables import PlacesPart
from io_benchmark.report.content.tables import FiguresRow
from io_benchmark.report.formats import FORMATS
from io_benchmark.report.formats.html import render_report
from io_benchmark.report.formats.output import rendered


def part(report: Report) -> PlacesPart:
    found = document.build(report).places
    assert found is not None
    return found


def test_a_row_a_place_and_a_column_a_pool() -> None:
    """The seed's table of five configurations, with what each place is and the pools' ratio."""
    (table,) = part(several_places.five()).tables
    assert [head.text for head in table.means.heads] == ["intel", "amd-16", "amd-16/intel"]
    assert [(row.label, row.note, row.cells) for row in table.means.rows] == [
        ("workspace", "volume, ext4", ("75.8", "149", "1.96× slower")),
        ("container", "container overlay", ("83.2", "84.4", "1.01× inconclusive")),
        ("boot-disk", "volume, ext4", ("175", "180", "1.03× inconclusive")),
        ("bind-mount", "volume, xfs", ("75.7", "78.1", "1.03× inconclusive")),
        ("memory", "memory, tmpfs", ("8.32", NOTHING, NOTHING)),
    ]
    assert table.means.rows[0].verdicts == ("", "", "slower")


def test_each_place_against_the_first() -> None:
    """A ratio and its interval a pool; what is missing or was done in another way is said below."""
    (table,) = part(several_places.five()).tables
    assert table.first == "workspace"
    assert table.ratios.rows[2:4] == (
        FiguresRow("boot-disk", ("2.31×", "1.21×"), strong=True),
        FiguresRow("95 % interval", ("2.261 to 2.359", "1.179 to 1.241")),
    )
    assert table.notes == (
        "memory, intel: warm cache here, cold cache at workspace",
        "memory, amd-16: not measured: no space: needs 7100 MiB, 4100 MiB are free",
    )


def test_what_the_intervals_rest_on() -> None:
    """One worker's interval is of that machine, and says so."""
    (said,) = part(several_places.five()).assumptions
    assert said == (
        "intel, amd-16: one worker compared with itself, in blocks of its samples; the interval "
        "holds for that worker alone, because others may differ"
    )


def test_several_workers_say_so() -> None:
    """Each against itself, by how far their ratios differ."""
    report = several_places.five()
    (table,) = report.places
    rows = tuple(
        replace(row, sides=tuple(replace(one, method="workers", workers=3) for one in row.sides))
        for row in table.rows
    )
    report = replace(report, places=(replace(table, rows=rows),))
    assert part(report).assumptions == (
        (
            "intel, amd-16: 3 workers, each compared with itself; the interval follows from how "
            "much their ratios differ"
        ),
    )


def test_of_further_workloads_what_differs_most_is_shown() -> None:
    """Each destination of cache-retrieve; one table of a workload that differs; the rest in a line."""
    found = part(several_places.everything())
    assert [table.title for table in found.tables] == [
        "cache-retrieve, destination overwrite, fidelity seed (ms, lower is better)",
        "cache-retrieve, destination unlink, fidelity seed (ms, lower is better)",
        "cache-retrieve, destination fresh, fidelity seed (ms, lower is better)",
        "random-io, read-depth-32 (IOPS, higher is better)",
    ]
    assert found.alike == (
        "No proven difference between places: sync-write (4 measurements, 1.00×), metadata (11 "
        "measurements, 1.00×), exec (2 measurements, 1.00×), unpack (4 measurements, 1.00×)."
    )
    assert found.counted == "24 more measurements are in the HTML page and the JSON."


def test_with_details_every_measurement_has_its_table() -> None:
    """--details leaves nothing to be counted."""
    found = document.build(several_places.everything(), details=True).places
    assert found is not None
    assert (len(found.tables), found.further, found.alike, found.counted) == (28, (), "", "")


def test_the_page_keeps_every_measurement() -> None:
    """What the text counts is there in the page, folded away."""
    text = render_report(several_places.everything())
    assert "<summary>24 further measurements</summary>" in text
    assert text.count('aria-label="Figures, places, ') == 28


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_one_place_has_no_section(form: str) -> None:
    """Nothing to lay side by side, nothing said."""
    shown = rendered(sample_report.seed_case(10), form)
    assert "Places" not in shown


def test_pools_that_differ_in_what_the_place_is() -> None:
    """Each kind is named with the pools that have it."""
    report = several_places.five()
    (table,) = report.places
    intel, amd = table.rows[0].sides
    first = replace(table.rows[0], sides=(intel, replace(amd, kind="volume, xfs")))
    report = replace(report, places=(replace(table, rows=(first, *table.rows[1:])),))
    row = part(report).tables[0].means.rows[0]
    assert row.note == "volume, ext4 on intel; volume, xfs on amd-16"


def hostile() -> Report:
    """Every text of a place's is an attack."""
    script, breaks, escapes, entities, long = sample_report.HOSTILE_NAMES
    report = several_places.five()
    (table,) = report.places

    def row(place: str, old: PlaceRow) -> PlaceRow:
        sides = tuple(
            replace(
                one,
                side=name,
                kind=entities,
                missing=sample_report.text(breaks),
                not_compared=sample_report.text(script),
                differences=(sample_report.text(long),),
            )
            for name, one in zip((escapes, long), old.sides, strict=True)
        )
        comparisons = tuple(
            replace(one, candidate=long, baseline=escapes) for one in old.comparisons
        )
        return replace(old, place=place, sides=sides, comparisons=comparisons)

    rows = tuple(map(row, sample_report.HOSTILE_NAMES, table.rows))
    subject = replace(table.subject, place=script, destination=breaks, fidelity=entities)
    return replace(report, places=(Places(subject, rows),))


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names(form: str) -> None:
    """Places, what they are and why they are missing come from files, and steer nothing."""
    text = rendered(hostile(), form)
    assert "\x1b" not in text
    if form == "html":
        assert_harmless(Page(text))
    if form == "markdown":
        assert "](https" not in "".join(text.split("`")[::2])  # outside of code


@pytest.mark.parametrize("width", [40, 50, 60, 80, 120])
@pytest.mark.parametrize("report", [several_places.five, several_places.everything])
def test_width(report, width: int) -> None:
    """No line of the section is wider than the terminal, and every figure is in it at any width."""
    shown = sample_report.on_terminal(report(), width).partition("\nPlaces\n")[2]
    section = shown.partition("\ncache-retrieve, place")[0]
    assert [line for line in section.splitlines() if len(line) > width] == []
    for place in report().places[0].rows:
        assert place.place in section
    assert "slower" in section
