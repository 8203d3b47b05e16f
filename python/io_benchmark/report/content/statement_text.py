# SPDX-License-Identifier: MPL-2.0
"""Statements, evidence and confirming runs as text: text from workers is made harmless."""

from collections import Counter
from collections.abc import Callable

from io_benchmark import number_text
from io_benchmark.analysis.diagnosis_model import Evidence, Observation
from io_benchmark.analysis.statements import MIB, Quantity, Range, Statement, Unit, Value
from io_benchmark.analysis.trials.confirm import Confirming, Pace
from io_benchmark.number_text import listed
from io_benchmark.text import LINE_LENGTH, clean

FACT_LENGTH = 120
_VARIANTS_SHOWN = 4


def text_of(statement: Statement, length: int = LINE_LENGTH) -> str:
    """Return the sentence; text from a worker is cut at `length` characters."""
    return statement.template.format_map(
        {name: _value_text(value, length) for name, value in statement.values}
    )


def evidence_text(evidence: Evidence) -> str:
    """Return all observations of one side: '1 disk; write rate 388 MiB/s'."""
    return "; ".join(map(_observation_text, evidence.observations))


def pace_text(pace: Pace) -> str:
    """Return 'intel once more, its copies limited to 371 MiB/s, the ceiling of amd-16'."""
    limit = pace_rate(pace)
    return f"{pace.pool} once more, its copies limited to {limit}, the ceiling of {pace.against}"


def pace_rate(pace: Pace) -> str:
    return f"{number_text.compact(pace.bytes_per_s / MIB)} MiB/s"


def reasons_text(confirming: Confirming) -> str:
    """Return why comparisons need no run."""
    return " ".join(map(text_of, confirming.reasons))


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
        return number_text.interval(value.low, value.high)
    if value.unit is Unit.NANOSECONDS:
        low, high = number_text.times([value.low, value.high])
    else:
        low, high = map(_WRITERS[value.unit], (value.low, value.high))
    if low == high:
        return low
    start, _, unit = low.partition(" ")
    return f"{start if unit == high.partition(' ')[2] else low} to {high}"


_WRITERS: dict[Unit, Callable[[float], str]] = {
    Unit.NANOSECONDS: lambda value: number_text.times([value])[0],
    Unit.BYTES: number_text.size,
    Unit.BYTES_PER_SECOND: lambda value: f"{number_text.digits(value / MIB)} MiB/s",
    Unit.OPERATIONS_PER_SECOND: lambda value: f"{number_text.digits(value)} operations/s",
    Unit.IOPS: lambda value: f"{number_text.digits(value)} IOPS",
    Unit.RATIO: number_text.ratio,
    Unit.SHARE: number_text.percent,
    Unit.COUNT: number_text.count,
    Unit.NUMBER: number_text.digits,
}
