# SPDX-License-Identifier: MPL-2.0
"""Workers that do not belong to their pool: an answer for each, next to those about pools."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model import DIFFERENT, UNKNOWN, Comparison, Subject
from io_benchmark.analysis.report_model import Report, SingleWorker
from io_benchmark.number_text import ratio
from io_benchmark.report.blocks import Item, Words
from io_benchmark.report.content.subject_text import Distinction
from io_benchmark.report.content.verdict_text import bounds_text, ends_text
from io_benchmark.report.sections.causes import explanation

# More measurements than this are counted, and on a screen more workers than this.
_NAMED, _ON_SCREEN = 3, 2


def screen_workers(report: Report) -> list[Item]:
    """Write a short sentence for each of a few workers, and count the others."""
    workers = _by_worker(report)
    items = [_item(same, report, is_full=False) for same in workers[:_ON_SCREEN]]
    left_out = len(workers) - _ON_SCREEN
    if left_out > 0:
        noun = "worker that does" if left_out == 1 else "workers that do"
        items.append(Item(f"and {left_out:,} more {noun} not belong to their pool"))
    return items


def full_workers(report: Report) -> list[Item]:
    """Write all about each worker, and what it means for its pool."""
    return [_item(same, report, is_full=True) for same in _by_worker(report)]


def _by_worker(report: Report) -> list[list[SingleWorker]]:
    by_worker: dict[tuple[str, ...], list[SingleWorker]] = {}
    for worker in report.single_workers:
        key = (worker.side, worker.machine, *worker.tasks)
        by_worker.setdefault(key, []).append(worker)
    return list(by_worker.values())


def _item(same: Sequence[SingleWorker], report: Report, *, is_full: bool) -> Item:
    """Write about one worker, by the measurement that explains it."""
    worker = next((each for each in same if each.diagnosis is not None), same[0])
    subjects = [part.subject for part in report.subjects]
    evidence = f"({worker.others:,} other workers"
    further: list[str] = []
    if is_full:
        evidence += f"; equal ones stay within {ends_text(worker.usual)}"
        others = [each for each in same if each is not worker]
        further = [
            *_also(others, subjects),
            *_consequence(worker, report),
            *_without(worker.without),
        ]
    text = " ".join(
        filter(None, (Distinction.of_all(worker.subject, subjects), f"{evidence}).", *further))
    )
    lead = f"{_name(worker)} alone takes {ratio(worker.ratio)} the time of its pool"
    reasons = () if worker.diagnosis is None else tuple(explanation(worker.diagnosis))
    verdict = worker.verdict.value
    return Item((Words(lead, verdict), f" {text}"), reasons, verdict)


def _name(worker: SingleWorker) -> str:
    """Return 'worker ID of amd-16 (task TASKID.0, machine c3d-standard-16)'."""
    tasks = ", ".join(filter(None, worker.tasks[:_NAMED]))
    machine = f"machine {worker.instance_type}" if worker.instance_type else ""
    where = ", ".join(filter(None, (f"task {tasks}" if tasks else "", machine)))
    name = "a worker" if worker.machine == UNKNOWN else f"worker {worker.machine}"
    return f"{name} of {worker.side}" + (f" ({where})" if where else "")


def _also(others: Sequence[SingleWorker], subjects: Sequence[Subject]) -> Iterator[str]:
    texts = [
        f"{ratio(worker.ratio)} {Distinction.of_all(worker.subject, subjects)}"
        for worker in others[:_NAMED]
    ]
    if len(others) > _NAMED:
        texts.append(f"and {len(others) - _NAMED:,} more measurements")
    if texts:
        yield f"Also {'; '.join(texts)}."


def _consequence(worker: SingleWorker, report: Report) -> Iterator[str]:
    """Write what the worker means for the verdicts about its pool."""
    verdicts = [
        comparison.verdict
        for part in report.subjects
        if part.subject == worker.subject
        for comparison in part.comparisons
        if worker.side in (comparison.candidate, comparison.baseline)
    ]
    if not verdicts:
        return
    joined = " or ".join(dict.fromkeys(verdict.value for verdict in verdicts))
    text = f"The verdict stays {joined}: it counts all workers"
    if any(verdict in DIFFERENT for verdict in verdicts):
        yield f"{text}. A cause that only this worker has does not count for its pool."
    else:
        yield f"{text}, and does not blame the pool for this one."


def _without(comparisons: Sequence[Comparison]) -> Iterator[str]:
    texts = [
        f"{comparison.candidate} compared with {comparison.baseline} is at {ratio(comparison.ratio)} "
        f"{bounds_text(comparison.interval)}"
        for comparison in comparisons[:_NAMED]
    ]
    if texts:
        yield (
            f"Without it, {', '.join(texts)}. That is information and not a verdict, because the "
            "worker is chosen by its time."
        )
