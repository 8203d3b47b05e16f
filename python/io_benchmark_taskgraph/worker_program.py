# SPDX-License-Identifier: MPL-2.0
"""The worker's program as one file, and how a task carries it.

The file is a zip application of the modules in the program's folder, uncompressed. A result names
the program by the sha256 of all modules' paths and contents; each file has it as a module of its
own. A task carries only the modules that it runs, without comments, compressed once: in its
command, or on a native worker in a mount. On Windows, which has no shell for it, the mount also
checks and starts the program.
"""

from __future__ import annotations

import ast
import base64
import bz2
import functools
import hashlib
import io
import re
import tokenize
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from io_benchmark_taskgraph.mistakes import BadKeyError, there_are

# In a checkout of this project a link to scripts/io-benchmark.
FOLDER = Path(__file__).parent / "worker"
# Reads an argument on stdin, and writes the file to stdout.
UNPACK = """\
python3 -I -c '
import base64, bz2, sys
sys.stdout.buffer.write(bz2.decompress(base64.b85decode(sys.stdin.read())))
'"""
# A mount of a native worker's task, in its folder.
MOUNTED_FILE = "io-benchmark.py"
MOUNTED_LENGTH = 65_536  # characters that a worker takes of a mount's `raw` content
# Writes the program's file to stdout.
_MOUNTED = """\
# The modules of io-benchmark that a task runs, without comments, compressed.
import base64
import bz2
import sys

sys.stdout.buffer.write(bz2.decompress(base64.b85decode(b"{argument}")))
"""
# Of Windows: its arguments are the sha256 of the program's file, and those of the program.
_STARTING = """\
# The modules of io-benchmark that a task runs, without comments, compressed.
import base64
import bz2
import hashlib
import os
import runpy
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
APPLICATION = os.path.join(FOLDER, "io-benchmark.pyz")
_, sha256, *arguments = sys.argv


def unpack():
    data = bz2.decompress(base64.b85decode(b"{argument}"))
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError("its sha256 is not " + sha256)
    with open(APPLICATION, "wb") as file:
        file.write(data)


"""
# The first word of the line for Treeherder is in two parts, because a worker logs this text too.
_RUN = """\
try:
    unpack()
except (OSError, ValueError) as error:
    pool = arguments[arguments.index("--pool") + 1]
    words = "UNEXPECTED-FAIL", pool, APPLICATION, error
    sys.exit("TEST-%s | %s | cannot unpack %s: %s" % words)
sys.argv = [APPLICATION, *arguments]
runpy.run_path(APPLICATION, run_name="__main__")
"""
# Whatever fails here, the command runs.
_MEASURE = """\
command = arguments[arguments.index("--") + 1 :]
artifacts = os.environ.get("IO_BENCHMARK_ARTIFACTS") or os.path.join(FOLDER, "artifacts")
profile = os.path.join(artifacts, "io-benchmark", "task-profile.json")
start = [sys.executable, "-X", "utf8", "-B", APPLICATION, "measure"]
try:
    os.makedirs(os.path.dirname(profile), exist_ok=True)
    unpack()
    subprocess.check_output([*start, "--help"])
    command = [*start, "--output", profile, *arguments[1:]]
except (OSError, ValueError, subprocess.SubprocessError) as error:
    text = "io-benchmark: cannot unpack or start %s: %s; the command has no profile"
    print(text % (APPLICATION, error), file=sys.stderr, flush=True)
code = subprocess.call(command)
sys.exit(code if code < 2**31 else code - 2**32)  # the same number to Windows
"""
_VERSION = re.compile(r'^SCRIPT_VERSION = "([0-9A-Za-z.+-]+)"$', re.MULTILINE)
_WORKLOAD = re.compile(r"workloads/([^_/][^/]*)\.py")
# Constants of a workload's class, read as text, because a decision task does not run the script.
_MAXIMUM_S = re.compile(r"^    maximum_s = ([0-9_]{1,9})$", re.MULTILINE)
_ONCE_PER_TASK = re.compile(r"^    per_place = False\b", re.MULTILINE)


