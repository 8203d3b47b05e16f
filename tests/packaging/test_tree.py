# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What holds for every file of the project."""

import ast
import os
import stat
from pathlib import Path

import pytest
from checkout import ROOT

LICENCE = (
    "This Source Code Form is subject to the terms of the Mozilla Public",
    "License, v. 2.0. If a copy of the MPL was not distributed with this",
    "file, You can obtain one at http://mozilla.org/MPL/2.0/.",
)
TOOLS_FOLDERS = {".git", ".tox", ".venv", ".hypothesis", "__pycache__", "build", "dist"}
PROGRAMS = (".ci/run", "scripts/rehearse", "scripts/test", "tests/lock.sh")


def project_files() -> list[Path]:
    """Every file but those that tools leave behind."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [
            name for name in folders if name not in TOOLS_FOLDERS and not name.endswith("_cache")
        ]
        found += [Path(folder, name) for name in names if not name.startswith(".venv")]
    return sorted(found)


def has_licence(path: Path) -> bool:
    """Whether the three lines stand near the top, behind whatever starts a comment."""
    lines = [line.lstrip("# ").rstrip() for line in path.read_text().splitlines()[:12]]
    return any(tuple(lines[start : start + 3]) == LICENCE for start in range(len(lines)))


def is_dumped(path: Path) -> bool:
    """Parameter files are what taskgraph wrote."""
    return path.parent == ROOT / "taskcluster/test/params"


def test_licence_header():
    """Every Python and YAML file and every shell script says under which licence it is."""
    sources = [
        path
        for path in project_files()
        if (path.suffix in {".py", ".yml", ".sh"} and not is_dumped(path))
        or str(path.relative_to(ROOT)) in PROGRAMS
    ]
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_executable(name):
    """What is called by its path can be."""
    assert stat.S_IMODE((ROOT / name).stat().st_mode) & 0o111 == 0o111
