# SPDX-License-Identifier: MPL-2.0
"""An investigation, as a bug needs it: from the question to the patch and its undoing."""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from msgspec import UNSET

from io_benchmark.analysis.investigation import investigation_model as model
from io_benchmark.analysis.model.cause import Evidence, Target
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.statistics.levels import DEFAULT_MARGIN
from io_benchmark.command_lines import compare_tasks_before_and_after
from io_benchmark.number_text import (
    digits,
    duration,
    listed,
    money,
    number_of,
    percent,
    ratio,
    signed,
    size,
)
from io_benchmark.report import blocks
from io_benchmark.report.content import (
    ends_text,
    evidence_text,
    interval_text,
    sentence_of,
    text_of,
    workers_text,
)
from io_benchmark.report.drawn import DrawnRatio
from io_benchmark.report.facts import VERSION
from io_benchmark.report.sections.real_tasks import phase_differences
from io_benchmark.text import capitalized

_UNDO = {
    Target.POOL: "Revert the patch; workers that run keep their machines until they end.",
    Target.IMAGE: "Go back to the image before.",
    Target.TASK: "Revert the change of the task.",
}
_LEAST_PART_S = 1.0  # a part of the time that differs by less is not named
_ADDRESSES_NAMED = 3
_CAUSES_IN_ANSWER = 2
# What to read if one reads nothing else.
_LEADS = {
    model.Outcome.CHANGE: "A change helps.",
    model.Outcome.NOTHING: "Nothing to change.",
    model.Outcome.NOT_IO: "Nothing to change in disks or machines.",
    model.Outcome.OPEN: "Not decided.",
}


# Each outcome looks like the verdict that means as much.
_KINDS = {
    model.Outcome.CHANGE: Verdict.SLOWER,
    model.Outcome.NOTHING: Verdict.EQUIVALENT,
    model.Outcome.NOT_IO: Verdict.EQUIVALENT,
    model.Outcome.OPEN: Verdict.INCONCLUSIVE,
}


def document(report: model.Investigation) -> blocks.Document:
    slowness = report.findings.slowness
    title = f"Why is {report.task} slow?"
    if slowness is not None:
        title = f"Why is {slowness.label} slow on {slowness.pool}?"
    answer: list[blocks.Block] = [*_picture(report.findings), blocks.Items([_answer(report)])]
    evidence: list[blocks.Block] = [
        blocks.Heading("Evidence"),
        blocks.Items([*_evidence(report.findings), *_sources(report.sources)]),
    ]
    forecast = report.findings.forecast
    if forecast is not None and forecast.task is not None:
        evidence += blocks.Picture.demand(forecast.task.written)
    fix = report.conclusion.fix
    if fix is not None and slowness is not None:
        answer += _change(report, fix)
        evidence += _afterwards(fix, slowness)
    evidence += blocks.Items.lists(("Messages", report.remarks), ("Not read", report.unreadable))
    return blocks.Document(title, evidence, facts=[*_investigated(report)], answer=answer)


def _investigated(report: model.Investigation) -> Iterator[blocks.Line]:
    """Yield which task it is about, and which pools its label ran on."""
    pages = {source.address: source.page for source in report.sources}
    yield blocks.Words(report.task, link=pages.get(report.task, ""))
    slowness = report.findings.slowness
    if slowness is not None:
        yield f"{slowness.label} on {slowness.queue}"
        if slowness.comparison is not None:
            yield f"compared with {slowness.comparison.baseline}"
        yield f"{number_of(slowness.completed, 'completed run')} on {slowness.pool}"
    yield VERSION


def _answer(report: model.Investigation) -> blocks.Item:
    """Write the conclusion; below it what is slow, since when, why, how sure, and what now."""
    conclusion, findings = report.conclusion, report.findings
    below = []
    if findings.slowness is not None:
        below.append(blocks.Item.led("Times:", _taken(findings.slowness)))
        if findings.slowness.since:
            below.append(blocks.Item.led("Since:", _since(findings.slowness)))
    if findings.explanation is not None:
        # Two measurements may have the same cause.
        causes = [*dict.fromkeys(_causes(findings.explanation))]
        below += (blocks.Item.led("Cause:", cause) for cause in causes[:_CAUSES_IN_ANSWER])
    certainty = sentence_of(conclusion.certainty)
    if report.unreadable:
        unread = number_of(len(report.unreadable), "result")
        certainty = f"{certainty.removesuffix('.')}; {unread} could not be read."
    below.append(blocks.Item.led("Certainty:", certainty))
    below += (blocks.Item.led("To decide:", sentence_of(step)) for step in conclusion.next_steps)
    if conclusion.fix is not None:
        below.append(blocks.Item.led("Try:", _try(report, conclusion.fix)))
    sentence = f" {sentence_of(conclusion.answer)}"
    kind = _KINDS[conclusion.outcome]
    return blocks.Item.answer(kind, _LEADS[conclusion.outcome], sentence, below)


