# SPDX-License-Identifier: MPL-2.0
"""Hold what ruff does not: the width of other text files, and no star before a literal.

`*("a", "b")` and `*([x] if y else [])` hide what is in a list, or whether it is; write the
elements, or an `if`. A call may get a dictionary by `**`, for keywords that are no names.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 100
SUFFIXES = {".cfg", ".ini", ".sh", ".toml", ".yaml", ".yml"}
NO_SUFFIX = ("scripts/", ".ci/", "taskcluster/docker/")
# Lines that cannot be shorter, or that others made.
EXCEPTIONS = {
    ".taskcluster.yml": "a condition of JSON-e is one line",
    "tests/fixtures/": "recorded",
    "tests/trees/": "recorded",
    "taskcluster/test/params/": "dumped by taskgraph",
}
LITERALS = (ast.Tuple, ast.List, ast.Set, ast.Dict)


def is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return is_literal(node.body) or is_literal(node.orelse)
    return isinstance(node, LITERALS)


def unpacked_literals(text: str) -> Iterator[int]:
    """Yield the lines where a literal is unpacked into a call or another literal."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Starred) and is_literal(node.value):
            yield node.lineno
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None and is_literal(value):
                    yield value.lineno


def is_checked(name: str) -> bool:
    """Return whether the width of a file's lines is held here; ruff holds that of Python's."""
    if name.startswith(tuple(EXCEPTIONS)):
        return False
    path = Path(name)
    return path.suffix in SUFFIXES or (not path.suffix and name.startswith(NO_SUFFIX))


def is_read(name: str) -> bool:
    return name.endswith((".py", ".md")) or is_checked(name)


def mistakes(name: str, text: str) -> Iterator[str]:
    if name.endswith(".py"):
        for number in unpacked_literals(text):
            yield f"{name}:{number}: a literal is unpacked; write its elements, or an `if`"
    elif is_checked(name):
        for number, line in enumerate(text.splitlines(), start=1):
            # A word alone, such as an address, cannot be wrapped.
            if len(line) > COLUMNS and len(line.split()) > 2:
                yield f"{name}:{number}: {len(line)} columns, of {COLUMNS}"
    elif name.endswith(".md"):
        is_example = False
        for number, line in enumerate(text.splitlines(), start=1):
            if line.lstrip().startswith("```"):
                is_example = not is_example
            # What a program prints, a row of a table and a picture are one line each.
            is_text = not is_example and not line.startswith(("|", "!["))
            if is_text and len(line) > COLUMNS and len(line.split()) > 2:
                yield f"{name}:{number}: {len(line)} columns, of {COLUMNS}"


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: list[str] = []
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and is_read(name):
            found += mistakes(name, path.read_text(encoding="utf-8"))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
