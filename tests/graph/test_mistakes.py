# SPDX-License-Identifier: MPL-2.0
"""A mistake in a tree, or in a name, is one line."""

import logging

import pytest

from io_benchmark.errors import GraphError
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import Root

from .conftest import KIND, REPOSITORY

OWN = Root(REPOSITORY, "checkout")
POOL = "    intel:\n"
SYMBOL = "{symbol: IOB(intel)}"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        pytest.param(
            "workloads: [cache-retrieve]",
            "workloads: [cache-retriev]",
            f"{KIND}: task amd-16: benchmark.workloads: 'cache-retriev' is unknown; there are: "
            "cache-retrieve, exec, metadata, random-io, spawn, sync-write, "
            "unpack, upload",
            id="unknown workload",
        ),
        pytest.param(
            SYMBOL,
            "{symbol: IOB(amd16)}",
            f"{KIND}: task intel: treeherder.symbol: task amd-16 already has IOB(amd16) on "
            "linux64/opt; give each task a different symbol",
            id="symbol clash",
        ),
        pytest.param(
            "max-run-time: 3600",
            "max-run-time: 1800",
            f"{KIND}: task amd-16: benchmark.retrieves: 2000 retrieves x 1 place(s) x 1 "
            "destination(s) of cache-retrieve with trials take 2736 s at 50 MiB/s and the time budget is "
            "1500 s; raise worker.max-run-time to 3036 or lower benchmark.retrieves to 1057",
            id="time budget",
        ),
        pytest.param(
            POOL,
            "    amd-16:\n",
            f"{KIND} line {{line}}: the key amd-16 is given twice in one mapping and only the last would "
            "count; rename or remove one",
            id="pool twice",
        ),
        pytest.param(
            "{symbol: IOB(intel)}",
            "{symbol: IOB(intel)",
            f"{KIND} line {{last}}: did not find expected ',' or '}}'; correct the YAML there",
            id="YAML",
        ),
        pytest.param(
            "        worker-type: b-linux\n",
            "",
            "In io-benchmark kind task 'intel': Object missing required field `worker-type`",
            id="a key of taskgraph's own",
        ),
        pytest.param(
            "        worker-type: b-linux\n",
            "        worker-type: b-linux-huge\n",
            "taskcluster/config.yml: workers.aliases has no 'b-linux-huge', which a task names as its "
            "worker-type; add the alias or correct the task",
            id="worker type",
        ),
        pytest.param(
            "{in-tree: update-verify}",
            "{in-tree: other}",
            "{root}/taskcluster/docker/other/Dockerfile: no such file; create it or correct the "
            "kind that names it",
            id="image",
        ),
        pytest.param(
            "transforms.symbols:",
            "transforms.symbolz:",
            "the kinds in {root}/taskcluster cannot be generated (ModuleNotFoundError: No module named "
            "'io_benchmark_taskgraph.transforms.symbolz'); --verbose shows where",
            id="transform",
        ),
        pytest.param(
            "\ntasks:\n",
            "\ntasks: 5\nother:\n",
            "the kinds in {root}/taskcluster cannot be generated (AttributeError: 'int' object has no "
            "attribute 'items'); --verbose shows where",
            id="form",
        ),
    ],
)
def test_mistakes(tree, change, old, new, text):
    """Each mistake in kind.yml is one line that says where, what and what to do."""
    change(old, new)
    lines = (tree.path / KIND).read_text().splitlines()
    line = max([number for number, line in enumerate(lines, 1) if line == "    amd-16:"], default=0)
    with pytest.raises(GraphError) as caught:
        generate(tree, [])
    for name, value in (("{line}", line), ("{last}", len(lines) + 1), ("{root}", tree.path)):
        text = text.replace(name, str(value))
    assert str(caught.value) == text


def test_mistake_is_silent(tree, change, caplog, capfd):
    """The error is all that a mistake brings: nothing is printed or logged in addition."""
    change("retrieves: 2000", "retrieves: 0")
    with caplog.at_level(logging.INFO), pytest.raises(GraphError):
        generate(tree, [])
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))


def test_verbose(tree, change, caplog):
    """A verbose program shows where in taskgraph a mistake was met."""
    change("        using: run-task\n", "")
    with caplog.at_level(logging.DEBUG), pytest.raises(GraphError):
        generate(tree, [])
    assert any(
        record.getMessage().startswith("Error loading tasks for kind io-benchmark:")
        for record in caplog.records
    )
