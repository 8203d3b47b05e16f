# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""`--expect 'amd-30/intel<1.05'`: a gate that passes only when the interval says so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from io_benchmark.analysis.model import Report
from io_benchmark.errors import UsageError

FORM = re.compile(
    r"\s*([A-Za-z0-9_. -]+?)\s*/\s*([A-Za-z0-9_. -]+?)\s*(<|>)\s*([0-9]+(?:\.[0-9]+)?)\s*"
)


@dataclass(frozen=True)
class Expectation:
    text: str
    candidate: str
    baseline: str
    below: bool
    limit: float


@dataclass(frozen=True)
class Outcome:
    met: bool
    message: str


def parse(text: str) -> Expectation:
    match = FORM.fullmatch(text)
    if match is None or float(match[4]) <= 0:
        raise UsageError(f"--expect {text!r}: write it like 'amd-30/intel<1.05'")
    return Expectation(text, match[1], match[2], match[3] == "<", float(match[4]))


def judge(expectation: Expectation, report: Report) -> Outcome:
    """On every subject that the two were compared on; not compared is not met."""
    wanted = (expectation.candidate, expectation.baseline)
    found = [
        comparison
        for subject in report.subjects
        for comparison in subject.comparisons
        if (comparison.candidate, comparison.baseline) == wanted
    ]
    if not found:
        return Outcome(False, f"{expectation.text}: not met, these two were not compared")
    for comparison in found:
        interval = comparison.interval
        ends = f"{comparison.ratio:.2f}× ({interval.low:.2f} to {interval.high:.2f})"
        if expectation.below:
            met, broken = interval.high < expectation.limit, interval.low >= expectation.limit
        else:
            met, broken = interval.low > expectation.limit, interval.high <= expectation.limit
        if not met:
            how = "not met" if broken else "not decided"
            return Outcome(False, f"{expectation.text}: {how}, {ends} on {comparison.subject}")
    return Outcome(True, f"{expectation.text}: met")


def judge_all(expectations: Sequence[Expectation], report: Report) -> list[Outcome]:
    return [judge(expectation, report) for expectation in expectations]
