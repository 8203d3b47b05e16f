# SPDX-License-Identifier: MPL-2.0
"""Print the sizes of each room of the program, and hold the limits of pyproject.toml.

The limits keep modules, functions and folders small enough to read, and imports free of circles.
Which room may import which other is held by tests.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = "pyproject.toml"
# Words that name nothing: a reader has to look for what they stand for.
NAMES_WITHOUT_A_NOUN = re.compile(
    "each|text|at|known|shown|others?|found|wanted|ours|theirs|of_.*|one|own|said|asked|told|tried"
    "|its"
)


@dataclass(frozen=True)
class Module:
    path: Path
    lines: int
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> "Module":
        text = path.read_text(encoding="utf-8")
        return cls(path.relative_to(ROOT), text.count("\n"), ast.parse(text))

    @property
    def statements(self) -> int:
        return sum(isinstance(node, ast.stmt) for node in ast.walk(self.tree))

    @property
    def longest_function(self) -> int:
        return max(
            (
                (node.end_lineno or 0) - node.lineno + 1
                for node in ast.walk(self.tree)
                if isinstance(node, ast.FunctionDef)
            ),
            default=0,
        )

    def bound_names(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield each imported name with what it is imported from: one of both is a module."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((f"{node.module}.{alias.name}", node.module) for alias in node.names)


def circle(modules: Sequence[Module]) -> str:
    """Return the modules of a circle of imports, if there is one."""
    names = {
        ".".join(module.path.with_suffix("").parts[1:]).removesuffix(".__init__"): module
        for module in modules
        if module.path.parts[0] == "python"
    }
    graph = {
        name: {full if full in names else source for full, source in module.imports()} & set(names)
        for name, module in names.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " → ".join(error.args[1])
    return ""


def over_limits(modules: Sequence[Module], limits: Mapping[str, float]) -> Iterator[str]:
    """Yield what the limits of the whole do not allow."""
    names = [name for module in modules for name in module.bound_names()]
    unclear = sum(NAMES_WITHOUT_A_NOUN.fullmatch(name.lstrip("_")) is not None for name in names)
    figures = {
        "lines": sum(module.lines for module in modules),
        "percent-of-unclear-names": round(100 * unclear / len(names), 1),
    }
    for name, figure in figures.items():
        print(f"{name:34} {figure:>8,} of {limits[name]:,}")
        if figure > limits[name]:
            yield f"{name}: {figure:,} of {limits[name]:,}"
    for module in modules:
        if module.lines > limits["lines-of-a-module"]:
            yield f"{module.path}: {module.lines} lines"
        if module.longest_function > limits["lines-of-a-function"]:
            yield f"{module.path}: a function of {module.longest_function} lines"
    for folder, count in Counter(module.path.parent for module in modules).items():
        if count > limits["modules-of-a-folder"]:
            yield f"{folder}: {count} modules in one folder"
    if found := circle(modules):
        yield f"a circle of imports: {found}"


def print_sizes(rooms: Sequence[str], modules: Sequence[Module]) -> None:
    """Print the sizes of each room; a module belongs to the room with the longest name."""
    of_room: dict[str, list[Module]] = {room: [] for room in rooms}
    for module in modules:
        matching = [room for room in rooms if module.path.is_relative_to(room)]
        of_room[max(matching, key=len)].append(module)
    print(f"{'room':46} {'modules':>8} {'statements':>10} {'lines':>8}")
    for room, inside in of_room.items():
        statements = sum(module.statements for module in inside)
        lines = sum(module.lines for module in inside)
        print(f"{room:46} {len(inside):8} {statements:10,} {lines:8,}")


def main() -> int:
    settings = tomllib.loads((ROOT / SETTINGS).read_text(encoding="utf-8"))["tool"]["rooms"]
    paths = [*ROOT.glob("python/**/*.py"), *ROOT.glob("scripts/io-benchmark/**/*.py")]
    modules = [Module.read(path) for path in sorted(paths)]
    print_sizes(settings["rooms"], modules)
    broken = list(over_limits(modules, settings["limits"]))
    tests = sum(path.read_text("utf-8").count("\n") for path in ROOT.glob("tests/**/*.py"))
    print(f"{'lines of tests':34} {tests:>8,}")
    for line in broken:
        print(f"{SETTINGS}, tool.rooms: {line}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
