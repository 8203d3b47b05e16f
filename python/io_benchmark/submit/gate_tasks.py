# SPDX-License-Identifier: MPL-2.0
"""The tasks that gates need: of their pools alone, and as many as mostly decide their margins."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from io_benchmark.analysis.gate.gate_model import Gate
from io_benchmark.analysis.statistics.gate_sizes import MOST_PROPOSED, workers_for_margin
from io_benchmark.errors import UsageError
from io_benchmark.suggestions import did_you_mean
from io_benchmark.text import clean_name
from io_benchmark_taskgraph.payloads import text_of

if TYPE_CHECKING:
    from io_benchmark.graph.generate import GeneratedTask

_RETRIEVES = "cache-retrieve"  # the workload that has destinations


def tasks_of_gates(
    tasks: Sequence["GeneratedTask"], gates: Sequence[Gate]
) -> list["GeneratedTask"]:
    """Return the tasks of the pools that gates name; refuse a pool that is not selected."""
    pools = list(dict.fromkeys(task.pool for task in tasks))
    named = dict.fromkeys(side for gate in gates for side in gate.sides)
    for side in named:
        if side not in pools:
            raise UsageError(
                f"--gate: {clean_name(side)} is not a pool here; there are: {', '.join(pools)}"
                f"{did_you_mean(side, pools)}; --pool {clean_name(side)}=PROVISIONER/WORKERTYPE "
                "adds one"
            )
    return [task for task in tasks if task.pool in named]


def replicates_for_gates(tasks: Sequence["GeneratedTask"], gates: Sequence[Gate]) -> int:
    """Return the tasks per pool with which pools that are equal mostly pass all gates."""
    measurements = max(_measurements(task) for task in tasks)
    proposed = []
    for gate in gates:
        number = workers_for_margin(gate.margin, measurements=measurements)
        if number is None:
            raise UsageError(
                f"--gate {gate.written}: takes more than {MOST_PROPOSED} tasks per pool to decide; "
                "raise its limit, or give their number by --replicates"
            )
        proposed.append(number)
    return max(proposed)


def _measurements(task: "GeneratedTask") -> int:
    """Return how many measurements a task's command has at least, as the kind counts them."""
    words = text_of(task.definition["payload"])
    workloads, destinations, places = (
        re.findall(rf"--{option}[ =]([\w-]+)", words)
        for option in ("workload", "destination", "place")
    )
    more = len(destinations) - 1 if _RETRIEVES in workloads else 0
    return max(1, len(places)) * max(1, len(workloads) + more)
