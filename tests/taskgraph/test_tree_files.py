# SPDX-License-Identifier: MPL-2.0
"""The tree's other files that a deployment reads: locks, images, jobs, and the package's imports."""

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


def bases(dockerfile):
    """Return the images that a Dockerfile names: in FROM, and in COPY or RUN's `from=`; no own stages."""
    stages, named = set(), []
    for line in dockerfile.read_text().replace("\\\n", " ").splitlines():
        words = [word for word in line.split() if not word.startswith("--platform")]
        if words and words[0].upper() == "FROM":
            named.append(words[1])
            stages.update(words[3:4])
        elif words and words[0].upper() in ("COPY", "ADD", "RUN"):
            named += re.findall(r"\bfrom=([^\s,]+)", line)
    return [name for name in named if name not in stages and not name.isdecimal()]


def test_bases():
    """Each has a tag, for people, and a digest, which decides; both images have the same base."""
    named = [name for file in sorted(FOLDER.glob("docker/*/Dockerfile")) for name in bases(file)]
    assert len(named) >= 2
    assert len(set(named)) == 1
    (task,) = yaml.safe_load((REPOSITORY / ".taskcluster.yml").read_text())["tasks"]
    (image,) = re.findall(r"\bimage': '([^']+)'", str(task))
    assert [name for name in (*named, image) if not PINNED.fullmatch(name)] == []
