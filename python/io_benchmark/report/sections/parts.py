# SPDX-License-Identifier: MPL-2.0
"""Where the time went: the parts of each difference, as a sentence and as a table.

Each candidate has a sentence about its leading measurement: the one that the answer names first.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from io_benchmark import number_text
from io_benchmark.analysis.model.figures import Division, PartDifference
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Phase
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.report import blocks
from io_benchmark.report.content import on_measurement
from io_benchmark.report.sections.measured import SideResult, leader
from io_benchmark.results import workloads

# The differences of this many candidates have a table; the sentences are about all.
_TABLES_SHOWN = 3
# A part is small where it is less than this of the difference, and of the time on both sides.
_SMALL = 0.02
# Parts that cancel each other have no useful share: the largest would be this many times the whole.
_MOST_SHARE = 10
# An operation with one phase needs no name for it.
_PHASES = {Phase.LOOKUP: "lookups", Phase.COPY: "copies", Phase.OPERATION: ""}
_KINDS = {
    Kind.USER: "on a CPU in user mode",
    Kind.KERNEL: "on a CPU in the kernel",
    Kind.WAITING: "waiting for a CPU",
    Kind.BLOCKED: "blocked",
    Kind.ELSEWHERE: "blocked by something else",
    Kind.UNEXPLAINED: "not recorded",
}
_MEANINGS = {
    Kind.BLOCKED: "I/O, writeback, memory",
    Kind.ELSEWHERE: "not seen as I/O or memory: a scanner, a lock, a journal, another machine",
}


class _Difference(Struct, frozen=True):
    """The parts of a difference in one unit, with shares that add up to 100 %."""

    percents: Mapping[PartDifference, int]  # none where the parts cancel each other
    small: Sequence[PartDifference]  # two or more, each little of the whole, which share a row
    large: Sequence[PartDifference]
    # The same for all times and differences, so that they add up as written.
    unit_ns: int
    unit: str
    decimals: int

    @classmethod
    def of(cls, division: Division) -> "_Difference":
        whole_ns, parts = division.difference_ns, division.parts
        fields = ("difference_ns", "baseline_ns", "candidate_ns")
        totals_ns = {field: _sum_ns(parts, field) for field in fields}
        small = [
            part
            for part in parts
            if all(abs(getattr(part, field)) < _SMALL * abs(totals_ns[field]) for field in fields)
        ]
        small = small if len(small) > 1 else []
        percents: Mapping[PartDifference, int] = {}
        largest_ns = max(abs(part.difference_ns) for part in parts)
        if whole_ns and largest_ns <= _MOST_SHARE * abs(whole_ns):
            shares = [100 * part.difference_ns / whole_ns for part in parts]
            rounded = map(int, number_text.rounded_parts(shares))
            percents = dict(zip(parts, rounded, strict=True))
        large = [part for part in parts if part not in small]
        longer_ns = max(totals_ns["baseline_ns"], totals_ns["candidate_ns"])
        unit_ns, unit = number_text.time_unit(longer_ns)
        # Three significant digits of the difference, and at most three decimals
        decimals = 2 - math.floor(math.log10(abs(whole_ns) / unit_ns or 1.0))
        return cls(percents, small, large, unit_ns, unit, min(max(decimals, 0), 3))

    def percent(self, parts: Sequence[PartDifference]) -> int | None:
        return sum(self.percents[part] for part in parts) if self.percents else None

    def plain(self, time_ns: float) -> str:
        return f"{time_ns / self.unit_ns:,.{self.decimals}f}"

    def written_ns(self, time_ns: float) -> float:
        return round(time_ns / self.unit_ns, self.decimals) * self.unit_ns

    def signed(self, difference_ns: float) -> str:
        """Write a difference without its unit: '+70.1'."""
        return number_text.signed(self.plain(abs(difference_ns)), difference_ns)

    def text(self, difference_ns: float, share: int | None = None) -> str:
        """Write '+68.0 ms (97 %)'."""
        ending = "" if share is None else f" ({number_text.signed_percent(share)})"
        return f"{self.signed(difference_ns)} {self.unit}{ending}"


def _sum_ns(parts: Sequence[PartDifference], field: str) -> float:
    return math.fsum(getattr(part, field) for part in parts)


def parts(sides: Sequence[SideResult], report: Report) -> Iterator[blocks.Block]:
    divided = (side for side in sides if side.differs and side.division is not None)
    by_candidate = grouped(divided, lambda side: side.name).values()
    leaders = [*map(leader, by_candidate)]
    first = [(side.division, side.subject, side.verdict) for side in leaders if side.division]
    first += (
        (worker.division, worker.subject, worker.verdict.value)
        for worker in report.single_workers
        if worker.diagnosis is not None and len(worker.division.parts) > 1
    )
    if not first:
        return
    sentences = blocks.Items([_sentence(*divided, report) for divided in first])
    yield from (blocks.Heading("Where the time went"), sentences)
    tables = [_table(division, subject, report) for division, subject, _ in first]
    tables += (
        _table(side.division, side.subject, report)
        for side in chain(*by_candidate)
        if side.division and side not in leaders
    )
    count = min(len(first), _TABLES_SHOWN)
    yield from chain(*tables[:count])
    if tables[count:]:
        summary = f"The parts of {number_text.number_of(len(tables) - count, 'further difference')}"
        yield blocks.Fold(summary, [*chain(*tables[count:])])


def where(division: Division, subject: Subject) -> tuple[str, str]:
    """Return '+70.1 ms per retrieve', and the parts that make it up, the largest first."""
    difference, whole_ns = _Difference.of(division), division.difference_ns
    whole = f"{difference.text(whole_ns)} per {workloads.of(subject.workload).operation}"
    least_ns = _SMALL * abs(whole_ns)
    large = [part for part in difference.large if abs(part.difference_ns) >= least_ns]
    named = sorted(filter(_is_certain, large), key=lambda part: -abs(part.difference_ns))
    if not named:
        return whole, "no part alone is certain"
    texts = [
        f"{_name(part, division)} {difference.text(part.difference_ns, difference.percent([part]))}"
        for part in named
    ]
    # What is written adds up.
    rest_ns = difference.written_ns(whole_ns)
    rest_ns -= math.fsum(difference.written_ns(part.difference_ns) for part in named)
    rest_percent = difference.percent([part for part in division.parts if part not in named])
    is_nothing = abs(rest_ns) < least_ns if rest_percent is None else rest_percent == 0
    has_more = len(named) < len(large)
    if has_more or not is_nothing:
        uncertain = ", of which no part alone is certain" if has_more else ""
        texts.append(f"the rest {difference.text(rest_ns, rest_percent)}{uncertain}")
    return whole, ", ".join(texts)


def part_name(phase: Phase, kind: Kind) -> str:
    """Return 'copies blocked', or 'copies, not recorded'."""
    separator = ", " if kind is Kind.UNEXPLAINED else " "
    return separator.join(filter(None, (_PHASES[phase], _KINDS[kind])))


def _name(part: PartDifference, division: Division) -> str:
    """Return the part's name, or its phase where nothing else of the phase is recorded."""
    phases = [sibling.phase for sibling in division.parts]
    if part.kind is Kind.UNEXPLAINED and phases.count(part.phase) == 1:
        return _PHASES[part.phase]
    meaning = _meaning(part.kind, division)
    return part_name(part.phase, part.kind) + (f" ({meaning})" if meaning else "")


