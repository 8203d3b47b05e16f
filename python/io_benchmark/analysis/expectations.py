# SPDX-License-Identifier: MPL-2.0
"""`--expect 'amd-30/intel<1.05 on sync-write'`: a gate that passes only if the whole interval is on the right side."""

import re
from collections.abc import Sequence

from msgspec import Struct

from io_benchmark.analysis.model import Comparison, Interval
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


class _Outcome(Struct, frozen=True):
    met: bool
    message: Statement


class Expectation(Struct, frozen=True):
    written: str  # as the user gave it
    candidate: str
    baseline: str
    below: bool
    limit: float
    # Parts of a measurement's title, such as `sync-write` or `4 at once`; empty: every measurement.
    parts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, written: str) -> "Expectation":
        match = FORM.fullmatch(written)
        if match is None or float(match[4]) <= 0:
            raise UsageError(f"--expect {written!r}: write it like {_EXAMPLES}")
        parts = tuple(re.split(r"\s*,\s*", match[5])) if match[5] else ()
        return cls(written, match[1], match[2], match[3] == "<", float(match[4]), parts)

    def judge(self, report: Report) -> _Outcome:
        """Judge every measurement with these parts; not met if the two were not compared on any."""
        selected = [part for part in report.subjects if set(part.subject.parts) >= set(self.parts)]
        if not selected and self.parts:
            return self._not_met("not met", _not_measured(self.parts, report))
        comparisons = [
            comparison
            for part in selected
            for comparison in part.comparisons
            if (comparison.candidate, comparison.baseline) == (self.candidate, self.baseline)
        ]
        if not comparisons:
            return self._not_met("not met", self._not_compared(report))
        not_met = [result for result in comparisons if not self._is_met(result.interval)]
        broken = [result for result in not_met if self._is_broken(result.interval)]
        if not_met:
            # What is surely broken comes before what is not decided.
            outcome = "not met" if broken else "not decided"
            return self._not_met(outcome, _with_interval((broken or not_met)[0], len(not_met) - 1))
        on = statement("")
        if len(selected) > 1:
            left_out = len(selected) - len(comparisons)
            on = statement(
                f" on {{compared}} measurement{'' if len(comparisons) == 1 else 's'}"
                + ("; {left_out} not compared" if left_out else ""),
                compared=count(len(comparisons)),
                left_out=count(left_out),
            )
        message = statement("{expectation}: met{on}", expectation=self.written, on=on)
        return _Outcome(True, message)

    def _not_met(self, outcome: str, reason: Statement) -> _Outcome:
        template = f"{{expectation}}: {outcome}, {{reason}}"
        message = statement(template, expectation=self.written, reason=reason)
        return _Outcome(False, message)

    def _is_met(self, interval: Interval) -> bool:
        return interval.high_ratio < self.limit if self.below else interval.low_ratio > self.limit

    def _is_broken(self, interval: Interval) -> bool:
        return interval.low_ratio >= self.limit if self.below else interval.high_ratio <= self.limit

    def _not_compared(self, report: Report) -> Statement:
        """Explain which pairs were compared instead, or that these two were not compared on these parts."""
        pairs = dict.fromkeys(
            f"{comparison.candidate}/{comparison.baseline}"
            for part in report.subjects
            for comparison in part.comparisons
        )
        if f"{self.candidate}/{self.baseline}" in pairs:
            return statement(
                "these two were not compared on {parts}; the report has the reason",
                parts=joined(self.parts),
            )
        return statement(
            "these two were not compared; there are: {pairs}", pairs=joined(pairs or ["none"])
        )


def _with_interval(comparison: Comparison, more: int) -> Statement:
    return statement(
        "{ratio} ({interval}) on {subject}" + (", and {more} more" if more else ""),
        ratio=Quantity(comparison.ratio, Unit.RATIO),
        interval=Range(comparison.interval.low_ratio, comparison.interval.high_ratio, Unit.RATIO),
        subject=joined(comparison.subject.parts),
        more=count(more),
    )


def _not_measured(parts: Sequence[str], report: Report) -> Statement:
    """Explain which part no measurement has, or that none has all of them."""
    measured = dict.fromkeys(part for result in report.subjects for part in result.subject.parts)
    unknown = next((part for part in parts if part not in measured), None)
    if unknown is None:
        return statement(
            "no measurement has all of {parts} in its name; the report lists the measurements",
            parts=joined(parts),
        )
    return statement(
        "no measurement has {part} in its name; there are: {known}",
        part=repr(unknown),
        known=joined(measured or ["none"]),
    )
