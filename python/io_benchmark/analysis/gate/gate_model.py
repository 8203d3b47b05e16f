# SPDX-License-Identifier: MPL-2.0
"""A gate's question and its answer, with the comparison that it rests on.

What is published as JSON is `GateReport` as it is here (`report/formats/json_documents.py`).
"""

import re
from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.model.cause import State
from io_benchmark.analysis.model.comparison import Interval
from io_benchmark.analysis.model.plan import SIDE_NAME
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.gate_sizes import DEFAULT_GATE_MARGIN
from io_benchmark.errors import UsageError
from io_benchmark.text import clean

_FORM = re.compile(
    rf"\s*({SIDE_NAME})\s*/\s*({SIDE_NAME})\s*(?:<\s*([0-9]{{1,4}}(?:\.[0-9]{{1,8}})?)\s*)?"
)
_EXAMPLES = "'alpha/production' or 'alpha/production<1.10'"
_LENGTH = 100  # characters of a wrong value in a message
_DIGITS = 8  # 1.1 - 1 is 0.1


class Gate(Struct, frozen=True):
    """The question whether a candidate is at most so much slower than a baseline."""

    candidate: str
    baseline: str
    margin: float  # 0.1 for `<1.10`

    @classmethod
    def parse(cls, written: str) -> "Gate":
        match = _FORM.fullmatch(written)
        option = f"--gate {clean(written, _LENGTH)!r}"
        if match is None:
            raise UsageError(f"{option}: write it like {_EXAMPLES}")
        margin = DEFAULT_GATE_MARGIN if match[3] is None else round(float(match[3]) - 1, _DIGITS)
        if margin <= 0:
            raise UsageError(f"{option}: {match[3]} is not above 1; write it like {_EXAMPLES}")
        if match[1] == match[2]:
            raise UsageError(f"{option}: compares a pool with itself; name two pools")
        return cls(match[1], match[2], margin)

    @property
    def sides(self) -> tuple[str, str]:
        return self.candidate, self.baseline

    @property
    def written(self) -> str:
        """Return it as `--gate` takes it."""
        return f"{self.candidate}/{self.baseline}<{round(1 + self.margin, _DIGITS):.{_DIGITS + 1}g}"


class Answer(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_DECIDED = "not decided"


class MarginTest(Struct, frozen=True):
    """What one measurement says about the margin.

    Where the baseline has slow workers, the figures are of its others: slow workers of the old pool
    do not excuse the new one.
    """

    subject: Subject
    answer: Answer
    ratio: float  # of the candidate's time to the baseline's
    interval: Interval  # 95 %, adjusted for several measurements and looks
    # The ratio is below this with 95 %; a gate passes where it is below the limit.
    highest_ratio: float
    variation_ratio: float  # between workers, as it is expected of further ones
    workers: tuple[int, int]  # of the candidate and the baseline
    slow_of_baseline: int  # that are left out of the figures


class SlowWorkers(Struct, frozen=True):
    """The workers of a side that are slower than its others by more than chance."""

    subject: Subject
    side: str
    machines: tuple[str, ...]  # as `Worker` has them, or tasks where these are not known
    workers: int  # of the side
    ratio: float  # their mean time over that of the other workers of the side
    # What only they have, "no local SSD", and what the others have; empty: nothing recorded.
    facts: tuple[str, ...]
    facts_of_others: tuple[str, ...]
    # As slow ones of the baseline and how many it has; not counted where a fact is the image's, nor
    # for the baseline itself.
    like_these_in_baseline: tuple[int, int] | None
    is_proven: bool  # by their times; otherwise only their facts differ


class GateAnswer(Struct, frozen=True):
    candidate: str
    baseline: str
    margin_ratio: float  # 0.1
    answer: Answer
    # Why it failed or is not decided; of a pass, what is to be known.
    reasons: tuple[Statement, ...]
    workers: tuple[int, int]  # of the candidate and the baseline
    tests: tuple[MarginTest, ...]  # the one that decides first
    slow_workers: tuple[SlowWorkers, ...]
    # The first cause of the difference that decides, where it failed and one holds.
    cause: str | None
    cause_state: State | None
    # Where it is not decided: how many workers of each pool decide it in 80 of 100 gates, if the
    # ratios are those; None: something else is missing.
    workers_needed: int | None
    # With how many an equal image passes in 80 of 100 gates, at the variation seen or assumed;
    # None: more than are proposed.
    workers_for_equal: int | None
    comparison: Report


class GateReport(Struct, frozen=True, tag_field="version", tag=1):
    """The answers of gates, each with its comparison."""

    gates: tuple[GateAnswer, ...]
    unreadable: tuple[str, ...]  # one line for each result that could not be read
