# SPDX-License-Identifier: MPL-2.0
"""From a result to a history's readings, and what earlier ones show about how far pushes differ.

What a single result adds to a history is limited: any task can have written it. A worker that
measures every workload in three places has some 100 measurements, and 50 facts.

Between pushes a pool changes from day to day or in steps. Steps that a history finds are left out.
Changes that it does not find count as differences between pushes, so an interval is too wide rather
than too narrow.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import Conditions, HistoryReading, LeftOut, Origin
from io_benchmark.analysis.history.series import history
from io_benchmark.analysis.model.comparison import Severity
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.analysis.reading.machines import FactValue, MachineMarks, facts_of
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.validity import checks
from io_benchmark.analysis.validity.rules import SIDE_RULES
from io_benchmark.sources.run_results import RunResult, TaskRecord, parse_time

# What a single result may add, twice to three times as much as any result had so far.
MEASUREMENTS = 200
_FACTS = 150
_LINES = 50  # about what was left out
# Characters of a name, of a fact or condition, and of a line about what was left out. Chosen:
# longer ones are not read.
_NAME = 100
VALUE = 300
_LINE = 600
IDENTIFIER = 200  # characters of the name of a task, a group, a worker or a revision
_DIGEST = 8  # characters of a digest: four billion of them are different
_NEWEST_PUSHES = 50  # nearly a year of weekly pushes; looking for steps in more takes long
_FEWEST_DEGREES = 2  # three pushes of one level


def readings_of(measured: RunResult) -> tuple[list[HistoryReading], list[LeftOut]]:
    """Return a reading of each measurement that no rule refuses, and what is left out."""
    worker, task = worker_of(measured, measured.pool), measured.task
    origin = _origin(worker, task)
    if origin is None:
        reason = statement("does not contain the time of its measurement")
        return [], [LeftOut(measured.source, reason)]
    kept, problems = checks.check_runs(worker.runs, frozenset())
    queue, image = (task.task_queue, task.image) if task else (None, None)
    facts = {
        place: facts_of(worker.result, place, queue, image)
        for place in dict.fromkeys(run.subject.place for run in kept)
    }
    readings = [
        HistoryReading(
            origin,
            run.subject,
            _conditions_of(run),
            math.log(run.mean_ns),
            tuple(map(_bound_fact, facts[run.subject.place][:_FACTS])),
        )
        for run in kept[:MEASUREMENTS]
    ]
    reasons = [
        statement("{rule}: {message}", rule=problem.rule, message=problem.message)
        for problem in problems
        if problem.severity is Severity.REFUSED
    ]
    if not worker.runs:
        cause = worker.result.outcome.explanation or "no reason given"
        sentence = "{task}: measured nothing: {reason}"
        reasons.append(statement(sentence, task=worker.task_name, reason=cause))
    cuts = [
        statement(f"{{cut}} of {{all}} {things}", cut=count(number - most), all=count(number))
        for number, most, things in (
            (len(kept), MEASUREMENTS, "measurements"),
            (max(map(len, facts.values()), default=0), _FACTS, "facts about its worker"),
            (len(reasons), _LINES, "lines about what was left out"),
        )
        if number > most
    ]
    del reasons[_LINES:]
    if cuts:
        sentence = "{task}: this result holds more than a history shows; cut: {cuts}"
        reasons.append(statement(sentence, task=worker.task_name, cuts=joined(cuts, "; ")))
    when = origin.time.date().isoformat()
    return readings, [LeftOut(when, _bound_sentence(reason, _LINE)) for reason in reasons]


def _origin(worker: Worker, task: TaskRecord | None) -> Origin | None:
    """Return where and when a result was measured; None without a time.

    The queue's record is preferred to the result's own. A result that no CI system's run belongs to
    is a separate point.
    """
    result = worker.result
    time = parse_time(task and task.started) or parse_time(result.started)
    if time is None:
        return None
    marks = MachineMarks.of(worker)
    group = (task.task_group_id if task else None) or result.task.group
    revision, task_id = task.revision if task else None, _shorten(worker.task_id, IDENTIFIER)
    return Origin(
        group=_shorten(group or f"{task_id} {time.isoformat()}", IDENTIFIER),
        time=time,
        revision=None if revision is None else _shorten(revision, IDENTIFIER),
        task_id=task_id,
        run_id=worker.run_id,
        source=worker.source,
        marks=replace(
            marks,
            worker_id=_shorten(marks.worker_id, IDENTIFIER),
            pool=_shorten(marks.pool, IDENTIFIER),
        ),
    )


def _conditions_of(run: Run) -> Conditions:
    """Return the traits by which rules would refuse a comparison."""
    conditions = []
    for name, (severity, traits_of) in SIDE_RULES.items():
        traits = traits_of(run)
        if severity is Severity.REFUSED and traits:
            conditions.append((name, _bound_sentence(joined(traits), VALUE)))
    return tuple(conditions)


def _bound_fact(fact: tuple[str, FactValue]) -> tuple[str, FactValue]:
    """Return a fact whose name and value have a limited length."""
    name, value = fact
    if isinstance(value, str):
        value = _shorten(value, VALUE)
    else:
        options = ",".join(value)
        if len(options) > VALUE:
            value = (_shorten(options, VALUE),)
    return _shorten(name, _NAME), value


def _bound_sentence(sentence: Statement, most: int) -> Statement:
    """Shorten the words in a statement; all of them together have at most `most` characters."""
    words = [value for _, value in sentence.values if isinstance(value, str)]
    if sum(map(len, words)) <= most:
        return sentence
    values = (
        (name, _shorten(value, most // len(words)) if isinstance(value, str) else value)
        for name, value in sentence.values
    )
    return Statement(sentence.template, tuple(values))


def _shorten(words: str, most: int) -> str:
    """Cut words, and end them with a digest, so that different words stay different."""
    if len(words) <= most:
        return words
    digest = hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{words[: max(most - _DIGEST - 2, 0)]}… {digest}"


class EarlierPushes(Struct, frozen=True):
    """Earlier results of several pools, without those that are compared."""

    readings: Mapping[str, Sequence[HistoryReading]]  # by pool

    def variance(self, run: Run) -> tuple[int, MeanVariance] | None:
        """Return how many pushes measured the same as `run`, and how far their levels differ.

        Return None where these are too few.
        """
        pool, measured = run.worker.pool, (run.subject, _conditions_of(run))
        same_work = [
            reading
            for reading in self.readings.get(pool, ())
            if (reading.subject, reading.conditions) == measured
        ]
        for series in history(pool, same_work, newest=_NEWEST_PUSHES).series:
            means = [
                fmean(math.log(worker.mean_ns) for worker in point.workers)
                for point in series.points
            ]
            within_levels = MeanVariance.pooled(
                means[level.start : level.end] for level in series.levels
            )
            if within_levels is not None and within_levels.degrees >= _FEWEST_DEGREES:
                return len(series.points), within_levels
        return None
