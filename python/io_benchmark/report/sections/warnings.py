# SPDX-License-Identifier: MPL-2.0
"""What changes how the answers on a screen are read: refusals, what is missing, warnings."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.report_model import Report
from io_benchmark.report.blocks import ALWAYS, NO_VERDICT, WARNING, Item, Line, Words, plain
from io_benchmark.report.content.footnotes import ProblemNotes
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.sections.workers import cautions
from io_benchmark.text import name

# More of a kind are counted; without any answer there is room for more.
_SHOWN, _SHOWN_ALONE = 2, 4
_LENGTH = 300
# Notes about how it was measured are left out first.
_NOTE = 5
# What cautions say as well: which machine ran several of the tasks.
_CAUTIONED = {"same-worker", "shared-worker"}


def warnings(report: Report, notes: ProblemNotes) -> Iterator[Item]:
    """Write what changes how the answers are read; more than a few are counted."""
    yield from _first(refusals(notes), "refused comparisons")
    missing: list[Line] = [_warning("Not read", line) for line in report.unreadable]
    yield from _first(missing, "results not read", most=_SHOWN if report.subjects else _SHOWN_ALONE)
    yield from _first(cautions(report), "cautions about workers")
    for is_allowed in (True, False):
        briefs = notes.briefs(is_allowed=is_allowed)
        rules = [rule for rule in briefs if rule not in _CAUTIONED]
        lines = [_warning(rule, briefs[rule]) for rule in rules]
        kinds = f"kinds of warnings: {', '.join(rules[_SHOWN - 1 :])}"
        yield from _first(lines, kinds, rank=ALWAYS if is_allowed else _NOTE)
    yield from _first([text_of(remark) for remark in report.remarks], "remarks", rank=_NOTE)


def refusals(notes: ProblemNotes) -> list[Line]:
    return [
        (
            Words(f"REFUSED by {refusal.rule}", NO_VERDICT),
            f" ({refusal.where}): {refusal.message} {refusal.consequence}",
        )
        for refusal in notes.refusals
    ]


def _warning(lead: str, text: str) -> Line:
    return Words(f"{lead}:", WARNING), f" {text}"


def _first(
    lines: Sequence[Line], kind: str, *, rank: int = ALWAYS, most: int = _SHOWN
) -> Iterator[Item]:
    """Yield a few lines, cut; then how many more there are."""
    shown = lines if len(lines) <= most else lines[: most - 1]
    for line in shown:
        if isinstance(line, tuple):
            lead, text = line
            yield Item((lead, f" {name(plain(text), _LENGTH)}"), mark="!", rank=rank)
        else:
            yield Item(name(plain(line), _LENGTH), mark="!", rank=rank)
    left_out = len(lines) - len(shown)
    if left_out:
        yield Item(f"and {left_out:,} more {kind}", mark="!", rank=rank)
