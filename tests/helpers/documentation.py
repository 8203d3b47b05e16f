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

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import past
import real_tasks
import seed_case
from checkout import ROOT
from loopback_deployment import GROUP, Artifact, Deployment, run
from predicted_tasks import profile_document, result_documents
from submitted_tasks import complete, generated

from io_benchmark.submit.task_creation import dated

DEPLOYMENT = "https://firefox-ci-tc.services.mozilla.com"
# The group that the pages compare with: the same push before the change.
BEFORE = "d9sSkq1hTEm2nUv5v8bO8w"
# Where the pages' submissions take their image from.
IMAGE = "releng.cache.level-1.docker-images.v2.update-verify.latest"
# A pool's past, in the index.
RESULTS_IN_INDEX = 24
PUSHED = datetime(2026, 3, 24, 10, tzinfo=UTC)

# As the page names them.
SLOW_TASK, SLOW_GROUP = "cQ4kTnR7QTq1p2L0dJ8wXg", "Kb3vW0hXRf-8sD5tYq2mZA"
PROFILE = "public/io-benchmark/task-profile.json"
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
    """The seed's push, the same pools before amd-16 lost one of its two disks, its tasks, and a decision."""
    deployment = Deployment(on_create=complete)
    documents_now = seed_case.documents(1)
    documents_before = seed_case.documents(1, seed=1, pools=["amd-30", "amd-30", "intel"])
    documents_before[0]["task"]["pool"] = "amd-16"
    for group_id, documents in (
        (GROUP, documents_now),
        (BEFORE, documents_before),
        (SLOW_GROUP, _results()),
    ):
        for number, document in enumerate(documents):
            _add(deployment, group_id, number, document)
    _add(deployment, SLOW_TASK, 0, seed_case.documents(1)[0], SLOW_TASK)
    profile = Artifact(_profile())
    deployment.artifacts[SLOW_TASK, 0, PROFILE] = profile
    deployment.index[IMAGE] = SLOW_TASK
    real_tasks.add(deployment)
    _add_profiles(deployment)
    past.add(deployment, list(past.pushes(RESULTS_IN_INDEX, retrieves=400)))
    return deployment


def _add_profiles(deployment: Deployment) -> None:
    """Give the runs of the slow task on intel whole profiles, each with its own times."""
    for row in real_tasks.rows():
        if row["pool"] == "intel" and "own_started" in row:
            times = {"started": row["own_started"], "ended": row["own_ended"]}
            profile = {**json.loads(_profile()), **times}
            artifact = Artifact(json.dumps(profile).encode())
            deployment.artifacts[row["task_id"], row["run_id"], real_tasks.PROFILE] = artifact


def _add(
    deployment: Deployment,
    group_id: str,
    number: int,
    document: dict[str, Any],
    task_id: str | None = None,
) -> None:
    pool = document["task"]["pool"]
    if task_id is None:
        start = f"{pool.replace('-', ''):A<7.7}"
        earlier = sum(task.startswith(start) for task in deployment.groups.get(group_id, ()))
        task_id = f"{start}{ascii_uppercase[earlier]}{group_id[8:]}"
    task = generated(pool)
    document["task"] |= {"task_id": task_id, "task_group_id": group_id, "run_id": 0}
    status = {
        "taskId": task_id,
        "provisionerId": task.definition["provisionerId"],
        "workerType": task.definition["workerType"],
        "taskQueueId": f"{task.definition['provisionerId']}/{task.definition['workerType']}",
        "taskGroupId": group_id,
        "expires": "2027-03-24T10:00:00.000Z",
        "state": "completed",
        "runs": [{**run(0, "completed"), "workerId": f"{group_id[:4].lower()}-{number}"}],
    }
    definition = {
        **dated(dict(task.definition), PUSHED),
        "taskGroupId": group_id,
        "dependencies": [],
    }
    deployment.add(definition, status, {0: Artifact(json.dumps(document).encode())})


@cache
def _profile() -> bytes:
    """Return the profile of the slow task, which is as the seed's: in some half seconds it copies."""
    copying = [
        int((at + 1) * COPYING_SHARE) > int(at * COPYING_SHARE) for at in range(HALF_SECONDS)
    ]
    written = [CEILINGS["intel"][1] / 2 if copies else 2.0 for copies in copying]
    document = profile_document(written, cpu_s=1500, kernel_s=300)
    document["command"]["program"] = "update-verify.sh"
    # A task of the graph knows the worker type of its pool, and not what a benchmark calls it.
    document["task"]["pool"] = "type-intel"
    return json.dumps(document).encode()


def _results() -> Iterator[dict[str, Any]]:
    """Return the result of each worker, pool by pool."""
    for pool, ceilings in CEILINGS.items():
        yield from result_documents(pool, ceilings, between=0.03, only=MEASURED)
