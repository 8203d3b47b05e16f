# SPDX-License-Identifier: MPL-2.0
"""The sections of measurements: their tables, which are folded, and what the intervals rest on."""

import every_workload
import sample_report
import several_places
from msgspec.structs import replace
from written import folds, headings, lines, rows, section, tables

from io_benchmark.analysis.model import Severity
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.blocks import Heading, Marks, Table, pieces, plain
from io_benchmark.report.sections.comparison import document


def absorbed(waiting_runs_of_amd: float | None = 0.0) -> Report:
    """A report about copies that all ended in memory, but for this part of amd-16's runs."""
    part = sample_report.the_part()
    storage = {
        side: replace(did, waiting_runs_ratio=waiting_runs_of_amd if side == "amd-16" else 0.0)
        for side, did in part.storage.items()
    }
    return replace(sample_report.seed_case(), subjects=(replace(part, storage=storage),))


def marks(line: object) -> tuple[int, ...]:
    return next((each.numbers for each in pieces(line) if isinstance(each, Marks)), ())  # type: ignore[arg-type]


def test_the_figure_that_leads() -> None:
    """The median, where it is steady on all sides, else the mean."""
    (steady,) = tables(section(absorbed(), "cache-retrieve"))
    labels = list(rows(steady))
    assert labels[:2] == ["P50", "Avg"]
    assert labels[-4:-2] == ["P50 vs intel", "Ratio vs intel"]
    (few_wait,) = tables(section(absorbed(0.49), "cache-retrieve"))
    assert list(rows(few_wait)) == labels
    for waiting_runs in (0.5, None):
        (waiting,) = tables(section(absorbed(waiting_runs), "cache-retrieve"))
        assert list(rows(waiting))[:2] == ["Avg", "P50"]
        assert "P50 vs intel" not in rows(waiting)


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
    report = sample_report.seed_case()
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


def test_equal_evidence_is_written_once() -> None:
    """Of a fact that both sides have, the second column says so."""
    cause = sample_report.cause(baseline_evidence=sample_report.cause().candidate_evidence)
    (row,) = tables(section(sample_report.with_diagnosis(causes=(cause,)), "Why"))[0].rows
    assert plain(row.cells[2]) == "the same"
