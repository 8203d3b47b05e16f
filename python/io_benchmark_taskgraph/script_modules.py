# SPDX-License-Identifier: MPL-2.0
"""The modules of the worker's script: find those that a task needs, and read them."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from io_benchmark_taskgraph.mistakes import BadKeyError, there_are

KEY = "benchmark.script"
MAIN = "__main__.py"
WORKLOADS = "workloads"

# Paths that `import` can name.
_MODULE_PATH = re.compile(r"(?:[A-Za-z0-9_]+/)*[A-Za-z0-9_]+\.py")
# A constant of a workload's class, read as text, because a decision task does not run the script.
_MAXIMUM_S = re.compile(r"^    maximum_s = ([0-9_]{1,9})$", re.MULTILINE)
_ONCE_PER_TASK = re.compile(r"^    per_place = False\b", re.MULTILINE)


def _module_paths(folder: Path) -> set[str]:
    """Return the path of every module within the folder."""
    paths = (file.relative_to(folder).as_posix() for file in folder.rglob("*.py"))
    return {path for path in paths if _MODULE_PATH.fullmatch(path)}


def workload_names(folder: Path) -> list[str]:
    """Return the names of the workloads: `workloads/cache_retrieve.py` is `cache-retrieve`."""
    names = set()
    for path in _module_paths(folder):
        parent, _, file = path.rpartition("/")
        if parent == WORKLOADS and not file.startswith("_"):
            names.add(file[: -len(".py")].replace("_", "-"))
    return sorted(names)


def _path_of(workload: str) -> str:
    return f"{WORKLOADS}/{workload.replace('-', '_')}.py"


def _read(root: Path, script: str, path: str) -> str:
    shown = f"{script}/{path}"
    try:
        text = (root / script / path).read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 at byte {error.start}; save it so"
        raise BadKeyError(KEY, f"{shown} {problem}") from None
    if "\0" in text:
        problem = "holds a zero byte, which no module can; remove it"
        raise BadKeyError(KEY, f"{shown} {problem}")
    return text


def _dotted_imports(path: str, text: str, script: str) -> Sequence[str]:
    """Return the dotted names that a module imports anywhere, relative to the folder."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        problem = f"line {error.lineno} is not Python: {error.msg}"
        raise BadKeyError(KEY, f"{script}/{path} {problem}") from None
    package = path.split("/")[:-1]
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join(above + ([node.module] if node.module else []))
            names.append(base)
            names += [
                f"{base}.{alias.name}" if base else alias.name for alias in node.names
            ]
    return names


def _files_of(dotted: str) -> Iterator[str]:
    """Yield the files that importing the name may load: a module or package per part."""
    parts = dotted.split(".")
    for count in range(1, len(parts) + 1):
        path = "/".join(parts[:count])
        yield f"{path}.py"
        yield f"{path}/__init__.py"


def _check_workloads(root: Path, script: str, workloads: Sequence[str]) -> None:
    """Refuse a folder that does not hold the script, and a workload that it does not have."""
    folder, problem = root / script, None
    if not folder.is_dir():
        problem = f"there is no folder {script} in {root}"
    elif not (folder / MAIN).is_file():
        problem = f"the folder {script} has no {MAIN}"
    if problem is not None:
        raise BadKeyError(KEY, f"{problem}; name the script's folder")
    names = workload_names(folder)
    for workload in workloads:
        if workload not in names:
            text = f"{workload!r} is unknown; {there_are(names)}"
            raise BadKeyError("benchmark.workloads", text)


def maximum_time_s(
    root: Path, script: str, workloads: Sequence[str], places: int
) -> int:
    """Return the longest time that workloads take, by the constants of their classes."""
    _check_workloads(root, script, workloads)
    return sum(_longest_s(root, script, workload, places) for workload in workloads)


def _longest_s(root: Path, script: str, workload: str, places: int) -> int:
    path = _path_of(workload)
    text = _read(root, script, path)
    seconds = _MAXIMUM_S.search(text)
    if seconds is None:
        problem = "has no maximum time; write one line maximum_s = 60 in its class"
        raise BadKeyError(KEY, f"{script}/{path} {problem}")
    return int(seconds.group(1)) * (1 if _ONCE_PER_TASK.search(text) else places)


def needed_modules(root: Path, script: str, workloads: Sequence[str]) -> dict[str, str]:
    """Return the texts of `__main__.py`, the workloads, and all that these import, by path."""
    _check_workloads(root, script, workloads)
    known = _module_paths(root / script)
    waiting = [MAIN, *map(_path_of, workloads)]
    modules: dict[str, str] = {}
    while waiting:
        path = waiting.pop()
        if path in modules:
            continue
        modules[path] = _read(root, script, path)
        for dotted in _dotted_imports(path, modules[path], script):
            waiting.extend(file for file in _files_of(dotted) if file in known)
    return dict(sorted(modules.items()))
