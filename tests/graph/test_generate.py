# SPDX-License-Identifier: MPL-2.0
"""The tasks that names mean, generated in this process."""

import pytest
from embedding import shell_text
from taskgraph.parameters import base_schema

from io_benchmark.graph import generate as module
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import PARTS, Root

from .conftest import KIND, REPOSITORY, copy_tree

OWN = Root(REPOSITORY, "checkout")
EVERY_POOL = ["io-benchmark-amd-16", "io-benchmark-amd-30", "io-benchmark-intel"]
EVERY_ALL = ["io-benchmark-all-amd-16", "io-benchmark-all-amd-30", "io-benchmark-all-intel"]
REPORT, IMAGE = "io-benchmark-report", "docker-image-update-verify"
EVERYTHING = [*EVERY_POOL, REPORT]


def labels(root, *jobs):
    return [task.label for task in generate(root, jobs)]


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([], EVERYTHING),
        ([REPORT, "intel", "io-benchmark-amd-16"], [EVERY_POOL[0], EVERY_POOL[2], REPORT]),
        (["io-benchmark-all"], [*EVERY_ALL, REPORT]),
        ([IMAGE, "intel"], [IMAGE, EVERY_POOL[2]]),
    ],
)
def test_selection(jobs, expected):
    """Always sorted by kind and label."""
    assert labels(OWN, *jobs) == expected


def test_one_tree_after_another(tree, change):
    """Another tree's kinds and its own transforms are taken, and then the first one's again."""
    change("    retrieves: 2000", "    retrieves: 77")
    change("\nset -x\n", "\nset -ux\n", "python/io_benchmark_taskgraph/transforms/command.py")

    def command(root):
        return shell_text(generate(root, ["intel"])[0].definition["payload"]["command"])

    first = command(OWN)
    assert command(tree) == first.replace("--retrieves 2000 ", "--retrieves 77 ").replace(
        "set -x\n", "set -ux\n", 1
    )
    assert command(OWN) == first


def test_bundled_copy(tmp_path, monkeypatch):
    """A tree without the program, as a wheel carries it, gives the same tasks, without git or an origin."""
    root = Root(copy_tree(tmp_path / "bundle", PARTS), "bundled copy")
    names = ["io-benchmark", "docker-image-io-benchmark-report", IMAGE]
    expected = generate(OWN, names)
    monkeypatch.setenv("PATH", "")
    assert generate(root, names) == expected


def test_a_fourth_pool_is_four_lines(tree):
    """Four lines of YAML at the end of kind.yml and nothing else."""
    with (tree.path / KIND).open("a") as file:
        file.write(
            "    amd-60:\n"
            "        description: I/O benchmark on four local SSDs\n"
            "        worker-type: b-linux-docker-large-amd\n"
            "        treeherder: {symbol: IOB(amd60)}\n"
        )
    *_, new, model, report = generate(tree, [])
    assert (new.label, new.pool, new.image) == ("io-benchmark-amd-60", "amd-60", "update-verify")
    assert report.label == REPORT
    command = [part.replace("intel ", "amd-60 ") for part in model.definition["payload"]["command"]]
    assert new.definition["payload"] == {**model.definition["payload"], "command": command}
    assert labels(tree, "amd-60", "intel") == ["io-benchmark-amd-60", "io-benchmark-intel"]
    # They are lines of the kind that measures everything, too.
    task = generate(tree, ["io-benchmark-all"])[2]
    symbol = task.definition["extra"]["treeherder"]["symbol"]
    assert (task.label, task.pool, symbol) == ("io-benchmark-all-amd-60", "amd-60", "amd60-all")


def test_parameters_are_complete():
    """No parameter is left to a default, which would ask git; only our own is added."""
    names = {*base_schema.__struct_encode_fields__, "io_benchmark_jobs"} - {"code-review"}
    assert set(module._parameters(["amd-16"])) == names
