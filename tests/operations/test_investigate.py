# SPDX-License-Identifier: MPL-2.0
"""investigate: built-in truths on a loopback deployment, each with the change that is right."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import investigated
import program
import pytest
import sample_investigation
from investigated import Task
from loopback import Loopback
from loopback_deployment import Artifact, Deployment
from msgspec.structs import replace as replaced
from simulated_logs import SimulatedRun
from simulated_machine import Disk, Machine
from simulated_results import Pool
from situations import BASE, FAST, ONE_DISK, SLOW

from io_benchmark.adopt.pools.definitions import PoolDefinitions
from io_benchmark.analysis.investigation.investigation_model import Fix
from io_benchmark.analysis.model.cause import Remedy, Target
from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import statement
from io_benchmark.operations.investigate import _propose_change

WRITING, COMPUTING, NEITHER = Task(writing=0.4), Task(computing=0.9), Task()
DEFINITION, IMAGE = "the pool's definition", "the workers' image or its start script"
FAST_DISK = BASE.disks[0].divided(0.05)
SLOW_CPU = {"user_factor": 1.8, "kernel_factor": 1.8}
OTHER_CPU = {**SLOW_CPU, "cpu_model": "Intel(R) Xeon(R) CPU @ 2.00GHz"}


@dataclass(frozen=True)
class Truth:
    """What is so; and the right outcome, with the cause and the target of the right change."""

    name: str
    outcome: str
    task: Task = WRITING
    slow: Machine = ONE_DISK
    fast: Machine = BASE
    cause: str = ""
    target: str = ""
    mixed: tuple[int, ...] = ()
    runs: int = 6

    def pools(self) -> tuple[Pool, Pool]:
        if self.mixed:
            kinds = dict.fromkeys(self.mixed, self.slow)
            return Pool(SLOW, self.fast, 6, kinds), Pool(FAST, self.fast, 6)
        return Pool(SLOW, self.slow), Pool(FAST, self.fast)


def change(name: str, target: str, cause: str, **facts: Any) -> Truth:
    """Writing takes longer by these facts."""
    return Truth(name, "change", slow=replace(BASE, **facts), cause=cause, target=target)


def computing(name: str, target: str, cause: str, **facts: Any) -> Truth:
    """Computing takes longer by these facts; disks are so fast that the CPU decides."""
    fast = replace(BASE, disks=(FAST_DISK,) * 2)
    return Truth(name, "change", COMPUTING, replace(fast, **facts), fast, cause, target)


MIXED = Truth("mixed pool", "change", Task(writing=0.8))
TRUTHS = (
    change("one disk", DEFINITION, "device-count", disks=ONE_DISK.disks),
    change("linear volume", IMAGE, "linear-volume", layout="linear"),
    change("boot disk", IMAGE, "boot-disk-fallback", is_boot_disk=True, disks=(Disk(150, 150),)),
    change("write limit", IMAGE, "cgroup-io-limit", write_limit_mb_per_s=157.0),
    change("data in the journal", IMAGE, "mount-options", journals_data=True),
    computing("slow CPU", DEFINITION, "cpu", **OTHER_CPU),
    computing("slow CPU and one disk", DEFINITION, "cpu", **OTHER_CPU, disks=(FAST_DISK,)),
    computing("throttled CPU", DEFINITION, "cpu", **SLOW_CPU),
    computing("half a CPU", IMAGE, "cgroup-cpu-limit", quota_cpus=0.4),
    replace(MIXED, cause="mixed-pool", target=DEFINITION, mixed=(0, 2, 4), runs=18),
    Truth("writing neighbour", "not decided", slow=replace(BASE, neighbour_share=0.47)),
    Truth("scanner", "not I/O", Task(0.4, waiting_factor=1.4), replace(BASE, scan_ms=70.0)),
    Truth("little memory", "not I/O", Task(waiting_factor=1.3), replace(BASE, memory_limit_gib=2)),
    Truth("nothing slow", "nothing to change", slow=BASE),
    Truth("one disk, idle", "nothing to change", NEITHER),
    Truth("one disk, slow network", "not I/O", Task(waiting_factor=1.4)),
    Truth("one disk, slow set-up", "not I/O", Task(set_up_min={SLOW: 9.0})),
    Truth("pending", "not I/O", Task(pending_min={SLOW: 25.0})),
    Truth("more work since a date", "not I/O", Task(writing=0.1, days=14, grows_on_day=9), BASE),
    Truth("alike machines, slow network", "not I/O", Task(waiting_factor=1.4), BASE),
)


def investigate(
    truth: Truth,
    tmp_path: Path,
    *more: str,
    prepare: Callable[[Deployment], None] = lambda _deployment: None,
) -> tuple[dict[str, Any], program.Finished]:
    deployment = Deployment()
    slow, fast = truth.pools()
    machines = {pool.name: investigated.machines_of(pool, truth.runs) for pool in (slow, fast)}
    task = investigated.add_task(deployment, truth.task, machines, truth.fast)
    prepare(deployment)
    results = investigated.add_results(deployment, (slow, fast))
    with Loopback(deployment) as loopback:
        done = program.run(
            "investigate",
            task,
            "--on",
            results,
            "--journal",
            str(tmp_path / "journal"),
            "--json",
            *more,
            folder=tmp_path,
            expected=None,
            environment=loopback.environment,
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
        assert fix["remedy"]["cause"] == truth.cause


DISKS = """\
pools:
  - pool_id: a/b
    config:
      instance_types:
        - machine_type: n2-standard-8
          disks: [{boot: true, diskSizeGb: 60}]
