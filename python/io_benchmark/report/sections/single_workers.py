# SPDX-License-Identifier: MPL-2.0
"""Workers that do not belong to their pool: an answer for each, next to those about pools."""

from collections.abc import Iterator, Sequence

from io_benchmark.analysis.model import DIFFERENT, UNKNOWN
from io_benchmark.analysis.report_model import Report, SingleWorker
from io_benchmark.number_text import listed, ratio
from io_benchmark.report.blocks import Item, Words
from io_benchmark.report.content.subject_text import Distinction, bounds_text, ends_text, grouped
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
    workers = grouped(report.single_workers, lambda each: (each.side, each.machine, *each.tasks))
    return list(workers.values())


def _item(same: Sequence[SingleWorker], report: Report, *, is_full: bool) -> Item:
    """Write about one worker, by the measurement that explains it."""
    worker = next((each for each in same if each.diagnosis is not None), same[0])
    subjects = [part.subject for part in report.subjects]
    texts = [Distinction.of_all(worker.subject, subjects), f"({worker.others:,} other workers)."]
    if is_full:
        usual = f"equal ones stay within {ends_text(worker.usual)}"
        further = [
            f"{ratio(each.ratio)} {Distinction.of_all(each.subject, subjects)}"
            for each in same
            if each is not worker
        ]
        texts[1] = f"({worker.others:,} other workers; {usual})."
        if further:
            texts.append(f"Also {listed(further, _NAMED, '; and {:,} more measurements', '; ')}.")
        texts += _consequences(worker, report)
    lead = f"{_name(worker)} alone takes {ratio(worker.ratio)} the time of its pool"
    reasons = [] if worker.diagnosis is None else [*explanation(worker.diagnosis)]
    verdict = worker.verdict.value
    return Item((Words(lead, verdict), f" {' '.join(filter(None, texts))}"), reasons, verdict)


def _name(worker: SingleWorker) -> str:
    """Return 'worker ID of amd-16 (task TASKID.0, machine c3d-standard-16)'."""
    tasks = ", ".join(filter(None, worker.tasks[:_NAMED]))
    machine = f"machine {worker.instance_type}" if worker.instance_type else ""
    where = ", ".join(filter(None, (f"task {tasks}" if tasks else "", machine)))
    name = "a worker" if worker.machine == UNKNOWN else f"worker {worker.machine}"
    return f"{name} of {worker.side}" + (f" ({where})" if where else "")


def _consequences(worker: SingleWorker, report: Report) -> Iterator[str]:
    """Write what the worker means for the verdicts about its pool, and what they would be without it."""
    verdicts = [
        comparison.verdict
        for part in report.subjects
        if part.subject == worker.subject
        for comparison in part.comparisons
        if worker.side in (comparison.candidate, comparison.baseline)
    ]
    if verdicts:
        text = f"The verdict stays {' or '.join(dict.fromkeys(verdicts))}: it counts all workers"
        if any(verdict in DIFFERENT for verdict in verdicts):
            yield f"{text}. A cause that only this worker has does not count for its pool."
        else:
            yield f"{text}, and does not blame the pool for this one."
    texts = [
        f"{comparison.candidate} compared with {comparison.baseline} is at {ratio(comparison.ratio)} "
        f"{bounds_text(comparison.interval)}"
        for comparison in worker.without[:_NAMED]
    ]
    if texts:
        yield (
            f"Without it, {', '.join(texts)}. That is information and not a verdict, because the "
            "worker is chosen by its time."
        )
