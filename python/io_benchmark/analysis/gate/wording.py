# SPDX-License-Identifier: MPL-2.0
"""The reasons of a gate's answer, as statements."""

from collections.abc import Sequence

from io_benchmark.analysis.gate.gate_model import MarginTest, SlowWorkers
from io_benchmark.analysis.model.looks import Look
from io_benchmark.analysis.model.statements import (
    Statement,
    Value,
    count,
    joined,
    ratio_of,
    share,
    statement,
)
from io_benchmark.analysis.statistics.gate_sizes import MOST_PROPOSED
from io_benchmark.analysis.statistics.settling import CHANCE
from io_benchmark.number_text import plural

OF_TWO_KINDS = statement("more workers do not decide it while workers of a pool are of two kinds")
NOTHING_MEASURED = statement("nothing was measured on both")


def slow_workers_reason(slow: SlowWorkers, measurements: int) -> Statement:
    """Return which workers of a pool are slow, on which of several measurements, and why."""
    number = len(slow.machines)
    verb, takes = ("has", "takes") if number == 1 else ("have", "take")
    values: dict[str, Value | Statement] = {
        "slow": count(number),
        "workers": count(slow.workers),
        "side": slow.side,
        "ratio": ratio_of(slow.ratio),
        "facts": joined(slow.facts, " and "),
        "others": joined(slow.facts_of_others, " and "),
        "subject": str(slow.subject),
    }
    where = " on {subject}" if measurements > 1 else ""
    lead = f"{{slow}} of {{workers}} {plural(slow.workers, 'worker')} of {{side}}"
    if not slow.is_proven:
        return statement(
            f"{lead} {verb} {{facts}}, the others {{others}}; that it is slower than the limit is "
            f"not shown ({{ratio}} as long{where})",
            **values,
        )
    if slow.facts:
        template = (
            f"{lead} {verb} {{facts}} and {takes} {{ratio}} as long as the others, which have "
            f"{{others}}{where}"
        )
    else:
        template = (
            f"{lead} {takes} {{ratio}} as long as the others{where}, and no recorded fact says why"
        )
    if slow.like_these_in_baseline is not None:
        alike, baseline_workers = slow.like_these_in_baseline
        values |= {"alike": count(alike), "baseline_workers": count(baseline_workers)}
        template += "; {alike} of {baseline_workers} workers of the baseline are as slow"
    return statement(template, **values)


def failed_tests_reason(failed: Sequence[MarginTest], measurements: int) -> Statement:
    template = "the whole interval is above the limit"
    if measurements > 1:
        template += " on {failed} of {measurements} measurements"
    return statement(template, failed=count(len(failed)), measurements=count(measurements))


def open_tests_reason(
    open_tests: Sequence[MarginTest], measurements: int, look: Look, to_decide: Statement
) -> Statement:
    """Return what is not decided, and what would decide it."""
    template = "the ratio may be above the limit or below it"
    if measurements > 1:
        template += " on {open} of {measurements} measurements"
    if look.label is not None:
        template += " ({look}, so the limit is stricter)"
    return statement(
        template + "; {to_decide}",
        open=count(len(open_tests)),
        measurements=count(measurements),
        look=look.label or "",
        to_decide=to_decide,
    )


def workers_to_decide(needed: int | None, margin: float, variation: float) -> Statement:
    if needed is None:
        return statement(
            "a new gate takes more than {most} workers per pool to decide {margin}",
            most=count(MOST_PROPOSED),
            margin=share(margin),
        )
    return statement(
        "a new gate with {needed} workers per pool decides {margin} with a chance of {chance}, if "
        "workers vary by {variation}",
        needed=count(needed),
        margin=share(margin),
        chance=share(CHANCE),
        variation=share(variation),
    )
