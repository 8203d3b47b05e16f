# SPDX-License-Identifier: MPL-2.0
"""What holds for every file of the project."""

import ast
from pathlib import Path

LICENCE = "SPDX-License-Identifier: MPL-2.0"
# Firefox's linter looks for this line, and takes no other.
LICENCE_IN_FIREFOX = "file, You can obtain one at http://mozilla.org/MPL/2.0/."
IN_FIREFOX = (
    "taskcluster/kinds/io-benchmark",
    "tests/adopt/firefox",
    "python/io_benchmark_taskgraph/firefox_transforms.py",
)
PROGRAMS = (
    ".ci/run",
    "scripts/bin/io-benchmark",
    "scripts/rehearse",
    "scripts/test",
    "scripts/tox",
    "tests/lock.sh",
)


def has_licence(path: Path, clone: Path) -> bool:
    """Return whether the licence's line is near the top, inside whatever makes it a comment."""
    in_firefox = any(path.is_relative_to(clone / folder) for folder in IN_FIREFOX)
    licence = LICENCE_IN_FIREFOX if in_firefox else LICENCE
    return any(line.strip("{# }") == licence for line in path.read_text().splitlines()[:4])


def test_licence_header(clone):
    """Every Python and YAML file, template, image and shell script says its licence."""
    sources = [
        path
        for path in clone.rglob("*")
        if path.suffix in {".py", ".yml", ".sh", ".jinja"}
        or path.name == "Dockerfile"
        or str(path.relative_to(clone)) in PROGRAMS
    ]
    # Parameter files are what taskgraph wrote.
    sources = [path for path in sources if path.parent != clone / "taskcluster/test/params"]
    assert len(sources) > len(PROGRAMS)
    assert [path for path in sources if not has_licence(path, clone)] == []


def test_every_test_says_what_holds(clone):
    """Every test function has a docstring."""
    silent = [
        f"{path.relative_to(clone)}::{node.name}"
        for path in clone.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []
