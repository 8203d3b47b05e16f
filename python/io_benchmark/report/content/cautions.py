# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What of a pool's workers is not as it looks: not independent, not compared, cut short."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from io_benchmark.analysis.report_model import WorkerLine
from io_benchmark.report.content.replication import UNKNOWN, Replication
from io_benchmark.resolutions import in_words
from io_benchmark.text import clean, name

ENDED_BADLY = ("failed", "exception")


def of(workers: Sequence[WorkerLine], rows: Sequence[Replication]) -> Iterator[str]:
    yield from _repeated(workers)
    yield from _not_compared(rows)
    yield from _ended_badly(workers)


def _repeated(workers: Sequence[WorkerLine]) -> Iterable[str]:
    runs = Counter(line.machine for line in workers if line.machine != UNKNOWN)
    for worker, count in runs.items():
        if count == 1:
            continue
        text = f"Worker {name(worker)} ran {count:,} of these tasks: they are not independent of "
        sides = Counter(line.side for line in workers if line.machine == worker)
        shared = [f"{name(side)}'s" for side, times in sides.items() if times > 1]
        ones = f"; {' and '.join(shared)} count as one worker" if shared else ""
        yield f"{text}each other{ones}."


def _not_compared(rows: Iterable[Replication]) -> Iterable[str]:
    for row in rows:
        left_out = row.workers - row.workers_compared
        if left_out > 0 and row.workers_compared > 0:
            verb = "is" if left_out == 1 else "are"
            yield (
                f"{name(row.side)}: {left_out:,} of its {row.workers:,} workers {verb} not compared, "
                "since a rule refuses what was measured there."
            )


def _ended_badly(workers: Iterable[WorkerLine]) -> Iterable[str]:
    for worker in workers:
        if worker.state in ENDED_BADLY:
            run = "" if worker.run_id is None else f" run {worker.run_id}"
            yield (
                f"{name(worker.side)}: task {name(worker.task_id)}{run} {how_it_ended(worker)}; "
                "what it had measured was read."
            )


def how_it_ended(worker: WorkerLine) -> str:
    return clean(in_words(worker.state, worker.reason), 80)
