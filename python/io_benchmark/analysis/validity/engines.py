# SPDX-License-Identifier: MPL-2.0
"""What ran a side's tasks, docker or the workers themselves, and on which kind of place."""

from collections.abc import Sequence

from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import Statement, statement
from io_benchmark.results import workloads
from io_benchmark.sources.run_results import DOCKER, NATIVE

# Kinds of places that are on a disk of the machine.
_ON_DISKS = {"volume", "overlay", "directory"}


def engine_traits(run: Run) -> tuple[Statement, ...]:
    engine = run.worker.engine
    if engine is None:
        return (statement("run by an unknown engine"),)
    is_native = engine == NATIVE
    return (statement("run natively" if is_native else "run in a container, by docker or alike"),)


def place_traits(run: Run) -> tuple[Statement, ...]:
    kind = "an unknown disk" if run.place is None else str(run.place.kind)
    uses_place = workloads.of(run.subject.workload).uses_place(run.subject.variant)
    return (statement("a place on {kind}", kind=kind),) if uses_place else ()


def is_of_engines(runs: Sequence[Run]) -> bool:
    """Return whether docker ran some of these and the worker itself others, all on disks."""
    return {run.worker.engine for run in runs} == {DOCKER, NATIVE} and are_on_disks(runs)


def are_on_disks(runs: Sequence[Run]) -> bool:
    return {None if run.place is None else run.place.kind for run in runs} <= _ON_DISKS
