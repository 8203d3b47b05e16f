# SPDX-License-Identifier: MPL-2.0
"""The task's own Perfherder file, checked against Perfherder's limits."""

import json
import math
import re
from statistics import fmean
from types import SimpleNamespace

import perfherder_series
import pytest
from checkout import ROOT
from worker import Worker
from workloads import cache_retrieve


def test_the_file_keeps_perfherders_limits(worker: Worker) -> None:
    """Names, options, units and values are what Treeherder takes, for each entry one suite."""
    code, output = worker.run(
        *("--retrieves", "20", "--destination", "overwrite", "--destination", "unlink"),
        *("--profile", "quick"),
    )
    assert code == 0, output
    data = json.loads((worker.artifacts / "perfherder-data-io-benchmark.json").read_text())
    assert data["framework"] == {"name": "build_metrics"}
    assert [suite["extraOptions"] for suite in data["suites"]] == [
        ["amd-16", "workspace", "overwrite", "retrieves-20", "profile-quick"],
        ["amd-16", "workspace", "unlink", "retrieves-20", "profile-quick"],
    ]
    for suite in data["suites"]:
        assert suite["name"] == "io-benchmark-cache-retrieve"
        assert (suite["unit"], suite["lowerIsBetter"], suite["shouldAlert"]) == ("ms", True, False)
        assert len(suite["extraOptions"]) <= 8
        assert sum(len(option) > 45 for option in suite["extraOptions"]) <= 1
        assert [test["name"] for test in suite["subtests"]] == [
            "mean",
            "p50",
            "p95",
            "p99",
            "lookup-mean",
            "copy-mean",
            "final-sync",
        ]
        assert suite["value"] == suite["subtests"][0]["value"]
        for test in suite["subtests"]:
            assert len(test["name"]) <= 80
            assert re.fullmatch("[a-z]{1,20}", test["unit"])
            assert test["lowerIsBetter"] is True
            assert math.isfinite(test["value"])
            assert test["value"] >= 0
            # Of 20 retrieves each stretch is one; there is a single sync.
            values = test["replicates"]
            assert len(values) == (0 if test["name"] == "final-sync" else 20)
            if test["name"].endswith("mean"):
                assert fmean(values) == pytest.approx(test["value"], rel=1e-4)


def test_replicates_are_the_figures_of_stretches() -> None:
    """Many samples have 20 replicates in their order; a sync that did not end has no figure."""
    count = 50 * 20
    samples = {
        "lookup_ns": [0] * count,
        "copy_ns": [at * 1_000_000 for at in range(count)],
        "file_index": [0] * count,
    }
    entry = {
        "samples": samples,
        "file_sizes_bytes": [1],
        "final_sync_ns": None,
        "place": "workspace",
        "destination": "overwrite",
        "fidelity": "seed",
        "retrieves_planned": count,
    }
    settings = SimpleNamespace(pool="amd-16", profile="full", perfherder="pool")
    suite = perfherder_series.suite(settings, cache_retrieve.WORKLOAD, entry)
    replicates = {test["name"]: test["replicates"] for test in suite["subtests"]}
    assert replicates["mean"] == [24.5 + 50 * at for at in range(20)]
    assert replicates["p50"] == [25 + 50 * at for at in range(20)]
    assert "final-sync" not in replicates


VALUE = re.compile(r'(?<="value":)[-+.0-9eE]+|(?<="replicates":)\[[^]]*]')


def series(worker: Worker, pool: str, instance_type: str, *arguments: str) -> str:
    """The file's text without its values: what Perfherder tells series apart by."""
    worker.environment |= {
        "TASK_ID": {"amd-16": "Prp_WjpGRx26VH-wA8fjTA"}.get(pool, "Qh77Ox1nTlqlkGLffMbrXg"),
        "TASKCLUSTER_INSTANCE_TYPE": instance_type,
        "TASKCLUSTER_WORKER_LOCATION": json.dumps({"zone": f"zone-of-{pool}"}),
    }
    code, output = worker.run("--pool", pool, "--retrieves", "20", *arguments)
    assert code == 0, output
    text = (worker.artifacts / "perfherder-data-io-benchmark.json").read_text()
    return VALUE.sub("…", text)


def test_neutral_series_of_two_pools_are_one(worker: Worker) -> None:
    """Everything but the values is the same, byte for byte; a mark keeps it from any pool's."""
    neutral = ("--perfherder", "neutral", "--destination", "overwrite", "--destination", "fresh")
    first = series(worker, "amd-16", "c3d-standard-16-lssd", *neutral)
    second = series(worker, "intel", "c2-standard-16", *neutral)
    assert first == second
    options = [suite["extraOptions"] for suite in json.loads(first.replace("…", "0"))["suites"]]
    assert options == [
        ["any-pool", "workspace", "overwrite", "retrieves-20"],
        ["any-pool", "workspace", "fresh", "retrieves-20"],
    ]
    assert worker.result().config.perfherder == "neutral"
    assert worker.result().task.pool == "intel"


def test_nothing_measured_is_an_empty_file_and_not_a_missing_one(worker: Worker) -> None:
    """A missing artifact would be a separate error."""
    worker.environment["PATH"] = "/nonexistent"
    code, _ = worker.run("--retrieves", "5")
    assert code == 1
    data = json.loads((worker.artifacts / "perfherder-data-io-benchmark.json").read_text())
    assert data == {"framework": {"name": "build_metrics"}, "suites": []}


def test_the_kind_has_the_usual_number() -> None:
    """What a push measures is the series without a mark."""
    kind = (ROOT / "taskcluster/kinds/io-benchmark/kind.yml").read_text()
    assert f"retrieves: {cache_retrieve.USUAL_RETRIEVES}\n" in kind
