# SPDX-License-Identifier: MPL-2.0
"""Which names of machines may be those of several machines, or several those of one machine."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from io_benchmark.analysis.model.statements import Statement, count, joined, statement
from io_benchmark.analysis.tasks.machines.machine_runs import Codes, Flags, PoolRuns

_TOLERANCE_MS = 1000  # times are written with whole seconds
# Runs of a machine that overlap by chance of a clock are fewer than this part of them.
_AT_ONCE = 0.01
_USUAL_SHARE = 0.1
_NAMED = 3  # names in a remark


def count_overlaps(runs: PoolRuns) -> Codes:
    """Return how many runs of each machine began while its run before them went on."""
    order = np.lexsort((runs.started_ms, runs.machine))
    machine, started_ms = runs.machine[order], runs.started_ms[order]
    end_ms = started_ms + runs.time_ms[order] - _TOLERANCE_MS
    is_during = (machine[1:] == machine[:-1]) & (started_ms[1:] < end_ms[:-1])
    return np.bincount(machine[1:][is_during], minlength=len(runs.machines))


def overlapping(at_once: Codes, runs: PoolRuns) -> Flags:
    """Return which machines run several tasks at the same time, by more than wrong clocks."""
    whole = np.bincount(runs.machine, minlength=len(runs.machines))
    overlap: Flags = at_once > np.maximum(1, _AT_ONCE * whole)
    return overlap


def remarks_on_overlaps(pool: str, machines: Sequence[str], overlap: Flags) -> Iterator[Statement]:
    """Say whether all of a pool's workers run several tasks at once, or which of them do."""
    if _is_usual(overlap):
        template = (
            "workers of {pool} run several tasks at the same time: a factor is that of a worker, "
            "with what its tasks do to each other"
        )
        yield statement(template, pool=pool)
    elif overlap.any():
        template = (
            "{machines} of {pool} ran several tasks at the same time: that may be several machines "
            "with one name"
        )
        names = [machine for machine, is_one in zip(machines, overlap, strict=True) if is_one]
        yield statement(template, machines=_some(names), pool=pool)


def several_machines(overlap: Flags) -> Flags:
    """Return which names may be those of several machines: not where all workers do the same."""
    return np.zeros_like(overlap) if _is_usual(overlap) else overlap


def _is_usual(overlap: Flags) -> bool:
    """Return whether so many run several tasks at once that names are not the reason."""
    return bool(overlap.sum() > max(_NAMED, _USUAL_SHARE * len(overlap)))


def remarks_on_ids(pool: str, names: Sequence[str]) -> Iterator[Statement]:
    """Say which ids several worker groups have: two machines, or one that was moved."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        group, _, worker = name.rpartition("/")
        groups[worker].append(group)
    repeated = sorted(worker for worker, worker_groups in groups.items() if len(worker_groups) > 1)
    if repeated:
        template = (
            "{workers} of {pool}: the same id in several worker groups, each of which is judged as "
            "a separate machine"
        )
        yield statement(template, workers=_some(repeated), pool=pool)


def names_in_several_pools(names: Mapping[str, Sequence[str]]) -> Iterator[Statement]:
    repeated = sorted(name for name, pools in names.items() if len(pools) > 1)
    if repeated:
        template = "{machines} are in several pools: they are judged separately in each"
        yield statement(template, machines=_some(repeated))


def _some(names: Sequence[str]) -> Statement:
    """Return the first names, and how many more there are."""
    rest = len(names) - _NAMED
    if rest <= 0:
        return joined(names)
    return statement("{names} and {rest} more", names=joined(names[:_NAMED]), rest=count(rest))
