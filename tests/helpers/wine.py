# SPDX-License-Identifier: MPL-2.0
"""A Windows of the tests' own: a fresh prefix of Wine with Windows' CPython.

What Wine is not: it has no NTFS, no Defender and no cache of Windows. Each process gets pipes,
because Python cannot write to a file that Wine inherits from Linux.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

import pytest
import windows_python

# Wine would ask about them at its first start, or write menus into the user's home.
_NOT_LOADED = "winemenubuilder.exe,mscoree,mshtml="
_BOOT_LIMIT_S = 120.0
_END_LIMIT_S = 30.0
DRIVES = "de"
# As a worker's image has them.
MOZILLA_BUILD = "C:/mozilla-build"
PYTHON = f"{MOZILLA_BUILD}/python3/python3.exe"
TOOLS = f"{MOZILLA_BUILD}/msys2/usr/bin"
# `findstr` of Wine 8 does nothing, so that lookups need a grep.
_COMPILER = "x86_64-w64-mingw32-gcc"
_COMPILER_PACKAGE = "gcc-mingw-w64-x86-64-win32"
_GREP = Path(__file__).with_name("grep.c")
_CURL = Path(__file__).with_name("windows_curl.py")


class Windows:
    """One prefix of Wine, whose processes end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = folder / "prefix"
        self.drive_c = self.prefix / "drive_c"
        home = folder / "home"
        home.mkdir()
        self._drives = folder / "drives"
        self._drives.mkdir()
        # Wine has a device for each drive that is there when it starts, wherever it leads then.
        devices = self.prefix / "dosdevices"
        devices.mkdir(parents=True)
        targets = {"c": Path("../drive_c"), "z": Path("/")}
        targets |= {letter: self._drives / letter for letter in DRIVES}
        for letter, target in targets.items():
            (devices / f"{letter}:").symlink_to(target)
        self.drive_c.mkdir()
        # Nothing else of this machine's: Wine hands on what it gets, and would use a display.
        self.environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(home),
            "WINEPREFIX": str(self.prefix),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": _NOT_LOADED,
            # What Wine puts before the PATH of its registry.
            "WINEPATH": f"{TOOLS};{MOZILLA_BUILD}/python3".replace("/", "\\"),
        }

    def boot(self) -> None:
        """Start the services, which get no pipe of a test and stay until the end."""
        self._wait_for("wineserver", "--persistent")
        self._wait_for("wineboot", "--init")
        # Without 32 bits, a new prefix says that it is Windows 7.
        key = r"HKCU\Software\Wine"
        self._wait_for("wine", "reg", "add", key, "/v", "Version", "/d", "win10", "/f")

    def _wait_for(self, *command: str) -> None:
        nowhere = subprocess.DEVNULL
        subprocess.run(
            command,
            env=self.environment,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            check=True,
            timeout=_BOOT_LIMIT_S,
        )

    def end(self) -> None:
        """End every process of this prefix, and of no other."""
        subprocess.run(["wineserver", "--kill"], env=self.environment, check=False)
        until_s = time.monotonic() + _END_LIMIT_S
        while self.processes() and time.monotonic() < until_s:
            time.sleep(0.05)
        for process_id in self.processes():
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)

    def processes(self, text: str = "") -> list[int]:
        """Return this prefix's processes whose command line has a text, by Linux' numbers."""
        mark = f"WINEPREFIX={self.prefix}\0".encode()
        numbers = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark not in (folder / "environ").read_bytes():
                    continue
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if text in b" ".join(words).decode(errors="replace"):
                    numbers.append(int(folder.name))
        return numbers

    def install_mozilla_build(self, version: str = windows_python.USUAL) -> None:
        """Put Python and grep where MozillaBuild has them, and curl where Windows has it."""
        python = self.local("C:/mozilla-build/python3")
        shutil.rmtree(python, ignore_errors=True)
        shutil.copytree(windows_python.folder_of(version), python)
        shutil.copy(python / "python.exe", python / "python3.exe")
        tools = self.local(TOOLS)
        tools.mkdir(parents=True, exist_ok=True)
        command = [_COMPILER, "-municode", "-O2", "-s", "-o", str(tools / "grep.exe"), str(_GREP)]
        subprocess.run(command, check=True)
        curl = _program(_CURL.read_text(), PYTHON.replace("/", "\\"))
        self.local("C:/windows/system32/curl.exe").write_bytes(curl)

    def local(self, path: str) -> Path:
        """Return Linux' path of a path that begins with a drive."""
        letter, _, rest = path.replace("\\", "/").partition(":")
        return self.prefix / "dosdevices" / f"{letter.lower()}:" / rest.lstrip("/")

    @contextmanager
    def drive(self, letter: str, folder: Path) -> Iterator[str]:
        """Make a folder one of the DRIVES; return the root of that drive."""
        link = self._drives / letter
        link.symlink_to(folder)
        try:
            yield f"{letter.upper()}:\\"
        finally:
            link.unlink(missing_ok=True)

    def start(
        self,
        *command: str,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> "subprocess.Popen[str]":
        """Start a program of Windows; `folder` is the current one, by Linux' path."""
        return subprocess.Popen(
            ["wine", *command],
            cwd=folder or self.folder,
            env={**self.environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )

    def finish(self, process: "subprocess.Popen[str]", limit_s: float) -> tuple[int, str]:
        """Return its exit code, up to 255, and what it printed.

        One that takes too long is ended with everything else of this prefix.
        """
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.end()
            process.kill()
            output, _ = process.communicate()
            self.boot()
            pytest.fail(f"not finished within {limit_s:g} s:\n{output}")
        return process.returncode, output

    def run(
        self,
        *command: str,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        limit_s: float = 120.0,
    ) -> tuple[int, str]:
        """Run a program of Windows."""
        return self.finish(self.start(*command, folder=folder, environment=environment), limit_s)

    def run_python(
        self,
        *arguments: str,
        version: str = windows_python.USUAL,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        limit_s: float = 120.0,
    ) -> tuple[int, str]:
        """Run a version of Python with UTF-8 and no files of bytecode."""
        command = (*python_command(version), *arguments)
        return self.run(*command, folder=folder, environment=environment, limit_s=limit_s)


def python_command(version: str = windows_python.USUAL) -> tuple[str, ...]:
    """Return how a version is started, as a task starts it."""
    if not windows_python.is_there(version):
        pytest.skip(f"needs Windows' Python {version}: python tests/helpers/windows_python.py")
    program = path_of(windows_python.folder_of(version) / "python.exe")
    return (program, "-X", "utf8", "-u", "-B")


def path_of(path: Path) -> str:
    """Return how Windows names one of Linux' paths."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


def _program(text: str, python: str) -> bytes:
    """Return a program of Windows that runs a text with Python, as pip makes programs."""
    from pip._vendor import distlib

    launcher = Path(distlib.__file__).with_name("t64.exe").read_bytes()
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("__main__.py", text)
    return launcher + f"#!{python} -I -S\r\n".encode() + archive.getvalue()


def needs_wine() -> None:
    """Skip where Wine or the usual Python is missing."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        pytest.skip("needs Linux on x86-64, for Wine")
    for program, packages in (("wine", "wine64 wine"), (_COMPILER, _COMPILER_PACKAGE)):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program} (on Debian: apt-get install {packages})")
    python_command()


@contextmanager
def new_windows() -> Iterator[Windows]:
    """Make a Windows, and remove it at the end: a prefix has 700 MB."""
    needs_wine()
    # Not below pytest's folders, which keep those of three sessions.
    with tempfile.TemporaryDirectory(prefix="io-benchmark-wine-") as name:
        windows = Windows(Path(name))
        try:
            windows.boot()
            windows.install_mozilla_build()
            yield windows
        finally:
            windows.end()