"""
LARGER_DISK = Fix(
    Target.POOL,
    Remedy("x", statement("x"), None, False, ()),
    "n2-standard-8",
    network_disk=NetworkDisk("pd-standard", 60),
    new_network_disk=NetworkDisk("pd-balanced", 2048),
)


@pytest.mark.parametrize(
    ("fix", "queue", "fragment", "note"),
    [
        (
            LARGER_DISK,
            "a/c",
            "disk: pd-balanced, 2,048 GB  # now pd-standard, 60 GB",
            "pools.yml: no patch: the file has no pool a/c",
        ),
        (
            replaced(LARGER_DISK, network_disk=None, new_network_disk=NetworkDisk("\x1b")),
            "a/c",
            "disk: \ufffd",
            "pools.yml: no patch: the file has no pool a/c",
        ),
        (LARGER_DISK, "a/b", "", ""),
    ],
)
def test_network_disks(fix: Fix, queue: str, fragment: str, note: str) -> None:
    """A patch of the pool's definition, or what to write there and why there is none."""
    report = _propose_change(
        sample_investigation.nothing(), fix, queue, PoolDefinitions("pools.yml", DISKS)
    )
    assert report.fragment == (f"# worker-pools.yml, pool_id a/c\n{fragment}" if fragment else "")
    assert report.note == note
    kind = "initializeParams: {diskType: diskTypes/pd-balanced}"
    line = f"+          disks: [{{boot: true, diskSizeGb: 2048, {kind}}}]"
    assert (line in report.patch.splitlines()) == (not note)


def add_logs(deployment: Deployment, set_up_min: dict[str, float]) -> None:
    """Add a log to each run of the task: what set-up takes beyond a minute loads its image."""
    for task_id, status in deployment.statuses.items():
        if deployment.definitions[task_id]["metadata"]["name"] != investigated.LABEL:
            continue
        (run,) = status["runs"]
        start, end = (datetime.fromisoformat(run[name]) for name in ("started", "resolved"))
        pool = SLOW if status["workerType"] == investigated.TYPES[SLOW] else FAST
        # Workers differ a little.
        vary = 1 + 0.02 * (start.hour % 3)
        simulated = SimulatedRun(image_load_s=60 * set_up_min[pool] * vary - 40, started=start)
        set_up_s = sum(simulated.truth().values()) - simulated.pending_s - simulated.own_s
        own_s = (end - start).total_seconds() - set_up_s
        log = replace(simulated, own_s=own_s).log()
        content = Artifact(log, content_type="text/plain")
        deployment.artifacts[task_id, run["runId"], "public/logs/live_backing.log"] = content


def test_slow_set_up_with_logs(tmp_path: Path) -> None:
    """Logs name the phase; one that usually waits for disks is not decided without a trial."""
    set_up_min = {SLOW: 9.0, FAST: 1.0}
    document, done = investigate(
        Truth("slow set-up", "not decided", Task(set_up_min=set_up_min)),
        tmp_path,
        prepare=lambda deployment: add_logs(deployment, set_up_min),
    )
    assert "Where set-up goes: reads at most 60 logs; no worker time" in done.stderr
    conclusion = document["conclusion"]
    assert (conclusion["outcome"], conclusion["fix"]) == ("not decided", None)
    answer = conclusion["answer"]["text"]
    assert answer.startswith(f"It is slower on type-{SLOW} by its set-up: image load 8")
    assert "which usually waits for disks" in answer
    assert "device-count (supported)" in conclusion["next_steps"][0]["text"]
    phases = document["findings"]["slowness"]["phases"]
    assert [row["phase"] for row in phases["differences"] if row["is_decided"]] == ["image load"]


def test_without_logs_there_is_no_key(tmp_path: Path) -> None:
    """An investigation whose task waits in its own work reads no log."""
    document, done = investigate(TRUTHS[0], tmp_path)
    assert "phases" not in document["findings"]["slowness"]
    assert "Where set-up goes" not in done.stderr
