# SPDX-License-Identifier: MPL-2.0
"""Which figures a result has, from which measurement each is, and what it costs."""

import json
from collections.abc import Mapping
from typing import Any

import many_measurements
import pytest
import seed_case
import tried_workers
import workload_entries
from checkout import ROOT
from seed_facts import fixed_work
from seed_workers import measured

from io_benchmark import results
from io_benchmark.analysis.fleet.figures import BY_NAME, FIGURES
from io_benchmark.analysis.fleet.fleet_model import WorkerReading
from io_benchmark.analysis.fleet.readings import reading_of
from io_benchmark.costs.worker_time import Price
from io_benchmark.sources.run_results import RunResult

TRIED = {"workloads.0.trials": tried_workers.trials({"normal": [78.0]}, ceilings=(740, 750, 90))}


def reading(change: Mapping[str, Any] | None = None, pool: str = "intel") -> WorkerReading:
    """Return what is kept of a result of the seed's pool, with changes."""
    (document,) = seed_case.documents(1, pools=[pool], change={pool: change or {}})
    return of_document(document)


def of_document(document: Mapping[str, Any]) -> WorkerReading:
    result = results.parse(json.dumps(document).encode(), "document")
    made, _ = reading_of(RunResult(result, None, "file"))
    assert made is not None
    return made


def basis(made: WorkerReading, name: str) -> str:
    """Return what a figure was measured by, without its digest."""
    return made.work[name].rpartition(", ")[0]


def test_the_seeds_pools() -> None:
    """A retrieve's time, the CPUs, and what the disks wrote while copies waited for them."""
    values = {pool: reading(pool=pool).values for pool in seed_case.POOLS}
    assert values["intel"] == pytest.approx({"retrieve": 75.96, "write": 744.6, "cpus": 16}, 1e-3)
    assert values["amd-16"] == pytest.approx({"retrieve": 145.7, "write": 388.2, "cpus": 16}, 1e-3)
    assert values["amd-30"]["cpus"] == 30


def test_every_workload() -> None:
    """Each workload's figure in the variant that the catalogue names."""
    made = reading({**measured(seed=1), **fixed_work(2.0, 50.0, 0.5)})
    expected = {
        "retrieve": 75.96,
        "write": 744.6,
        "random-read": 170_000,
        "random-write": 90_000,
        "flush": 200,
        "copy": 20_000,
        "user": 500_000,
        "kernel": 2_000_000,
        "cpus": 16,
        "spawn": 1 / 512e-6,
        "unpack": 1 / 35e-6,
    }
    assert made.values == pytest.approx(expected, rel=5e-3)
    assert basis(made, "unpack") == "warm, workspace"
    assert list(made.values) == [figure.name for figure in FIGURES if figure.name in expected]


def test_a_recorded_result() -> None:
    """Of a real worker's quick result with seven workloads."""
    document = json.loads((ROOT / "tests/fixtures/result-v2-all.json").read_bytes())
    assert of_document(document).values == pytest.approx(
        {
            "retrieve": 11.125,
            "random-read": 55_618,
            "random-write": 35_204,
            "flush": 1875.7,
            "cpus": 2,
            "spawn": 927.8,
        },
        rel=1e-3,
    )


def test_the_write_ceiling() -> None:
    """What idle disks wrote is preferred to what they wrote while copies waited: the median."""
    made = reading(TRIED)
    assert made.values["write"] == pytest.approx(740, rel=1e-3)
    assert basis(made, "write") == "ceiling, workspace"
    assert basis(reading(), "write") == "while copies waited, workspace"


def test_a_ceiling_is_the_same_for_any_number_of_retrieves() -> None:
    """Its files do not depend on the retrieves, whose own figure is of another work."""
    long, short = (
        reading(
            {"workloads": lambda entries, n=number: [seed_case.shortened(entries[0], n)]} | TRIED
        )
        for number in (2000, 200)
    )
    assert short.work["write"] == long.work["write"]
    assert short.work["retrieve"] != long.work["retrieve"]


def first_reads_take(factor: float) -> dict[str, Any]:
    """Change a result: first reads of a file take so many times as long as later ones."""

    def slower(samples: dict[str, Any]) -> dict[str, Any]:
        files = samples["file_index"]
        first = {file: at for at, file in reversed([*enumerate(files)])}
        times_ns = [
            round(8e7 * (factor if first[file] == at else 1)) for at, file in enumerate(files)
        ]
        return {**samples, "copy_ns": times_ns}

    return {"workloads.0.samples": slower}


