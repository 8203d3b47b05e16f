# SPDX-License-Identifier: MPL-2.0
"""The tree's other files that a deployment reads: images, and the package's imports."""

import ast
import re
import sys

import pytest
import yaml

from .conftest import REPOSITORY

FOLDER = REPOSITORY / "taskcluster"
PACKAGE = REPOSITORY / "python/io_benchmark_taskgraph"
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 9))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_imports(path):
    """Python 3.9, taskgraph, voluptuous and the standard library; Firefox's file, its own package."""
    names = set(imported(path))
    outside = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    own = "gecko_taskgraph" if path.stem == "firefox_transforms" else "io_benchmark_taskgraph"
    assert outside <= {own, "taskgraph", "voluptuous"}


def test_images():
    """Each has a tag, for people, and a digest, which decides; the project's have the same base."""
    texts = [file.read_text() for file in sorted(FOLDER.glob("docker/*/Dockerfile"))]
    named = [name for text in texts for name in re.findall(r"^FROM (\S+)", text, re.MULTILINE)]
    assert (len(named) >= len(texts), len(set(named))) == (True, 1)
    text = str(yaml.safe_load((REPOSITORY / ".taskcluster.yml").read_text()))
    (image,) = re.findall(r"\bimage': '([^']+)'", text)
    assert [name for name in (*named, image) if not PINNED.fullmatch(name)] == []
