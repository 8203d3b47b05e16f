# SPDX-License-Identifier: MPL-2.0
"""One disk against two striped, whose copies fit in memory: what is slow is something else.

The disks are capped far below the rate of the copies, so that whoever blames them is wrong by much.
"""

import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from answers import comparison, states, supported
from storage_lab import Lab, joining, own_cpu_group

from io_benchmark.analysis.explaining.effects import is_enough
from io_benchmark.analysis.model.time_parts import Kind, Phase, in_all, in_copies, in_lookups

pytestmark = [pytest.mark.serial, pytest.mark.root, pytest.mark.lab]

CheckPair = Callable[..., None]
# On btrfs, too, a file that is removed first is never written; one that is rewritten is.
FILES = ("--sizes", "10x4", "--retrieves", "120", "--destination", "unlink")
DISK_MIB, CAP_MIB_PER_S = 300, 40
# A tenth of a CPU: less than other work on the machine leaves to the side without a quota.
QUOTA_US, PERIOD_US = 5_000, 50_000
# Other work's pressure leaves some 8 ms of a copy unclear, which is a small part of what is added:
# each copy takes 50 ms to write, and with 0.1 s added those 8 ms were nearly enough to blame the
# disks.
SMALL_FILES = ("--sizes", "20x2", "--retrieves", "120")
SLOW_COPIES = """
import time
from measuring import retrieval
send = retrieval.SeedSteps._send
def slow_send(self, *arguments):
    time.sleep(0.2)
    return send(self, *arguments)
retrieval.SeedSteps._send = slow_send
"""


@pytest.fixture
def places(lab: Lab) -> dict[str, Path]:
    return {
        pool: lab.stripe(pool, disks, DISK_MIB, CAP_MIB_PER_S, waits=False)
        for pool, disks in (("amd-16", 1), ("intel", 2))
    }


@pytest.fixture
def check_pair(measure, compare):
    """Measure a slow place and a fast one, of which only the slow one gets `slow_only`.

    Check the causes that a comparison names, and the parts of the time where it finds the
    difference.
    """

    def check(causes, parts, slow, fast, *options, slow_only):
        slow_result = measure("amd-16", slow, *options, **slow_only)
        document = compare(slow_result, measure("intel", fast, *options))
        found = comparison(document)
        assert (found["verdict"], found["ratio"] > 1.2) == ("slower", True), found["ratio"]
        (division,) = document["subjects"][0]["divisions"]
        longer_ns = {
            (part["phase"], part["kind"]): part["candidate_ns"] - part["baseline_ns"]
            for part in division["parts"]
        }
        assert max(longer_ns, key=longer_ns.__getitem__) in parts, longer_ns
        blocked_ns = longer_ns.get((Phase.COPY, Kind.BLOCKED), 0.0)
        if not causes and is_enough(blocked_ns / math.fsum(longer_ns.values())):
            # The kernel shows the pressure of the whole machine, not whose it is.
            pytest.skip("other work on this machine waited for storage for too long")
        assert supported(document) <= causes
        named = {"supported", "not separable"} & {states(document)[cause] for cause in causes}
        assert bool(named) is bool(causes)
        (diagnosis,) = document["diagnoses"]
        first = {remedy["cause"] for remedy in diagnosis["remedies"][:1]}
        # What both sides share helps whichever of several causes it is.
        assert first <= {*causes, "ext4-flush"}

    return check


def equal_places(lab: Lab) -> list[Path]:
    return [lab.stripe(name, 1, DISK_MIB, CAP_MIB_PER_S) for name in ("one", "other")]


def test_slow_grep(places, tmp_path, check_pair):
    """The lookups are the cause, and the disks are not."""
    shim = tmp_path / "tools/grep"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nsleep 0.02\nexec {shutil.which("grep")} "$@"\n')
    shim.chmod(0o755)
    slow_only = {"environment": {"PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}"}}
    parts = in_lookups(Kind.BLOCKED, Kind.ELSEWHERE)
    check_pair({"lookup-cost"}, parts, *places.values(), *FILES, slow_only=slow_only)


def test_slow_copies(lab: Lab, check_pair: CheckPair) -> None:
    """What holds each copy, such as a scanner, is no fault of disks that write less meanwhile."""
    slow_only = {"prelude": SLOW_COPIES}
    parts = in_copies(Kind.ELSEWHERE)
    check_pair(set(), parts, *equal_places(lab), *SMALL_FILES, slow_only=slow_only)


def test_cpu_quota(lab: Lab, places: dict[str, Path], check_pair: CheckPair) -> None:
    """The quota of CPU time is the cause, and the disks are not."""
    group = lab.group("quota", own_cpu_group())
    (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
    parts, limited = in_all(Kind.WAITING, Kind.BLOCKED), {"prelude": joining(group)}
    check_pair({"cgroup-cpu-limit"}, parts, *places.values(), *FILES, slow_only=limited)
