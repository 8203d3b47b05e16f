# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What another measurement of the same pair shows: how figures of it are laid side by side."""

import math
from collections.abc import Sequence

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import Beside, Case
from io_benchmark.analysis.diagnosis.evidence import plain
from io_benchmark.analysis.model import Figures, Verdict
from io_benchmark.analysis.summary import workload_figures
from io_benchmark.results import workloads

DIFFERENT = (Verdict.SLOWER, Verdict.FASTER)
NOT_MEASURED = "not measured"
# Nearer than this another measurement is as fast, whatever its interval says.
AS_FAST_RATIO = 1.1


def slower_by(case: Case, one: Beside) -> float:
    """How many times as long this case's slower side takes for it."""
    slower, faster = case.in_order(one)
    return slower.mean_ns / faster.mean_ns


def decided(one: Beside) -> bool:
    return one.comparison.verdict in DIFFERENT


def known_to_be_slower(case: Case, one: Beside | None) -> float:
    """As `slower_by`, and 1 where that may be chance or lies the other way."""
    return max(1.0, slower_by(case, one)) if one is not None and decided(one) else 1.0


def part_of(case: Case, ratio: float) -> float:
    """A part of this case's own ratio, in its direction, never more than the whole."""
    part = min(ratio, max(case.ratio, 1 / case.ratio)) if case.ratio else ratio
    return part if case.candidate_is_slower else 1 / part


def most_telling(case: Case, found: Sequence[Beside]) -> Beside | None:
    """The one that the slower side does worst at; the first of equals."""
    return max(found, key=lambda one: slower_by(case, one), default=None)


def texts(found: Sequence[Beside], first: Beside | None = None) -> tuple[str, str]:
    """Both sides' figures, baseline first: 'write-depth-1 12,300 IOPS; …', the telling one in front."""
    if not found:
        return NOT_MEASURED, NOT_MEASURED
    found = [*([] if first is None else [first]), *(one for one in found if one is not first)]
    sides = ([one.baseline for one in found], [one.candidate for one in found])
    in_several = len({one.subject.place for one in found}) > 1
    baseline, candidate = (
        plain(
            "; ".join(
                _text(one, each, named=in_several) for one, each in zip(found, side, strict=True)
            ),
            400,
        )
        for side in sides
    )
    return baseline, candidate


def _text(one: Beside, figures: Figures, *, named: bool) -> str:
    subject = one.subject
    threads = f" {subject.threads} at once" if subject.threads > 1 else ""
    place = f" in {subject.place}" if named else ""
    workload = workloads.of(subject.workload)
    figure = f"{words.digits(workload.shown(figures.mean_ns))} {workload.unit}"
    return f"{subject.variant}{threads}{place} {figure}"


def detail(case: Case, one: Beside, name: str) -> tuple[float, float] | None:
    """A figure of its own, the slower side's first; None where a side has none."""
    slower, faster = (workload_figures.value(figures, name) for figures in case.in_order(one))
    return None if slower is None or faster is None else (slower, faster)


def detail_texts(one: Beside, name: str, what: str) -> tuple[str, str]:
    """Both sides', baseline first: '0.83× by 4 at once'."""
    values = [workload_figures.value(figures, name) for figures in (one.baseline, one.candidate)]
    baseline, candidate = (
        f"unknown {what}" if value is None or not math.isfinite(value) else f"{value:,.2f}× {what}"
        for value in values
    )
    return baseline, candidate
