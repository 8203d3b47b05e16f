# SPDX-License-Identifier: MPL-2.0
"""Operations below commands, without a command line."""

import ast
import io
from pathlib import Path

import seed_case

import io_benchmark
from io_benchmark.context import Context
from io_benchmark.operations.compare import ComparisonOptions, compare

PACKAGE = Path(io_benchmark.__file__).parent


def report(folder: Path, **options):
    seed_case.write(folder)
    context = Context(None, io.StringIO(), io.StringIO(), {})
    return compare([str(folder)], ComparisonOptions(**options), context)


def test_against(tmp_path):
    """With earlier results each pool is compared with itself."""
    seed_case.write(tmp_path / "before", seed=7)
    compared = report(tmp_path / "after", against=[str(tmp_path / "before")])
    sides = {worker.side for worker in compared.workers}
    assert sides == {f"{pool} {when}" for pool in seed_case.POOLS for when in ("before", "after")}


def test_operations_know_no_commands():
    """Imports go from commands to operations only, and no command imports another one."""
    for room, below in (("operations", ("commands", "cli")), ("commands", ("cli",))):
        for path in (PACKAGE / room).glob("*.py"):
            modules = {
                node.module or ""
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.ImportFrom)
            }
            above = [m for m in modules if m.startswith(tuple(f"io_benchmark.{x}" for x in below))]
            assert not above, path
