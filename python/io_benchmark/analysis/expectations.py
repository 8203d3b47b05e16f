# SPDX-License-Identifier: MPL-2.0
"""`--expect 'amd-30/intel<1.05 on sync-write'`: a gate that passes only if the whole interval is on the right side."""

import difflib
import re
from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.model import Comparison, Interval, Subject
from io_benchmark.analysis.report_model import Report
from io_benchmark.analysis.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    count,
    joined,
    statement,
)
from io_benchmark.errors import UsageError

FORM = re.compile(
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*/"
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*(<|>)\s*([0-9]+(?:\.[0-9]+)?)"
    r"(?:\s+on\s+([A-Za-z0-9_.-]+(?:(?: |\s*,\s*)[A-Za-z0-9_.-]+)*))?\s*"
)
_EXAMPLES = "'amd-30/intel<1.05' or 'amd-30/intel<1.05 on sync-write, dsync-append'"
_LISTED = 10  # measurements in a message


class ExpectationOutcome(Struct, frozen=True):
    met: bool
    message: Statement


class Expectation(Struct, frozen=True):
    text: str
    candidate: str
    baseline: str
    below: bool
    limit: float
    # Parts of a measurement's title, such as `sync-write` or `4 at once`; empty: every measurement.
    parts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Expectation":
        match = FORM.fullmatch(text)
        if match is None or float(match[4]) <= 0:
            raise UsageError(f"--expect {text!r}: write it like {_EXAMPLES}")
        parts = tuple(re.split(r"\s*,\s*", match[5])) if match[5] else ()
        return cls(text, match[1], match[2], match[3] == "<", float(match[4]), parts)

    def judge(self, report: Report) -> ExpectationOutcome:
        """Judge every measurement with these parts; not met if the two were not compared on any."""
        selected = [part for part in report.subjects if set(part.subject.parts) >= set(self.parts)]
        if not selected and self.parts:
            subjects = [part.subject for part in report.subjects]
            return self._not_met("not met", _not_measured(self.parts, subjects))
        comparisons = [
            comparison
            for part in selected
            for comparison in part.comparisons
            if (comparison.candidate, comparison.baseline) == (self.candidate, self.baseline)
        ]
        if not comparisons:
            return self._not_met("not met", self._not_compared(report))
        # What is known to be broken comes before what is not decided.
        broken = [comparison for comparison in comparisons if self._is_broken(comparison.interval)]
        undecided = [
            comparison
            for comparison in comparisons
            if not self._is_met(comparison.interval) and comparison not in broken
        ]
        if broken or undecided:
            outcome = "not met" if broken else "not decided"
            return self._not_met(outcome, _with_interval([*broken, *undecided]))
        compared = _compared(len(comparisons), len(selected))
        message = statement("{expectation}: met{on}", expectation=self.text, on=compared)
        return ExpectationOutcome(True, message)

    def _not_met(self, outcome: str, reason: Statement) -> ExpectationOutcome:
        message = statement(
            f"{{expectation}}: {outcome}, {{reason}}", expectation=self.text, reason=reason
        )
        return ExpectationOutcome(False, message)

    def _is_met(self, interval: Interval) -> bool:
        return interval.high_ratio < self.limit if self.below else interval.low_ratio > self.limit

    def _is_broken(self, interval: Interval) -> bool:
        return interval.low_ratio >= self.limit if self.below else interval.high_ratio <= self.limit

    def _not_compared(self, report: Report) -> Statement:
        """Explain which pairs were compared instead, or that these two were not compared on these parts."""
        pairs = dict.fromkeys(
            (comparison.candidate, comparison.baseline)
            for part in report.subjects
            for comparison in part.comparisons
        )
        if (self.candidate, self.baseline) in pairs:
            return statement(
                "these two were not compared on {parts}; the report has the reason",
                parts=joined(self.parts),
            )
        listed = [f"{candidate}/{baseline}" for candidate, baseline in pairs] or ["none"]
        return statement("these two were not compared; there are: {pairs}", pairs=joined(listed))


def _with_interval(comparisons: Sequence[Comparison]) -> Statement:
    first, *others = comparisons
    return statement(
        "{ratio} ({interval}) on {subject}{more}",
        ratio=Quantity(first.ratio, Unit.RATIO),
        interval=Range(first.interval.low_ratio, first.interval.high_ratio, Unit.RATIO),
        subject=_title(first.subject),
        more=statement(", and {others} more", others=count(len(others))) if others else "",
    )


def _title(subject: Subject) -> Statement:
    return joined(subject.parts)


def _compared(compared: int, selected: int) -> Statement:
    if selected == 1:
        return statement("")
    on = statement(
        f" on {{compared}} measurement{'' if compared == 1 else 's'}", compared=count(compared)
    )
    if compared == selected:
        return on
    return statement("{on}; {others} not compared", on=on, others=count(selected - compared))


def _not_measured(parts: Sequence[str], subjects: Sequence[Subject]) -> Statement:
    """Explain which part no measurement has, or which measurements have the first part."""
    known = list(dict.fromkeys(part for subject in subjects for part in subject.parts))
    for part in parts:
        if part not in known:
            near = difflib.get_close_matches(part, known, n=1)
            return statement(
                "no measurement has {part} in its name; "
                + ("did you mean {near}? There are: {known}" if near else "there are: {known}"),
                part=repr(part),
                known=joined(known or ["none"]),
                **({"near": near[0]} if near else {}),
            )
    # The first part is the workload, where it is written as in the report.
    similar = [subject for subject in subjects if parts[0] in subject.parts]
    more = len(similar) - _LISTED
    return statement(
        "no measurement is {parts}; with {first} there are: {listed}{more}",
        parts=joined(parts),
        first=parts[0],
        listed=joined(map(_title, similar[:_LISTED]), "; "),
        more=statement("; and {more} more", more=count(more)) if more > 0 else "",
    )
