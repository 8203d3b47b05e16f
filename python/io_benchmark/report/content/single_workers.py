# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Workers that do not belong to their pool: an answer for each, next to those about pools."""

from collections.abc import Iterable, Sequence

from io_benchmark.analysis.inference.levels import LEVEL
from io_benchmark.analysis.model import DIFFERENT, UNKNOWN, Comparison, Subject, Verdict
from io_benchmark.analysis.report_model import Report, SingleWorker
from io_benchmark.number_text import interval, percent, ratio
from io_benchmark.report.content.answers import PoolAnswer
from io_benchmark.report.content.hypotheses import Explanation
from io_benchmark.report.content.subject_text import Distinction

# More measurements than this are counted.
_NAMED = 3


def answers_of(report: Report) -> tuple[PoolAnswer, ...]:
    """Write an answer for each worker, about the measurement that explains it."""
    by_worker: dict[tuple[str, ...], list[SingleWorker]] = {}
    for each in report.single_workers:
        by_worker.setdefault((each.side, each.machine, *each.tasks), []).append(each)
    return tuple(_answer(same, report) for same in by_worker.values())


def _answer(same: Sequence[SingleWorker], report: Report) -> PoolAnswer:
    worker = next((each for each in same if each.diagnosis is not None), same[0])
    subjects = [part.subject for part in report.subjects]
    others = [each for each in same if each is not worker]
    usual = interval(worker.usual.low_ratio, worker.usual.high_ratio)
    evidence = f"({worker.others:,} other workers; equal ones stay within {usual})"
    explanation = None if worker.diagnosis is None else Explanation.of(worker.diagnosis)
    phrase = Distinction.of_all(worker.subject, subjects)
    return PoolAnswer(
        worker.side,
        worker.verdict.value,
        f"{_name(worker)} alone is {ratio(worker.ratio)} its pool",
        " ".join(
            filter(
                None,
                (
                    phrase,
                    f"{evidence}: {explanation.sentence}." if explanation else f"{evidence}.",
                    _also(others, subjects),
                    _consequence(worker, report),
                    _without(worker.without),
                ),
            )
        ),
        explanation.attempt if explanation else "",
        (),
        explanation=explanation,
        brief=" ".join(filter(None, (phrase, f"({worker.others:,} other workers)."))),
    )


def _name(worker: SingleWorker) -> str:
    """Return 'worker ID of amd-16 (task TASKID.0, machine c3d-standard-16)'."""
    tasks = ", ".join(filter(None, worker.tasks[:_NAMED]))
    machine = f"machine {worker.instance_type}" if worker.instance_type else ""
    where = ", ".join(filter(None, (f"task {tasks}" if tasks else "", machine)))
    name = "a worker" if worker.machine == UNKNOWN else f"worker {worker.machine}"
    return f"{name} of {worker.side}" + (f" ({where})" if where else "")


def _also(others: Sequence[SingleWorker], subjects: Sequence[Subject]) -> str:
    if not others:
        return ""
    texts = [
        f"{ratio(each.ratio)} {Distinction.of_all(each.subject, subjects)}"
        for each in others[:_NAMED]
    ]
    left = len(others) - _NAMED
    return f"Also {'; '.join(texts)}{f'; and {left:,} more measurements' if left > 0 else ''}."


def _consequence(worker: SingleWorker, report: Report) -> str:
    """Write what the worker means for the verdicts about its pool."""
    verdicts = [
        comparison.verdict
        for part in report.subjects
        if part.subject == worker.subject
        for comparison in part.comparisons
        if worker.side in (comparison.candidate, comparison.baseline)
    ]
    if not verdicts:
        return ""
    text = f"The verdict stays {_joined(verdicts)}: it counts all workers"
    if any(verdict in DIFFERENT for verdict in verdicts):
        return f"{text}. A cause that only this worker has does not count for its pool."
    return f"{text}, and does not blame the pool for this one."


def _joined(verdicts: Iterable[Verdict]) -> str:
    return " or ".join(dict.fromkeys(verdict.value for verdict in verdicts))


def _without(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    texts = [
        f"{each.candidate} compared with {each.baseline} is at {ratio(each.ratio)} ({percent(LEVEL)} "
        f"interval {interval(each.interval.low_ratio, each.interval.high_ratio)})"
        for each in comparisons[:_NAMED]
    ]
    return (
        f"Without it, {', '.join(texts)}. That is information and not a verdict, because the worker "
        "is chosen by its time."
    )
