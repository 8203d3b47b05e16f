# SPDX-License-Identifier: MPL-2.0
"""The workload exec, and the program that it makes."""

import os
import platform
import re
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from worker import Worker
from workloads import exec as exec_workload

X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="needs x86_64")
CACHE = "/sys/devices/system/cpu/cpu0/cache"


@pytest.fixture
def executing(worker: Worker) -> Worker:
    worker.workloads = ("exec",)
    return worker


@X86_64
def test_the_program_runs_to_its_end(tmp_path: Path) -> None:
    """Made of nothing but bytes, it is started by the kernel and exits with 0."""
    program = tmp_path / "program"
    program.write_bytes(exec_workload._build_program(blob_bytes=64 * 4096, passes=3))
    program.chmod(0o700)
    assert subprocess.run([program], env={}, check=False).returncode == 0


def jumps(program: bytes) -> list[int]:
    """Follows the program's jumps from its first line on: the lines in their order."""
    lines: list[int] = []
    at = exec_workload.CODE_AT + 7
    while True:
        opcode, distance = struct.unpack_from("<Bi", program, at)
        assert opcode == 0xE9
        at += 5 + distance
        if at < exec_workload.LINES_AT:
            assert at == exec_workload.CODE_AT + 12
            return lines
        lines.append((at - exec_workload.LINES_AT) // exec_workload.LINE_BYTES)


def test_every_line_is_jumped_to_once() -> None:
    """One pass goes through all of it, in no order that could be foreseen, the same each time."""
    program = exec_workload._build_program(blob_bytes=16 * 4096, passes=1)
    order = jumps(program)
    assert sorted(order) == list(range(16 * 4096 // 64))
    assert order != sorted(order)
    assert exec_workload._build_program(16 * 4096, 1) == program
    assert len(program) == exec_workload.LINES_AT + 16 * 4096


@pytest.mark.parametrize(("cpus", "processes"), [(1, 2), (2, 2), (8, 8), (9, 8)])
def test_how_many_processes(monkeypatch: pytest.MonkeyPatch, cpus: int, processes: int) -> None:
    """One per CPU, two at least and eight at most."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cpus)))
    assert exec_workload._processes() == processes


@X86_64
@pytest.mark.parametrize(("variant", "files"), [("hardlinked", 1), ("copies", 3)])
def test_one_file_or_many(tmp_path: Path, variant: str, files: int) -> None:
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
def test_the_size_follows_the_last_level_cache(
    recorded: Callable[..., None], sizes: list[str], blob: int
) -> None:
    """0.6 of it in whole pages, within bounds; a middle size where no cache is seen."""
    recorded({f"{CACHE}/index{at}/size": f"{size}\n" for at, size in enumerate(sizes)})
    assert exec_workload._code_bytes() == blob
    assert blob % 4096 == 0


@pytest.mark.root
@X86_64
def test_noexec_is_skipped_by_name(executing: Worker, mount: Callable[[str], Path]) -> None:
    """Where no program may run, that is reported; nothing measured at all is a failure."""
    executing.workspace = mount("size=400m,noexec")
    code, output = executing.run("--profile", "quick")
    assert (code, "Traceback" in output) == (1, False)
    reason = f"place workspace ({executing.workspace}): exec: the place is mounted noexec"
    assert executing.result().outcome.reason == reason


@X86_64
def test_a_program_that_fails(executing: Worker) -> None:
    """A wrong end is a failure by name, never a sample."""
    failing = "from workloads import exec as workload\n"
    failing += "workload._build_program = lambda blob_bytes, passes: b'#!/bin/false\\n'\n"
    code, output = executing.run("--profile", "quick", prelude=failing)
    assert (code, "Traceback" in output) == (1, False)
    reason = re.escape(f"place workspace ({executing.workspace}): hardlinked-")
    assert re.fullmatch(
        reason + ".* ended with status 0x0100", str(executing.result().outcome.reason)
    )
    assert list(executing.workspace.iterdir()) == []
