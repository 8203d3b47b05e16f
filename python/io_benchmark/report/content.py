# SPDX-License-Identifier: MPL-2.0
"""Statements, evidence, verdicts and the names of what was measured, in words of every report.

Anyone's task can have written the names and messages in a result file. Every text of a record is
cleaned and cut here, before a sentence has it.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from io_benchmark import number_text
from io_benchmark.analysis.model.cause import Evidence, Observation, Pace
from io_benchmark.analysis.model.comparison import Comparison, Interval, Verdict
from io_benchmark.analysis.model.figures import Figures
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.plan import AGAINST, BY_OPTION
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.statements import MIB, Quantity, Range, Statement, Unit, Value
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.levels import LEVEL
from io_benchmark.analysis.tasks.task_model import TaskComparison
from io_benchmark.number_text import digits, interval, listed, number_of, percent, ratio, times
from io_benchmark.results import workloads
from io_benchmark.text import LINE_LENGTH, NAME_CELLS, capitalized, clean, clean_lines, name

Record = TypeVar("Record")
Key = TypeVar("Key", bound=Hashable)

FACT_LENGTH = 120
_VARIANTS_SHOWN = 4
_BEFORE = 8  # characters of a name before the one in which it differs from another
# How long each field's text may be. A name is cut in its middle, because names of pools often
# differ at the end; any other text is cut at its end.
_NAMES = (
    "side",
    "sides",
    "baseline",
    "candidate",
    "pool",
    "name",
    "workload",
    "place",
    "fidelity",
    "rule",
    "cause",
    "task_id",
    "tasks",
    "instance_type",
    "zone",
)
_NAME_CELLS = dict.fromkeys(_NAMES, NAME_CELLS)
_NAME_CELLS |= {"destination": 80, "variant": 80, "worker_id": 60, "machine": 60}
_LENGTHS = {"state": 80, "reason": 80, "kind": 120, "incomplete_reason": 200, "source": 200}
# The fields with code, which a reader may apply: their lines stay lines.
_CODE = ("patch", "fragment")


class _Figure(NamedTuple):
    """A time of a side: its row in tables, and its name in Perfherder."""

    label: str
    value_ns: Callable[[Figures], float | None]
    series: str = ""  # its ratio, in Perfherder; the mean has the comparison's
    screen_rank: int = 0  # what has the lowest rank is left out first; 0: not on a screen


def _percentile(number: int) -> _Figure:
    return _Figure(
        f"P{number}",
        lambda side: side.percentiles_ns[number],
        f"p{number}",
        _SCREEN_RANKS.get(number, 0),
    )


# The percentiles of a first screen, with their ranks; a full report has all.
_SCREEN_RANKS = {50: 2, 95: 3, 99: 4}
FIGURES = (
    _Figure("Avg", lambda side: side.mean_ns, "", 8),
    *map(_percentile, workloads.PERCENTILES),
    _Figure("Total", lambda side: side.total_ns, "", 1),
    _Figure("Lookup avg", lambda side: side.lookup_mean_ns, "lookup-mean"),
    _Figure("Copy avg", lambda side: side.copy_mean_ns, "copy-mean"),
)


def text_of(statement: Statement, length: int = LINE_LENGTH) -> str:
    """Return the sentence; text from a worker is cut at `length` characters."""
    return statement.template.format_map(
        {name: _value_text(value, length) for name, value in statement.values}
    )


def sentence_of(statement: Statement) -> str:
    """Return the statement with a capital letter and a full stop; a name at its start stays."""
    words = text_of(statement).removesuffix(".")
    # What a template begins with is a word; what fills a slot may be a name that looks like one.
    return f"{words if statement.template.startswith('{') else capitalized(words)}."


def evidence_text(evidence: Evidence) -> str:
    """Return all observations of one side: '1 disk; write rate 388 MiB/s'."""
    return "; ".join(map(_observation_text, evidence.observations))


def pace_text(pace: Pace) -> str:
    """Return 'intel once more, its copies limited to 371 MiB/s, the ceiling of amd-16'."""
    limit = f"limited to {pace_rate(pace)}, the ceiling of {pace.against}"
    return f"{pace.pool} once more, its copies {limit}"


def pace_rate(pace: Pace) -> str:
    return f"{number_text.compact(pace.bytes_per_s / MIB)} MiB/s"


def _observation_text(observation: Observation) -> str:
    """Return 'ext4' of a single worker, 'ext4 on 2 of 3 workers, …' of several."""
    counts: Counter[str] = Counter()
    for seen in observation.seen:
        counts[text_of(seen.value, FACT_LENGTH)] += seen.count
    total = observation.total
    if total <= 1:
        return next(iter(counts))
    of = "runs" if observation.counts_runs else "workers"
    texts = [f"{text} on {min(count, total)} of {total} {of}" for text, count in counts.items()]
    return listed(texts, _VARIANTS_SHOWN, ", {:,} more")


def _value_text(value: Value, length: int) -> str:
    match value:
        case Quantity():
            return _WRITERS[value.unit](value.value)
        case Range():
            return _range_text(value)
    return clean(value, length)


def _range_text(value: Range) -> str:
    """Write the unit once where both ends have the same: '371 to 402 MiB/s'."""
    if value.unit is Unit.RATIO:
        return interval(value.low, value.high)
    if value.unit is Unit.NANOSECONDS:
        low, high = times([value.low, value.high])
    else:
        low, high = map(_WRITERS[value.unit], (value.low, value.high))
    if low == high:
        return low
    start, _, unit = low.partition(" ")
    return f"{start if unit == high.partition(' ')[2] else low} to {high}"


_WRITERS: dict[Unit, Callable[[float], str]] = {
    Unit.NANOSECONDS: lambda value: times([value])[0],
    Unit.SECONDS: number_text.duration,
    Unit.BYTES: number_text.size,
    Unit.BYTES_PER_SECOND: lambda value: f"{digits(value / MIB)} MiB/s",
    Unit.OPERATIONS_PER_SECOND: lambda value: f"{digits(value)} operations/s",
    Unit.IOPS: lambda value: f"{digits(value)} IOPS",
    Unit.RATIO: ratio,
    Unit.SHARE: percent,
    Unit.COUNT: number_text.count,
    Unit.NUMBER: digits,
}


def sharing(pairs: Iterable[tuple[str, Key]]) -> Iterable[tuple[str, Key]]:
    """Return 'intel, amd-16' and what they share, instead of a pair for each."""
    return [
        (", ".join(dict.fromkeys(side for side, _ in same)), key)
        for key, same in grouped(pairs, lambda pair: pair[1]).items()
    ]


def place_of(subject: Subject) -> str:
    """Return the place, or nothing where it makes no difference."""
    return subject.place if workloads.of(subject.workload).per_place else ""


def unit_text(workload_name: str) -> str:
    workload = workloads.of(workload_name)
    return f"({workload.unit}, {'higher' if workload.higher_is_better else 'lower'} is better)"


def mean_texts(subject: Subject, means_ns: Sequence[float]) -> list[str]:
    """Write means of one measurement, all in one unit."""
    workload = workloads.of(subject.workload)
    if not workload.higher_is_better:
        return times(means_ns)
    return [f"{digits(workload.shown(mean_ns))} {workload.unit}" for mean_ns in means_ns]


def on_measurement(subject: Subject, report: Report) -> str:
    """Return ' on random-io, read-depth-32 in workspace' as far as a report's subjects differ."""
    subjects = [part.subject for part in report.subjects]
    if len(subjects) == 1:
        return ""
    several_workloads = len({sibling.workload for sibling in subjects}) > 1
    measurement = f"{subject.workload}, {subject.label}" if several_workloads else subject.label
    place = f" in {subject.place}" if len(set(map(place_of, subjects))) > 1 else ""
    return f" on {measurement}{place}"


