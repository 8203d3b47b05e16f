# SPDX-License-Identifier: MPL-2.0
"""The report of gates: facts, a picture, a sentence per gate, and evidence that is folded."""

import sample_gates
from msgspec.structs import replace
from sample_report import text
from written import folds, lines, screen, tables

from io_benchmark.analysis.gate.gate_model import GateReport
from io_benchmark.analysis.model.comparison import Problem, Severity
from io_benchmark.report.blocks import Document, Picture, plain
from io_benchmark.report.drawn import StripRow
from io_benchmark.report.formats import document_of, rendered

SEVERAL = ("equal", "mixed", "baseline mixed", "few")


def rows(document: Document) -> list[StripRow]:
    """The rows of the answer's picture."""
    (picture,) = [block for block in document.answer if isinstance(block, Picture)]
    drawn, _ = picture.arguments
    return list(drawn)


def test_facts() -> None:
    """Runs of a pool that several gates have are counted once."""
    one = sample_gates.report("equal")
    twice = replace(one, gates=one.gates * 2)
    facts = [plain(fact) for fact in document_of(one).facts]
    assert facts[2:3] == ["12 workers, 12 tasks"]
    assert [plain(fact) for fact in document_of(twice).facts] == facts


def test_picture() -> None:
    """A row has the gate's answer, ratio, interval and limit, and each worker of its candidate."""
    report = sample_gates.report(*SEVERAL)
    drawn = rows(document_of(report))
    assert [row.chip for row in drawn] == ["passed", "failed", "passed", "not decided"]
    assert [row.workers for row in drawn] == [6, 6, 6, 2]
    assert [(row.ratio, row.interval, row.limit_ratio) for row in drawn] == [
        (gate.tests[0].ratio, gate.tests[0].interval, 1 + gate.margin_ratio)
        for gate in report.gates
    ]
    # Without the slow worker of its baseline, the candidate's workers are around the ratio.
    assert all(0.9 < dot.ratio < 1.1 for dot in drawn[2].dots)


def test_a_gate_without_measurements() -> None:
    """Its row has the answer alone; where no gate has a ratio, nothing is drawn."""
    (gate,) = sample_gates.report("equal").gates
    unmeasured = replace(gate, tests=())
    report = GateReport((gate, unmeasured), ())
    assert [row.ratio is None for row in rows(document_of(report))] == [False, True]
    answer = document_of(GateReport((unmeasured,), ())).answer
    assert not any(isinstance(block, Picture) for block in answer)


def test_each_comparison_is_folded() -> None:
    """The page shows the answers; a fold per gate has the whole comparison, without a picture."""
    report = sample_gates.report(*SEVERAL)
    assert folds(report) == [gate.comparison.title for gate in report.gates]
    page = rendered(report, "html")
    assert page.count('<div class="strip') == 1


def test_measurements_are_in_one_table() -> None:
    """It has a row per gate without figures, and below it those of each measurement."""
    report = sample_gates.report(*SEVERAL)
    (table,) = tables([block for block in document_of(report).blocks if hasattr(block, "rows")])
    assert [bool(row.cells) for row in table.rows] == [False, True] * 4


def test_caveats() -> None:
    """What limits a gate's answer is in its sentence, and no warning of its screen."""
    report = sample_gates.report("equal")
    (gate,) = report.gates
    zones = Problem("zones", Severity.WARNING, None, ("intel", "amd-16"), text("apart"))
    limited = replace(gate.comparison, problems=(zones,))
    made = replace(report, gates=(replace(gate, comparison=limited),))
    first, *others = screen(made)
    assert "6 workers each; the workers are in different zones), at most 1.01×" in first
    assert not any("zones" in line for line in others)
    assert first in lines(document_of(made).answer)


def test_reasons_are_no_caveats() -> None:
    """A single worker is a reason against any answer, and is written once."""
    workers = [run for run in sample_gates.workers("equal") if run.side == "intel"]
    workers += [run for run in sample_gates.workers("equal") if run.side == "amd-16"][:1]
    report = GateReport((sample_gates.answer_of(workers),), ())
    first, reason, *_ = screen(report)
    assert "; 1 and 6 workers), at most " in first
    assert reason.startswith("Why: amd-16 has 1 worker, and 3 or more show")
