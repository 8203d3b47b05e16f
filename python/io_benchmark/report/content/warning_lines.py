# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What changes how the answers on the first screen are read: refusals, what is missing, warnings."""

from collections.abc import Iterable, Sequence

from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.screen_lines import ALWAYS, NOTE, ScreenLine
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.worker_rows import WorkersPart
from io_benchmark.text import name

# More of a kind are counted; without any answer there is room for more.
_SHOWN, _SHOWN_ALONE = 2, 4
_LENGTH = 300
# What cautions say as well: which machine ran several of the tasks.
_CAUTIONED = {"same-worker", "shared-worker"}


def warning_lines(
    report: Report, notes: ProblemNotes, workers: WorkersPart
) -> Iterable[ScreenLine]:
    """Write what changes how the answers are read; more than a few are counted."""
    refusals = [
        (f"REFUSED by {each.rule}", f"({each.where}): {each.message} {each.consequence}")
        for each in notes.refusals
    ]
    yield from _first(refusals, "refused comparisons", NO_VERDICT)
    missing = [("Not read:", line) for line in report.unreadable]
    most = _SHOWN if report.subjects else _SHOWN_ALONE
    yield from _first(missing, "results not read", most=most)
    yield from _first([("", each) for each in workers.cautions], "cautions about workers")
    for is_allowed in (True, False):
        briefs = notes.briefs(is_allowed=is_allowed)
        warnings = {rule: text for rule, text in briefs.items() if rule not in _CAUTIONED}
        further = ", ".join(list(warnings)[_SHOWN - 1 :])
        texts = [(f"{rule}:", text) for rule, text in warnings.items()]
        rank = ALWAYS if is_allowed else NOTE
        yield from _first(texts, f"kinds of warnings: {further}", rank=rank)
    remarks = [("", text_of(remark)) for remark in report.remarks]
    yield from _first(remarks, "remarks", rank=NOTE)


def _first(
    texts: Sequence[tuple[str, str]],
    kind: str,
    verdict: str = "",
    rank: int = ALWAYS,
    most: int = _SHOWN,
) -> Iterable[ScreenLine]:
    shown = texts if len(texts) <= most else texts[: most - 1]
    for lead, text in shown:
        yield ScreenLine(lead, name(text, _LENGTH), verdict, "!", rank)
    left = len(texts) - len(shown)
    if left:
        yield ScreenLine("", f"and {left:,} more {kind}", "", "!", rank)
