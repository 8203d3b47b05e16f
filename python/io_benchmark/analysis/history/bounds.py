# SPDX-License-Identifier: MPL-2.0
"""What is kept of a result over time, within limits: where it is from, and what rules compare.

Any task can have written a result, so no text of it is longer than these limits.
"""

import hashlib
from collections.abc import Sequence

from msgspec.structs import replace

from io_benchmark.analysis.history.history_model import Conditions, Origin
from io_benchmark.analysis.model.comparison import Problem, Severity
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.statements import Statement, joined, statement
from io_benchmark.analysis.reading.machines import FactValue, MachineMarks
from io_benchmark.analysis.validity.rules import SIDE_RULES
from io_benchmark.analysis.validity.systems import SYSTEM_RULE
from io_benchmark.results.machine import LINUX
from io_benchmark.sources.run_results import TaskRecord, parse_time

# Characters of a name, of a fact or condition, and of a line about what was left out. Chosen:
# longer ones are not read.
_NAME = 100
VALUE = 300
LINE = 600
LINES = 50  # of one result, about what was left out
IDENTIFIER = 200  # characters of the name of a task, a group, a worker or a revision
_DIGEST = 8  # characters of a digest: four billion of them are different
UNDATED = statement("does not contain the time of its measurement")


def origin_of(worker: Worker, task: TaskRecord | None) -> Origin | None:
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
    revision, task_id = task.revision if task else None, shorten(worker.task_id, IDENTIFIER)
    return Origin(
        group=shorten(group or f"{task_id} {time.isoformat()}", IDENTIFIER),
        time=time,
        revision=None if revision is None else shorten(revision, IDENTIFIER),
        task_id=task_id,
        run_id=worker.run_id,
        source=worker.source,
        marks=replace(
            marks,
            worker_id=shorten(marks.worker_id, IDENTIFIER),
            boot=tuple(shorten(part, IDENTIFIER) for part in marks.boot),
            place=tuple(shorten(part, IDENTIFIER) for part in marks.place),
            pool=shorten(marks.pool, IDENTIFIER),
        ),
    )


def reasons_of(worker: Worker, problems: Sequence[Problem]) -> list[Statement]:
    """Return why a worker's measurements are left out, by the rules that refuse them."""
    reasons = [
        statement("{rule}: {message}", rule=problem.rule, message=problem.message)
        for problem in problems
        if problem.severity is Severity.REFUSED
    ]
    if not worker.runs:
        cause = worker.result.outcome.explanation or "no reason given"
        sentence = "{task}: measured nothing: {reason}"
        reasons.append(statement(sentence, task=worker.task_name, reason=cause))
    return reasons


def conditions_of(run: Run) -> Conditions:
    """Return the traits by which rules would refuse a comparison.

    Linux is not named: readings that were published before there was another system stay the same.
    """
    conditions = []
    for name, (severity, traits_of) in SIDE_RULES.items():
        traits = traits_of(run)
        is_named = name != SYSTEM_RULE or run.system != LINUX
        if severity is Severity.REFUSED and traits and is_named:
            conditions.append((name, bound_sentence(joined(traits), VALUE)))
    return tuple(conditions)


def bound_fact(fact: tuple[str, FactValue]) -> tuple[str, FactValue]:
    """Return a fact whose name and value have a limited length."""
    name, value = fact
    if isinstance(value, str):
        value = shorten(value, VALUE)
    else:
        options = ",".join(value)
        if len(options) > VALUE:
            value = (shorten(options, VALUE),)
    return shorten(name, _NAME), value


def bound_sentence(sentence: Statement, most: int) -> Statement:
    """Shorten the words in a statement; all of them together have at most `most` characters."""
    words = [value for _, value in sentence.values if isinstance(value, str)]
    if sum(map(len, words)) <= most:
        return sentence
    values = (
        (name, shorten(value, most // len(words)) if isinstance(value, str) else value)
        for name, value in sentence.values
    )
    return Statement(sentence.template, tuple(values))


def shorten(words: str, most: int) -> str:
    """Cut words, and end them with a digest, so that different words stay different."""
    if len(words) <= most:
        return words
    digest = hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{words[: max(most - _DIGEST - 2, 0)]}… {digest}"
