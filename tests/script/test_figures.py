# SPDX-License-Identifier: MPL-2.0
"""A measurement's figures: in the log, and in the task's own Perfherder file within its limits."""

from collections import Counter
from types import SimpleNamespace

import pytest
from checkout import ROOT
from result import figures
from workloads import cache_retrieve, random_io

from io_benchmark.results import workloads as described

PERCENTILES = figures.PERCENTILES  # before a test replaces them
# Their figures need no bench and no folder.
RETRIEVES = object.__new__(cache_retrieve.WORKLOAD)
RANDOM_IO = object.__new__(random_io.WORKLOAD)


@pytest.fixture(autouse=True)
def _some_percentiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A further percentile changes no other figure, and none of these tests."""
    monkeypatch.setattr(figures, "PERCENTILES", (50, 95, 99))


def retrieves(copies_ms: list[int]) -> dict[str, object]:
    """An entry whose lookups take no time, of two sizes: copies above 60 ms are of the larger."""
    count = len(copies_ms)
    copy_ns = [time_ms * 1_000_000 for time_ms in copies_ms]
    indexes = [int(time_ms > 60) for time_ms in copies_ms]
    samples = {"lookup_ns": [0] * count, "copy_ns": copy_ns, "file_index": indexes}
    return {
        "name": "cache-retrieve",
        "place": "a",
        "destination": "overwrite",
        "samples": samples,
        "file_sizes_bytes": [5 * 2**20, 80 * 2**20],
        "final_sync_ns": None,
        "retrieves_planned": count,
        "outcome": {"state": "completed", "reason": None},
    }


def test_percentiles_are_those_of_reports() -> None:
    """The worker and the reader cannot import each other, and have the same list."""
    assert PERCENTILES == described.PERCENTILES


def test_lines_of_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    """Percentiles by the seed's definition; of a rate the least is that of the longest time."""
    rate = {
        "name": "random-io",
        "place": "a",
        "variant": "read-depth-1",
        "threads": None,
        "samples": {"duration_ns": [10**8] * 2, "operations": [1000, 250]},
        "observed": {"latency_ns": None},
        "outcome": {"state": "stopped", "reason": "why"},
    }
    times = retrieves([*range(1, 101)])
    RETRIEVES.entries, RANDOM_IO.entries = [times], [rate]
    figures.show([RETRIEVES, RANDOM_IO])
    copies = "100 in 5.0 s, Avg 50.5, Min 1, Max 100, P50 51, P95 96, P99 100 ms"
    operations = "1250 in 0.2 s, Avg 6250, Min 2500, Max 10000, P50 2500, P95 2500, P99 2500 IOPS"
    assert capfd.readouterr().out.splitlines()[2:] == [
        f"cache-retrieve, place a, overwrite, retrieves-100: {copies}",
        f"random-io, place a, read-depth-1: incomplete (stopped): why; {operations}",
    ]


def test_a_suite() -> None:
    """Of each figure the value of all samples, and those of the stretches.

    A sync is once for all.
    """
    chosen = SimpleNamespace(pool="amd-16", profile="quick", perfherder="pool")
    entry = retrieves([*range(1, 21)]) | {"final_sync_ns": 5_000_000}
    suite = figures.suite(chosen, RETRIEVES, entry)
    facts = {"unit": "ms", "lowerIsBetter": True, "shouldAlert": False}
    each, nothing = [*map(float, range(1, 21))], [0.0] * 20
    values = {"mean": 10.5, "p50": 11.0, "p95": 20.0, "p99": 20.0, "copy-mean": 10.5}
    subtests = [
        *({"name": name, "value": value, "replicates": each} for name, value in values.items()),
        {"name": "final-sync", "value": 5.0, "replicates": []},
    ]
    subtests.insert(4, {"name": "lookup-mean", "value": 0.0, "replicates": nothing})
    assert suite == {
        "name": "io-benchmark-cache-retrieve",
        "value": 10.5,
        **facts,
        "extraOptions": ["amd-16", "a", "overwrite", "retrieves-20", "profile-quick"],
        "subtests": [{**test, **facts} for test in subtests],
    }


def test_replicates_are_the_figures_of_stretches() -> None:
    """Many samples have 20 replicates in their order; a sync that did not end has no figure."""
    settings = SimpleNamespace(pool="x" * 50, profile="full", perfherder="pool")
    entry = retrieves([*range(50 * 20)])
    suite = figures.suite(settings, RETRIEVES, entry)
    replicates = {test["name"]: test["replicates"] for test in suite["subtests"]}
    assert replicates["mean"] == [24.5 + 50 * number for number in range(20)]
    assert replicates["p50"] == [25 + 50 * number for number in range(20)]
    assert "final-sync" not in replicates
    assert suite["extraOptions"][0] == "x" * 45
    # Series of two pools may be one.
    settings.perfherder = "neutral"
    options = figures.suite(settings, RETRIEVES, retrieves([*range(1, 2001)]))["extraOptions"]
    assert options == ["any-pool", "a", "overwrite"]


def test_the_kind_has_the_usual_number() -> None:
    """What a push measures is the series without a mark."""
    kind = (ROOT / "taskcluster/kinds/io-benchmark/kind.yml").read_text()
    assert f"retrieves: {cache_retrieve.USUAL_RETRIEVES}\n" in kind


def test_latencies() -> None:
    """Of random-io, the 99th percentile of all operations, to 1/64 of its power of two."""
    counts = Counter(random_io._rounded_down(ns) for ns in (*range(1, 100), 1_020_001))
    assert random_io._percentile_99(counts) == 1_015_808
    counts[10] += 1
    assert random_io._percentile_99(counts) == 99
