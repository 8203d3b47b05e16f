# SPDX-License-Identifier: MPL-2.0
"""Causes where a task measured in several places: each is judged by what was seen in its own."""

import copy
from collections.abc import Mapping
from typing import Any

import seed_workers
from several_places import in_places

from io_benchmark.analysis.compare import Options, compare
from io_benchmark.analysis.diagnosis_model import Cause, State
from io_benchmark.analysis.plan import Plan
from io_benchmark.analysis.report_model import Report

PLACES = ("container", "memory")
POOLS = ("intel", "amd-16")
ALL = ("random-io", "sync-write", "metadata")


def change(slower: Mapping[str, Mapping[str, float]], seed: int, **observed: Any) -> Any:
    """Return a change that adds every workload in each place, `slower` and `observed` by place."""

    def entries(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made = [copy.deepcopy(found[0])]
        for place in ("workspace", *PLACES):
            add = seed_workers.measured(
                slower.get(place, {}),
                only=ALL,
                observed=observed.get(place, {}),
                seed=seed,
            )["workloads"]
            made += [{**one, "place": place} for one in add([])]
        return made

    return in_places(PLACES, entries)


def report(slower: Mapping[str, Mapping[str, float]], **observed: Any) -> Report:
    changes = {"intel": change({}, 1), "amd-16": change(slower, 2, **observed)}
    plan = Plan("places", "intel", "for the test", (("amd-16", "intel"),))
    return compare(plan, seed_workers.workers(pools=POOLS, change=changes), Options())


def causes(found: Report, name: str) -> dict[tuple[str, str], Cause]:
    """Return a cause by the workload and the place that it explains."""
    return {
        (one.subject.workload, one.subject.place): cause
        for one in found.diagnoses
        if one.subject is not None
        for cause in one.causes
        if cause.name == name
    }


def test_another_place_does_not_explain_it() -> None:
    """Slow operations in memory do not explain slow copies on the volume."""
    slow = report({"memory": {"random-io/write-depth-32": 3.0}})
    found = causes(slow, "random-io")["cache-retrieve", "workspace"]
    assert found.state is State.RULED_OUT


def test_a_disk_below_the_container() -> None:
    """Appending and writing in place are compared in the same place: the disk is slow, not the journal."""
    variants = ("dsync-overwrite", "dsync-append", "dsync-append-first", "append-fsync")
    slow = report({"container": {f"sync-write/{variant}": 5.0 for variant in variants}})
    where = "sync-write", "container"
    assert causes(slow, "slow-flush")[where].state is State.SUPPORTED
    assert causes(slow, "slow-journal")[where].state is State.RULED_OUT


def test_late_files_in_another_place() -> None:
    """They are explained although another place explains the workload."""
    hidden = {"metadata/visibility": {"not_visible": 200, "longest_invisible_ns": 5_000_000}}
    slow = {
        "workspace": {"metadata/stat/2": 2.0, "metadata/stat/4": 5.0},
        "container": {"metadata/visibility": 10.0},
    }
    found = causes(report(slow, container=hidden), "files-not-visible")
    assert found["metadata", "workspace"].state is State.RULED_OUT
    assert found["metadata", "container"].state is State.SUPPORTED
