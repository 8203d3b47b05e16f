# SPDX-License-Identifier: MPL-2.0
"""The workload exec, and the program that it makes."""

import hashlib
import os
import platform

import pytest
from workloads import exec as exec_workload

X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="needs x86_64")
CACHE = "/sys/devices/system/cpu/cpu0/cache"


def test_the_program():
    """The same bytes in each version of Python; test_workloads.py runs it."""
    program = exec_workload._build_program(blob_bytes=16 * 4096, passes=3)
    digest = "2d784852fa1c71710a75e7933ec0b16b7808c77856a310fdfc16c35126eeeeba"
    assert hashlib.sha256(program).hexdigest() == digest


@pytest.mark.parametrize(("cpus", "processes"), [(1, 2), (2, 2), (8, 8), (9, 8)])
def test_how_many_processes(monkeypatch, cpus, processes):
    """One per CPU, two at least and eight at most."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cpus)))
    assert exec_workload._processes() == processes


@pytest.mark.parametrize(("variant", "files"), [("hardlinked", 1), ("copies", 3)])
def test_one_file_or_many(tmp_path, variant, files):
    """Hardlinked, all names are one inode; copied, each has its own."""
    program = {"blob_bytes": 64 * 4096, "passes": 1}
    paths = exec_workload._make_programs(str(tmp_path), variant, 3, program)
    assert len({os.stat(path).st_ino for path in paths}) == files  # noqa: PTH116


@pytest.mark.parametrize(
    ("sizes", "blob"),
    [
        (["32K", "1024K", "32768K"], 20_131_840),
        (["48K", "260M"], 32 * 2**20),
        (["32K", "256K"], 4 * 2**20),
        ([], 10_063_872),
    ],
)
def test_the_size_follows_the_last_level_cache(recorded, sizes, blob):
    """0.6 of it in whole pages, within bounds; a middle size where no cache is seen."""
    recorded({f"{CACHE}/index{at}/size": f"{size}\n" for at, size in enumerate(sizes)})
    assert exec_workload._code_bytes() == blob


@pytest.mark.root
@X86_64
def test_noexec_is_skipped_by_name(worker, mount):
    """Where no program may run, that is reported; nothing measured at all is a failure."""
    worker.workloads, worker.workspace = ("exec",), mount("size=400m,noexec")
    assert worker.run("--profile", "quick")[0] == 1
    assert worker.result().outcome.reason == f"{worker.where}exec: the place is mounted noexec"


@X86_64
def test_a_program_that_fails(worker):
    """A wrong end is a failure by name, never a sample."""
    worker.workloads = ("exec",)
    failing = "from workloads import exec as workload\n"
    failing += "workload._build_program = lambda blob_bytes, passes: b'#!/bin/false\\n'\n"
    assert worker.run("--profile", "quick", prelude=failing)[0] == 1
    reason = worker.result().outcome.reason
    assert reason.startswith(f"{worker.where}hardlinked-")
    assert reason.endswith(" ended with status 0x0100")