class EmbeddedProgram:
    """The modules that a task runs, as one file."""

    def __init__(self, version: str, data: bytes) -> None:
        self.version = version
        self.data = data
        self.sha256 = hashlib.sha256(data).hexdigest()
        self.argument = base64.b85encode(bz2.compress(data)).decode("ascii")

    def mounted(self) -> str:
        """Return a file that unpacks itself."""
        return self._in_mount(_MOUNTED)

    def starting(self, command: str) -> str:
        """Return a file that also checks and starts `run` or `measure` of the program."""
        return self._in_mount(_STARTING + (_MEASURE if command == "measure" else _RUN))

    def _in_mount(self, template: str) -> str:
        text = template.format(argument=self.argument)
        if len(text) > MOUNTED_LENGTH:
            raise BadKeyError(
                "benchmark.workloads",
                f"their program has {len(text):,} characters, and a native worker takes a file of "
                f"at most {MOUNTED_LENGTH:,}; name fewer workloads",
            )
        return text


class WorkerProgram:
    """Modules, given as texts by their paths within the program's folder."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.version: str = _VERSION.findall("\n".join(modules.values()))[0]
        self._modules = modules
        digest = hashlib.sha256()
        for path, text in sorted(modules.items()):
            module = text.encode("utf-8")
            digest.update(f"{path} {len(module)}\n".encode() + module)
        self.sha256 = digest.hexdigest()

    @classmethod
    @functools.cache
    def read(cls) -> WorkerProgram:
        return cls({
            file.relative_to(FOLDER).as_posix(): file.read_bytes().decode("utf-8")
            for file in FOLDER.rglob("*.py")
        })

    def workload_names(self) -> list[str]:
        """Return the names of the workloads: `workloads/cache_retrieve.py` is `cache-retrieve`."""
        matches = map(_WORKLOAD.fullmatch, self._modules)
        return sorted(match[1].replace("_", "-") for match in matches if match)

    def maximum_time_s(self, workloads: Sequence[str], places: int) -> int:
        """Return the longest time that workloads take, by the constants of their classes."""
        names, seconds = self.workload_names(), 0
        for name in workloads:
            if name not in names:
                problem = f"{name!r} is unknown; {there_are(names, name)}"
                raise BadKeyError("benchmark.workloads", problem)
            module = self._modules[f"workloads/{name.replace('-', '_')}.py"]
            maximum_s = int(_MAXIMUM_S.findall(module)[0])
            seconds += maximum_s * (1 if _ONCE_PER_TASK.search(module) else places)
        return seconds

    def file(self) -> bytes:
        return _zip_application(self._modules, self.sha256)

    def embedded(
        self, command: str, workloads: Sequence[str] = (), system: str = "linux"
    ) -> EmbeddedProgram:
        """Return what a task of this system needs that starts this module with these workloads."""
        names = [command, *(f"workloads.{name.replace('-', '_')}" for name in workloads)]
        if system == "windows":
            names.append("variables")  # which bash replaces elsewhere
        paths = {"__main__.py", *_with_imports(self._modules, names, system)}
        modules = {path: _without_comments(self._modules[path]) for path in paths}
        return EmbeddedProgram(self.version, _zip_application(modules, self.sha256))


def _with_imports(modules: Mapping[str, str], names: Sequence[str], system: str) -> set[str]:
    """Return the paths of modules, and of those that they import on this system."""
    paths: set[str] = set()
    left = list(names)
    while left:
        name = left.pop().replace(".", "/")
        # system/__init__.py returns the module of its system.
        of_system = name.replace("system/", f"system/{system}/")
        for path in (f"{name}.py", f"{name}/__init__.py", f"{of_system}.py"):
            if path in modules and path not in paths:
                paths.add(path)
                left += _imports(ast.parse(modules[path]))
    return paths


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _without_comments(text: str) -> str:
    """Return a module with empty lines for comments and docstrings: lines keep their numbers."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and len(node.body) > 1:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                rows = range(first.lineno - 1, first.end_lineno or first.lineno)
                lines[rows.start : rows.stop] = [""] * len(rows)
    return "\n".join(lines)


def _zip_application(modules: Mapping[str, str], sha256: str) -> bytes:
    """Return a zip file after a shebang, with fixed order, date and modes."""
    # result/files.py reads the sha256.
    modules = {**modules, "program_sha256.py": f'SHA256 = "{sha256}"\n'}
    # Before Python 3.13 a folder without __init__.py can be imported only if it has an entry.
    folders = {f"{above}/" for path in modules for above in list(PurePosixPath(path).parents)[:-1]}
    file = io.BytesIO()
    file.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted({*modules, *folders}):
            entry = zipfile.ZipInfo(path)  # midnight on the first day of 1980
            entry.create_system = 3  # Unix
            entry.external_attr = (0o40755 if path in folders else 0o100644) << 16
            archive.writestr(entry, modules.get(path, "").encode("utf-8"))
    return file.getvalue()
