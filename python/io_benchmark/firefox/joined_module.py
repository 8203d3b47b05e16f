# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""One module for Firefox's tree, joined from those of `io_benchmark_taskgraph` that it needs.

It has all of `firefox_transforms`, and those top-level definitions of other modules that are used, in
the order of their imports. They are copied unchanged, so each is written only once. The exceptions are
the few for which `firefox_transforms` has a shorter form.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from io_benchmark.errors import IoBenchmarkError

PACKAGE = "io_benchmark_taskgraph"
START = f"{PACKAGE}.firefox_transforms"
# Names for which that module has a shorter definition than the other modules.
SHORTER = frozenset({"Benchmark", "shown"})
HEAD = '''\
# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""
From a pool in the kind io-benchmark to its tasks: the same I/O benchmark on each.

Written by `io-benchmark firefox` of https://github.com/mozilla-releng/io-benchmark from the
modules of python/io_benchmark_taskgraph there: change it there.
"""

from __future__ import annotations

'''
# Comments for this project's linter have no meaning for Firefox's.
_NOQA = re.compile(r"  # noqa: [A-Z0-9, ]+(?: - .*)?$", re.MULTILINE)
_LINE_LENGTH = 88


class _JoinedDefinition(Struct):
    """A top-level statement with the comment above it."""

    text: str
    is_block: bool  # a function or a class, with two empty lines around it
    follows: bool  # directly on the line below the statement before
    names: set[str]
    uses: set[str]
    is_needed: bool = False


class _SourceModule(Struct):
    name: str
    definitions: list[_JoinedDefinition]
    own: dict[str, tuple[str, str]] = field(default_factory=dict)  # name: module and name there
    foreign: dict[str, str] = field(default_factory=dict)  # name: its import
    needs: list[str] = field(default_factory=list)  # modules that the needed definitions use


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    stored = (name for name in ast.walk(node) if isinstance(name, ast.Name))
    names = {name.id for name in stored if isinstance(name.ctx, ast.Store)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in inner.names}
    return names


def _used(node: ast.stmt) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def _first_line(node: ast.stmt, lines: list[str]) -> int:
    """Return the number, from 0, of the first line, with decorators and the comment directly above."""
    first = node.lineno - 1
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.decorator_list:
        first = node.decorator_list[0].lineno - 1
    while first > 0 and lines[first - 1].startswith("#"):
        first -= 1
    return first


def _parse(folder: Path, name: str) -> _SourceModule:
    file = folder / (name.replace(".", "/") + ".py")
    try:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeDecodeError, SyntaxError) as error:
        raise IoBenchmarkError(f"{file}: {error}; name a complete tree with --root") from None
    lines = text.split("\n")
    module, end = _SourceModule(name, []), 0
    for node in tree.body[1:]:  # the first one is the docstring
        if isinstance(node, ast.Import | ast.ImportFrom):
            _note_import(module, node)
            continue
        first = _first_line(node, lines)
        definition = _JoinedDefinition(
            text=_NOQA.sub("", "\n".join(lines[first : node.end_lineno])),
            is_block=isinstance(node, ast.FunctionDef | ast.ClassDef),
            follows=first == end,
            names=_bound(node),
            uses=_used(node),
        )
        module.definitions.append(definition)
        end = node.end_lineno or 0
    return module


def _note_import(module: _SourceModule, node: ast.Import | ast.ImportFrom) -> None:
    source = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        if source.partition(".")[0] == PACKAGE:
            module.own[name] = (source, alias.name)
        elif source != "__future__":
            statement = ast.ImportFrom(source, [alias], 0) if source else ast.Import([alias])
            module.foreign[name] = ast.unparse(statement)


class _Joined:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, _SourceModule] = {}
        self.foreign: dict[str, str] = {}

    def module(self, name: str) -> _SourceModule:
        if name not in self.modules:
            self.modules[name] = _parse(self.folder, name)
        return self.modules[name]

    def need(self, module: _SourceModule, name: str) -> None:
        if name in SHORTER:
            return  # everything in the first module is needed
        if name in module.own:
            source, there = module.own[name]
            if source not in module.needs:
                module.needs.append(source)
            self.need(self.module(source), there)
        elif name in module.foreign:
            text = module.foreign[name]
            if self.foreign.setdefault(name, text) != text:
                raise IoBenchmarkError(
                    f"{PACKAGE}: {name} is imported in two ways; use one of them"
                )
        for definition in module.definitions:
            if name in definition.names:
                self.need_all(module, definition)

    def need_all(self, module: _SourceModule, definition: _JoinedDefinition) -> None:
        if not definition.is_needed:
            definition.is_needed = True
            for used in sorted(definition.uses):
                self.need(module, used)

    def in_order(self, name: str, done: dict[str, _SourceModule]) -> dict[str, _SourceModule]:
        """Return the modules in an order in which each comes after those that it uses."""
        if name not in done:
            for source in self.modules[name].needs:
                self.in_order(source, done)
            done[name] = self.modules[name]
        return done

    def definitions(self) -> Iterator[_JoinedDefinition]:
        taken: dict[str, str] = {}
        for module in self.in_order(START, {}).values():
            for definition in module.definitions:
                if not definition.is_needed:
                    continue
                for name in definition.names:
                    if taken.setdefault(name, module.name) != module.name:
                        raise IoBenchmarkError(
                            f"{PACKAGE}: {name} is defined in {taken[name]} and {module.name}, "
                            "which become one module; rename one"
                        )
                yield definition


def _import_lines(texts: list[str]) -> list[str]:
    """Sort imports as Firefox's linter does: plain imports first, then names by module."""
    plain = sorted(text for text in texts if text.startswith("import "))
    by_module: dict[str, list[str]] = {}
    for text in texts:
        source, imports_names, name = text.removeprefix("from ").partition(" import ")
        if imports_names:
            by_module.setdefault(source, []).append(name)
    lines = plain
    for source in sorted(by_module):
        renamed = [name for name in by_module[source] if " as " in name]
        names = sorted(set(by_module[source]) - set(renamed))
        names.sort(key=lambda name: not name.isupper())
        line = f"from {source} import {', '.join(names)}"
        if len(line) > _LINE_LENGTH:
            line = f"from {source} import (\n    " + ",\n    ".join(names) + ",\n)"
        lines += [line] * bool(names)
        lines += [f"from {source} import {name}" for name in sorted(renamed)]
    return lines


def _imports(texts: list[str]) -> str:
    parts: tuple[list[str], list[str]] = ([], [])
    for text in texts:
        parts[text.split()[1].partition(".")[0] not in sys.stdlib_module_names].append(text)
    return "\n\n".join("\n".join(_import_lines(part)) for part in parts if part)


def join_modules(folder: Path) -> str:
    """Return the text of the joined module."""
    whole = _Joined(folder)
    start = whole.module(START)
    for definition in start.definitions:
        whole.need_all(start, definition)
    text = HEAD + _imports(list(whole.foreign.values()))
    before: _JoinedDefinition | None = None
    for definition in whole.definitions():
        between = "\n\n\n"
        if not (definition.is_block or (before is not None and before.is_block)):
            between = "\n" if definition.follows and before is not None else "\n\n"
        text += between + definition.text
        before = definition
    return text + "\n"
