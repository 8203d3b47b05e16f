# SPDX-License-Identifier: MPL-2.0
"""The tasks that names mean, generated in this process; a mistake in a tree is one line."""

import logging
import os
import sys

import pytest
from embedding import shell_text
from taskgraph import parameters

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.graph.generate import generate
from io_benchmark.graph.root import PARTS, Root

from .trees import KIND, REPOSITORY, copy_tree

OWN = Root(REPOSITORY, "checkout")
AMD_16, AMD_30, INTEL = (f"io-benchmark-{pool}" for pool in ("amd-16", "amd-30", "intel"))
FIX_IT = "); remove or fix it"
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


def test_capacities():
    """Each pool's task measures what predictions use; it is not in the index as a usual result."""
    for task in generate(OWN, ["amd-16", "io-benchmark-all-intel"], capacities=True):
        text = shell_text(task.definition["payload"]["command"])
        assert (" --capacities " in text, "--workload" in text) == (True, False)
        assert not [route for route in task.definition["routes"] if route.startswith("index.")]
    (usual,) = generate(OWN, ["amd-16"])
    assert [route for route in usual.definition["routes"] if route.startswith("index.")]


def state():
    """What a generation may change in its process."""
    functions = list(parameters.defaults_functions)
    return dict(os.environ), list(sys.path), functions, logging.root.manager.disable


def test_one_tree_after_another(tree, change):
    """Another tree's kinds and its own transforms are taken, and then the first one's again.

    Each generation is as in a separate process.
    """
    before = state()
    change("    retrieves: 2000", "    retrieves: 77")
    change("\nset -x\n", "\nset -ux\n", "python/io_benchmark_taskgraph/transforms/command.py")

    def command(root):
        return shell_text(generate(root, ["intel"])[0].definition["payload"]["command"])

    first = command(OWN)
    assert command(tree) == first.replace("--retrieves 2000 ", "--retrieves 77 ").replace(
        "set -x\n", "set -ux\n", 1
    )
    assert command(OWN) == first
    assert state() == before


def test_bundled_copy(tmp_path, monkeypatch):
    """A tree without the program, as in a wheel, gives the same tasks, without git or an origin."""
    root = Root(copy_tree(tmp_path / "bundle", PARTS), "bundled copy")
    names = ["io-benchmark", "docker-image-io-benchmark-report", IMAGE]
    expected = generate(OWN, names)
    monkeypatch.setenv("PATH", "")
    assert generate(root, names) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "{symbol: IOB(intel)}",
            "{symbol: IOB}",
            f"{KIND}: task intel: treeherder.symbol: 'IOB' is not a group and a symbol of at most "
            "25 characters each; write them as IOB(amd16)",
            id="a transform's",
        ),
        pytest.param(
            "    intel:\n",
            "    amd-16:\n",
            f"{KIND} line {{line}}: the key amd-16 is given twice in one mapping and only the last "
            "would count; rename or remove one",
            id="a key twice",
        ),
        pytest.param(
            "IOB(intel)}",
            "IOB(intel)",
            f"{KIND} line {{last}}: did not find expected ',' or '}}'; correct the YAML there",
            id="no YAML",
        ),
        pytest.param(
            "        description: I/O benchmark on b-linux (c2-standard-16, 2 local SSDs)\n",
            "",
            "In io-benchmark kind task 'intel': Object missing required field `description`",
            id="taskgraph's schema",
        ),
        pytest.param(
            "worker-type: b-linux\n",
            "worker-type: b-linux-huge\n",
            f"{KIND}: task intel: worker-type: 'b-linux-huge' is not an alias of "
            "taskcluster/config.yml; there are: b-linux, b-linux-docker-amd, "
            "b-linux-docker-large-amd, images; did you mean b-linux?",
            id="no alias",
        ),
        pytest.param(
            "{in-tree: update-verify}",
            "{in-tree: other}",
            "{root}/taskcluster/docker/other/Dockerfile: no such file; create it or correct the "
            "kind that names it",
            id="no image",
        ),
        pytest.param(
            "transforms.command:transforms",
            "transforms.commandz:transforms",
            "the kinds in {root}/taskcluster cannot be generated (ModuleNotFoundError: No module "
            "named 'io_benchmark_taskgraph.transforms.commandz'); `taskgraph full` shows where",
            id="any other",
        ),
    ],
)
def test_mistakes(tree, change, old, new, expected):
    """Each mistake in kind.yml is one line that says where, what and what to do."""
    change(old, new)
    lines = (tree.path / KIND).read_text().splitlines()
    line = max([number for number, line in enumerate(lines, 1) if line == "    amd-16:"], default=0)
    with pytest.raises(IoBenchmarkError) as caught:
        generate(tree, [])
    for name, value in (("line", line), ("last", len(lines) + 1), ("root", tree.path)):
        expected = expected.replace(f"{{{name}}}", str(value))
    assert str(caught.value) == expected


def test_no_alias_of_another_kind(tree, change):
    """A kind of taskgraph's own names an alias that is not there."""
    change("        images:\n", "        builders:\n", "taskcluster/config.yml")
    with pytest.raises(IoBenchmarkError) as caught:
        generate(tree, [])
    assert str(caught.value) == (
        "taskcluster/config.yml: workers.aliases has no 'images', which a task names as its "
        "worker-type; add the alias or correct the task"
    )


def test_mistake_is_silent(tree, change, caplog, capfd):
    """The error is all that a mistake brings: taskgraph's own messages are not shown."""
    change("        using: run-task\n", "")
    with caplog.at_level(logging.DEBUG), pytest.raises(IoBenchmarkError):
        generate(tree, [])
    assert (caplog.records, capfd.readouterr()) == ([], ("", ""))


@pytest.mark.parametrize(
    ("link", "end"),
    [(None, "`taskgraph full` shows where"), ("link", FIX_IT), (".", FIX_IT)],
    ids=["YAML", "a link to itself", "a folder"],
)
def test_a_tree_without_end(tmp_path, link, end):
    """Values or folders nested so deeply that they would never be read are one line."""
    path = copy_tree(tmp_path / "tree", PARTS)
    if link is None:
        (path / KIND).write_text("x: " + "[" * 900 + "]" * 900)
    else:
        (path / KIND).with_name("link").symlink_to(link)
    with pytest.raises(IoBenchmarkError) as caught:
        generate(Root(path, "--root"), [])
    message = str(caught.value)
    assert message.isprintable()
    assert message.endswith(end)
