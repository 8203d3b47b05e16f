# SPDX-License-Identifier: MPL-2.0
"""What holds for every file of the project."""

import ast
import os
from pathlib import Path

from checkout import ROOT

LICENCE = "SPDX-License-Identifier: MPL-2.0"
# Firefox's linter looks for this line, and takes no other.
LICENCE_IN_FIREFOX = "file, You can obtain one at http://mozilla.org/MPL/2.0/."
IN_FIREFOX = (
    "taskcluster/kinds/io-benchmark",
    "tests/adopt/firefox",
    "python/io_benchmark_taskgraph/firefox_transforms.py",
)
TOOLS_FOLDERS = {".git", ".tox", ".venv", ".hypothesis", "__pycache__", "build", "dist", "site"}
PROGRAMS = (".ci/run", "scripts/rehearse", "scripts/test", "tests/lock.sh")


def project_files() -> list[Path]:
    """Every file but those that tools leave behind."""
    files = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [
            name for name in folders if name not in TOOLS_FOLDERS and not name.endswith("_cache")
        ]
        files += [Path(folder, name) for name in names if not name.startswith(".venv")]
    return sorted(files)


def has_licence(path: Path) -> bool:
    """Return whether the licence's line is near the top, inside whatever makes it a comment."""
    in_firefox = any(path.is_relative_to(ROOT / folder) for folder in IN_FIREFOX)
    licence = LICENCE_IN_FIREFOX if in_firefox else LICENCE
    return any(line.strip("{# }") == licence for line in path.read_text().splitlines()[:4])


def test_licence_header():
    """Every Python and YAML file, template, image and shell script says under which licence it is."""
    sources = [
        path
        for path in project_files()
        if path.suffix in {".py", ".yml", ".sh", ".jinja"}
        or path.name == "Dockerfile"
        or str(path.relative_to(ROOT)) in PROGRAMS
    ]
    # Parameter files are what taskgraph wrote.
    sources = [path for path in sources if path.parent != ROOT / "taskcluster/test/params"]
    assert len(sources) > len(PROGRAMS)
    assert [str(path.relative_to(ROOT)) for path in sources if not has_licence(path)] == []


def test_every_test_says_what_holds():
    """Every test function has a docstring."""
    silent = [
        f"{path.relative_to(ROOT)}::{node.name}"
        for path in project_files()
        if path.name.startswith("test_") and path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []
