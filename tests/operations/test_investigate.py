# SPDX-License-Identifier: MPL-2.0
"""investigate: built-in truths on a deployment on the loopback, each with the change that is right."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import investigated
import program
import pytest
import simulated_cases
from investigated import Task
from loopback import Loopback
from loopback_deployment import Deployment
from simulated_push import Pool

from io_benchmark.analysis.investigation import investigation_model

WRITING, COMPUTING, NEITHER = Task(writing=0.4), Task(computing=0.9), Task()
FAST, SLOW = simulated_cases.FAST, simulated_cases.SLOW


@dataclass(frozen=True)
class Truth:
    """What is so; and the right outcome, with the cause and the target of the right change."""

    name: str
    outcome: str
    task: Task = WRITING
    case: simulated_cases.Case = field(
        default_factory=lambda: simulated_cases.make(("one disk",), bad_worker=99)
    )
    causes: frozenset[str] = frozenset()
    target: str = ""
    mixed: tuple[int, ...] = ()
    runs: int = 6

    def pools(self) -> tuple[Pool, Pool]:
        slow, fast = self.case.pools()
        if self.mixed:
            kinds = dict.fromkeys(self.mixed, self.case.slow)
            return Pool(SLOW, self.case.fast, 6, kinds), Pool(FAST, self.case.fast, 6)
        return slow, fast


def alike(destination: str = simulated_cases.DISK_BOUND) -> simulated_cases.Case:
    return simulated_cases.Case(
        "alike", simulated_cases.BASE, simulated_cases.BASE, (), destination
    )


def change(name: str, target: str, task: Task = WRITING, **options: Any) -> Truth:
    case = simulated_cases.make((name,), **options)
    return Truth(name, "change", task, case, case.right, target)


TRUTHS = (
    change("one disk", "the pool's definition"),
    change("linear volume", "the workers' image or its start script"),
    # Its retrieves got slower during the run, so that no prediction holds.
    Truth("boot disk", "not decided", WRITING, simulated_cases.make(("boot disk",))),
    change("write limit", "the workers' image or its start script"),
    change("write operations limit", "the workers' image or its start script"),
    change("data in the journal", "the workers' image or its start script"),
    change("slow CPU", "the pool's definition", COMPUTING),
    change("throttled CPU", "the pool's definition", COMPUTING),
    change("half a CPU", "the workers' image or its start script", COMPUTING),
    Truth(
        "mixed pool",
        "change",
        Task(writing=0.8),
        simulated_cases.make(("one disk",)),
        frozenset(("mixed-pool",)),
        "the pool's definition",
        mixed=(0, 2, 4),
        runs=18,
    ),
    Truth(
        "one disk, bfq",
        "change",
        WRITING,
        simulated_cases.make(("one disk",), ("bfq",)),
        frozenset(("device-count",)),
        "the pool's definition",
    ),
    Truth(
        "writing neighbour", "not decided", WRITING, simulated_cases.make(("writing neighbour",))
    ),
    Truth(
        "scanner",
        "not I/O",
        Task(writing=0.4, waiting_factor=1.4),
        simulated_cases.make(("scanner",)),
    ),
    Truth(
        "little memory",
        "not I/O",
        Task(waiting_factor=1.3),
        simulated_cases.make(("little memory",)),
    ),
    Truth("nothing slow", "nothing to change", WRITING, alike()),
    Truth("one disk, idle", "nothing to change", NEITHER, simulated_cases.make(("one disk",))),
    Truth(
        "one disk, slow network",
        "not I/O",
        Task(waiting_factor=1.4),
        simulated_cases.make(("one disk",)),
    ),
    Truth(
        "one disk, slow set-up",
        "not I/O",
        Task(set_up_min={SLOW: 9.0}),
        simulated_cases.make(("one disk",)),
    ),
    Truth(
        "pending", "not I/O", Task(pending_min={SLOW: 25.0}), simulated_cases.make(("one disk",))
    ),
    Truth("more work since a date", "not I/O", Task(writing=0.1, days=14, grows_on_day=9), alike()),
    Truth("alike machines, slow network", "not I/O", Task(waiting_factor=1.4), alike()),
    Truth(
        "slow CPU and one disk, computing",
        "change",
        COMPUTING,
        simulated_cases.make(("slow CPU",), ("one disk",)),
        frozenset(("cpu",)),
        "the pool's definition",
    ),
)


def investigate(
    truth: Truth, tmp_path: Path, *more: str
) -> tuple[dict[str, Any], program.Finished]:
    deployment = Deployment()
    slow, fast = truth.pools()
    machines = {pool.name: investigated.machines_of(pool, truth.runs) for pool in (slow, fast)}
    task = investigated.add_task(deployment, truth.task, machines, truth.case.fast)
    results = investigated.add_results(deployment, (slow, fast), destination=truth.case.destination)
    with Loopback(deployment) as loopback:
        done = program.run(
            *("investigate", task, "--on", results),
            *("--journal", str(tmp_path / "journal"), "--json", *more),
            folder=tmp_path,
            expected=None,
            environment={"TASKCLUSTER_ROOT_URL": loopback.url},
        )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document, done


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_truth(truth: Truth, tmp_path: Path) -> None:
    """The outcome is the right one, and so are the cause and the target of a change."""
    document, _ = investigate(truth, tmp_path)
    conclusion = document["conclusion"]
    fix = conclusion["fix"]
    seen = (conclusion["outcome"], (fix and fix["target"]) or "")
    assert seen == (truth.outcome, truth.target), json.dumps(document, indent=1)
    if fix:
        assert fix["remedy"]["cause"] in truth.causes


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        pytest.param(("a", "a", "b"), "a", id="the slower ones have it alone"),
        pytest.param(("a", "b", "a"), "b", id="a faster one has one of theirs"),
        pytest.param(("a", "a", "a"), "", id="all have it"),
    ],
)
def test_types_of_slower_machines(types: tuple[str, ...], expected: str) -> None:
    """A machine type that the faster machines of a pool have as well is not to blame."""
    workers = [
        SimpleNamespace(side="p", machine=str(number), task_id="", instance_type=name)
        for number, name in enumerate(types)
    ]
    workers.append(SimpleNamespace(side="q", machine="9", task_id="", instance_type="a"))
    mixed: Any = SimpleNamespace(side="p", slower=("0", "1"))
    assert investigation_model._slower_type(workers, mixed) == expected  # type: ignore[arg-type]
