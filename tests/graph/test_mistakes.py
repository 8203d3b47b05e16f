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
            "retrieves: 2000",
            "retrieves: 0",
            f"{KIND}: task amd-16: benchmark.retrieves: 0 is not a whole number from 1 to 100,000",
            id="zero retrieves",
        ),
        pytest.param(
            "retrieves: 2000",
            "retrievs: 2000",
            f"{KIND}: task amd-16: benchmark.retrievs: unknown key; there are: "
            "script, workloads, retrieves, seed, destination, fidelity, precision, "
            "upload-url, replicates, places, perfherder, trials",
            id="unknown key",
        ),
        pytest.param(
            "places: [workspace]",
            "places: [workspace, workspace]",
            f"{KIND}: task amd-16: benchmark.places: the place workspace is given twice; keep one "
            "(a task's list is added to task-defaults')",
            id="place twice",
        ),
        pytest.param(
            SYMBOL,
            "{symbol: IOB(amd16)}",
            f"{KIND}: task intel: treeherder.symbol: task amd-16 already has IOB(amd16) on "
            "linux64/opt; give each task a different symbol",
            id="symbol clash",
        ),
        pytest.param(
            SYMBOL,
            "{symbol: IOB(amd16-all)}",
            "taskcluster/kinds/io-benchmark-all/kind.yml: task amd-16: treeherder.symbol: "
            "task io-benchmark-intel already has IOB(amd16-all) on linux64/opt; give each task a "
            "different symbol",
            id="symbol clash of two kinds",
        ),
        pytest.param(
            SYMBOL,
            "{symbol: IOB(report)}",
            "taskcluster/kinds/io-benchmark-report/kind.yml: task report: treeherder.symbol: "
            "task io-benchmark-intel already has IOB(report) on linux64/opt; give each task a "
            "different symbol",
            id="symbol clash with the report",
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
            "max-run-time: 3600",
            "max-run-time: 300",
            f"{KIND}: task amd-16: worker.max-run-time: 300 is not a number of seconds above "
            "300; write one such as 3600",
            id="no time",
        ),
        pytest.param(
            POOL,
            "    amd-16:\n",
            f"{KIND} line {{line}}: the key amd-16 is given twice in one mapping and only the last would "
            "count; rename or remove one",
            id="pool twice",
        ),
        pytest.param(
            POOL,
            "    in tel:\n",
            f"{KIND}: task in tel: name: is not a pool's name; write at most 45 letters, digits "
            "and ._-, no mark first",
            id="pool's name",
        ),
        pytest.param(
            "script: scripts/io-benchmark",
            "script: scripts/other",
            f"{KIND}: task amd-16: benchmark.script: there is no folder scripts/other in {{root}}; "
            "name the script's folder",
            id="script folder",
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
            "symbol: IOB(intel)",
            "symbol: XY(intel)",
            f"Treeherder group XY (from {{root}}/{KIND}) has no name; add it to "
            "taskcluster/config.yml",
            id="group",
        ),
        pytest.param(
            "    run:\n        using: run-task\n",
            "    run:\n",
            "In io-benchmark kind task 'amd-16': Object missing required field `using` - at `$.run`",
            id="nothing to run",
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


@pytest.mark.parametrize(
    ("path", "data", "text"),
    [
        pytest.param(
            "scripts/io-benchmark/settings.py",
            "\0\n",
            "scripts/io-benchmark/settings.py holds a zero byte, which no module can; remove it",
            id="zero byte",
        ),
        pytest.param(
            "scripts/io-benchmark/result_file.py",
            "",
            "0 lines of the script's modules say its version; write one line "
            'SCRIPT_VERSION = "1.0.0"',
            id="no version",
        ),
    ],
)
def test_mistakes_in_the_script(tree, path, data, text):
    """The file is named, with the line or with the size and the limit."""
    (tree.path / path).write_text(data)
    with pytest.raises(GraphError) as caught:
        generate(tree, [])
    message = str(caught.value)
    assert message.startswith(f"{KIND}: task amd-16: benchmark.script: ")
    assert text in message
    assert "\n" not in message


def test_unknown_name():
    """What there is, and the nearest."""
    with pytest.raises(GraphError) as caught:
        generate(OWN, ["amd-17"])
    message = str(caught.value)
    assert message.startswith("no task is called 'amd-17'; there are: io-")
    assert "\n" not in message


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