def verdict_text(
    compared: Comparison | TaskComparison,
    margin_ratio: float,
    workers: Sequence[int],
    limits: str = "",
) -> tuple[str, str]:
    """Return what to read if one reads nothing else, and the rest of the sentence.

    `workers` are those of the candidate and the baseline. `limits` are the caveats, with what is
    between them and the workers.
    """
    candidate, baseline, size = compared.candidate, compared.baseline, ratio(compared.ratio)
    bounds = f"({interval_text(compared.interval)}; {workers_text(workers)}{limits})"
    match compared.verdict:
        case Verdict.SLOWER | Verdict.FASTER:
            return f"{candidate} takes {size} as long as {baseline}", f" {bounds}"
        case Verdict.EQUIVALENT:
            lead = f"{candidate} is equivalent to {baseline}"
            return lead, f": {size} as long, within ±{percent(margin_ratio)} {bounds}"
        case Verdict.INCONCLUSIVE:
            lead = f"{candidate} compared with {baseline} is inconclusive"
            return lead, f": {size} as long {bounds}"


def workers_text(workers: Sequence[int]) -> str:
    """Return '3 workers each', or '3 and 5 workers' of the candidate and the baseline."""
    candidate, baseline = workers
    if candidate == baseline:
        return f"{number_of(candidate, 'worker')} each"
    return f"{candidate:,} and {baseline:,} workers"


