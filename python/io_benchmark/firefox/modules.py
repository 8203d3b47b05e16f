# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Which files go there: the modules that the kind's transforms import, and the worker's script."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from io_benchmark.errors import IoBenchmarkError

PACKAGE = "io_benchmark_taskgraph"


def _imported(source: bytes, file: Path) -> Iterator[str]:
    """Every dotted name that a module imports, or may import from another."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise IoBenchmarkError(f"{file} line {error.lineno} is no Python: {error.msg}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files(folder: Path, dotted: str) -> Iterator[str]:
    """The files that importing a name loads, each package on the way as well."""
    parts = dotted.split(".")
    if parts[0] != PACKAGE:
        return
    for count in range(1, len(parts) + 1):
        path = "/".join(parts[:count])
        for file in (f"{path}/__init__.py", f"{path}.py"):
            if (folder / file).is_file():
                yield file


def needed_modules(folder: Path, transforms: Iterable[str]) -> dict[str, bytes]:
    """What the transforms (`package.module:transforms`) load of our package, by path in `folder`.

    What only a stand-alone taskgraph uses, such as the parameters, stays here.
    """
    waiting = []
    for path in transforms:
        module = path.partition(":")[0]
        files = list(_files(folder, module))
        if module.startswith(f"{PACKAGE}.") and f"{module.replace('.', '/')}.py" not in files:
            raise IoBenchmarkError(
                f"{folder}: there is no module {module}, which the kind names as a transform; "
                "correct the kind or name a whole tree by --root"
            )
        waiting += files
    found: dict[str, bytes] = {}
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = (folder / file).read_bytes()
            for dotted in _imported(found[file], folder / file):
                waiting.extend(_files(folder, dotted))
    return dict(sorted(found.items()))


def script_modules(folder: Path) -> dict[str, bytes]:
    """The worker's script, all of its modules, by path in `folder`."""
    files = sorted(path for path in folder.rglob("*.py") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
