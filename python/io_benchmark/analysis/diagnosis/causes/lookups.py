# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The lookup's part of a retrieve, and the process that it starts (seed 000, hypothesis 8)."""

from collections.abc import Sequence

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import Beside, Case, Finding, Rule, View
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.judging import (
    NOTHING_TO_EXPLAIN,
    explained_share,
    explains,
    percent,
)
from io_benchmark.analysis.diagnosis.other_measurements import decided
from io_benchmark.analysis.model import State

MS = 1_000_000
# grep by the seed's loop; cached_download.sh starts grep twice, sed and cp.
PROCESSES_SEED, PROCESSES_REAL = 1, 4


def lookup_share(case: Case) -> float | None:
    """The lookups' part of the difference."""
    return explained_share(case, lambda view: view.lookup_mean_ns)


def _evidence(views: Sequence[View]) -> str:
    def lookup_ms(view: View) -> float | None:
        return None if view.lookup_mean_ns is None else view.lookup_mean_ns / MS

    return f"a lookup {span(views, lookup_ms, 'ms', 2)}"


def _judge(case: Case, where_they_cost: State, explanation: str, little: str) -> Finding:
    """Both rules look at the same times, and differ in what these can tell."""
    evidence = _evidence(case.baseline), _evidence(case.candidate)
    if case.difference_ns is None:
        return Finding(
            State.NOT_OBSERVABLE, *evidence, "there are no times of this workload", workload="spawn"
        )
    share = lookup_share(case)
    if share is None:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    part = f"the lookups make up {percent(share)} of the difference"
    if not explains(share):
        return Finding(State.RULED_OUT, *evidence, f"{part}; {little}")
    workload = "spawn" if where_they_cost is State.NOT_OBSERVABLE else None
    return Finding(where_they_cost, *evidence, f"{part}; {explanation}", workload=workload)


def lookup_cost(case: Case) -> Finding:
    return _judge(
        case,
        State.SUPPORTED,
        "whether grep or starting it, workload spawn tells",
        "the rest lies in the copies",
    )


def spawn_cost(case: Case) -> Finding:
    spawned = case.measured("spawn")
    if spawned and case.difference_ns is not None:
        return _judge_spawns(case, spawned[0])
    return _judge(
        case,
        State.NOT_OBSERVABLE,
        "how much of that is starting grep, workload spawn tells",
        "starting grep is a part of that. Its latency by itself, workload spawn tells",
    )


def _judge_spawns(case: Case, one: Beside) -> Finding:
    """A process takes so much longer, and a retrieve starts so many."""
    evidence = (
        f"a process started in {words.time(one.baseline.mean_ns)}",
        f"a process started in {words.time(one.candidate.mean_ns)}",
    )
    if not case.differs or not case.difference_ns:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    count = PROCESSES_REAL if case.subject.fidelity == "real" else PROCESSES_SEED
    share = count * one.difference_ns / case.difference_ns
    each = "the one process" if count == 1 else f"the {count} processes"
    part = f"{each} that a retrieve starts {'makes' if count == 1 else 'make'} up {percent(share)}"
    if not explains(share):
        return Finding(State.RULED_OUT, *evidence, f"{part} of the difference")
    if not decided(one):
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            f"{part} of the difference, which may be chance: more workers would tell",
        )
    return Finding(State.SUPPORTED, *evidence, f"{part} of the difference")


RULES = (
    Rule("lookup-cost", "The lookups (grep) take longer, not the copies.", lookup_cost),
    Rule("spawn-cost", "Starting a process (fork, exec) takes longer.", spawn_cost),
)
