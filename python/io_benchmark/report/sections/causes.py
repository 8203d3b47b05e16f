# SPDX-License-Identifier: MPL-2.0
"""Possible causes of a difference, what was tried, and what to try."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from io_benchmark.analysis.model.cause import (
    Cause,
    Diagnosis,
    Leftover,
    Remedy,
    State,
    TrialOutcome,
)
from io_benchmark.analysis.model.comparison import DIFFERENT
from io_benchmark.analysis.model.report import Report
from io_benchmark.number_text import NOTHING, number_of, percent, ratio, signed_percent, times
from io_benchmark.report import blocks
from io_benchmark.report.content import (
    FACT_LENGTH,
    evidence_text,
    on_measurement,
    sentence_of,
    text_of,
)
from io_benchmark.report.sections.measured import explained_by
from io_benchmark.report.sections.parts import part_name
from io_benchmark.results import workloads
from io_benchmark.results.workloads.cache_retrieve import TrialKind

# A screen leaves out how to confirm a cause earlier than what to try.
_CONFIRM, _TRY = 7, 10
# Longer evidence would hide the sentence around it; the table of hypotheses has it.
_EVIDENCE_LENGTH = 120
# A sentence about causes says how much they leave over from this share of the difference on.
_LARGE_LEFTOVER = 0.2
_FOLDS_SHOWN = 3  # more of the differences that are not proven share a fold
# The states of causes that are not folded
_OPEN = (*(state for state in State if state.holds), State.NOT_SEPARABLE)
_CHANGES = {
    TrialKind.PACE: "the faster side's copies, limited to what the slower side's disks can write",
    TrialKind.LOOKUP: "lookups without grep",
    TrialKind.UNLINK: "the destination removed before each copy",
    TrialKind.MEMORY: "everything in memory",
    TrialKind.EXCLUDED: "the slower side's copies to a folder that Defender excludes",
}


def causes(report: Report) -> Iterator[blocks.Block]:
    """Write what explains each difference; those that are not proven, and need no more, last."""
    folded: list[blocks.Block] = []
    opened: list[blocks.Block] = []
    for title, content in _explained(report):
        fold = content[0] if content else None
        if isinstance(fold, blocks.Fold) and fold.on_page_only:
            folded.append(replace(fold, summary=f"{title}: {fold.summary}"))
        else:
            opened += [blocks.Heading(title, blocks.SUBSECTION), *content]
    if len(folded) > _FOLDS_SHOWN:
        summary = f"Possible causes of {len(folded):,} differences that are not proven"
        folded = [blocks.Fold(summary, folded, on_page_only=True)]
    if opened or folded:
        yield from (blocks.Heading("Causes"), *opened, *folded)


def _explained(report: Report) -> Iterator[tuple[str, list[blocks.Block]]]:
    """Yield a title for each diagnosis, and what is below it."""
    explained: set[str] = set()
    for diagnosis in report.diagnoses:
        candidate, comparison = diagnosis.candidate, explained_by(diagnosis, report)
        baseline = report.baseline if comparison is None else comparison.baseline
        decided = comparison is not None and comparison.verdict in DIFFERENT
        title = f"Possible causes, {candidate} compared with {baseline}"
        if comparison is not None:
            if decided:
                title = f"Why {candidate} is {comparison.verdict} than {baseline}"
            title += on_measurement(comparison.subject, report)
        # Further diagnoses of a candidate are of other workloads.
        is_first = candidate not in explained
        explained.add(candidate)
        yield title, [*_diagnosis(diagnosis, baseline, decided=decided, is_first=is_first)]
    for worker in report.single_workers:
        if worker.diagnosis is not None:
            candidate, baseline = worker.division.candidate, worker.division.baseline
            title = f"Why {candidate} is {worker.verdict} than {baseline}"
            yield title, [*_diagnosis(worker.diagnosis, baseline, decided=True, is_first=False)]


def _diagnosis(
    diagnosis: Diagnosis, baseline: str, *, decided: bool, is_first: bool
) -> Iterator[blocks.Block]:
    """Write the causes that hold or cannot be separated; the others are folded.

    Where nothing differs, or where another workload's difference is explained first, there is no
    room for the others but on the page.
    """
    ordered = _ordered(diagnosis)
    listed = [cause for cause in ordered if cause.state.holds]
    if decided:
        listed = [cause for cause in ordered if cause.state in _OPEN]
    unlisted = [cause for cause in ordered if cause not in listed]
    heads = ("Why", f"On {diagnosis.candidate}", f"On {baseline}", "Share")

    def table(causes: Sequence[Cause]) -> blocks.Table:
        return blocks.Table("Hypothesis", heads, [*map(_cause_row, causes)], is_prose=True)

    if listed:
        yield table(listed)
    left = diagnosis.leftover
    if left is not None:
        share = f"{percent(left.share)} of the difference ({_time_left(diagnosis, left)})"
        parts = " and ".join(part_name(part.phase, part.kind) for part in left.parts)
        where = f"; it is in {parts}." if parts else "."
        yield blocks.Paragraph(f"{share} is not explained by these causes{where}")
    if diagnosis.trials:
        yield _trial_table(diagnosis.trials)
    if diagnosis.remedies:
        yield blocks.Items([*map(_remedy, diagnosis.remedies)], "What to try")
    if unlisted:
        is_short = not decided or (bool(listed) and not is_first)
        yield blocks.Fold(_counts(unlisted), [table(unlisted)], on_page_only=is_short)


def _counts(causes: Sequence[Cause]) -> str:
    """Return '24 causes ruled out, 3 not observable'."""
    (first, count), *further = Counter(cause.state for cause in causes).items()
    counts = (f", {count:,} {state}" for state, count in further)
    return f"{number_of(count, 'cause')} {first}{''.join(counts)}"


def _ordered(diagnosis: Diagnosis) -> list[Cause]:
    """Sort causes by state, then the largest share first; those without a share come last."""

    def key(cause: Cause) -> tuple[int, float]:
        return [*State].index(cause.state), math.inf if cause.share is None else -cause.share

    return sorted(diagnosis.causes, key=key)


def _cause_row(cause: Cause) -> blocks.Row:
    explanation = [*map(text_of, cause.explanation)]
    if cause.predicted_ratio is not None and cause.share is None:
        explanation.insert(0, f"Predicts {ratio(cause.predicted_ratio)}.")
    if cause.workload is not None:
        explanation.append(f"The workload {cause.workload} would show it.")
    candidate, baseline = map(evidence_text, (cause.candidate_evidence, cause.baseline_evidence))
    if candidate == baseline and candidate:
        baseline = "the same"
    share = "" if cause.share is None else _share_text(cause)
    label = (
        blocks.Words(cause.state.upper(), cause.state),
        " ",
        blocks.Words(cause.name, blocks.CODE),
        f": {cause.hypothesis}",
    )
    return blocks.Row(label, (" ".join(filter(None, explanation)), candidate, baseline, share))


def _trial_table(outcomes: Sequence[TrialOutcome]) -> blocks.Table:
    """Write what was tried; shares are of the gap between the sides."""
    rows = []
    for outcome in outcomes:
        share, low, high = (
            NOTHING if part is None else signed_percent(round(100 * part))
            for part in (outcome.share, outcome.low_share, outcome.high_share)
        )
        ends = NOTHING if low == NOTHING else f"{low} to {high}"
        label = (blocks.Words(outcome.kind, blocks.CODE), f": {_CHANGES[outcome.kind]}")
        rows.append(blocks.Row(label, (text_of(outcome.meaning), outcome.state.value, share, ends)))
    heads = ("Meaning", "Outcome", "Explains", "Interval")
    return blocks.Table("Trial", heads, rows, "What was tried", is_prose=True)


def _remedy(remedy: Remedy) -> blocks.Item:
    action = sentence_of(remedy.action).removesuffix(".")
    lead, cause = blocks.Words(action, blocks.STRONG), blocks.Words(remedy.cause, blocks.CODE)
    evidence = " ".join(map(text_of, remedy.evidence))
    return blocks.Item((lead, f"{_gain_text(remedy)}, for ", cause, f". {evidence}"))


def _gain_text(remedy: Remedy) -> str:
    """Return ' (1.90× as fast, measured)', or nothing without a known gain."""
    if remedy.gain_ratio is None or not math.isfinite(remedy.gain_ratio):
        return ""
    basis = "measured" if remedy.measured else "predicted"
    return f" ({ratio(remedy.gain_ratio)} as fast, {basis})"


def _time_left(diagnosis: Diagnosis, left: Leftover) -> str:
    """Return '24.5 ms per retrieve'."""
    workload = diagnosis.subject.workload if diagnosis.subject else "cache-retrieve"
    return f"{times([left.difference_ns])[0]} per {workloads.of(workload).operation}"


def explanation(
    diagnosis: Diagnosis, to_confirm: str = "", to_change: str | None = ""
) -> Iterator[blocks.Item]:
    """Write the causes of a difference in a sentence, and what to try.

    Confirmed and large causes are first. `to_change` is the baseline if that is the slower side;
    None if nothing is to be changed.
    """
    standing, claim = _claim(diagnosis)
    yield blocks.Item.led(f"Cause{standing}:", f"{claim}.")
    if diagnosis.remedies and to_change is not None:
        remedy = diagnosis.remedies[0]
        action = (f"on {to_change}, " if to_change else "") + text_of(remedy.action)
        yield blocks.Item.to_try(f"{action.removesuffix('.')}{_gain_text(remedy)}.", rank=_TRY)
    if to_confirm:
        yield blocks.Item.led("To confirm:", f"{to_confirm}.", rank=_CONFIRM)


def _claim(diagnosis: Diagnosis) -> tuple[str, str]:
    """Return ' (supported)' of the first cause, and what the causes explain."""
    holding = [cause for cause in _ordered(diagnosis) if cause.state.holds]
    not_separable = [cause for cause in diagnosis.causes if cause.state is State.NOT_SEPARABLE]
    open_causes = ", ".join(cause.name for cause in not_separable)
    if not holding and not not_separable:
        return "", "none is supported by the observations"
    if not holding:
        if len(not_separable) == 1:
            difference = _difference(not_separable[0])
            open_causes = f"{difference} ({open_causes}), of which nothing shows the cost"
        return f" ({State.NOT_SEPARABLE})", open_causes
    first = holding[0]
    claim = f"{_difference(first)} ({first.name})"
    if first.share is not None:
        joined = ", which " if math.isfinite(first.share) else " "
        claim = f"{_difference(first)}{joined}{_share_text(first)}"
    if len(holding) > 1:
        claim += "; also supported: " + ", ".join(cause.name for cause in holding[1:])
    if open_causes:
        claim += f"; not separable from that: {open_causes}"
    left = diagnosis.leftover
    if left is not None and left.share >= _LARGE_LEFTOVER:
        claim += f"; not explained: {_time_left(diagnosis, left)} ({percent(left.share)})"
    by_trial = " by a trial" if first.state is State.CONFIRMED else ""
    return f" ({first.state}{by_trial})", claim


def _difference(cause: Cause) -> str:
    """Return both sides' summaries, or where they are equal or long, the hypothesis."""
    summaries = (cause.candidate_evidence.summary, cause.baseline_evidence.summary)
    candidate, baseline = (fact and text_of(fact, FACT_LENGTH) for fact in summaries)
    differ = candidate and baseline and candidate != baseline
    if differ and len(f"{candidate}{baseline}") <= _EVIDENCE_LENGTH:
        return f"{candidate} against {baseline}"
    return cause.hypothesis.removesuffix(".") or cause.name


def _share_text(cause: Cause) -> str:
    if cause.share is None or not math.isfinite(cause.share):
        return f"({cause.name}, {cause.state})"
    return f"explains {percent(cause.share)}"
