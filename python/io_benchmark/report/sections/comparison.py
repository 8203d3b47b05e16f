# SPDX-License-Identifier: MPL-2.0
"""A comparison: the answer, where the time went, the measurements, causes, workers and notes.

The answer has a sentence for each pool, with where the difference lies, its cause and what to try.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from io_benchmark.analysis.model.comparison import DIFFERENT, Severity, Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.report import Report, SampledReport
from io_benchmark.number_text import listed, number_of, percent, ratio
from io_benchmark.report import blocks, content
from io_benchmark.report.caveats import Caveats
from io_benchmark.report.facts import facts_of
from io_benchmark.report.sections.causes import causes, explanation
from io_benchmark.report.sections.measured import SideResult, by_pool, compared_ns, leader, sides_of
from io_benchmark.report.sections.measurements import COMPARED, measured, screen_table
from io_benchmark.report.sections.notes import notes, refusals, warnings
from io_benchmark.report.sections.parts import parts, where
from io_benchmark.report.sections.places import places
from io_benchmark.report.sections.pools.confirmation import how_to_confirm
from io_benchmark.report.sections.pools.pool_costs import pool_costs
from io_benchmark.report.sections.pools.pool_picture import pool_picture
from io_benchmark.report.sections.workers import cost_text, runs, unlike_workers, workers_needed
from io_benchmark.text import capitalized

_RATIOS = (
    "A ratio is the time of a pool divided by that of the baseline: above 1 is slower, also "
    "where a rate is shown. Both times are geometric means of the workers"
)
_COMPARED_MEANS = f", which {COMPARED} shows where the ratio of the averages is another one"
_CLOSING = (
    "The unit is the worker, one machine that ran one task; retrieves of one worker are not "
    "independent. Intervals are adjusted for the number of candidates. Inconclusive means that "
    "these data do not decide, not that the sides are equal."
)
# Where there are more candidates, only the most different ones have sentences on a screen.
_POOLS_EACH, _MOST_DIFFERENT = 4, 2
_POOLS_NAMED = 6
_WHERE_RANK = 9  # of where a difference lies: a screen leaves out notes before


def document(report: SampledReport) -> blocks.Document:
    sides = sides_of(report)
    # A pool that is compared with nothing needs no explanation.
    is_compared = any(len(part.figures) > 1 for part in report.subjects)
    return blocks.Document(
        report.title,
        [*_evidence(report, sides)],
        [*_screen(report, sides)],
        content.baseline_text(report.baseline_reason) if is_compared else "",
        [*facts_of(report)],
        [*_whole_answer(report, sides)],
    )


def _screen(report: SampledReport, sides: Sequence[SideResult]) -> Iterator[blocks.Block]:
    """Write what a reader needs for a decision, with the figures of the measurement that leads."""
    caveats = caveats_of(report, sides)
    answer = _answer(report, sides, caveats, is_full=False)
    named = [leader(pool).name for pool in _named(by_pool(sides), is_full=False)]
    items = [*answer, *pool_costs(report, sides), *warnings(report, caveats, named)]
    yield blocks.Items(items, shown=0)
    yield from leading_table(report, sides)


def leading_table(report: Report, sides: Sequence[SideResult]) -> Iterator[blocks.Table]:
    """Write the figures of the measurement that leads, where sides are compared."""
    leaders = [*map(leader, by_pool(sides))]
    if leaders and any(part.comparisons or len(part.figures) > 1 for part in report.subjects):
        part = next((side for side in leaders if side.differs), leaders[0]).part
        yield screen_table(part, sides, str(part.subject) if len(report.subjects) > 1 else "")


def caveats_of(report: SampledReport, sides: Sequence[SideResult]) -> Caveats:
    """Return what limits the verdicts with which the pools' sentences begin."""
    leaders = [side for side in map(leader, by_pool(sides)) if side.verdict != blocks.NOISE]
    return Caveats.of(report, [side.comparison for side in leaders if side.comparison is not None])