def _meaning(kind: Kind, division: Division) -> str:
    """Return what a kind may be, where its name does not say it."""
    if kind is Kind.BLOCKED and all(part.kind is not Kind.ELSEWHERE for part in division.parts):
        return "I/O, memory or something else"
    return _MEANINGS.get(kind, "")


def _is_certain(part: PartDifference) -> bool:
    """Return whether its interval does not include zero; without one it is."""
    return part.low_ns is None or part.high_ns is None or part.low_ns > 0 or part.high_ns < 0


def _sentence(division: Division, subject: Subject, verdict: str, report: Report) -> blocks.Item:
    whole, parts_named = where(division, subject)
    against = f"{division.baseline}{on_measurement(subject, report)}"
    large = _Difference.of(division).large
    unrecorded = dict.fromkeys(
        _PHASES[part.phase] for part in large if part.kind is Kind.UNEXPLAINED
    )
    if unrecorded:
        waiting = " and ".join(filter(None, unrecorded)) or "operations"
        parts_named += f"; the results do not record what the {waiting} waited for"
    lead = f"{division.candidate}, {whole} against {against}:"
    return blocks.Item.answer(verdict, lead, f" {parts_named}.")


def _table(division: Division, subject: Subject, report: Report) -> Iterator[blocks.Block]:
    """Write a row per part below its phase, then what the parts mean."""
    difference = _Difference.of(division)
    candidate, baseline = division.candidate, division.baseline
    phrase = f"{on_measurement(subject, report)}, {difference.unit}"
    title = f"{candidate} against {baseline}{phrase} per {workloads.of(subject.workload).operation}"
    heads = (baseline, candidate, "Difference", f"{number_text.percent(LEVEL)} interval", "Share")
    rows = []
    for phase, same in grouped(difference.large, lambda part: part.phase).items():
        has_row = len(same) > 1 and bool(_PHASES[phase])  # otherwise its part names it
        rows += [blocks.Row(_PHASES[phase])] if has_row else []
        for part in same:
            label = _KINDS[part.kind] if has_row else part_name(phase, part.kind)
            rows.append(blocks.Row(label, _cells(difference, [part]), level=int(has_row)))
    if difference.small:
        rows.append(blocks.Row("other parts", _cells(difference, difference.small)))
    rows.append(blocks.Row("all parts", _cells(difference, division.parts), is_strong=True))
    table = blocks.Table("", heads, rows, title)
    has_intervals = any(part.low_ns is not None for part in division.parts)
    yield table if has_intervals else table.keep_columns((0, 1, 2, 4))
    for kind in _MEANINGS:
        if any(part.kind is kind for part in difference.large):
            yield blocks.Paragraph(f"{_KINDS[kind]}: {_meaning(kind, division)}", blocks.QUIET)


def _cells(difference: _Difference, same: Sequence[PartDifference]) -> list[str]:
    """Write the times of a part, or the sums of several; a sum has no interval."""
    share, ends = difference.percent(same), number_text.NOTHING
    if len(same) == 1 and same[0].low_ns is not None and same[0].high_ns is not None:
        ends = f"{difference.signed(same[0].low_ns)} to {difference.signed(same[0].high_ns)}"
    baseline_ns, candidate_ns = (_sum_ns(same, f"{side}_ns") for side in ("baseline", "candidate"))
    return [
        difference.plain(baseline_ns),
        difference.plain(candidate_ns),
        difference.signed(candidate_ns - baseline_ns),
        ends,
        number_text.NOTHING if share is None else number_text.signed_percent(share),
    ]
