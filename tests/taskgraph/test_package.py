# SPDX-License-Identifier: MPL-2.0
"""The package `io_benchmark_taskgraph` serves this tree and Firefox's."""

import ast
import runpy
import sys

import pytest
import taskgraph.util.schema

from io_benchmark_taskgraph import mistakes

from .conftest import REPOSITORY

PACKAGE = REPOSITORY / "python" / "io_benchmark_taskgraph"
FILES = sorted(PACKAGE.rglob("*.py"))
# This extends a stand-alone taskgraph, and Firefox's tree does not load it.
STAND_ALONE = {
    f"io_benchmark_taskgraph.{name}" for name in ("actions", "group_tasks", "parameters")
}
every_file = pytest.mark.parametrize(
    "path", [pytest.param(path, id=str(path.relative_to(PACKAGE))) for path in FILES]
)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@every_file
def test_imports(path):
    """Python 3.9, taskgraph, voluptuous and the standard library; for Firefox's tree no stand-alone part."""
    ast.parse(path.read_text(), feature_version=(3, 9))
    names = set(imported(path))
    outside = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert outside <= {"io_benchmark_taskgraph", "taskgraph", "voluptuous"}
    if f"io_benchmark_taskgraph.{path.stem}" not in STAND_ALONE:
        assert not STAND_ALONE & names


def test_taskgraph_without_its_error_class(monkeypatch):
    """Where taskgraph lacks the error without a traceback, any Exception serves."""
    assert mistakes.UserMistake is taskgraph.util.schema.SchemaValidationError
    monkeypatch.delattr(taskgraph.util.schema, "SchemaValidationError")
    # Another copy of the module, so that the one in use stays as it is.
    copy = runpy.run_path(mistakes.__file__)
    assert copy["UserMistake"] is Exception


@pytest.mark.parametrize("path", sorted((PACKAGE / "transforms").glob("[a-z]*.py")))
def test_each_transform_is_listed(path):
    """A kind lists every file of transforms, or a page tells how to; so none is forgotten."""
    folder = REPOSITORY / "taskcluster"
    texts = [*folder.glob("kinds/*/kind.yml"), *folder.glob("docs/*.md")]
    line = f"- io_benchmark_taskgraph.transforms.{path.stem}:transforms\n"
    assert any(line in text.read_text() for text in texts)
