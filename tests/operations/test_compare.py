# SPDX-License-Identifier: MPL-2.0
"""Operations below commands, without a command line."""

import io

import seed_case

from io_benchmark.context import Context
from io_benchmark.operations.compare import ComparisonOptions, compare


def test_against(tmp_path):
    """With earlier results each pool is compared with itself."""
    before, after = (str(tmp_path / when) for when in ("before", "after"))
    seed_case.write(tmp_path / "before", seed=7)
    seed_case.write(tmp_path / "after")
    context = Context(None, io.StringIO(), io.StringIO(), {})
    compared = compare([after], ComparisonOptions(against=[before]), context)
    sides = {worker.side for worker in compared.workers}
    assert sides == {f"{pool} {when}" for pool in seed_case.POOLS for when in ("before", "after")}
