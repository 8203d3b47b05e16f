# SPDX-License-Identifier: MPL-2.0
"""Commands that `measure` runs on Windows, under Wine with each version of Python."""

import json

import pytest
import windows_python
import wine
from system.windows import commands
from wine_programs import in_a_console, program

VERSIONS = pytest.mark.parametrize("version", windows_python.VERSIONS)
UNDER_WINE = pytest.mark.windows

MEASURED = """
from system import commands
command = commands.Command()
try:
    command.start(sys.argv[sys.argv.index("--") + 1 :])
except OSError as error:
    print(json.dumps([error.errno, None, None]))
    sys.exit()
rows = []
code, number, times_ns = command.wait(lambda: 0.05, lambda: rows.append(1))
print(json.dumps([code, number, times_ns]), flush=True)
os._exit(commands.end_as(code, number))
"""
ECHO = "import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit(7)"
BATCH = "@echo off\r\necho [%1] [%~2]\r\nexit /b 3\r\n"


@UNDER_WINE
@VERSIONS
def test_commands_that_run(windows, version, tmp_path):
    """Each gets its words as they were written, and this process' streams.

    All 32 bits of the exit code are the command's. A batch file needs no ending, as in cmd.exe.
    """
    folder = tmp_path / "ä b"
    folder.mkdir()
    (folder / "a build.bat").write_text(BATCH, newline="")
    python = wine.path_of(windows_python.folder_of(version) / "python.exe")
    ended = "import sys; sys.exit(0xC0000005 - (1 << 32))"

    def run(*command: str) -> tuple[int, list[str]]:
        given = ("-c", program(MEASURED), "--label", "x -- y", "--", *command)
        code, output = windows.run_python(*given, version=version, folder=folder)
        return code, output.splitlines()

    words = ["a b", 'c"d', "e\\", "", "ü"]
    assert run(python, "-X", "utf8", "-c", ECHO, *words) == (7, [f"{words} ", "[7, null, null]"])
    # Linux keeps 8 bits.
    assert run(python, "-c", ended) == (5, [f"[{0xC0000005}, null, null]"])
    for name in ("a build.bat", "a build", f"{wine.path_of(folder)}\\a build.bat"):
        assert run(name, "x", "y z") == (3, ["[x] [y z]", "[3, null, null]"])


# Quotes that no program needs, except cmd.exe.
QUOTED = """
import subprocess
line = subprocess.list2cmdline([sys.executable, "-X", "utf8", "-B", "-c", sys.argv[1]])
sys.exit(subprocess.call(line + ' --label "x -- y" -- build.bat "p&q" "r s"'))
"""


@UNDER_WINE
def test_a_command_as_it_was_written(windows, tmp_path):
    """Its line is not made again of its words, which would lose quotes that cmd.exe needs."""
    (tmp_path / "build.bat").write_text(BATCH, newline="")
    code, output = windows.run_python("-c", program(QUOTED), program(MEASURED), folder=tmp_path)
    assert (code, output.splitlines()) == (3, ['["p&q"] [r s]', "[3, null, null]"])


@UNDER_WINE
@pytest.mark.parametrize(
    ("command", "error"),
    [
        pytest.param("", 2, id="empty"),
        pytest.param("missing", 2, id="missing"),
        pytest.param(".\\ä b\\missing.exe", 2, id="missing folder"),
        pytest.param(".\\text.exe", 8, id="not a program"),
    ],
)
def test_commands_that_cannot_run(windows, tmp_path, command, error):
    """The error says whether the command was not found, or cannot run."""
    (tmp_path / "text.exe").write_bytes(b"MZ no program")
    given = ("-c", program(MEASURED), "--", command)
    code, output = windows.run_python(*given, folder=tmp_path)
    assert (code, json.loads(output)) == (0, [error, None, None])


SLEEPING = """
import signal
signal.signal(signal.SIGINT, lambda *_: print("command", flush=True) or os._exit(9))
print("begun", flush=True)
time.sleep(30)
"""


@UNDER_WINE
def test_ctrl_c_for_a_command(windows, tmp_path):
    """The command decides what follows, and its exit code is the outcome."""
    python = wine.path_of(windows_python.folder_of(windows_python.USUAL) / "python.exe")
    command = ("-c", program(MEASURED), "--", python, "-c", program(SLEEPING))
    words, code = in_a_console(windows, tmp_path, *command)
    assert (words, code) == (["begun", "command", "[9,", "null,", "null]"], 9)


@pytest.mark.parametrize(
    ("code", "status"),
    [(0, 0), (1, 1), (0x7FFFFFFF, 0x7FFFFFFF), (0xC000013A, -1073741510), (0xFFFFFFFF, -1)],
)
def test_exit_codes(code, status):
    """An exit code of 32 bits becomes what os._exit() takes for it."""
    assert commands.end_as(code, None) == status
