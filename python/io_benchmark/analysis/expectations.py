# SPDX-License-Identifier: MPL-2.0
"""What is expected of a comparison.

`--expect 'amd-30/intel<1.05 on sync-write'` is a gate that passes only if the whole interval is on
the right side.
"""

import re
from collections.abc import Iterable

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.plan import SIDE_NAME
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.statements import (
    Quantity,
    Range,
    Statement,
    Unit,
    count,
    joined,
    ratio_of,
    statement,
)
from io_benchmark.errors import UsageError
from io_benchmark.number_text import plural
from io_benchmark.suggestions import closest

FORM = re.compile(
    rf"\s*({SIDE_NAME})\s*/\s*({SIDE_NAME})\s*(<|>)\s*([0-9]+(?:\.[0-9]+)?)"
    r"(?:\s+on\s+([A-Za-z0-9_.-]+(?:(?: |\s*,\s*)[A-Za-z0-9_.-]+)*))?\s*"
)


_EXAMPLES = "'amd-30/intel<1.05' or 'amd-30/intel<1.05 on sync-write, dsync-append'"


_MET, _OPEN, _BROKEN = "met", "not decided", "not met"


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
        parts = joined(self.parts)
        if not selected and self.parts:
            names = (part for each in report.subjects for part in each.subject.parts)
            template = "no measurement has {parts} in its name; there are: {names}"
            return self._not_met(template, parts=parts, names=_listed(names))
        compared = [comparison for part in selected for comparison in part.comparisons]
        sides = (self.candidate, self.baseline)
        comparisons = [pair for pair in compared if (pair.candidate, pair.baseline) == sides]
        if not comparisons:
            pairs = [f"{pair.candidate}/{pair.baseline}" for pair in compared]
            meant = closest(f"{self.candidate}/{self.baseline}", pairs)
            where = " on {parts}" if self.parts else ""
            template = f"these two were not compared{where}; there are: {{pairs}}"
            if meant:
                template += "; did you mean {meant}?"
            return self._not_met(
                template, parts=parts, pairs=_listed(pairs), meant=_listed([meant])
            )
        states = [self._state(comparison.interval) for comparison in comparisons]
        open_states = [state for state in states if state != _MET]
        if open_states:
            # What is surely broken comes before what is not decided.
            state = _BROKEN if _BROKEN in open_states else _OPEN
            worst, more = comparisons[states.index(state)], len(open_states) - 1
            return self._not_met(
                "{ratio} ({interval}) on {subject}" + (", and {more} more" if more else ""),
                state,
                ratio=ratio_of(worst.ratio),
                interval=Range(worst.interval.low_ratio, worst.interval.high_ratio, Unit.RATIO),
                subject=joined(worst.subject.parts),
                more=count(more),
            )
        left_out = len(selected) - len(comparisons)
        template = "{expectation}: met"
        if len(selected) > 1:
            template += f" on {{compared}} {plural(len(comparisons), 'measurement')}"
            template += "; {left_out} not compared" if left_out else ""
        numbers = {"compared": count(len(comparisons)), "left_out": count(left_out)}
        return _Outcome(True, statement(template, expectation=self.written, **numbers))

    def _not_met(
        self, reason: str, state: str = _BROKEN, **values: Statement | Quantity | Range
    ) -> _Outcome:
        template = f"{{expectation}}: {state}, {reason}"
        return _Outcome(False, statement(template, expectation=self.written, **values))

    def _state(self, interval: Interval) -> str:
        low, high = interval.low_ratio, interval.high_ratio
        if (high < self.limit) if self.below else (low > self.limit):
            return _MET
        is_broken = (low >= self.limit) if self.below else (high <= self.limit)
        return _BROKEN if is_broken else _OPEN


def _listed(names: Iterable[str]) -> Statement:
    return joined(dict.fromkeys(names) or ["none"])
