# SPDX-License-Identifier: MPL-2.0
"""Which logs to read where there are more than is worth their bytes: the same ones each time.

Workers are what pools are compared by, so a sample has as many of them as there are. A label needs
several runs on each side, so few labels have all of the sample.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.tasks.task_model import TaskSide
from io_benchmark.sources.run_results import TaskRun

# A label with fewer runs on a side shows less than its own level costs. Chosen.
_RUNS_OF_LABEL = 5


def choose_runs(sides: Mapping[str, Sequence[TaskRun]], most: int) -> dict[str, list[TaskRun]]:
    """Return at most so many completed runs, of labels that several sides have, by side."""
    cells: dict[tuple[str, str], list[TaskRun]] = {}
    for side, runs in sides.items():
        usable = [run for run in runs if run.task_id and TaskSide.ending(run) == "completed"]
        for label, same in grouped(usable, lambda run: run.label).items():
            cells[label, side] = _workers_in_turn(same)
    sides_of = Counter(label for label, _ in cells)
    counts = Counter(
        {label: sum(len(cells.get((label, side), ())) for side in sides) for label in sides_of}
    )
    labels = sorted(
        (label for label, number in sides_of.items() if number > 1),
        key=lambda label: (-sides_of[label], -counts[label], label),
    )
    labels = labels[: max(1, most // (_RUNS_OF_LABEL * max(1, len(sides))))]
    queues = {key: runs for key, runs in cells.items() if key[0] in labels}
    return _in_turn(queues, sides, most)


def _workers_in_turn(runs: Sequence[TaskRun]) -> list[TaskRun]:
    """Return the newest run of each worker, then their second newest, and so on."""
    newest_first = sorted(runs, key=lambda run: (-run.started_ms, run.task_id, run.run_id))
    seen: Counter[str] = Counter()
    turns = []
    for position, run in enumerate(newest_first):
        turns.append((seen[run.worker], position, run))
        # Each run of an unknown worker counts as one.
        if run.worker:
            seen[run.worker] += 1
    turns.sort(key=lambda turn: turn[:2])
    return [run for *_, run in turns]


def _in_turn(
    queues: Mapping[tuple[str, str], Sequence[TaskRun]], sides: Mapping[str, object], most: int
) -> dict[str, list[TaskRun]]:
    """Take one run of each label on each side, until there are enough."""
    chosen: dict[str, list[TaskRun]] = {side: [] for side in sides}
    left = most
    for turn in range(max(map(len, queues.values()), default=0)):
        for (_, side), runs in sorted(queues.items()):
            if turn < len(runs) and left > 0:
                chosen[side].append(runs[turn])
                left -= 1
    return chosen