def baseline_text(reason: str) -> str:
    """Return ' (baseline: the last by name)', or nothing where pools are their own baselines."""
    if reason in ("", AGAINST):
        return ""
    return f" (baseline: {'given by --baseline' if reason == BY_OPTION else reason})"


def interval_text(bounds: Interval, level_ratio: float = LEVEL) -> str:
    """Return '95 % interval 1.68 to 2.19'; an adjusted interval counts as one of 95 %."""
    return f"{percent(level_ratio)} interval {ends_text(bounds)}"


def ends_text(bounds: Interval) -> str:
    return interval(bounds.low_ratio, bounds.high_ratio)


def make_harmless(record: Record) -> Record:
    """Return the record with every text in it cleaned; names that differ still differ."""
    return cast("Record", _Cleaner().clean(record, ""))


class _Cleaner:
    def __init__(self) -> None:
        self._name = cache(self._new_name)  # a name has one form
        self._uses: Counter[tuple[str, int]] = Counter()
        self._first: dict[str, str] = {}  # the whole name, by its cut form

    def clean(self, value: Any, field: str) -> Any:
        match value:
            case str() if not isinstance(value, Enum):
                if field in _CODE:
                    return clean_lines(value)
                if field in _NAME_CELLS and value:
                    return self._name(value, _NAME_CELLS[field])
                return clean(value, _LENGTHS.get(field, LINE_LENGTH))
            case tuple() | list():
                return type(value)(self.clean(part, field) for part in value)
            case dict():
                return {self.clean(key, "side"): self.clean(value[key], field) for key in value}
            case Struct():
                fields = {key: self.clean(part, key) for key, part in asdict(value).items()}
                return replace(value, **fields)
        # Templates are the analysis' own; their values are cleaned where they become a sentence
        # (`text_of`), for JSON as well.
        return value

    def _new_name(self, words: str, cells: int) -> str:
        """Write a name; where it looks like an earlier one, show where it differs, or number it."""
        cut, whole = name(words, cells), clean(words, LINE_LENGTH)
        first = self._first.setdefault(cut, whole)
        if first != whole:
            pairs = enumerate(zip(first, whole, strict=False))
            start = next((number for number, pair in pairs if pair[0] != pair[1]), len(first))
            cut = name("…" + whole[max(start - _BEFORE, 0) :], cells)
        self._uses[cut, cells] += 1
        count = self._uses[cut, cells]
        return cut if count == 1 else f"{name(cut, cells - 8)} ({count})"
