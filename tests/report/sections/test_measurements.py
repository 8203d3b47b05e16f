# SPDX-License-Identifier: MPL-2.0
"""The sections of measurements: their tables, which are folded, and what the intervals rest on."""

import every_workload
import pytest
import sample_report
import several_places
from msgspec.structs import replace
from sample_report import ABSORBED, text
from written import folds, headings, lines, rows, section, tables

from io_benchmark.analysis.model import Severity, Subject
from io_benchmark.analysis.report_model import Bottleneck, Report, SideBottleneck
from io_benchmark.number_text import NOTHING
from io_benchmark.report.blocks import Heading, Marks, Table, pieces, plain
from io_benchmark.report.sections.comparison import document


def absorbed(bottleneck: SideBottleneck = ABSORBED) -> Report:
    """A report about copies that all ended in memory, with one side's bottleneck changed."""
    part = sample_report.several_subjects().subjects[1]
    part = replace(part, bottlenecks={**part.bottlenecks, "amd-16": bottleneck})
    return replace(sample_report.seed_case(100), subjects=(part,))


def marks(line: object) -> tuple[int, ...]:
    return next((each.numbers for each in pieces(line) if isinstance(each, Marks)), ())  # type: ignore[arg-type]


WRITTEN = (
    "absorbed by the page cache (waiting for I/O 1 % of the time); of 110 GiB copied, 3 MiB reached "
    "the disks"
)


@pytest.mark.parametrize(
    ("bottleneck", "words"),
    [
        (
            ABSORBED,
            f"{WRITTEN}; after the last copy 80 MiB were still to be written; the final sync took 240 ms",
        ),
        (replace(ABSORBED, left_dirty_bytes=None, drain_ns=None), WRITTEN),
        (
            SideBottleneck(Bottleneck.UNKNOWN, text("nothing\x1b[31m"), None, None, None, None),
            "unknown (nothing\ufffd[31m)",
        ),
    ],
    ids=["all", "no sync", "nothing"],
)
def test_bottlenecks(bottleneck: SideBottleneck, words: str) -> None:
    """The bottleneck, what told it, and where the bytes went, as far as that is known."""
    found = lines(section(absorbed(bottleneck), "cache-retrieve"))
    assert [line for line in found if "amd-16" in line and line.endswith(f": {words}")]


def test_the_figure_that_leads() -> None:
    """The median, where it is steady on all sides, else the mean."""
    (steady,) = tables(section(absorbed(), "cache-retrieve"))
    labels = list(rows(steady))
    assert labels[:2] == ["P50", "Avg"]
    assert labels[-4:-2] == ["P50 vs intel", "Ratio vs intel"]
    waits = absorbed(replace(ABSORBED, bottleneck=Bottleneck.WRITEBACK))
    (waiting,) = tables(section(waits, "cache-retrieve"))
    assert list(rows(waiting))[:2] == ["Avg", "P50"]
    assert "P50 vs intel" not in rows(waiting)


def test_a_table_of_measurements() -> None:
    """A line per pool: the figure and its P95 in the unit, the ratio, its interval, the verdict."""
    (table,) = tables(section(every_workload.report(), "exec"))
    assert table.heads == ("ms", "P95", "Ratio", "95 % interval", "Verdict")
    assert [plain(row.label) for row in table.rows if not row.cells] == [
        "hardlinked, 4 at once",
        "CPU time of one: intel 29.0 ms, amd-16 29.0 ms, amd-30 29.0 ms",
        "copies, 4 at once",
        "over hardlinks: intel 1.10×, amd-16 1.65×, amd-30 1.10×",
        "CPU time of one: intel 29.0 ms, amd-16 29.0 ms, amd-30 29.0 ms",
    ]
    # The last measurement's.
    assert {label: cells for label, cells in rows(table).items() if cells} == {
        "intel": ("33.0", "33.4", "1.00×", NOTHING, "baseline"),
        "amd-16": ("49.5", "50.3", "1.50×", "1.29 to 1.74", "slower"),
        "amd-30": ("33.0", "33.4", NOTHING, NOTHING, "no verdict"),
    }


