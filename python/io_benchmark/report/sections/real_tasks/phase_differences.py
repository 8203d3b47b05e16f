# SPDX-License-Identifier: MPL-2.0
"""Which phase of set-up differs between pools: a sentence, and a table of all phases."""

from collections.abc import Iterator

from io_benchmark.analysis.phases.phase_model import Waits
from io_benchmark.analysis.tasks.difference_model import (
    ComparedPhases,
    PhaseDifference,
    PhasesOfPair,
    PhaseTimes,
    Reason,
)
from io_benchmark.analysis.tasks.task_model import CostComparison
from io_benchmark.number_text import (
    NOTHING,
    digits,
    duration,
    duration_unit,
    money,
    number_of,
    percent,
    ratio,
    signed,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import workers_text
from io_benchmark.text import capitalized, name

_NAMED = 3  # differences in a sentence
_MIB = 1024 * 1024
_S_PER_HOUR = 3600
_TASKS = 1000
_HEAD_CELLS = 26
_LEAST_SET_UP_S = 0.5  # less is no difference of set-up; as of phases
_TWO_DIGITS = 9.95  # from here on, two significant digits are whole numbers
_REASONS = {
    Reason.PACE: "same work",
    Reason.TIME: "all work",
    Reason.SIZE: "bytes",
    Reason.SHARE: "how often",
}


def sentence(pair: PhasesOfPair, cost: CostComparison | None = None) -> str:
    """Return what set-up takes longer, the phases that make it, and what they wait for."""
    decided = [row for row in pair.differences if row.is_decided]
    basis = f"by {_basis(pair)}"
    if not decided:
        return f"{_undecided(pair)}, {basis}."
    parts = [f"{row.phase} {_seconds(row)}{_why(row, pair)}" for row in decided[:_NAMED]]
    rest = "nothing else differs by more than chance"
    if len(decided) > _NAMED:
        rest = f"and {number_of(len(decided) - _NAMED, 'more difference')}"
    spent = _money(sum(row.difference_s for row in decided), cost)
    return f"{_set_up(pair)}: {'; '.join((*parts, rest))}, {basis}.{spent}"


def _set_up(pair: PhasesOfPair) -> str:
    difference_s = pair.set_up_s.candidate - pair.set_up_s.baseline
    if abs(difference_s) < _LEAST_SET_UP_S:
        return f"it takes {duration(pair.set_up_s.candidate)} on both"
    more = "longer" if difference_s > 0 else "less"
    return f"it takes {duration(abs(difference_s))} {more} than on {pair.baseline}"


def _undecided(pair: PhasesOfPair) -> str:
    """Return that nothing is proven, and what has most evidence."""
    nothing = "no phase is proven to take another time"
    if not pair.differences:
        return nothing
    if min(pair.workers.baseline, pair.workers.candidate) == 1:
        nothing += ", because one worker decides nothing"
    first = pair.differences[0]
    return f"{nothing}; most evidence has {first.phase}, {_seconds(first)}"


def _basis(pair: PhasesOfPair) -> str:
    logs = number_of(pair.runs.baseline + pair.runs.candidate, "log")
    return f"{logs} of {workers_text((pair.workers.candidate, pair.workers.baseline))}"


def _seconds(row: PhaseDifference) -> str:
    """Write '+15 s (+13 to +17)'."""
    unit_s, unit = duration_unit(abs(row.difference_s))
    middle, low, high = (_signed(time_s / unit_s) for time_s in (row.difference_s, *row.interval_s))
    return f"{middle} {unit} ({low} to {high})"


def _signed(value: float) -> str:
    """Write two significant digits, and none that are less than a tenth."""
    decimals = 1 if abs(value) < _TWO_DIGITS else 0
    return signed(f"{abs(value):,.{decimals}f}", value)


def _why(row: PhaseDifference, pair: PhasesOfPair) -> str:
    times = next((times for times in pair.phases if times.phase is row.phase), None)
    match row.reason:
        case Reason.PACE:
            return _pace(row, times)
        case Reason.TIME:
            return ", for what may be other work"
        case Reason.SIZE:
            return f", because it moves {ratio(row.ratio or 1.0)} the bytes"
    shares = ""
    if times is not None:
        shares = f" ({percent(times.shares.candidate)} against {percent(times.shares.baseline)})"
    return f", because it is done {'more' if row.difference_s > 0 else 'less'} often{shares}"


def _pace(row: PhaseDifference, times: PhaseTimes | None) -> str:
    rates = ""
    if times is not None and times.rates_bytes_per_s.baseline:
        candidate, baseline = times.rates_bytes_per_s.candidate, times.rates_bytes_per_s.baseline
        rates = f" at {_rate(candidate)} against {_rate(baseline)} MiB/s"
    if row.waits is Waits.UNKNOWN:
        return rates
    if row.waits is Waits.CPUS:
        return f"{rates}, for CPUs: by the benchmark these are slower, and not the disks"
    resource = str(row.waits).replace("network", "the network")
    return f"{rates}, which usually waits for {resource}"


def _rate(bytes_per_s: float) -> str:
    return digits(bytes_per_s / _MIB)


def _money(difference_s: float, cost: CostComparison | None) -> str:
    """Write what the differences cost, at the price of the pool that has them."""
    if cost is None or difference_s <= 0:
        return ""
    amount = _TASKS * difference_s / _S_PER_HOUR * cost.candidate.per_hour
    return f" That is {money(amount)} {cost.currency} per 1,000 tasks."


def tables(compared: ComparedPhases) -> Iterator[blocks.Block]:
    """Write what each phase takes on both pools, and what its differences come from."""
    for pair in compared.pairs:
        yield blocks.Heading(f"Phases of {pair.candidate} and {pair.baseline}")
        sides = [name(side, _HEAD_CELLS) for side in (pair.baseline, pair.candidate)]
        rows = [blocks.Row(capitalized(times.phase), _times(times)) for times in pair.phases]
        heads = [*sides, "Runs that do it", "MiB/s"]
        drop = ("MiB/s", "Runs that do it")
        yield blocks.Table("", heads, rows, drop=drop).without_empty_columns()
        rows = [
            blocks.Row(
                f"{capitalized(row.phase)}, {_REASONS[row.reason]}",
                (
                    _seconds(row),
                    ratio(row.ratio) if row.ratio is not None else NOTHING,
                    _verdict(row),
                ),
            )
            for row in pair.differences
        ]
        heads = ["Difference per task", "Ratio", "Verdict"]
        yield blocks.Table("", heads, rows, drop=("Ratio",))
        yield blocks.Paragraph(
            f"Means per task in the same mix of labels, by {_basis(pair)}. All intervals hold "
            "together at 95 %. The task's own work is not tested.",
            blocks.QUIET,
        )


def _times(times: PhaseTimes) -> list[str]:
    means_s, shares, rates = times.means_s, times.shares, times.rates_bytes_per_s
    is_spared = min(shares.baseline, shares.candidate) < 1
    has_rates = max(rates.baseline, rates.candidate) > 0
    return [
        duration(means_s.baseline),
        duration(means_s.candidate),
        f"{percent(shares.baseline)}, {percent(shares.candidate)}" if is_spared else "",
        f"{_rate(rates.baseline)}, {_rate(rates.candidate)}" if has_rates else "",
    ]


def _verdict(row: PhaseDifference) -> str:
    if not row.is_decided:
        return "inconclusive"
    is_more = row.difference_s > 0
    match row.reason:
        case Reason.SIZE:
            return "more bytes" if is_more else "fewer bytes"
        case Reason.SHARE:
            return "more often" if is_more else "less often"
        case Reason.TIME:
            return "longer" if is_more else "shorter"
    return "slower" if is_more else "faster"
