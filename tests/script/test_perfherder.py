# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The task's own Perfherder file, held against Perfherder's limits in our own words."""

import json
import math
import re

from worker import Worker


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
        ["amd-16", "workspace", "overwrite", "profile-quick"],
        ["amd-16", "workspace", "unlink", "profile-quick"],
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


def test_nothing_measured_is_an_empty_file_and_not_a_missing_one(worker: Worker) -> None:
    """A missing artifact would be an error of its own."""
    worker.environment["PATH"] = "/nonexistent"
    code, _ = worker.run("--retrieves", "5")
    assert code == 1
    data = json.loads((worker.artifacts / "perfherder-data-io-benchmark.json").read_text())
    assert data == {"framework": {"name": "build_metrics"}, "suites": []}
