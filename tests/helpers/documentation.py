# SPDX-License-Identifier: MPL-2.0
"""The documentation's pages and commands, and a Taskcluster with the tasks that they describe.

A page's commands are run in its order, in one fresh copy of the checkout, so that one may use what
another left. The words behind ``` say how a block is tested:

  sh              run as it is
  sh bare         run with the system's commands alone
  sh taskcluster  run as well; the deployment is the example below, on this machine's loopback
  sh skip         not run: it needs a push, Firefox's mach or an hour; but whatever is a command
                  line of io-benchmark has to be one that the program takes
  text            the page's commands print it
  text skip       not compared
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import gate_pushes
import past
import question_pushes
import real_tasks
import sample_phases
import seed_case
from checkout import ROOT
from loopback_deployment import GROUP, PROFILE, Artifact, Deployment
from predicted_tasks import profile_document, result_documents
from simulated_logs import MIB, Fetch
from submitted_tasks import add_measured, complete

DEPLOYMENT = "https://firefox-ci-tc.services.mozilla.com"
# The group that the pages compare with: the same push before the change.
BEFORE = "d9sSkq1hTEm2nUv5v8bO8w"
# Where the pages' submissions take their image from.
IMAGE = "releng.cache.level-1.docker-images.v2.update-verify.latest"
LOG = "public/logs/live_backing.log"
# A pool's past, in the index.
RESULTS_IN_INDEX = 24
PUSHED = datetime(2026, 3, 24, 10, tzinfo=UTC)

# As the page names them.
SLOW_TASK, SLOW_GROUP = "cQ4kTnR7QTq1p2L0dJ8wXg", "Kb3vW0hXRf-8sD5tYq2mZA"
# MiB per second that idle disks write: two striped disks, and one.
CEILINGS = {"intel": (690, 700, 710), "amd-30": (695, 702, 706), "amd-16": (359, 365, 370)}
MEASURED = ("sync-write/append-fsync", "spawn", "random-io")
HALF_SECONDS, COPYING_SHARE = 39 * 60 * 2, 0.18

_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<how>\w.*?)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    how: str  # "sh taskcluster", "yaml", …
    text: str


def pages() -> list[Path]:
    """What people read, the README first."""
    return [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "taskcluster/docs").glob("*.md")),
    ]


def blocks(page: Path, *kinds: str) -> list[Block]:
    """Return the page's blocks of these kinds, or all."""
    matches = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    every = [Block(match["how"], match["text"]) for match in matches]
    return [block for block in every if not kinds or block.how in kinds]


def command_lines(text: str) -> Iterator[str]:
    """The lines that call io-benchmark, those that go on over several lines as one."""
    for line in text.replace("\\\n", " ").splitlines():
        words = line.split("#")[0].strip()
        if words.startswith("io-benchmark "):
            yield words


def example() -> Deployment:
    """The seed's push, its pools before amd-16 lost a disk, its tasks, and a decision."""
    deployment = Deployment(on_create=complete)
    documents_now = seed_case.documents(1)
    documents_before = seed_case.documents(1, seed=1, pools=["amd-30", "amd-30", "intel"])
    documents_before[0]["task"]["pool"] = "amd-16"
    results = [
        document
        for pool, ceilings in CEILINGS.items()
        for document in result_documents(pool, ceilings, between=0.03, only=MEASURED)
    ]
    for group_id, documents in (
        (GROUP, documents_now),
        (BEFORE, documents_before),
        (SLOW_GROUP, results),
    ):
        for number, document in enumerate(documents):
            worker = f"{group_id[:4].lower()}-{number}"
            add_measured(deployment, document, group_id, PUSHED, workerId=worker)
    add_measured(deployment, documents_now[0], SLOW_TASK, PUSHED, task_id=SLOW_TASK)
    deployment.leave(SLOW_TASK, _profile(), PROFILE)
    log = Artifact(sample_phases.DOCUMENTED.log(), content_type="text/plain")
    deployment.artifacts[SLOW_TASK, 0, LOG] = log
    deployment.index[IMAGE] = SLOW_TASK
    real_tasks.add(deployment)
    # The runs of the slow task on intel have whole profiles, each with its own times.
    for row in real_tasks.rows():
        if row["pool"] == "intel" and "own_started" in row:
            times = {"started": row["own_started"], "ended": row["own_ended"]}
            deployment.leave(row["task_id"], _profile() | times, PROFILE, row["run_id"])
        if "own_started" in row:
            log = Artifact(_log(row), content_type="text/plain")
            deployment.artifacts[row["task_id"], row["run_id"], LOG] = log
    gate_pushes.add(deployment, PUSHED)
    question_pushes.add(deployment, PUSHED)
    past.add(deployment, list(past.pushes(RESULTS_IN_INDEX, retrieves=400)))
    return deployment


def _log(row: real_tasks.Row) -> bytes:
    """Return a run's log: amd-16 loads its image and unpacks more slowly, as long as it takes."""
    vary = 1 + 0.02 * (int(row["worker"][-1]) - 2.5)
    load_s, unpack_s = (35.0, 25.0) if row["pool"] == "amd-16" else (20.0, 22.0)
    times = [datetime.fromisoformat(row[name]) for name in ("started", "own_started", "own_ended")]
    simulated = replace(
        sample_phases.DOCUMENTED,
        label=row["label"],
        pool=f"releng-1/{row['pool']}",
        started=times[0],
        pending_s=120.0,
        image_load_s=load_s * vary,
        fetches=(Fetch(14.0, unpack_s * vary, 1050 * MIB),),
        own_s=(times[2] - times[1]).total_seconds(),
        artifacts_s=11.0,
        caches_kept_s=1.0,
        packages_s=0.0,
    )
    set_up_s = (times[1] - times[0]).total_seconds()
    known_s = sum(simulated.truth().values()) - simulated.own_s - simulated.pending_s - 12.0
    return replace(simulated, packages_s=set_up_s - known_s).log()


@cache
def _profile() -> dict[str, Any]:
    """Return the profile of the slow task, as the seed's: in some half seconds it copies."""
    copying = [
        int((at + 1) * COPYING_SHARE) > int(at * COPYING_SHARE) for at in range(HALF_SECONDS)
    ]
    written = [CEILINGS["intel"][1] / 2 if copies else 2.0 for copies in copying]
    document = profile_document(written, cpu_s=1500, kernel_s=300)
    document["command"]["program"] = "update-verify.sh"
    # A task of the graph knows the worker type of its pool, and not what a benchmark calls it.
    document["task"]["pool"] = "type-intel"
    return document
