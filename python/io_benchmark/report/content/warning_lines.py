# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What changes how the answers on the first screen are read: refusals, what is missing, warnings."""

import re
from collections.abc import Iterable, Sequence

from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.report_index import NO_VERDICT
from io_benchmark.report.content.screen_lines import ALWAYS, NOTE, ScreenLine
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.worker_rows import WorkersPart
from io_benchmark.text import name

# More of a kind are counted.
_SHOWN = 2
_LENGTH, _SHORT = 200, 120


def warning_lines(
    report: Report, notes: ProblemNotes, workers: WorkersPart
) -> Iterable[ScreenLine]:
    """Write what changes how the answers are read; more than a few are counted."""
    refusals = [
        (f"REFUSED by {each.rule}", f"({each.where}): {each.message} {each.consequence}")
        for each in notes.refusals
    ]
    yield from _first(refusals, "refused comparisons", NO_VERDICT)
    # What to do about it, and the reasons of a warning, are among the details.
    missing = [("Not read:", line.partition("; ")[0]) for line in report.unreadable]
    yield from _first(missing, "results not read")
    yield from _first([("", each) for each in workers.cautions], "cautions about workers")
    for is_allowed in (True, False):
        warnings = [
            (f"{each.rule}:", _shortened(each.brief))
            for each in notes.footnotes
            if each.is_allowed is is_allowed
        ]
        yield from _first(warnings, "warnings", rank=ALWAYS if is_allowed else NOTE)
    remarks = [("", text_of(remark)) for remark in report.remarks]
    yield from _first(remarks, "remarks", rank=NOTE)


def _shortened(text: str) -> str:
    """Leave the reasons of a long warning to the details: what follows a semicolon and then a colon."""
    if len(text) <= _SHORT:
        return text
    first, _, rest = text.partition("; ")
    short = f"{first}; {re.split('[;:] ', rest, maxsplit=1)[0]}"
    return short if rest and len(short) <= _SHORT else first


def _first(
    texts: Sequence[tuple[str, str]], kind: str, verdict: str = "", rank: int = ALWAYS
) -> Iterable[ScreenLine]:
    shown = texts if len(texts) <= _SHOWN else texts[: _SHOWN - 1]
    for lead, text in shown:
        yield ScreenLine(lead, name(text, _LENGTH), verdict, "!", rank)
    left = len(texts) - len(shown)
    if left:
        yield ScreenLine("", f"and {left:,} more {kind}", "", "!", rank)
