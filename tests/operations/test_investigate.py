# SPDX-License-Identifier: MPL-2.0
"""investigate: built-in truths on a deployment on the loopback, each with the change that is right."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

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
WAITING = Task(waiting_factor=1.4)
FAST, SLOW = simulated_cases.FAST, simulated_cases.SLOW
POOL, IMAGE = "the pool's definition", "the workers' image or its start script"
NOT_IO, NOTHING, OPEN = "not I/O", "nothing to change", "not decided"
ONE_DISK = simulated_cases.make(("one disk",))
ALIKE = simulated_cases.Case(
    "alike", simulated_cases.BASE, simulated_cases.BASE, (), simulated_cases.DISK_BOUND
)


class Truth(NamedTuple):
    """What is so; and the right outcome, or the target of the right change."""

    name: str
    outcome: str
    task: Task = WRITING
    case: simulated_cases.Case = ONE_DISK
    mixed: tuple[int, ...] = ()
    runs: int = 6

    def pools(self) -> tuple[Pool, Pool]:
        slow, fast = self.case.pools()
        if self.mixed:
            kinds = dict.fromkeys(self.mixed, self.case.slow)
            return Pool(SLOW, self.case.fast, 6, kinds), Pool(FAST, self.case.fast, 6)
        return slow, fast


def simulated(name: str, outcome: str, task: Task = WRITING) -> Truth:
    """Return a truth of the simulation, by its name."""
    return Truth(name, outcome, task, simulated_cases.make((name,)))


TRUTHS = (
    simulated("one disk", POOL),
    simulated("linear volume", IMAGE),
    # Its retrieves got slower during the run, so that no prediction holds.
    simulated("boot disk", OPEN),
    simulated("write limit", IMAGE),
    simulated("write operations limit", IMAGE),
    simulated("data in the journal", IMAGE),
    simulated("slow CPU", POOL, COMPUTING),
    simulated("throttled CPU", POOL, COMPUTING),
    simulated("half a CPU", IMAGE, COMPUTING),
    Truth("mixed pool", POOL, Task(writing=0.8), mixed=(0, 2, 4), runs=18),
    Truth("one disk, bfq", POOL, case=simulated_cases.make(("one disk",), ("bfq",))),
    simulated("writing neighbour", OPEN),
    simulated("scanner", NOT_IO, Task(writing=0.4, waiting_factor=1.4)),
    simulated("little memory", NOT_IO, Task(waiting_factor=1.3)),
    Truth("nothing slow", NOTHING, case=ALIKE),
    Truth("one disk, idle", NOTHING, NEITHER),
    Truth("one disk, slow network", NOT_IO, WAITING),
    Truth("one disk, slow set-up", NOT_IO, Task(set_up_min={SLOW: 9.0})),
    Truth("pending", NOT_IO, Task(pending_min={SLOW: 25.0})),
    Truth("more work since a date", NOT_IO, Task(writing=0.1, days=14, grows_on_day=9), ALIKE),
    Truth("alike machines, slow network", NOT_IO, WAITING, ALIKE),
    Truth(
        "slow CPU and one disk, computing",
        POOL,
        COMPUTING,
        simulated_cases.make(("slow CPU",), ("one disk",)),
    ),
)
# Where the truth's name does not lead to it.
CAUSES = {"mixed pool": {"mixed-pool"}}


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.name)
def test_truth(truth: Truth, tmp_path: Path) -> None:
    """The outcome is the right one, and so are the cause and the target of a change."""
    deployment = Deployment()
    pools = truth.pools()
    machines = {pool.name: investigated.machines_of(pool, truth.runs) for pool in pools}
    task = investigated.add_task(deployment, truth.task, machines, truth.case.fast)
    results = investigated.add_results(deployment, pools, destination=truth.case.destination)
    with Loopback(deployment) as loopback:
        done = program.run(
            *("investigate", task, "--on", results, "--journal", "journal", "--json"),
            folder=tmp_path,
            expected=None,
            environment={"TASKCLUSTER_ROOT_URL": loopback.url},
        )
    assert done.stdout, done.stderr
    conclusion = json.loads(done.stdout)["conclusion"]
    fix = conclusion["fix"]
    assert (fix["target"] if fix else conclusion["outcome"]) == truth.outcome, done.stdout
    if fix:
        assert conclusion["outcome"] == "change"
        assert fix["remedy"]["cause"] in CAUSES.get(truth.name, truth.case.right)


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
