# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Several measurements of one workload in one sentence a candidate, the most different one first."""

import math
from collections.abc import Callable, Sequence

from io_benchmark.analysis.model import Comparison, Subject, Verdict
from io_benchmark.analysis.report_model import SubjectReport
from io_benchmark.report.content.answers import DIFFERENT, NO_VERDICT, Answer
from io_benchmark.report.content.measures import label
from io_benchmark.report.content.units import ratio
from io_benchmark.text import name

# More names than this are counted; of those that differ so many are named in any case.
NAMED, DIFFERENT_NAMED = 3, 12
ORDER = (*(verdict.value for verdict in Verdict), NO_VERDICT)
Said = tuple[SubjectReport, Answer]
# What tells a measurement from the others: 'on stat, 4 at once', 'in container'.
Naming = Callable[[Subject], str]


def _on_label(subject: Subject) -> str:
    return f"on {label(subject)}"


def answers(
    parts: Sequence[SubjectReport],
    spoken: Sequence[Sequence[Answer]],
    naming: Naming = _on_label,
) -> tuple[Answer, ...]:
    """One for each candidate that any of these subjects has an answer for."""
    by_candidate: dict[str, list[Said]] = {}
    for part, own in zip(parts, spoken, strict=True):
        for answer in own:
            by_candidate.setdefault(answer.candidate, []).append((part, answer))
    return tuple(_together(candidate, said, naming) for candidate, said in by_candidate.items())


def _comparison(said: Said) -> Comparison | None:
    part, answer = said
    return next((c for c in part.comparisons if c.candidate == answer.candidate), None)


def _size(said: Said) -> float:
    comparison = _comparison(said)
    return 0.0 if comparison is None else abs(math.log(comparison.ratio))


def _together(candidate: str, said: Sequence[Said], naming: Naming) -> Answer:
    kinds: dict[str, list[Said]] = {}
    for one in said:
        kinds.setdefault(one[1].verdict, []).append(one)
    marks = tuple(sorted({mark for _, answer in said for mark in answer.marks}))
    different = [one for verdict in DIFFERENT for one in kinds.get(verdict.value, [])]
    if different:
        # Where one is explained, the sentence is about that one.
        most = max(different, key=lambda one: (one[1].explained, _size(one)))
        verdict, first = most[1].verdict, [most]
    else:
        verdict = next(
            one for one in (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT, NO_VERDICT) if one in kinds
        )
        first = kinds[verdict]
    part, answer = first[0]
    if different:
        # Its explanation tells of the one that it leads with.
        lead, rest = f"{answer.lead} {naming(part.subject)}", answer.rest
    elif verdict == NO_VERDICT:
        lead, rest = answer.lead, f"{answer.rest.rstrip('.')} ({_names(first, naming)})."
    else:
        comparison = _comparison(first[0])
        against = name(comparison.baseline) if comparison is not None else ""
        if verdict == Verdict.EQUIVALENT:
            lead = f"{name(candidate)} is equivalent to {against}"
        else:
            lead = f"{name(candidate)} against {against} is inconclusive"
        names = _names(first, naming)
        rest = f"{names}." if names.startswith("in ") else f"on {names}."
    others = {kind: [one for one in kinds.get(kind, ()) if one not in first] for kind in ORDER}
    more = [
        f"{_also(kind, verdict)}: {_names(group, naming)}."
        for kind, group in others.items()
        if group
    ]
    return Answer(candidate, verdict, lead, " ".join([rest, *more]), answer.attempt, marks)


def _also(kind: str, leading: str) -> str:
    return f"Also {kind}" if kind == leading else kind.capitalize()


def _names(group: Sequence[Said], naming: Naming) -> str:
    """'stat, 4 at once 1.25×; stat, 2 at once 1.10×', the most different first; many are counted."""
    ordered = sorted(group, key=_size, reverse=True)
    differ = group[0][1].verdict in DIFFERENT
    most = DIFFERENT_NAMED if differ else NAMED
    if len(ordered) <= most:
        return "; ".join(_named(one, naming) for one in ordered)
    named = ordered[:most] if differ else []
    rest = ordered[len(named) :]
    ratios = [one.ratio for one in map(_comparison, rest) if one is not None]
    ends = dict.fromkeys((ratio(min(ratios)), ratio(max(ratios)))) if ratios else ()
    more = " more" if named else ""
    counted = ", ".join(
        [f"{len(rest):,}{more} measurements", *([" to ".join(ends)] if ends else [])]
    )
    return "; ".join([*(_named(one, naming) for one in named), counted])


def _named(said: Said, naming: Naming) -> str:
    comparison = _comparison(said)
    text = naming(said[0].subject).removeprefix("on ")
    return text if comparison is None else f"{text} {ratio(comparison.ratio)}"


def advice(parts: Sequence[SubjectReport]) -> list[tuple[str, str]]:
    """For each candidate with undecided measurements, what would decide most of them."""
    found: dict[str, list[int | None]] = {}
    for comparison in (one for part in parts for one in part.comparisons):
        if comparison.advice is not None:
            needed = comparison.advice.workers_to_add
            found.setdefault(comparison.candidate, []).append(needed)
    return [(name(candidate), _advice(needed)) for candidate, needed in found.items()]


def _advice(needed: Sequence[int | None]) -> str:
    """How many workers more decide how many of the undecided measurements."""
    known = [count for count in needed if count is not None]
    never = len(needed) - len(known)
    text = f"{len(needed):,} undecided"
    if known:
        each = f"{min(known):,} to {max(known):,}" if min(known) < max(known) else f"{max(known):,}"
        text += (
            f"; {each} more workers a pool would decide {f'{len(known):,}' if never else 'that'}"
        )
    return text + (f"; {never:,} not decidable by repetition" if never else "")