def _answer(
    report: SampledReport, sides: Sequence[SideResult], caveats: Caveats, *, is_full: bool
) -> list[blocks.Item]:
    items = []
    nothing = _reason_for_nothing(report)
    if nothing:
        items.append(blocks.Item(blocks.Words(nothing, blocks.NO_VERDICT)))
    if caveats.common:
        lead = blocks.Words("All pools:", blocks.WARNING)
        items.append(blocks.Item((lead, f" {caveats.common_sentence()}.")))
    items += _pools(sides, report, caveats, is_full=is_full)
    items += unlike_workers(report, is_full=is_full)
    cost = "" if report.is_only_noise else cost_text(report)
    if cost:
        items.append(blocks.Item(cost))
    return items


def _pools(
    sides: Sequence[SideResult], report: Report, caveats: Caveats, *, is_full: bool
) -> list[blocks.Item]:
    """Write one sentence per pool, slower and faster ones first; many pools share sentences."""
    pools = sorted(by_pool(sides), key=lambda pool: not leader(pool).differs)
    named = _named(pools, is_full=is_full)
    items = [_pool(pool, report, caveats) for pool in named]
    unnamed = [leader(pool) for pool in pools if pool not in named]
    for verdict, same in grouped(unnamed, lambda side: side.verdict).items():
        names = [side.name for side in same]
        sentence = ", ".join(filter(None, (listed(names, _POOLS_NAMED), _as_long(same))))
        limits = caveats.pointer_to(names)
        items.append(
            blocks.Item.answer(verdict, f"{capitalized(verdict)}:", f" {sentence}{limits}.")
        )
    return items


def _named(
    pools: Sequence[Sequence[SideResult]], *, is_full: bool
) -> Sequence[Sequence[SideResult]]:
    """Return the pools that have a sentence each: all, or of many those that differ most."""
    if len(pools) <= _POOLS_EACH:
        return pools
    different = [pool for pool in pools if leader(pool).differs]
    different.sort(key=lambda pool: leader(pool).rank, reverse=True)
    return different if is_full else different[:_MOST_DIFFERENT]


def _pool(pool: Sequence[SideResult], report: Report, caveats: Caveats) -> blocks.Item:
    """Write a pool's sentence: about what leads, then about its other measurements."""
    first = leader(pool)
    if first.verdict == blocks.NOISE and first.comparison is not None:
        lead = f"{first.name} took {ratio(first.comparison.ratio)} as long as {first.baseline}"
        rest = f"{content.on_measurement(first.subject, report)}: noise of this machine."
        return blocks.Item.answer(first.verdict, lead, rest)
    limits = caveats.clauses(first.name)
    lead, rest = _verdict(first, report, limits)
    same = [side for side in pool if side.verdict == first.verdict]
    if first.differs or len(same) == 1:
        sentences = [f"{content.on_measurement(first.subject, report)}{rest}"]
        sentences += _figures_of_refused(first)
        same = [first]
    elif first.comparison is None:
        sentences = [f"{rest.removesuffix('.')} ({len(same):,} measurements)."]
    else:
        sentences = [f" on {_measurements(same)}{_limits_of_several(first, limits)}."]
    by_verdict = grouped([side for side in pool if side not in same], lambda side: side.verdict)
    for verdict in DIFFERENT:
        also = by_verdict.pop(verdict, None)
        if also:
            # 'random-io 1.98× to 2.00×, spawn 1.10× as long'
            workloads = grouped(also, lambda side: side.subject.workload).items()
            ratios = ", ".join(f"{workload} {_ratios(same)}" for workload, same in workloads)
            sentences.append(f"Also {verdict}: {ratios} as long.")
    sentences += (
        f"{capitalized(verdict)}: {_measurements(alike)}." for verdict, alike in by_verdict.items()
    )
    return blocks.Item.answer(first.verdict, lead, " ".join(sentences), [*_reasons(first, report)])


def _figures_of_refused(side: SideResult) -> Iterator[str]:
    """Write the averages of two sides that a rule does not let be compared."""
    figures = side.part.figures
    if side.refused_by and {side.name, side.baseline} <= set(figures):
        means_ns = [figures[name].mean_ns for name in (side.name, side.baseline)]
        candidate, baseline = content.mean_texts(side.subject, means_ns)
        yield f"The averages are {candidate} on {side.name} and {baseline} on {side.baseline}."


def _limits_of_several(side: SideResult, limits: str) -> str:
    """Write the caveats of several measurements, behind the workers of the first."""
    return f" ({content.workers_text(side.workers)}{limits})" if limits else ""


