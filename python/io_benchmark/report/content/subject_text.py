# SPDX-License-Identifier: MPL-2.0
"""Names of what was measured and of those who share a text, and verdicts, as every report writes them."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from io_benchmark.analysis.history.history_model import HistorySeries
from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.model import Comparison, Interval, Subject, Verdict
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.number_text import digits, interval, percent, ratio, times
from io_benchmark.results import workloads

Key = TypeVar("Key", bound=Hashable)


def sharing(pairs: Iterable[tuple[str, Key]]) -> Iterable[tuple[str, Key]]:
    """Return 'intel, amd-16' and what they share, instead of a pair for each."""
    names: dict[Key, dict[str, None]] = {}
    for name, key in pairs:
        names.setdefault(key, {})[name] = None
    return [(", ".join(same), key) for key, same in names.items()]


def sharing_lines(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line 'intel, amd-16: text' for each text."""
    return [f"{names}: {text}" for names, text in sharing(pairs)]


def place_of(subject: Subject) -> str:
    """Return the place, or nothing where it makes no difference."""
    return subject.place if workloads.of(subject.workload).per_place else ""


def unit_text(workload_name: str) -> str:
    """Return '(IOPS, higher is better)'."""
    workload = workloads.of(workload_name)
    return f"({workload.unit}, {'higher' if workload.higher_is_better else 'lower'} is better)"


def mean_texts(series: HistorySeries, means_ns: Sequence[float]) -> list[str]:
    """Write means of a history, all in one unit."""
    workload = workloads.of(series.subject.workload)
    if not workload.higher_is_better:
        return times(means_ns)
    return [f"{digits(workload.shown(mean_ns))} {workload.unit}" for mean_ns in means_ns]


def on_measurement(subject: Subject, subjects: Sequence[Subject]) -> str:
    """Return ' on random-io, read-depth-32 in workspace' as far as a report's subjects differ."""
    if len(subjects) == 1:
        return ""
    several_workloads = len({sibling.workload for sibling in subjects}) > 1
    measurement = f"{subject.workload}, {subject.label}" if several_workloads else subject.label
    place = f" in {subject.place}" if len(set(map(place_of, subjects))) > 1 else ""
    return f" on {measurement}{place}"


def verdict_text(compared: Comparison | TaskComparison, margin_ratio: float) -> tuple[str, str]:
    """Return what to read if one reads nothing else, and the rest of the sentence."""
    candidate, baseline, size = compared.candidate, compared.baseline, ratio(compared.ratio)
    bounds = bounds_text(compared.interval)
    match compared.verdict:
        case Verdict.SLOWER:
            return f"{candidate} is {size} slower than {baseline}", bounds
        case Verdict.FASTER:
            return f"{candidate} is faster than {baseline}", f"at {size} its time {bounds}"
        case Verdict.EQUIVALENT:
            lead = f"{candidate} is equivalent to {baseline}"
            return lead, f"within ±{percent(margin_ratio)}: {size} its time {bounds}"
        case Verdict.INCONCLUSIVE:
            return f"{candidate} compared with {baseline} is inconclusive", f"at {size} {bounds}"


def bounds_text(bounds: Interval, level_ratio: float = LEVEL) -> str:
    """Return '(95 % interval 1.68 to 2.19)'; an adjusted interval counts as one of 95 %."""
    return f"({percent(level_ratio)} interval {ends_text(bounds)})"


def ends_text(bounds: Interval) -> str:
    return interval(bounds.low_ratio, bounds.high_ratio)