def test_read_bandwidth() -> None:
    """Of first reads, if they clearly take longer and the cache was cold; else it is absent."""
    seen = {"cache_bytes": 100, "resident_bytes": 4}
    cold = first_reads_take(2.0) | {"workloads.0.cache_state": seen}
    made = reading(cold)
    mean_mib = sum(seed_case.SIZES_MIB) / len(seed_case.SIZES_MIB)
    assert made.values["read"] == pytest.approx(mean_mib / 0.08, rel=0.01)
    assert basis(made, "read") == "first reads, workspace"
    warm = cold | {"workloads.0.cache_state": {**seen, "resident_bytes": 5}}
    assert "read" not in reading(warm).values
    hardly = first_reads_take(1.24) | {"workloads.0.cache_state": seen}
    assert "read" not in reading(hardly).values
    enough = first_reads_take(1.26) | {"workloads.0.cache_state": seen}
    assert "read" in reading(enough).values


def test_the_first_place() -> None:
    """Disks' figures are of the place that the task names first, whatever else was measured."""
    entries = many_measurements.in_places(
        ("container",),
        lambda entries: [
            *workload_entries.entries(only=("random-io",), place="container"),
            *entries,
            *workload_entries.entries({"random-io": 2.0}, only=("random-io",)),
        ],
    )
    made = reading(entries)
    assert made.values["random-read"] == pytest.approx(85_000, rel=5e-3)
    assert basis(made, "random-read") == "read-depth-32, workspace"


@pytest.mark.parametrize(
    ("variant", "figure"),
    [("warm", 35), ("warm-sync", 60), ("cold", 60), ("cold-sync", 85)],
)
def test_what_is_unpacked(variant, figure):
    """The first variant that a result has, in one order; it is a part of the work."""
    order = ["warm", "warm-sync", "cold", "cold-sync"]
    only = [f"unpack/{name}" for name in order[order.index(variant) :]]
    made = reading(measured(only=only))
    assert made.values["unpack"] == pytest.approx(1e6 / figure, rel=5e-3)
    assert basis(made, "unpack") == f"{variant}, workspace"


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({"config.profile": "quick"}, {"retrieve", "write", "random-read"}),
        ({"script.version": "9.9.9"}, set()),
        ({"workloads.0.copy_method": "other"}, {"retrieve", "write"}),
        ({"storage.places.0.kind": "memory"}, {"retrieve", "write", "random-read"}),
        (
            measured(only=["random-io"], parameters={"random-io": {"block_bytes": 1}}),
            {"random-read"},
        ),
    ],
    ids=["profile", "script", "copy method", "kind of place", "block size"],
)
def test_the_work_is_what_rules_refuse(change, different):
    """A digest of the conditions under which a comparison would refuse two results."""
    usual = reading(measured(only=["random-io"]))
    changed = reading({**measured(only=["random-io"]), **change})
    names = {"retrieve", "write", "random-read"}
    assert {name for name in names if usual.work[name] != changed.work[name]} == different


def test_the_work_of_kept_readings_stays_the_same() -> None:
    """Readings are kept for a year: a change of this text separates them from new ones."""
    assert reading(TRIED).work == {
        "retrieve": "overwrite, workspace, e3cb9250",
        "write": "ceiling, workspace, 6937c59c",
    }


def test_costs() -> None:
    """The price of an hour by what is done in it; of times, the shorter is the cheaper."""
    price = Price(0.6, "USD")
    assert BY_NAME["write"].cost_of(1024.0, price) == pytest.approx(0.6 / 3600 * 1024)
    assert BY_NAME["retrieve"].cost_of(100.0, price) == pytest.approx(0.6 / 36)
    assert BY_NAME["unpack"].cost_of(20_000.0, price) == pytest.approx(0.6 / 72)
    assert BY_NAME["random-read"].cost_of(1e6, price) == pytest.approx(0.6 / 3.6)
    assert BY_NAME["cpus"].cost_of(16.0, price) == pytest.approx(0.6 / 16)
    assert BY_NAME["flush"].cost_of(200.0, price) is None
    assert BY_NAME["write"].cost_of(1024.0, None) is None
