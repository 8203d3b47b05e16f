# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""`--expect 'amd-30/intel<1.05 on sync-write'`: a gate that passes only when the interval says so."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from io_benchmark.analysis.model import Comparison, Subject
from io_benchmark.analysis.report_model import Report
from io_benchmark.errors import UsageError

FORM = re.compile(
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*/"
    r"\s*([A-Za-z0-9_.-]+(?: +[A-Za-z0-9_.-]+)*)\s*(<|>)\s*([0-9]+(?:\.[0-9]+)?)"
    r"(?:\s+on\s+([A-Za-z0-9_.-]+(?:(?: |\s*,\s*)[A-Za-z0-9_.-]+)*))?\s*"
)
EXAMPLES = "'amd-30/intel<1.05' or 'amd-30/intel<1.05 on sync-write, dsync-append'"
LISTED = 10  # measurements in a message


@dataclass(frozen=True)
class Expectation:
    text: str
    candidate: str
    baseline: str
    below: bool
    limit: float
    words: tuple[str, ...] = ()  # of a measurement's title; none: every measurement


@dataclass(frozen=True)
class Outcome:
    met: bool
    message: str


def parse(text: str) -> Expectation:
    match = FORM.fullmatch(text)
    if match is None or float(match[4]) <= 0:
        raise UsageError(f"--expect {text!r}: write it like {EXAMPLES}")
    words = tuple(re.split(r"\s*,\s*", match[5])) if match[5] else ()
    return Expectation(text, match[1], match[2], match[3] == "<", float(match[4]), words)


def judge(expectation: Expectation, report: Report) -> Outcome:
    """On every measurement of that name that the two were compared on; none is not met."""
    text = expectation.text
    named = [part for part in report.subjects if _words(part.subject).issuperset(expectation.words)]
    if not named and expectation.words:
        subjects = [part.subject for part in report.subjects]
        return Outcome(False, f"{text}: not met, {_nothing_is(expectation.words, subjects)}")
    wanted = (expectation.candidate, expectation.baseline)
    found = [
        comparison
        for part in named
        for comparison in part.comparisons
        if (comparison.candidate, comparison.baseline) == wanted
    ]
    if not found:
        return Outcome(False, f"{text}: not met, {_not_compared(expectation, report)}")
    # What is known to be otherwise is told before what is not known.
    broken = [one for one in found if _is_broken(expectation, one)]
    undecided = [one for one in found if not _is_met(expectation, one) and one not in broken]
    if broken or undecided:
        first, *others = [*broken, *undecided]
        how = "not met" if broken else "not decided"
        ends = f"{first.ratio:.2f}× ({first.interval.low_ratio:.2f} to {first.interval.high_ratio:.2f})"
        more = f", and {len(others)} more" if others else ""
        return Outcome(False, f"{text}: {how}, {ends} on {first.subject}{more}")
    return Outcome(True, f"{text}: met{_on_how_many(len(found), len(named))}")


def judge_all(expectations: Sequence[Expectation], report: Report) -> list[Outcome]:
    return [judge(expectation, report) for expectation in expectations]


def _words(subject: Subject) -> set[str]:
    """As its title has them: `sync-write`, `place workspace`, `4 at once`."""
    return set(str(subject).split(", "))


def _is_met(expectation: Expectation, comparison: Comparison) -> bool:
    interval, limit = comparison.interval, expectation.limit
    return interval.high_ratio < limit if expectation.below else interval.low_ratio > limit


def _is_broken(expectation: Expectation, comparison: Comparison) -> bool:
    interval, limit = comparison.interval, expectation.limit
    return interval.low_ratio >= limit if expectation.below else interval.high_ratio <= limit


def _on_how_many(compared: int, named: int) -> str:
    if named == 1:
        return ""
    others = f"; {named - compared} not compared" if named > compared else ""
    return f" on {compared} measurement{'' if compared == 1 else 's'}{others}"


def _not_compared(expectation: Expectation, report: Report) -> str:
    """Elsewhere perhaps, or others."""
    pairs = dict.fromkeys(
        (one.candidate, one.baseline) for part in report.subjects for one in part.comparisons
    )
    if (expectation.candidate, expectation.baseline) in pairs:
        return f"these two were not compared on {', '.join(expectation.words)}; the report says why"
    there_are = ", ".join(f"{candidate}/{baseline}" for candidate, baseline in pairs) or "none"
    return f"these two were not compared; there are: {there_are}"


def _nothing_is(words: Sequence[str], subjects: Sequence[Subject]) -> str:
    known = list(dict.fromkeys(word for one in subjects for word in str(one).split(", ")))
    for word in words:
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]}? There are: " if near else "there are: "
            return f"no measurement has {word!r} in its name; {hint}{', '.join(known) or 'none'}"
    # The first word is the workload, where it is written as the report has it.
    alike = [str(one) for one in subjects if words[0] in _words(one)]
    more = f"; and {len(alike) - LISTED} more" if len(alike) > LISTED else ""
    listed = "; ".join(alike[:LISTED])
    return f"no measurement is {', '.join(words)}; with {words[0]} there are: {listed}{more}"
