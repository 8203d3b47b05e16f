# SPDX-License-Identifier: MPL-2.0
"""An investigation, as a bug needs it: question, answer, certainty, evidence, patch, undoing, watching."""

from collections.abc import Iterator

from io_benchmark.analysis.investigation.investigation_model import (
    Explanation,
    Findings,
    Forecast,
    Investigation,
    Machines,
    Outcome,
    Remedy,
    Slowness,
    Target,
)
from io_benchmark.analysis.levels import LEVEL
from io_benchmark.analysis.prediction import PREDICTION_LEVEL
from io_benchmark.number_text import (
    compact,
    count,
    duration_unit,
    interval,
    listed,
    percent,
    ratio,
    signed,
)
from io_benchmark.report.blocks import (
    STRONG,
    Block,
    Code,
    Document,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    Words,
    lists,
)
from io_benchmark.report.content import text_of
from io_benchmark.report.sections.ratio_pictures import DrawnRatio, forest

_UNDO = {
    Target.POOL: "Revert the patch; workers that run keep their machines until they end.",
    Target.IMAGE: "Go back to the image before.",
    Target.TASK: "Revert the change of the task.",
}
# What to read if one reads nothing else.
_LEADS = {
    Outcome.CHANGE: "A change helps.",
    Outcome.NOTHING: "Nothing to change.",
    Outcome.NOT_IO: "Nothing to change in disks or machines.",
    Outcome.OPEN: "Not decided.",
}


def document(report: Investigation) -> Document:
    """Write the report."""
    conclusion, findings = report.conclusion, report.findings
    slowness = findings.slowness
    subject = slowness.label if slowness else report.task
    title = f"Why {subject} is slow" + (f" on {slowness.pool}" if slowness else "")
    answer = _sentence(text_of(conclusion.answer))
    blocks: list[Block] = [
        Heading("Question"),
        Paragraph(_question(report)),
        Heading("Answer"),
        Paragraph((Words(_LEADS[conclusion.outcome], STRONG), f" {answer}")),
        Heading("Certainty"),
        Paragraph(_sentence(text_of(conclusion.certainty))),
        *lists(("What decides it", [_sentence(text_of(step)) for step in conclusion.next_steps])),
        Heading("Evidence"),
        Items.of(_evidence(findings)),
        *_picture(findings),
    ]
    if conclusion.remedy is not None:
        blocks += _change(report, conclusion.remedy)
    blocks += lists(("Messages", report.remarks), ("Not read", report.unreadable))
    return Document(title, blocks)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].removesuffix(".") + "."


def _question(report: Investigation) -> str:
    slowness = report.findings.slowness
    if slowness is None:
        return f"Why is {report.task} slow?"
    than = f", compared with {slowness.reference}" if slowness.reference else ""
    return f"Why is {report.task} ({slowness.label}) slow on {slowness.queue}{than}?"


def _evidence(findings: Findings) -> Iterator[Line]:
    """Write what each step found."""
    writers = {
        "Times": _times(findings.slowness),
        "Machines": _machines(findings.machines, findings.explanation),
        "Cause": _causes(findings.explanation),
        "Demand": _demand(findings.forecast),
    }
    for title, lines in writers.items():
        yield from ((Words(f"{title}:", STRONG), f" {line}") for line in lines)


def _picture(findings: Findings) -> Iterator[Picture]:
    """Draw the same ratio by real times, by the benchmark and by the prediction."""
    slowness, explanation, forecast = findings.slowness, findings.explanation, findings.forecast
    rows = {}
    if slowness is not None and slowness.reference is not None:
        ends = slowness.low_ratio, slowness.high_ratio
        rows["real tasks"] = DrawnRatio.of(slowness.ratio, *ends, LEVEL)
    if explanation is not None and explanation.verdict is not None:
        ends = explanation.low_ratio, explanation.high_ratio
        rows["benchmark"] = DrawnRatio.of(explanation.ratio, *ends, LEVEL)
    if forecast is not None and forecast.ratio is not None:
        ends = forecast.low_ratio, forecast.high_ratio
        rows["prediction"] = DrawnRatio.of(forecast.ratio, *ends, PREDICTION_LEVEL)
    if rows and slowness is not None:
        yield forest(f"Time on {slowness.pool} by that on {slowness.reference}", rows)


def _time(seconds: float) -> str:
    unit_s, unit = duration_unit(abs(seconds))
    return f"{compact(seconds / unit_s)} {unit}"