def _verdict(side: SideResult, report: Report, limits: str) -> tuple[str, str]:
    """Return the lead of a sentence, and as its rest an interval, or why there is no verdict."""
    comparison, part = side.comparison, side.part
    if comparison is None:
        lead = f"{side.name} compared with {side.baseline}: {blocks.NO_VERDICT},"
        if side.refused_by:
            return lead, f" refused by {', '.join(side.refused_by)}."
        if side.baseline not in part.figures:
            return lead, f" because {side.baseline} has no samples of this."
        return lead, " because they were not compared."
    lead, rest = content.verdict_text(comparison, report.margin_ratio, side.workers, limits)
    of_all = comparison.of_all
    if of_all is not None:
        rest += ", decided at an earlier look"
        if of_all.verdict is not comparison.verdict:
            by_all = f"{ratio(of_all.ratio)} ({content.ends_text(of_all.interval)})"
            rest += f", which stands; all workers: {by_all}"
    return lead, f"{rest}."


def _reasons(side: SideResult, report: Report) -> Iterator[blocks.Item]:
    comparison, diagnosis = side.comparison, side.diagnosis
    if not side.differs or comparison is None:
        return
    if side.division is not None:
        difference, parts = where(side.division, side.subject)
        yield blocks.Item.led(f"Where ({difference}):", f"{parts}.", rank=_WHERE_RANK)
    if diagnosis is not None:
        to_change: str | None = ""
        if comparison.verdict is Verdict.FASTER:
            # A pool that is faster than before has been changed already.
            to_change = side.baseline if side.baseline == report.baseline else None
        yield from explanation(diagnosis, how_to_confirm(report, diagnosis, comparison), to_change)


def _ratios(sides: Sequence[SideResult]) -> str:
    """Write the smallest and the largest ratio: '0.99× to 1.01×', or nothing without ratios."""
    ratios = sorted(side.comparison.ratio for side in sides if side.comparison is not None)
    return " to ".join(dict.fromkeys(map(ratio, ratios[:1] + ratios[-1:])))


def _as_long(sides: Sequence[SideResult]) -> str:
    """Write '0.99× to 1.01× as long', or nothing without ratios."""
    ratios = _ratios(sides)
    return f"{ratios} as long" if ratios else ""


def _measurements(sides: Sequence[SideResult]) -> str:
    return ", ".join(filter(None, (number_of(len(sides), "measurement"), _as_long(sides))))


def _whole_answer(report: SampledReport, sides: Sequence[SideResult]) -> Iterator[blocks.Block]:
    """Write the picture of all pools, a sentence per pool, and what limits the answer."""
    refused = [blocks.Item(line, kind=blocks.NO_VERDICT, mark="!") for line in refusals(report)]
    yield from pool_picture(report, sides)
    answer = _answer(report, sides, caveats_of(report, sides), is_full=True)
    yield blocks.Items([*answer, *pool_costs(report, sides), *refused], shown=0)


def _evidence(report: SampledReport, sides: Sequence[SideResult]) -> Iterator[blocks.Block]:
    yield from chain(parts(sides, report), places(report), measured(sides, report), causes(report))
    if report.workers:
        yield blocks.Heading("Workers")
    yield from chain(workers_needed(report), runs(report), notes(report))
    if report.subjects:
        reason = f" ({report.baseline_reason})" if report.baseline_reason else ""
        basis = (
            f"The baseline is {report.baseline}{reason}. {_RATIOS}"
            f"{_COMPARED_MEANS if any(map(compared_ns, report.subjects)) else ''}. "
            f"Equivalent is within ±{percent(report.margin_ratio)}."
        )
        meanings = [blocks.Paragraph(line, blocks.QUIET) for line in (basis, _CLOSING)]
        yield blocks.Fold("How to read this", meanings)


def _reason_for_nothing(report: Report) -> str:
    if any(part.comparisons for part in report.subjects):
        return ""
    if any(problem.severity is Severity.REFUSED for problem in report.problems):
        return "No verdict is given: the measurements are not comparable."
    if any(len(part.figures) > 1 for part in report.subjects):
        return "Nothing could be compared."
    if report.subjects:
        sides = dict.fromkeys(side for part in report.subjects for side in part.figures)
        return f"Only {', '.join(sides)} has results, so there is nothing to compare."
    if report.unreadable:
        return "No verdict: none of the results could be read."
    return "No verdict: there are no results."
