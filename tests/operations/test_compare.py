# SPDX-License-Identifier: MPL-2.0
"""Operations below commands, without a command line."""

import ast
import io
from pathlib import Path

import pytest
import seed_case

import io_benchmark
from io_benchmark.analysis.inference.looks import Schedule
from io_benchmark.context import Context
from io_benchmark.errors import UsageError
from io_benchmark.operations.compare import ComparisonOptions, compare

PACKAGE = Path(io_benchmark.__file__).parent


def report(folder: Path, **options):
    seed_case.write(folder)
    context = Context(None, io.StringIO(), io.StringIO(), {})
    return compare([str(folder)], ComparisonOptions(**options), context)


def test_compare(tmp_path):
    """Addresses and options in, a report out; the options are the analysis' own."""
    compared = report(tmp_path / "results", baseline="amd-16", margin=0.1, looks=Schedule((3, 6)))
    assert (compared.baseline, compared.margin_ratio) == ("amd-16", 0.1)
    (part,) = compared.subjects
    assert [comparison.candidate for comparison in part.comparisons] == ["amd-30", "intel"]


def test_against(tmp_path):
    """With earlier results each pool is compared with itself."""
    seed_case.write(tmp_path / "before", seed=7)
    compared = report(tmp_path / "after", against=[str(tmp_path / "before")])
    sides = {worker.side for worker in compared.workers}
    assert sides == {f"{pool} {when}" for pool in seed_case.POOLS for when in ("before", "after")}


@pytest.mark.parametrize("partial", [False, True])
def test_baseline_without_results(tmp_path, partial):
    """It is a mistake, unless results may be missing."""
    if partial:
        assert report(tmp_path / "results", baseline="other", partial=True).baseline == "intel"
        return
    with pytest.raises(UsageError, match="--baseline other: no such pool here"):
        report(tmp_path / "results", baseline="other")


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