def _try(report: model.Investigation, fix: model.Fix) -> str:
    """Write what to do with the change, and its gain."""
    action = sentence_of(fix.remedy.action).removesuffix(".")
    if report.patch:
        action = "apply the patch below"
    elif report.fragment:
        action = f"write the lines below into {fix.target.value}"
    if fix.remedy.gain_ratio is None:
        return f"{action}."
    how = "measured" if fix.remedy.measured else "predicted"
    return f"{action} ({ratio(fix.remedy.gain_ratio)} as fast for the benchmark, {how})."


def _ended(words: str) -> str:
    """End words with a full stop, unless they have one."""
    return words.removesuffix(".") + "."


def _evidence(findings: model.Findings) -> Iterator[blocks.Item]:
    """Write what each step found besides the answer, as far as the steps were done."""
    if findings.slowness is not None:
        for sentence in _times(findings.slowness):
            yield blocks.Item.led("Times:", sentence)
        if findings.slowness.phases is not UNSET:
            words = phase_differences.sentence(findings.slowness.phases)
            yield blocks.Item.led("Set-up by logs:", words)
    if findings.machines is not None:
        sentence = _machines(findings.machines, findings.explanation)
        yield blocks.Item.led("Machines:", sentence)
    if findings.explanation is not None:
        causes = [*dict.fromkeys(_causes(findings.explanation))]
        for sentence in causes[_CAUSES_IN_ANSWER:]:
            yield blocks.Item.led("Cause:", sentence)
    if findings.forecast is not None:
        for sentence in _demand(findings.forecast):
            yield blocks.Item.led("Demand:", sentence)


def _sources(sources: Sequence[model.EvidenceSource]) -> Iterator[blocks.Item]:
    """Write where the evidence is, as addresses that a browser opens."""
    for (has, is_new), same in grouped(sources, attrgetter("has", "is_new")).items():
        created = ", created by this investigation" if is_new else ""
        line: list[blocks.Inline] = [blocks.Words("Source:", blocks.STRONG), f" {has}{created}: "]
        for number, source in enumerate(same):
            address = blocks.Words(source.address, link=source.page)
            if number > 0:
                line.append(", ")
            line.append(address)
        yield blocks.Item(tuple(line))


def _picture(findings: model.Findings) -> Iterator[blocks.Picture]:
    """Draw the ratios of the real tasks, the benchmark and the prediction."""
    slowness, explanation, forecast = findings.slowness, findings.explanation, findings.forecast
    if slowness is None or slowness.comparison is None:
        return
    rows: dict[str, object] = {"real tasks": slowness.comparison}
    if explanation is not None and explanation.comparison is not None:
        rows["benchmark"] = explanation.comparison
    if forecast is not None and forecast.ratio is not None and forecast.interval is not None:
        rows["prediction"] = DrawnRatio(forecast.ratio, forecast.interval)
    caption = f"Time on {slowness.pool} divided by that on {slowness.comparison.baseline}"
    yield from blocks.Picture.forest(caption, rows, DEFAULT_MARGIN)


def _taken(slowness: model.Slowness) -> str:
    """Write how long the task takes, and where."""
    compared = slowness.comparison
    if compared is None:
        runs = number_of(slowness.completed, "run")
        return f"{duration(slowness.mean_s)} on {slowness.pool}, by {runs}."
    reference_s = compared.times[compared.baseline].task_s
    workers = workers_text((compared.workers.candidate, compared.workers.baseline))
    return (
        f"{duration(slowness.mean_s)} on {slowness.pool}, {duration(reference_s)} on "
        f"{compared.baseline}: {ratio(compared.ratio)} ({interval_text(compared.interval)}; "
        f"{workers})."
    )


def _since(slowness: model.Slowness) -> str:
    where = "on all pools" if slowness.grew_everywhere else "on this pool"
    return f"{slowness.since} {where}: {ratio(slowness.growth)} the time before."