def _times(slowness: Slowness | None) -> Iterator[str]:
    if slowness is None:
        return
    if slowness.reference is None:
        yield f"{_time(slowness.mean_s)} on {slowness.pool}, by {count(slowness.completed)} runs."
    else:
        ends = interval(slowness.low_ratio, slowness.high_ratio)
        yield (
            f"{_time(slowness.mean_s)} on {slowness.pool}, {_time(slowness.reference_mean_s)} on "
            f"{slowness.reference}: {ratio(slowness.ratio)} ({ends}), by {slowness.workers[0]:,} and "
            f"{slowness.workers[1]:,} workers."
        )
    parts = [
        f"{name} {signed(_time(abs(seconds)), seconds)}"
        for name, seconds in slowness.parts_s.items()
        if abs(seconds) >= 1
    ]
    if parts:
        yield f"Where: {', '.join(parts)}."
    if slowness.change is not None:
        where = "on all pools" if slowness.change.is_everywhere else "on this pool"
        yield f"Since {slowness.change.date} {where}: {ratio(slowness.change.ratio)} the time before."
    if slowness.cost_per_1000 is not None and slowness.reference:
        own, other = map(compact, slowness.cost_per_1000)
        money = f"1,000 tasks cost {own} {slowness.currency} there, and {other} on"
        yield f"{money} {slowness.reference}."
    if slowness.gaining_share is not None:
        slower, labels = slowness.gaining_labels
        share = percent(slowness.gaining_share)
        yield f"Of {labels:,} labels of both pools {slower:,} are slower there: {share} of their time."


def _machines(machines: Machines | None, explanation: Explanation | None) -> Iterator[str]:
    if machines is None:
        return
    results = f"results from {machines.origin}: {listed(machines.addresses, 3)}"
    if explanation is None or explanation.verdict is None:
        yield f"{results}."
        return
    types = [name or "unknown" for name in explanation.machine_types]
    yield (
        f"{machines.pool} ({types[0]}) takes {ratio(explanation.ratio)} the time of "
        f"{machines.reference} ({types[1]}) for the benchmark "
        f"({interval(explanation.low_ratio, explanation.high_ratio)}), by {explanation.workers[0]:,} and "
        f"{explanation.workers[1]:,} workers; {results}."
    )


def _causes(explanation: Explanation | None) -> Iterator[str]:
    for reason in explanation.reasons if explanation else ():
        yield f"{reason.cause} is {reason.state}. {_sentence(reason.evidence)}"


def _demand(forecast: Forecast | None) -> Iterator[str]:
    if forecast is None:
        return
    if forecast.demand:
        yield f"{forecast.demand}, by {forecast.profiles:,} profiles made on {forecast.profiled_on}."
    if forecast.ratio is None:
        yield _sentence(f"not predicted: {forecast.reason}")
        return
    ends = interval(forecast.low_ratio, forecast.high_ratio)
    added = [
        f"{name.value} {signed(_time(abs(s)), s)}" for name, s in forecast.added_s.items() if s
    ]
    yield f"Predicted: {ratio(forecast.ratio)} ({ends}); waiting for {', '.join(added) or 'nothing'}."


def _change(report: Investigation, remedy: Remedy) -> Iterator[Block]:
    findings = report.findings
    yield Heading("Patch")
    if report.patch:
        yield Code(report.patch, "diff")
    elif report.fragment:
        yield Code(report.fragment, "yaml")
    else:
        yield Paragraph(f"Of {remedy.target.value}: {_sentence(remedy.reason.action)}")
    if report.note:
        yield Paragraph(_sentence(report.note))
    gain = remedy.reason.gain_ratio
    if gain is not None:
        how = "measured" if remedy.reason.is_measured else "predicted"
        yield Paragraph(f"The benchmark's work gets {ratio(gain)} as fast ({how}).")
    yield from (Heading("How to undo"), Paragraph(_UNDO[remedy.target]))
    slowness = findings.slowness
    if slowness is not None:
        watch = (
            f"{slowness.label} on {slowness.pool}: from {_time(slowness.mean_s)} towards "
            f"{_time(slowness.reference_mean_s)}. Compare after a day with: io-benchmark tasks AFTER "
            "--against BEFORE. Watch the pool's price, and the time that tasks are pending."
        )
        yield from (Heading("What to watch"), Paragraph(watch))
