# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Workloads besides cache-retrieve: their tables, sentences and pictures, in their own units."""

from array import array

import every_workload
import pytest
import sample_report
from msgspec.structs import replace
from page import Page, assert_harmless

from io_benchmark.analysis.model import Diagnosis, Subject, Verdict
from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import NOTHING
from io_benchmark.report.content import document
from io_benchmark.report.content.report_sections import Section
from io_benchmark.report.formats import FORMATS
from io_benchmark.report.formats.html import render_report
from io_benchmark.report.formats.output import rendered
from io_benchmark.report.plots.scales import TIMES, Axis


def section(title: str) -> Section:
    built = document.build(every_workload.report())
    return next(one for one in built.sections if one.title.startswith(title))


def test_measurements_of_a_place_share_a_section():
    """Cache-retrieve has the seed's table; every other workload one table with its unit."""
    built = document.build(every_workload.report())
    assert [(one.title, one.subjects, one.measures is None) for one in built.sections] == [
        (
            "cache-retrieve, place workspace, destination overwrite, fidelity seed",
            (0,),
            True,
        ),
        ("random-io, place workspace (IOPS, higher is better)", (1, 2, 3, 4), False),
        ("spawn (µs, lower is better)", (5,), False),
        ("sync-write, place workspace (µs, lower is better)", (6, 7, 8, 9), False),
        ("metadata, place workspace (ops/s, higher is better)", tuple(range(10, 21)), False),
        ("exec, place workspace (ms, lower is better)", (21, 22), False),
        ("upload (ms, lower is better)", (23, 24, 25), False),
        ("unpack, place workspace (files/s, higher is better)", (26, 27, 28, 29), False),
    ]


def test_a_table_of_measurements():
    """A line a pool: the figure and its P95 in the unit, the ratio of times, its interval, the verdict."""
    table = section("exec").measures
    assert table is not None
    assert table.heads == ("ms", "P95", "Ratio", "95 % interval", "Verdict")
    hardlinked, copies = table.measures
    cpu_time = "CPU time of one: intel 29.0 ms, amd-16 29.0 ms, amd-30 29.0 ms"
    assert (hardlinked.label, hardlinked.details) == ("hardlinked, 4 at once", (cpu_time,))
    over = "over hardlinks: intel 1.10×, amd-16 1.65×, amd-30 1.10×"
    assert copies.details == (over, cpu_time)
    assert [(row.pool, row.verdict, row.cells) for row in copies.rows] == [
        ("intel", "baseline", ("33.0", "33.4", "1.00×", NOTHING, "baseline")),
        ("amd-16", "slower", ("49.5", "50.3", "1.50×", "1.29 to 1.74", "slower")),
        ("amd-30", "no verdict", ("33.0", "33.4", NOTHING, NOTHING, "no verdict")),
    ]


def test_places_have_sections_of_their_own():
    """Two places of one workload are two tables; what uses no place has one."""
    subjects = [
        Subject("metadata", "workspace", variant="stat", threads=1),
        Subject("metadata", "container", variant="stat", threads=1),
        Subject("spawn", "workspace", variant="posix-spawn"),
        Subject("spawn", "container", variant="posix-spawn"),
        Subject("metadata", "workspace", variant="stat", threads=2),
    ]
    part = every_workload.report().subjects[5]
    parts = tuple(replace(part, subject=subject) for subject in subjects)
    built = document.build(replace(every_workload.report(), subjects=parts, diagnoses=()))
    assert [one.subjects for one in built.sections] == [(0, 4), (1,), (2, 3)]


def answers(title: str) -> dict[str, str]:
    return {each.candidate: f"{each.lead} {each.after_lead}" for each in section(title).answers}


def test_one_sentence_a_candidate():
    """The most different one that is explained leads; the others are named or counted behind it."""
    said = answers("metadata")
    assert said["amd-16"] == (
        "amd-16 is 4.49× slower than intel on stat, 4 at once (95 % interval 3.78 to 5.33): "
        "throughput 0.83× with 4 threads against throughput 3.74× with 4 threads, which explains "
        "100 % (supported); also supported: files-not-visible. Also slower: visibility, 2 at once 10.01×; stat, 2 at once 1.80×. Inconclusive: 8 measurements, "
        "1.00×. Try: work on a volume, or with a storage driver without such a lock (overlay2, not "
        "AUFS) (4.49× faster, predicted)."
    )
    assert said["amd-30"] == (
        "amd-30 compared with intel is inconclusive on 11 measurements, 1.00×."
    )
    assert answers("exec")["amd-30"] == (
        "amd-30 compared with intel: no verdict, refused by parameters (hardlinked, 4 at once; copies, "
        "4 at once)."
    )


SLOWER, FASTER, SAME = (Verdict.SLOWER, 3.0), (Verdict.FASTER, 0.5), (Verdict.EQUIVALENT, 1.01)


def changed(verdicts: list[tuple[Verdict, float]]) -> Report:
    """Only sync-write, its three measurements for amd-16 with these verdicts and ratios."""
    report = every_workload.report()
    parts = [
        replace(
            part,
            comparisons=(replace(part.comparisons[0], verdict=verdict, ratio=ratio),),
        )
        for part, (verdict, ratio) in zip(report.subjects[6:9], verdicts, strict=True)
    ]
    return replace(report, subjects=tuple(parts), diagnoses=())