def _times(slowness: model.Slowness) -> Iterator[str]:
    """Yield where the time goes, what it costs, and how many labels are slower."""
    compared = slowness.comparison
    if compared is not None:
        parts = [
            f"{name} {signed(duration(abs(time_s)), time_s)}"
            for name, time_s in compared.differences_s.items()
            if abs(time_s) >= _LEAST_PART_S
        ]
        if parts:
            yield f"Where: {', '.join(parts)}."
    if compared is not None and compared.cost is not None:
        cost = compared.cost
        own, theirs = money(cost.candidate.per_1000), money(cost.baseline.per_1000)
        yield f"1,000 tasks cost {own} {cost.currency} there, and {theirs} on {compared.baseline}."
    if slowness.gaining_share is not None:
        slower, labels = slowness.gaining_labels
        share = percent(slowness.gaining_share)
        are = "is" if slower == 1 else "are"
        yield (
            f"Of {number_of(labels, 'label')} of both pools {slower:,} {are} slower there: "
            f"{share} of their time."
        )


def _machines(machines: model.Machines, explanation: model.Explanation | None) -> str:
    """Write how the benchmark compares the machines, and where its results are."""
    addresses = listed(machines.addresses, _ADDRESSES_NAMED)
    results = f"results from {machines.origin}: {addresses}"
    if explanation is None or explanation.comparison is None:
        return f"{results}."
    compared, workers = explanation.comparison, explanation.workers
    own = explanation.machine_types.pool or "unknown"
    theirs = explanation.machine_types.reference or "unknown"
    return (
        f"{machines.pool} ({own}) takes {ratio(compared.ratio)} the time of {machines.reference} "
        f"({theirs}) for the benchmark ({ends_text(compared.interval)}), by "
        f"{workers.pool:,} and {workers.reference:,} workers; {results}."
    )


def _causes(explanation: model.Explanation) -> Iterator[str]:
    """Yield each cause with the facts of both pools and why it is judged so."""
    for reason in explanation.reasons:
        cause = reason.cause
        evidence = [text_of(sentence) for sentence in cause.explanation]
        own, theirs = _facts(cause.candidate_evidence), _facts(cause.baseline_evidence)
        # A mixed pool has no facts of two pools.
        if own or theirs:
            evidence.insert(0, f"{own} against {theirs}.")
        yield f"{cause.name} is {cause.state}. {_ended(' '.join(evidence))}"


def _facts(evidence: Evidence) -> str:
    return text_of(evidence.summary) if evidence.summary else evidence_text(evidence)


def _demand(forecast: model.Forecast) -> Iterator[str]:
    """Yield what the task's profiles recorded, and what they predict."""
    task = forecast.task
    if task is not None and None not in (task.cpus_used, task.written_bytes, task.read_bytes):
        yield (
            f"{digits(task.cpus_used or 0)} CPUs used, {size(task.written_bytes or 0)} written to "
            f"disks, {size(task.read_bytes or 0)} read, by "
            f"{number_of(len(task.measured_ns), 'profile')} made on {task.pool}."
        )
    if forecast.ratio is None or forecast.interval is None:
        reason = text_of(forecast.reason) if forecast.reason else ""
        yield _ended(f"Not predicted: {reason}")
        return
    waiting = ", ".join(
        f"{resource.value} {signed(duration(abs(time_s)), time_s)}"
        for resource, time_s in forecast.added_s.items()
        if time_s
    )
    yield (
        f"Predicted: {ratio(forecast.ratio)} ({ends_text(forecast.interval)}); waiting for "
        f"{waiting or 'nothing'}."
    )


def _change(report: model.Investigation, fix: model.Fix) -> Iterator[blocks.Block]:
    """Write the patch, or whose change it is, and what else to know about it."""
    if report.patch or report.fragment:
        yield blocks.Code(report.patch or report.fragment, "diff" if report.patch else "yaml")
    else:
        yield blocks.Paragraph(f"This is a change of {fix.target.value}.")
    if report.note:
        yield blocks.Paragraph(_ended(capitalized(report.note)))


def _afterwards(fix: model.Fix, slowness: model.Slowness) -> Iterator[blocks.Block]:
    """Write how to undo the change, and what to watch."""
    yield blocks.Heading("How to undo")
    yield blocks.Paragraph(_UNDO[fix.target])
    compared = slowness.comparison
    usual_s = compared.times[compared.baseline].task_s if compared is not None else 0
    watch = (
        f"{slowness.label} on {slowness.pool}: from {duration(slowness.mean_s)} towards "
        f"{duration(usual_s)}. Compare after a day with `{compare_tasks_before_and_after()}`, "
        "each a push or a table of runs. Watch the pool's price, and the time that tasks are "
        "pending."
    )
    yield blocks.Heading("What to watch")
    yield blocks.Paragraph(watch)