def test_measurements_of_a_place_share_a_section() -> None:
    """Two places of one workload are two tables; what uses no place has one."""
    subjects = [
        Subject("metadata", "workspace", variant="stat", threads=1),
        Subject("metadata", "container", variant="stat", threads=1),
        Subject("spawn", "workspace", variant="posix-spawn"),
        Subject("spawn", "container", variant="posix-spawn"),
    ]
    part = every_workload.report().subjects[5]
    parts = tuple(replace(part, subject=subject) for subject in subjects)
    found = headings(replace(every_workload.report(), subjects=parts, diagnoses=()))
    assert [title for title in found if title.startswith(("metadata", "spawn"))] == [
        "metadata, place workspace (ops/s, higher is better)",
        "metadata, place container (ops/s, higher is better)",
        "spawn (µs, lower is better)",
    ]


def few(count: int) -> Report:
    """So many measurements, of which nothing is decided."""
    report = several_places.everything()
    return replace(report, subjects=report.subjects[1 : 1 + count], diagnoses=(), places=())


def test_what_is_folded() -> None:
    """Four measurements are in full; of five, and of many, those that are decided or refused."""
    assert folds(few(4)) == []
    assert folds(few(5)) == ["In 5 measurements no pool is slower or faster"]
    report = every_workload.report()
    samples = [each for each in folds(report) if each.startswith("Samples")]
    others = [each for each in folds(report) if each not in samples and "hypotheses" not in each]
    assert others == ["In 19 measurements no pool is slower or faster"]
    visible = [plain(each.title) for each in document(report).blocks if isinstance(each, Table)]
    assert visible
    found = headings(report)
    assert found.index("Not decided") > found.index("exec, place workspace (ms, lower is better)")


def test_marks() -> None:
    """A warning's number is at the sides that it names, a measurement's at its title."""
    report = sample_report.seed_case(5)
    warning, cache = report.problems
    problems = (replace(warning, sides=()), replace(cache, severity=Severity.ALLOWED), warning)
    report = replace(report, problems=problems)
    blocks = document(report).blocks
    (title,) = [
        heading.line
        for heading in blocks
        if isinstance(heading, Heading) and "cache-retrieve" in plain(heading.line)
    ]
    (table,) = tables(section(report, "cache-retrieve"))
    answers = next(each for each in blocks if hasattr(each, "items"))
    assert marks(title) == (1,)
    assert [marks(head) for head in table.heads] == [(3,), (3,), (2, 3)]
    assert [marks(item.line) for item in answers.items] == [(3,), (2, 3)]
    assert lines(section(report, "Notes"))[1].startswith(
        "[2] page-cache: allowed by --allow page-cache, amd-30: drop_caches"
    )


def test_further_diagnoses_list_what_is_supported() -> None:
    """Of the leading workload all hypotheses are listed; of others the rest is folded."""
    report = every_workload.report()
    why = [title for title in headings(report) if title.startswith("Why")]
    assert why[:2] == [
        "Why amd-16 is slower than intel",
        "Why amd-16 is slower than intel on random-io, write-depth-32",
    ]
    listed = tables(section(report, why[1]))[0]
    assert [plain(row.label).split(":")[0] for row in listed.rows] == ["SUPPORTED random-io"]
    assert "Further hypotheses: 10 ruled out" in folds(report)
    leading, further, *rest = report.diagnoses
    none = replace(
        further, causes=tuple(c for c in further.causes if not c.state.holds), remedies=()
    )
    without = replace(report, diagnoses=(leading, none, *rest))
    assert len(tables(section(without, why[1]))[0].rows) == 10


def test_equal_evidence_is_written_once() -> None:
    """Of a fact that both sides have, the second column says so."""
    (table,) = tables(section(sample_report.seed_case(5), "Why"))[:1]
    assert table.heads == ("Why", "On amd-16", "On intel", "Share")
    report = sample_report.seed_case(5)
    (diagnosis,) = report.diagnoses
    cause = replace(
        sample_report.SUPPORTED, baseline_evidence=sample_report.SUPPORTED.candidate_evidence
    )
    same = replace(report, diagnoses=(replace(diagnosis, causes=(cause,)),))
    (row,) = tables(section(same, "Why"))[0].rows
    assert plain(row.cells[2]) == "the same"
