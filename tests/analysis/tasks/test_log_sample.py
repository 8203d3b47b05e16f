# SPDX-License-Identifier: MPL-2.0
"""Which logs are read where there are too many."""

from collections import Counter

from sample_tasks import START_MS, completed

from io_benchmark.analysis.tasks.log_sample import choose_runs


def runs_of(pool, label="build", workers=3, runs=4, **changes):
    return [
        completed(
            pool,
            10,
            f"g/{worker}",
            label,
            task_id=f"{pool}-{label}-{worker}-{number}",
            started_ms=START_MS + 1000 * number,
            **changes,
        )
        for worker in range(workers)
        for number in range(runs)
    ]


def test_few_runs_are_all_read():
    """Those of labels that several sides have, which completed."""
    sides = {
        "a": runs_of("a") + runs_of("a", "alone") + runs_of("a", state="failed"),
        "b": runs_of("b"),
    }
    chosen = choose_runs(sides, 100)
    assert {side: sorted(runs) for side, runs in chosen.items()} == {
        "a": sorted(runs_of("a")),
        "b": sorted(runs_of("b")),
    }


def test_a_sample_is_balanced_by_side_label_and_worker():
    """It has the newest run of each worker first, and is the same each time."""
    sides = {
        "a": runs_of("a", runs=40) + runs_of("a", "test", workers=6),
        "b": runs_of("b", workers=9) + runs_of("b", "test", workers=6),
    }
    chosen = choose_runs(sides, 24)
    assert choose_runs({side: runs[::-1] for side, runs in sides.items()}, 24) == chosen
    cells = Counter((side, run.label) for side, runs in chosen.items() for run in runs)
    assert cells == dict.fromkeys([(s, label) for s in "ab" for label in ("build", "test")], 6)
    for_b = [run for run in chosen["b"] if run.label == "build"]
    assert len({run.worker for run in for_b}) == 6
    of_a = [run.started_ms for run in chosen["a"] if run.label == "build"]
    assert of_a == [START_MS + 39_000] * 3 + [START_MS + 38_000] * 3


def test_few_labels_have_all_of_a_sample():
    """A label needs several runs on each side."""
    sides = {
        side: [run for label in range(50) for run in runs_of(side, f"l{label:02}", runs=2)]
        for side in "ab"
    }
    chosen = choose_runs(sides, 40)
    assert {run.label for runs in chosen.values() for run in runs} == {"l00", "l01", "l02", "l03"}
    assert choose_runs({"a": runs_of("a")}, 40) == {"a": []}
    assert choose_runs({}, 40) == {}


def test_runs_without_a_task_have_no_log():
    """A table may have runs whose task is not known."""
    sides = {"a": runs_of("a"), "b": [completed("b", 10, "g/1")]}
    assert choose_runs(sides, 40) == {"a": [], "b": []}
