# SPDX-License-Identifier: MPL-2.0
"""The tasks that names mean, generated in this process."""

import pytest
from embedding import shell_text
from taskgraph.parameters import base_schema

from io_benchmark.graph import generate as module
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import PARTS, Root

from .conftest import REPOSITORY, copy_tree

OWN = Root(REPOSITORY, "checkout")
AMD_16, AMD_30, INTEL = (f"io-benchmark-{pool}" for pool in ("amd-16", "amd-30", "intel"))
REPORT, IMAGE = "io-benchmark-report", "docker-image-update-verify"


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([], [AMD_16, AMD_30, INTEL, REPORT]),
        (["intel", REPORT, AMD_16, IMAGE], [IMAGE, AMD_16, INTEL, REPORT]),
    ],
)
def test_selection(jobs, expected):
    """Always sorted by kind and label."""
    assert [task.label for task in generate(OWN, jobs)] == expected


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


def test_parameters_are_complete():
    """No parameter is left to a default, which would ask git; only our own is added."""
    names = {*base_schema.__struct_encode_fields__, "io_benchmark_jobs"} - {"code-review"}
    assert set(module._parameters(["amd-16"])) == names