@pytest.mark.parametrize(
    ("verdicts", "verdict", "lead", "rest"),
    [
        pytest.param(
            [SAME, SAME, SAME],
            "equivalent",
            "amd-16 is equivalent to intel",
            "on dsync-overwrite 1.01×; dsync-append 1.01×; append-fsync 1.01×.",
            id="equivalent",
        ),
        pytest.param(
            [SAME, (Verdict.INCONCLUSIVE, 1.2), SAME],
            "inconclusive",
            "amd-16 compared with intel is inconclusive",
            "on dsync-append 1.20×. Equivalent: dsync-overwrite 1.01×; append-fsync 1.01×.",
            id="inconclusive-on-one",
        ),
        pytest.param(
            [SAME, FASTER, SLOWER],
            "slower",
            "amd-16 is 3.00× slower than intel on append-fsync",
            "(95 % interval 3.37 to 4.75). Faster: dsync-append 0.50×. Equivalent: dsync-overwrite "
            "1.01×.",
            id="slower-and-faster",
        ),
        pytest.param(
            [FASTER, FASTER, SAME],
            "faster",
            "amd-16 is faster than intel on dsync-overwrite",
            "at 0.50× its time (95 % interval 0.84 to 1.19). Also faster: dsync-append 0.50×. "
            "Equivalent: append-fsync 1.01×.",
            id="faster",
        ),
    ],
)
def test_what_a_candidates_measurements_say_together(verdicts, verdict, lead, rest):
    """A difference is said before what is not decided, and that before what is equivalent."""
    (built,) = document.build(changed(verdicts)).sections
    found = {one.candidate: one for one in built.answers}["amd-16"]
    assert (found.verdict, found.lead, found.rest) == (verdict, lead, rest)


def test_further_diagnoses_list_what_is_supported():
    """Of the leading workload all hypotheses are told; of others the rest is counted."""
    leading, further, *_ = document.build(every_workload.report()).diagnoses
    assert leading.title == "Why amd-16 is slower than intel"
    assert leading.counted == ""
    assert further.title == "Why amd-16 is slower than intel on random-io, write-depth-32"
    assert [row.name for row in further.listed] == ["random-io"]
    assert further.counted == "Hypotheses: 10 ruled out."


def test_a_diagnosis_without_supported_causes_lists_what_was_ruled_out():
    """Otherwise it would say nothing at all."""
    report = every_workload.report()
    leading, further, *rest = report.diagnoses
    none = tuple(one for one in further.causes if one.state != "supported")
    changed_one = Diagnosis(further.candidate, none, (), further.subject)
    report = replace(report, diagnoses=(leading, changed_one, *rest))
    part = document.build(report).diagnoses[1]
    assert len(part.listed) == len(none) == 10


def test_the_page_draws_rates_as_rates():
    """Each measurement has its pictures, folded away, with ids of their own; nothing else is new."""
    text = render_report(every_workload.report())
    page = Page(text)
    assert_harmless(page)
    assert text.count("<details") == 29 + 3  # amd-30, of which nothing is decided, and spawn
    assert "mean 170,000 IOPS" in text
    assert "mean 512 µs" in text
    ids = [value for key, value in page.attributes if key == "id"]
    assert len(ids) == len(set(ids))
    assert len(text.encode()) < 600_000


def test_the_page_stays_small_with_hundreds_of_measurements():
    """Anyone's task may name as many as a result may hold: the first ones are drawn."""
    report = every_workload.report()
    part = report.subjects[10]
    subjects = [replace(part.subject, variant=f"variant-{at}") for at in range(400)]
    one = next(each for each in report.series if each.subject == part.subject)
    parts = tuple(replace(part, subject=subject, comparisons=()) for subject in subjects)
    series = tuple(replace(one, subject=subject) for subject in subjects)
    text = render_report(replace(report, subjects=parts, series=series, diagnoses=(), problems=()))
    assert text.count("Samples of variant-") == 60
    assert len(text.encode()) < 2_000_000


def test_axes():
    """A rate is the inverse of its time; times keep the unit that fits them."""
    rates = Axis("IOPS")
    assert rates.values(array("q", [1_000_000, 0])).tolist() == [1000.0, 1e9]
    assert (rates.place(2_000_000), rates.tick(12_000), rates.tick(0.5)) == (500, "12,000", "0.5")
    assert (rates.text(100_000), TIMES.text(100_000)) == ("10,000 IOPS", "100 µs")
    assert TIMES.values(array("q", [5, 0])).tolist() == [5.0, 1.0]


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names_of_measurements(form):
    """A variant is a name like any other, and so are pools, places and labels."""
    script, breaks, escapes, entities, long = sample_report.HOSTILE_NAMES
    report = every_workload.report()
    part = report.subjects[10]
    subject = Subject("metadata", script, variant=breaks, threads=10**9)
    figures = {
        name: replace(
            one, details=tuple(replace(d, label=escapes, unit=entities) for d in one.details)
        )
        for name, one in zip((long, "amd-16", "amd-30"), part.figures.values(), strict=True)
    }
    hostile = replace(
        report,
        baseline=long,
        subjects=(
            replace(
                part,
                subject=subject,
                figures=figures,
                comparisons=tuple(
                    replace(one, subject=subject, baseline=long) for one in part.comparisons
                ),
            ),
        ),
        diagnoses=(replace(report.diagnoses[0], subject=subject),),
        series=tuple(replace(one, subject=subject) for one in report.series[:3]),
    )
    text = rendered(hostile, form)
    assert "\x1b" not in text
    if form == "html":
        assert_harmless(Page(text))
    if form == "markdown":
        assert "](https" not in "".join(text.split("`")[::2])  # outside of code
