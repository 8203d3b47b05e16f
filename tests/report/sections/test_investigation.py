# SPDX-License-Identifier: MPL-2.0
"""The report of an investigation: its conclusion first, then how it was found."""

import sample_investigation
from msgspec.structs import replace
from written import lines

from io_benchmark.analysis.investigation.investigation_model import Findings, Investigation
from io_benchmark.analysis.model.cause import Remedy
from io_benchmark.analysis.model.statements import statement
from io_benchmark.report.blocks import Block, Code, Items, Picture, Words, plain
from io_benchmark.report.formats import document_of


def answer(report: Investigation) -> list[str]:
    items = [block for block in document_of(report).answer if isinstance(block, Items)]
    return lines(items)


def kinds(blocks: "list[Block] | tuple[Block, ...]") -> list[type]:
    return [type(block) for block in blocks]


def test_conclusion() -> None:
    """What to change, what is slow, why, how sure that is, and what to do, in this order."""
    report = sample_investigation.change()
    assert [line.partition(":")[0] for line in answer(report)] == [
        "- A change helps. Change the pool's definition",
        "Times",
        "Cause",
        "Certainty",
        "Try",
    ]
    assert answer(report)[1] == (
        "Times: 24 min on slow, 16.7 min on fast: 1.44× (95 % interval 1.30 to 1.60; "
        "6 workers each)."
    )
    since = "Since: 2026-03-01 on all pools: 1.50× the time before."
    assert answer(sample_investigation.nothing())[2] == since


def test_nothing_is_written_twice() -> None:
    """The evidence has what the answer does not."""
    report = sample_investigation.change()
    evidence = lines(document_of(report).blocks)
    assert {line.removeprefix("- ") for line in evidence}.isdisjoint(answer(report))


def test_what_to_do() -> None:
    """A patch and a fragment are in the answer; without them the remedy is, with its gain."""
    report = sample_investigation.change()
    assert Code in kinds([*document_of(report).answer])
    assert answer(report)[-1] == "Try: apply the patch below."
    fragment = replace(report, patch="", fragment="a: c")
    assert answer(fragment)[-1] == "Try: write the lines below into the pool's definition."
    fix = report.conclusion.fix
    assert fix is not None
    remedy = Remedy("device-count", statement("use more local SSDs"), 1.9, True, ())
    conclusion = replace(report.conclusion, fix=replace(fix, remedy=remedy))
    bare = replace(report, patch="", conclusion=conclusion)
    assert answer(bare)[-1] == (
        "Try: Use more local SSDs (1.90× as fast for the benchmark, measured)."
    )
    assert Code not in kinds([*document_of(bare).answer])


def test_results_that_could_not_be_read() -> None:
    """They limit how sure the conclusion is, which says so."""
    report = replace(sample_investigation.change(), unreadable=("a", "b"))
    (certainty,) = [line for line in answer(report) if line.startswith("Certainty")]
    assert certainty.endswith("of the real difference; 2 results could not be read.")


def test_facts() -> None:
    """The task leads to its page, where that is known; a hostile address leads nowhere."""
    report = replace(sample_investigation.change(), task="task:A.0")
    first, *others = document_of(report).facts
    assert first == Words("task:A.0", link="https://tc/tasks/A/runs/0")
    assert [plain(fact) for fact in others][:3] == [
        "test on p/slow",
        "compared with fast",
        "12 completed runs on slow",
    ]
    first, *_ = document_of(sample_investigation.hostile()).facts
    assert first == Words("task:x")


def test_picture() -> None:
    """Of two pools, the answer draws the tasks, the benchmark and the prediction."""
    report = sample_investigation.change()
    (picture,) = [block for block in document_of(report).answer if isinstance(block, Picture)]
    assert picture.arguments[1] == ["real tasks", "benchmark", "prediction"]
    lone = sample_investigation.hostile()
    assert Picture not in kinds([*document_of(lone).answer])
    assert lone.findings == Findings(lone.findings.slowness)
