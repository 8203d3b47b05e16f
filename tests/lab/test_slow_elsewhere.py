# SPDX-License-Identifier: MPL-2.0
"""One disk against two striped, whose copies fit in memory: what is slow is something else.

The disks are capped far below the rate of the copies, so that whoever blames them is wrong by much.
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab_truths import Ask, Document, Truth
from storage_lab import Lab, joining, own_cpu_group

from io_benchmark.analysis.parts.time_parts import Kind, in_all, in_lookups

pytestmark = [pytest.mark.serial, pytest.mark.root]

Measure = Callable[..., Path]
Compare = Callable[..., dict[str, Any]]
Repeat = Callable[[Ask, Truth], None]
# On btrfs, too, a file that is removed first is never written; one that is rewritten is.
FILES = ("--sizes", "10x4", "--retrieves", "200", "--destination", "unlink")
DISK_MIB, CAP_MIB_PER_S = 300, 40
SLEEPING, COMPUTING = "sleep 0.02", "i=0; while [ $i -lt 15000 ]; do i=$((i + 1)); done"
QUOTA_US, PERIOD_US = 10_000, 50_000
NEIGHBOURS = 4


@pytest.fixture
def places(lab: Lab) -> dict[str, Path]:
    return {
        pool: lab.stripe(pool, disks, DISK_MIB, CAP_MIB_PER_S, waits=False)
        for pool, disks in (("amd-16", 1), ("intel", 2))
    }


def slow_grep(folder: Path, delay: str) -> dict[str, str]:
    """Return an environment whose grep does something else first."""
    folder.mkdir()
    shim = folder / "grep"
    shim.write_text(f'#!/bin/sh\n{delay}\nexec {shutil.which("grep")} "$@"\n')
    shim.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("delay", "kinds"),
    [
        pytest.param(SLEEPING, {Kind.BLOCKED}, id="sleeping"),
        # On a machine with other work whoever computes waits as well.
        pytest.param(COMPUTING, {Kind.USER, Kind.WAITING}, id="computing"),
    ],
)
def test_slow_grep(
    request: pytest.FixtureRequest,
    places: dict[str, Path],
    tmp_path: Path,
    measure: Measure,
    compare: Compare,
    repeat: Repeat,
    delay: str,
    kinds: set[Kind],
) -> None:
    """The lookups are the cause, and the disks are not."""
    if delay == COMPUTING:
        request.getfixturevalue("by_hand")
    environment = slow_grep(tmp_path / "tools", delay)

    def ask(name: str) -> Document:
        return compare(
            measure("amd-16", places["amd-16"], *FILES, name=f"a{name}", environment=environment),
            measure("intel", places["intel"], *FILES, name=f"i{name}"),
        )

    repeat(ask, Truth(frozenset(("lookup-cost",)), in_lookups(*kinds)))


def test_cpu_quota(
    lab: Lab, places: dict[str, Path], measure: Measure, compare: Compare, repeat: Repeat
) -> None:
    """The quota of CPU time is the cause, and the disks are not."""
    group = lab.group("quota", own_cpu_group())
    (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))

    def ask(name: str) -> Document:
        return compare(
            measure("amd-16", places["amd-16"], *FILES, name=f"a{name}", prelude=joining(group)),
            measure("intel", places["intel"], *FILES, name=f"i{name}"),
        )

    waits = in_all(Kind.WAITING, Kind.BLOCKED)
    repeat(ask, Truth(frozenset(("cgroup-cpu-limit",)), waits))


def test_neighbours(
    lab: Lab,
    by_hand: None,
    places: dict[str, Path],
    measure: Measure,
    compare: Compare,
    repeat: Repeat,
) -> None:
    """Who else uses the CPU is the cause, and the disks are not."""
    del by_hand
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    computing = f"import os\nos.sched_setaffinity(0, [{cpus[0]}])\nwhile True: pass"
    for _ in range(NEIGHBOURS):
        lab.start(sys.executable, "-c", computing)
    pinned = "import os\nos.sched_setaffinity(0, [{}])"

    def ask(name: str) -> Document:
        crowded, free = (pinned.format(cpu) for cpu in cpus[:2])
        return compare(
            measure("amd-16", places["amd-16"], *FILES, name=f"a{name}", prelude=crowded),
            measure("intel", places["intel"], *FILES, name=f"i{name}", prelude=free),
        )

    repeat(ask, Truth(frozenset(("other-load", "cpu")), in_all(Kind.WAITING)))
