# SPDX-License-Identifier: MPL-2.0
"""What the harness adds to a retrieve on Windows, as a share of a bare one.

Starting a process takes tens of milliseconds under Wine, and varies by more than a harness may
cost. So the cost is measured with a call that starts nothing and answers as grep does: a retrieve
by the harness and a bare one are done in turn. What a bare retrieve takes is measured with grep.

Numbers to read, not a test. `under_wine.py` runs it, with a folder in memory as its argument.
"""

import _winapi
import importlib
import msvcrt
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from harness_cost import FILE_BYTES, SeedSteps, _Target, log_module, prepared

assert sys.platform == "win32"
PAIRS, WHOLE = 2000, 60
BAR_SHARE = 0.01
windows: Any = _winapi
processes: Any = importlib.import_module("system.windows.processes")


class BareRetrieve:
    """The least that a new process and a copy cost from Python, by modules of its library."""

    def __init__(self, url: str, urls: str, source: str, target: str) -> None:
        self._grep = shutil.which("grep") or "grep"
        self._url, self._urls, self._source, self._target = url, urls, source, target
        handle = msvcrt.get_osfhandle(os.open(os.devnull, os.O_WRONLY))
        os.set_handle_inheritable(handle, True)
        self._startup = subprocess.STARTUPINFO()
        self._startup.dwFlags = subprocess.STARTF_USESTDHANDLES
        self._startup.hStdInput = self._startup.hStdOutput = self._startup.hStdError = handle

    def run(self, calls: Any) -> None:
        line = subprocess.list2cmdline(["grep", "-Fnx", self._url, self._urls])
        process, thread, _, _ = calls.CreateProcess(
            self._grep, line, None, None, True, processes._window(), None, None, self._startup
        )
        calls.CloseHandle(thread)
        calls.WaitForSingleObject(process, windows.INFINITE)
        calls.CloseHandle(process)
        source_fd = os.open(self._source, os.O_RDONLY | os.O_BINARY)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_BINARY
        target_fd = os.open(self._target, flags, 0o666)
        os.write(target_fd, os.read(source_fd, FILE_BYTES))
        os.close(target_fd)
        os.close(source_fd)
        shutil.copystat(self._source, self._target)


def nothing_started(answer: bytes, output: Any) -> Any:
    """Calls of which the one that starts a process only writes what grep would."""

    def create(*arguments: Any) -> tuple[int, int, int, int]:
        if arguments[-1].hStdOutput == output:
            windows.WriteFile(output, answer)
        return 0, 0, 0, 0

    changed = {
        "CreateProcess": create,
        "CloseHandle": lambda _handle: None,
        "WaitForSingleObject": lambda _handle, _ms: 0,
        "GetExitCodeProcess": lambda _handle: 0,
    }
    return SimpleNamespace(**{**vars(windows), **changed})


def timed_us(action: Any, *arguments: Any) -> float:
    started_ns = time.perf_counter_ns()
    action(*arguments)
    return (time.perf_counter_ns() - started_ns) / 1000


def main(folder: Path) -> None:
    workload = prepared(folder)
    log_module.say = lambda _message: None
    url, urls, source = workload.urls[0], workload.url_list, workload.files[0]
    bare = BareRetrieve(url, urls, source, str(folder / "bare.dat"))
    workload._sequence = [0] * (PAIRS + 1)
    workload._rows = []
    target, entry = _Target(str(folder), None), {"run_ns": None}
    whole_us = statistics.median(timed_us(bare.run, windows) for _ in range(WHOLE))
    with SeedSteps(urls) as steps:
        calls = nothing_started(b"1:%s\n" % url.encode(), steps._answers.output)
        processes.WINAPI = calls
        differences_us = [
            timed_us(workload._retrieve_until, pair + 1, steps, target, entry)
            - timed_us(bare.run, calls)
            for pair in range(PAIRS)
        ]
    low, median, high = statistics.quantiles(differences_us, n=4)
    print(f"Harness per retrieve over a bare one of {FILE_BYTES // 1024} KiB, {PAIRS} pairs:")
    print(f"  {median:+.0f} us ({low:+.0f} to {high:+.0f})")
    print(f"  {median / whole_us:.2%} of {whole_us:.0f} us (bar {BAR_SHARE:.0%})")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as name:
        main(Path(name))
