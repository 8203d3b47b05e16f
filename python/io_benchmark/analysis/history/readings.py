# SPDX-License-Identifier: MPL-2.0
"""From a result to a history's readings: origin, conditions and mean time of each measurement.

What a single result adds to a history is limited: any task can have written it. A worker that measures
every workload in three places has some 100 measurements, and 50 facts.
"""

import hashlib
import math
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import (
    Conditions,
    FactValue,
    HistoryReading,
    LeftOut,
    Origin,
)
from io_benchmark.analysis.history.host_facts import facts_of
from io_benchmark.analysis.intake import worker_of
from io_benchmark.analysis.model import Run, Severity, Worker
from io_benchmark.analysis.observed.machine_identity import MachineMarks
from io_benchmark.analysis.statements import Statement, count, joined, statement
from io_benchmark.analysis.validity import checks
from io_benchmark.analysis.validity.comparability import SIDE_RULES
from io_benchmark.sources.run_results import RunResult, TaskRecord

MEASUREMENTS, _FACTS, _LINES = 200, 150, 50
# Characters of a name, of a fact or condition, and of a line about what was left out.
_NAME, VALUE, _LINE = 100, 300, 600
# Characters of the name of a task, a group, a worker or a revision.
IDENTIFIER = 200
_DIGEST = 8


def readings_of(measured: RunResult) -> tuple[list[HistoryReading], list[LeftOut]]:
    """Return a reading of each measurement that no rule refuses, and what is left out."""
    worker, task = worker_of(measured, measured.pool), measured.task
    origin = _origin(worker, task)
    if origin is None:
        reason = statement("does not contain the time of its measurement")
        return [], [LeftOut(measured.source, reason)]
    runs = [Run(worker, entry) for entry in worker.entries]
    kept, problems = checks.check_runs(runs, frozenset())
    readings = [
        HistoryReading(
            origin=origin,
            subject=run.entry.subject,
            conditions=_conditions(run),
            log_mean=math.log(run.entry.mean_ns),
            facts=facts_of(
                worker.result,
                run.entry.subject.place,
                task.task_queue if task else None,
                task.image if task else None,
            ),
        )
        for run in kept
    ]
    when = origin.time.date().isoformat()
    left_out = [
        LeftOut(when, statement("{rule}: {message}", rule=problem.rule, message=problem.message))
        for problem in problems
        if problem.severity is Severity.REFUSED
    ]
    if not worker.entries:
        reason = statement(
            "{task}: measured nothing: {reason}",
            task=worker.task_name,
            reason=worker.result.outcome.explanation or "no reason given",
        )
        left_out.append(LeftOut(when, reason))
    return _bound(readings, left_out, when, worker.task_name)


def _origin(worker: Worker, task: TaskRecord | None) -> Origin | None:
    """Return where and when a result was measured; None without a time.

    The queue's record is preferred to the result's own. A result that no CI system's run belongs to is a
    separate point.
    """
    result = worker.result
    time = (task and _time(task.started)) or _time(result.started)
    if time is None:
        return None
    group = (task.task_group_id if task else None) or result.task.group
    revision = task.revision if task else None
    task_id = _shorten(worker.task_id, IDENTIFIER)
    return Origin(
        group=_shorten(group or f"{task_id} {time.isoformat()}", IDENTIFIER),
        time=time,
        revision=None if revision is None else _shorten(revision, IDENTIFIER),
        task_id=task_id,
        run_id=worker.run_id,
        source=worker.source,
        marks=MachineMarks.of(_shorten(worker.worker_id, IDENTIFIER), result),
    )


def _time(text: str) -> datetime | None:
    """Return a time in UTC, which is also the zone of a time without one."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def conditions_of(run: Run) -> Conditions:
    """Return the conditions of a run, as a reading has them."""
    return tuple((rule, _bound_text(traits, VALUE)) for rule, traits in _conditions(run))


def _conditions(run: Run) -> Conditions:
    """Return the traits by which rules would refuse a comparison."""
    return tuple(
        (name, joined(traits))
        for name, (severity, traits_of) in SIDE_RULES.items()
        if severity is Severity.REFUSED and (traits := traits_of(run))
    )


def _bound(
    readings: Sequence[HistoryReading], left_out: Sequence[LeftOut], source: str, task: Statement
) -> tuple[list[HistoryReading], list[LeftOut]]:
    """Return as much as may be shown, and a line that names what was cut."""
    kept = [_bound_reading(reading) for reading in readings[:MEASUREMENTS]]
    lines = [LeftOut(line.source, _bound_text(line.reason, _LINE)) for line in left_out[:_LINES]]
    most_facts = max((len(reading.facts) for reading in readings), default=0)
    changed = any(
        (before.facts[:_FACTS], before.conditions) != (after.facts, after.conditions)
        for before, after in zip(readings, kept, strict=False)
    )
    cuts = [
        *_beyond(len(readings), MEASUREMENTS, "measurements"),
        *_beyond(most_facts, _FACTS, "facts about its worker"),
        *_beyond(len(left_out), _LINES, "lines about what was left out"),
    ]
    if changed:
        cuts.append(statement("texts longer than {length} characters", length=count(VALUE)))
    if cuts:
        reason = statement(
            "{task}: this result holds more than a history shows; cut: {cuts}",
            task=_bound_text(task, IDENTIFIER),
            cuts=joined(cuts, "; "),
        )
        lines.append(LeftOut(source, reason))
    return kept, lines


def _beyond(number: int, most: int, names: str) -> list[Statement]:
    if number <= most:
        return []
    return [statement(f"{{cut}} of {{all}} {names}", cut=count(number - most), all=count(number))]


def _bound_reading(reading: HistoryReading) -> HistoryReading:
    return replace(
        reading,
        conditions=tuple((rule, _bound_text(traits, VALUE)) for rule, traits in reading.conditions),
        facts=tuple(
            (_shorten(name, _NAME), _bound_value(value)) for name, value in reading.facts[:_FACTS]
        ),
    )


def _bound_value(value: FactValue) -> FactValue:
    if isinstance(value, str):
        return _shorten(value, VALUE)
    listed = ",".join(value)
    return value if len(listed) <= VALUE else (_shorten(listed, VALUE),)


def _bound_text(text: Statement, most: int) -> Statement:
    """Shorten the texts of a statement, so that all of them together have at most `most` characters."""
    texts = [value for _, value in text.values if isinstance(value, str)]
    if sum(map(len, texts)) <= most:
        return text
    each = most // len(texts)
    return Statement(
        text.template,
        tuple(
            (name, _shorten(value, each) if isinstance(value, str) else value)
            for name, value in text.values
        ),
    )


def _shorten(text: str, most: int) -> str:
    """Cut a text, and end it with a digest, so that different texts stay different."""
    if len(text) <= most:
        return text
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{text[: max(most - _DIGEST - 2, 0)]}… {digest}"
