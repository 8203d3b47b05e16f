# SPDX-License-Identifier: MPL-2.0
"""The tree's other files: pages say what there is, images are pinned, imports are few."""

import ast
import re
import sys

import pytest
import yaml
from checkout import KIND, ROOT

from io_benchmark_taskgraph import parameters, stanza
from io_benchmark_taskgraph.transforms import fleet, report

DOCS = ROOT / "taskcluster" / "docs"
PACKAGE = ROOT / "python/io_benchmark_taskgraph"
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}")


def titles(page):
    return re.findall(r"^## (.+)$", (DOCS / page).read_text(), re.MULTILINE)


def table(head, cells=r"`(\S+)` \|"):
    """Return the first cells of a table of the page of kinds."""
    _, is_there, rows = (DOCS / "kinds.md").read_text().partition(head)
    assert is_there
    return re.findall(rf"^\| {cells}", rows.partition("\n\n")[0], re.MULTILINE)


def test_lists():
    """Every kind, pool, key, file, parameter and attribute is on its page, in the same order."""
    kinds = sorted(path.parent.name for path in KIND.parent.glob("*/kind.yml"))
    assert titles("kinds.md") == kinds
    kind = yaml.safe_load((KIND / "kind.yml").read_text())
    rows = table("| pool | worker type |", r"`([\w-]+)` \| `([\w-]+)` \|")
    assert rows == [(name, task["worker-type"]) for name, task in kind["tasks"].items()]
    assert table("| key | meaning | default |") == [*map(str, stanza.SCHEMA.schema)]
    assert table("| key of `report` | meaning |") == [*map(str, report.SCHEMA.schema)]
    files = [f"public/{path}" for path in report.FILES.values()]
    assert table("| artifact | content |") == files
    assert table("| key of `fleet` | meaning |") == [*map(str, fleet.SCHEMA.schema)]
    files = [f"public/{path}" for path in (*fleet.FILES.values(), fleet.READINGS)]
    assert table("| artifact of the fleet | content |") == files
    assert titles("parameters.md") == list(parameters._defaults())
    attributes = kind["task-defaults"]["attributes"]
    assert titles("attributes.md") == sorted(
        [
            *attributes,
            "io_benchmark_capacities",
            "io_benchmark_pool",
        ]
    )


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 9))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_imports(path):
    """Python 3.9, taskgraph, voluptuous and the standard library.

    Firefox's file, its own package.
    """
    names = set(imported(path))
    outside = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    own = "gecko_taskgraph" if path.stem == "firefox_transforms" else "io_benchmark_taskgraph"
    assert outside <= {own, "taskgraph", "voluptuous"}


def test_images():
    """Each has a tag, for people, and a digest, which decides; the project's have the same base."""
    texts = [file.read_text() for file in sorted(DOCS.parent.glob("docker/*/Dockerfile"))]
    named = [name for text in texts for name in re.findall(r"^FROM (\S+)", text, re.MULTILINE)]
    assert (len(named) >= len(texts), len(set(named))) == (True, 1)
    text = str(yaml.safe_load((ROOT / ".taskcluster.yml").read_text()))
    (image,) = re.findall(r"\bimage': '([^']+)'", text)
    assert [name for name in (*named, image) if not PINNED.fullmatch(name)] == []
