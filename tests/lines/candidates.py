# SPDX-License-Identifier: MPL-2.0
"""Mutants: copies of a module in which one line differs, which the tests should notice."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

SEED = "1"
BOUNDS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<")}
PAIRS = (("==", "!="), ("is", "is not"), ("in", "not in"), ("and", "or"), ("+", "-"), ("*", "/"))
SWAPS = BOUNDS | {a: (b,) for a, b in PAIRS} | {b: (a,) for a, b in PAIRS} | {"//": ("*",)}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break

_Change = tuple[ast.expr, int, int, str]  # where, from and to which byte of the line, the new text


class Mutant(NamedTuple):
    """A line and what replaces it."""

    file: str  # below the root
    line: int
    statement: int  # the first line of the statement
    at_import: bool  # no function contains it
    before: str
    after: str
    number: int = 0  # among those of the file that are otherwise equal

    @property
    def name(self) -> str:
        return f"{self.file} {self.number}: {self.before.strip()} → {self.after.strip()}"


def sample(root: Path, folders: Iterable[Path], count: int) -> list[Mutant]:
    """Return mutants chosen by a hash, so that a change of one module changes no other's."""
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    by_file = (mutants(path.read_text("utf-8"), str(path.relative_to(root))) for path in files)
    every = list(chain.from_iterable(by_file))
    every.sort(key=lambda mutant: hashlib.sha256((SEED + mutant.name).encode()).digest())
    by_line = {(mutant.file, mutant.line): mutant for mutant in reversed(every)}
    return [mutant for mutant in every if by_line[mutant.file, mutant.line] is mutant][:count]


def mutants(source: str, file: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    lines = source.encode().split(b"\n")
    equal: Counter[str] = Counter()
    for node, statement, at_import in _nodes(ast.parse(source), 1, at_import=True):
        for where, start, end, text in _changes(node, lines):
            line = lines[where.lineno - 1]
            after = (line[:start] + text.encode() + line[end:]).decode()
            mutant = Mutant(file, where.lineno, statement, at_import, line.decode(), after)
            yield mutant._replace(number=equal[mutant.name])
            equal[mutant.name] += 1


def _nodes(
    node: ast.AST, statement: int, *, at_import: bool
) -> Iterator[tuple[ast.AST, int, bool]]:
    """Yield what runs, with its statement's line; positions within f-strings are not reliable."""
    if isinstance(node, ast.stmt):
        statement = node.lineno
    yield node, statement, at_import
    at_import = at_import and not isinstance(node, FUNCTIONS)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_run = name not in {"annotation", "returns"} and not isinstance(child, ast.JoinedStr)
            if isinstance(child, ast.AST) and is_run:
                yield from _nodes(child, statement, at_import=at_import)


def _changes(node: ast.AST, lines: list[bytes]) -> Iterator[_Change]:
    match node:
        case ast.Compare(left=left, comparators=others):
            yield from _swapped((left, *others), lines)
        case ast.BoolOp(values=values):
            yield from _swapped(values, lines)
        case ast.BinOp(left=left, right=right) if not _is_text(left) and not _is_text(right):
            yield from _swapped((left, right), lines)
        case ast.UnaryOp(op=ast.Not()):
            yield node, node.col_offset, node.col_offset + len("not "), ""
        case ast.Constant(value=bool() | int() | float() as value):
            yield from _replaced(node, str(not value if isinstance(value, bool) else value + 1))
        case ast.If(test=test, body=[leaf], orelse=[]) if isinstance(leaf, LEAVES):
            yield from _replaced(test, "False")
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield from _replaced(value, "None")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


def _replaced(node: ast.expr, text: str) -> Iterator[_Change]:
    if node.end_lineno == node.lineno and node.end_col_offset is not None:
        yield node, node.col_offset, node.end_col_offset, text


def _swapped(operands: Iterable[ast.expr], lines: list[bytes]) -> Iterator[_Change]:
    for left, right in pairwise(operands):
        if left.end_lineno == right.lineno and left.end_col_offset is not None:
            between = lines[right.lineno - 1][left.end_col_offset : right.col_offset].decode()
            symbol = between.strip("() ")
            start = left.end_col_offset + between.index(symbol)
            for other in SWAPS.get(symbol, ()):
                yield right, start, start + len(symbol), other
