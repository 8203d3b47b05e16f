# SPDX-License-Identifier: MPL-2.0
"""Programs with the worker's modules, which Windows' Python runs under Wine."""

import json
from pathlib import Path
from typing import Any

import wine
from worker import SCRIPT

MODULES = (SCRIPT, Path(__file__).parent)
START = "import json, os, sys, time\nsys.path[:0] = {paths!r}\n{text}"
# A new console, as a worker's task has one, and Ctrl-C in it. Wine has no Ctrl-Break.
CONSOLE = """
import ctypes, subprocess
kernel = ctypes.WinDLL("kernel32")
kernel.FreeConsole()
assert kernel.AllocConsole()
until, *words = sys.argv[1:]
command = [sys.executable, "-X", "utf8", "-u", "-B", *words]
child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
begun = b""
while until.encode() not in begun:
    begun += child.stdout.readline()
kernel.SetConsoleCtrlHandler(None, True)
assert kernel.GenerateConsoleCtrlEvent(0, 0)
rest = child.stdout.read()
print(json.dumps([(begun + rest).decode().split(), child.wait()]))
"""


def program(text: str) -> str:
    """Return what Python runs, with the modules of the worker's program and of this folder."""
    return START.format(paths=[wine.path_of(path) for path in MODULES], text=text)


def answers(windows: wine.Windows, version: str, text: str, folder: Path) -> list[Any]:
    """Return what a program prints as lines of JSON."""
    code, output = windows.run_python("-c", program(text), version=version, folder=folder)
    assert code == 0, output
    return [json.loads(line) for line in output.splitlines()]


def in_a_console(windows: wine.Windows, folder: Path, *arguments: str, until: str = "") -> Any:
    """Return the words that a program prints, and its exit code.

    It gets Ctrl-C after its first line, or after one with this text.
    """
    given = ("-c", program(CONSOLE), until or "\n", *arguments)
    code, output = windows.run_python(*given, folder=folder)
    assert code == 0, output
    return json.loads(output)
