# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""kind.yml as it is for Firefox."""

import pytest
import yaml
from checkout import ROOT

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.kind import SCRIPT, SOURCE, Kind

OWN = (ROOT / SOURCE).read_text()


def test_same_pools():
    """One list of pools: what a task is here, it is there."""
    own, there = yaml.safe_load(OWN), yaml.safe_load(Kind.parse(OWN).text_there)
    assert there["tasks"] == own["tasks"]
    assert list(there["tasks"]) == list(own["tasks"])


def test_what_differs():
    """Transforms, two keys that are unknown there, and nothing else."""
    own, there = yaml.safe_load(OWN), yaml.safe_load(Kind.parse(OWN).text_there)
    assert there["transforms"] == [
        "gecko_taskgraph.transforms.io_benchmark:transforms",
        "gecko_taskgraph.transforms.job:transforms",
        "gecko_taskgraph.transforms.task:transforms",
        "gecko_taskgraph.transforms.io_benchmark:ranks",
    ]
    assert "script" not in there["task-defaults"]["benchmark"]
    assert own["task-defaults"]["benchmark"].pop("script") == SCRIPT
    assert own["task-defaults"].pop("run-on-tasks-for") == []
    for content in (own, there):
        del content["transforms"]
    assert there == own


def test_comments_stay():
    """The text is the same line by line, but for what differs and a note on where it comes from."""
    own, there = OWN.splitlines(), Kind.parse(OWN).text_there.splitlines()
    removed = [line for line in own if line not in there]
    added = [line for line in there if line not in own]
    ours = [
        line
        for line in removed
        if line.endswith(":transforms") and "io_benchmark_taskgraph" in line
    ]
    assert len(ours) == 6
    assert [line.strip() for line in removed if "#" not in line and line not in ours] == [
        "- taskgraph.transforms.run:transforms",
        "- taskgraph.transforms.task:transforms",
        "- io_benchmark_taskgraph.transforms.index:ranks",
        "script: scripts/io-benchmark",
        "run-on-tasks-for: []",
    ]
    assert added[:3] == [
        "# Written by `io-benchmark firefox`. A change, such as a new pool, belongs into",
        "# the same file of https://github.com/mozilla-releng/io-benchmark",
        "#",
    ]
    assert len(added) == 3 + len(removed) - 2 - len(ours) + 1
    assert there[:3] == own[:3]
    assert "these two" not in Kind.parse(OWN).text_there
    assert "docs/kinds.md" not in Kind.parse(OWN).text_there


def test_short_comments():
    """Comment lines have at most 80 columns, as Firefox's linters ask."""
    lines = Kind.parse(OWN).text_there.splitlines()
    assert [line for line in lines if line.strip().startswith("#") and len(line) > 80] == []


def test_more_workloads():
    """They are measured in addition to those that the kind names, and named nowhere else."""
    own, there = Kind.parse(OWN), Kind.parse(OWN, ["exec", "spawn", "cache-retrieve", "exec"])
    assert there.text_there == own.text_there.replace(
        "[cache-retrieve]", "[cache-retrieve, exec, spawn]"
    )
    assert there.workloads == ["cache-retrieve", "exec", "spawn"]
    assert Kind.parse(OWN, there.workloads) == there


def test_a_new_pool():
    """Four lines here are four lines there."""
    pool = (
        "\n    amd-60:\n"
        "        description: four disks\n"
        "        worker-type: b-linux-docker-xlarge-amd\n"
        "        treeherder: {symbol: IOB(amd60)}\n"
    )
    assert Kind.parse(OWN + pool).text_there == Kind.parse(OWN).text_there + pool


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("script: scripts/io-benchmark", "script: 'scripts/io-benchmark'", id="quotes"),
        pytest.param("run-on-tasks-for: []", "run-on-tasks-for:\n    - x", id="list"),
        pytest.param(
            "- taskgraph.transforms.run:transforms",
            "- 'taskgraph.transforms.run:transforms'",
            id="transform",
        ),
    ],
)
def test_a_form_that_is_not_understood(old, new):
    """What the edit misses is refused, never put there half translated."""
    assert old in OWN
    with pytest.raises(IoBenchmarkError, match=r"kind\.yml: cannot be translated"):
        Kind.parse(OWN.replace(old, new))
