# SPDX-License-Identifier: MPL-2.0
"""Add a call to a function of the project: the one that taskgraph calls before it makes tasks.

Only lines are added. What they mean is checked: without the added statements, the module is as it
was before.
"""

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from io_benchmark.adopt.projects.draft import Draft, end_of_lines

_FOLDER = "taskcluster"  # the only folder that taskgraph puts on the path
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_TARGET = re.compile(r"([A-Za-z_][\w.]{0,200}):([A-Za-z_]\w{0,100})")

_SETS_METHOD = re.compile(r"""\[["']target_tasks_method["']\] *=(?!=)""")


class Call(NamedTuple):
    """A call that a project's function has to make."""

    key: str  # of the project's function, in config.yml
    module: str
    function: str
    parameters: tuple[str, ...]  # of the project's function, passed on

    def written(self, names: Sequence[str]) -> str:
        return f"{self.module}.{self.function}({', '.join(names)})"


REGISTER = Call("register", "io_benchmark_taskgraph", "register", ("graph_config",))
DECISION_PARAMETERS = Call(
    "decision-parameters",
    "io_benchmark_taskgraph.parameters",
    "decision_parameters",
    ("graph_config", "parameters"),
)


class CannotAddError(Exception):
    """Why the call cannot be added; it begins with what it is about."""


def add_call(draft: Draft, call: Call, target: object) -> None:
    """Add the call to the function that config.yml names; where that cannot be, say what to do."""
    place = str(target)
    try:
        path, name = _find(draft, str(target))
        place = path
        package = str(target).partition(":")[0].partition(".")[0]
        before = draft.content(path)
        draft.texts[path] = with_call(before, name, call, package)
        if call is DECISION_PARAMETERS and _SETS_METHOD.search(before):
            draft.notes.append(
                f"{path} sets target_tasks_method; where it does, such as for pull requests, a "
                "line try: of the commit message selects nothing"
            )
    except CannotAddError as reason:
        draft.steps.append(
            f"add {call.written(call.parameters)} to the project's {call.key} by hand, because "
            f"{place}: {reason}"
        )


def _find(draft: Draft, target: str) -> tuple[str, str]:
    """Return the module's file, and the function's name in it."""
    match = _TARGET.fullmatch(target)
    if match is not None:
        name = f"{_FOLDER}/{match[1].replace('.', '/')}"
        for path in (f"{name}/__init__.py", f"{name}.py"):
            if draft.exists(path):
                return path, match[2]
    raise CannotAddError(f"is not a function in {_FOLDER}/")


def with_call(source: str, name: str, call: Call, package: str = "") -> str:
    """Return a module's source with the call as the first statement of a function.

    It is the first, because a `return` may follow.
    """
    try:
        return _with_call(source, name, call, package)
    except RecursionError:
        raise CannotAddError("is nested too deep to be read") from None


def _with_call(source: str, name: str, call: Call, package: str) -> str:
    module = _parsed(source)
    function = _plain_function(module, name)
    if _makes(module, function, call):
        return source
    parameters = [part.arg for part in (*function.args.posonlyargs, *function.args.args)]
    passed = parameters[: len(call.parameters)]
    if len(passed) < len(call.parameters):
        raise CannotAddError(f"{name} takes fewer parameters than {', '.join(call.parameters)}")
    lines, end = _LINE.findall(source), end_of_lines(source)
    index, indentation = _start_of_body(function, lines)
    added = call.written(passed)
    lines.insert(index, f"{indentation}{added}{end}")
    imported = f"import {call.module}"
    if not _imports(module, call.module):
        index, imported_lines = _place_of_import(module, imported, package)
        lines[index:index] = [f"{line}{end}" for line in imported_lines]
    after = "".join(lines)
    _check_only_added(module, after, name, added, imported)
    return after


def _parsed(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # somebody's invalid escapes
        try:
            return ast.parse(source.encode())
        except SyntaxError as error:
            raise CannotAddError(f"is not Python at line {error.lineno}") from None
        except (ValueError, RecursionError, MemoryError):
            raise CannotAddError("is not Python that can be read") from None


def _plain_function(module: ast.Module, name: str) -> ast.FunctionDef:
    """Return the function of this name; refuse anything else that has the name."""
    defined = list(_definitions(module, name))
    function = defined[0] if len(defined) == 1 else None
    if not defined:
        raise CannotAddError(f"has no {name}")
    if not isinstance(function, ast.FunctionDef) or function not in module.body:
        raise CannotAddError(f"{name} is not one plain function there")
    if function.decorator_list:
        raise CannotAddError(f"{name} is decorated")
    return function


def _definitions(module: ast.Module, name: str) -> Iterator[ast.AST]:
    """Yield what gives the module's name a value: functions, classes, imports and assignments."""
    waiting: list[ast.AST] = list(reversed(module.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                yield node
            continue  # names inside are not the module's
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any((alias.asname or alias.name) == name for alias in node.names):
                yield node
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _makes(module: ast.Module, function: ast.FunctionDef, call: Call) -> bool:
    """Return whether the function makes the call already, under any name of what is imported."""
    names = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                names[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            first, dot, rest = _dotted(node.func).partition(".")
            if f"{names.get(first)}{dot}{rest}" == f"{call.module}.{call.function}":
                return True
    return False


def _dotted(node: ast.expr) -> str:
    """Return a name with its attributes; nothing for another expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def _start_of_body(function: ast.FunctionDef, lines: Sequence[str]) -> tuple[int, str]:
    """Return the index of the line behind the docstring, and the indentation of the body."""
    first = function.body[0]
    indentation = re.match(r"[ \t]*", lines[first.lineno - 1])[0]  # type: ignore[index]
    if first.lineno == function.lineno or not indentation:
        raise CannotAddError(f"{function.name} is written on one line")
    if ast.get_docstring(function, clean=False) is not None:
        return _end(first), indentation
    index = _first_line(first) - 1
    # A comment above the first statement is about that.
    while _is_blank_or_comment(lines[index - 1]):
        index -= 1
    return index, indentation


def _first_line(node: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _imports(module: ast.Module, name: str) -> bool:
    """Return whether the module can write this dotted name."""
    names = [
        alias.name
        for node in module.body
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.asname is None
    ]
    return any(f"{imported}.".startswith(f"{name}.") for imported in names)


def _place_of_import(module: ast.Module, statement: str, package: str) -> tuple[int, list[str]]:
    """Return the index of the line to insert an import at, and the lines: it with blank ones.

    The place is among the imports of other packages, sorted by name as isort and ruff do.
    """
    imports = [node for node in module.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    standard = [node for node in imports if _group(node, package) == "standard"]
    third_party = [node for node in imports if _group(node, package) == "third party"]
    for node in third_party:
        if isinstance(node, ast.ImportFrom) or f"import {node.names[0].name}" > statement:
            return node.lineno - 1, [statement]
    if third_party:
        return _end(third_party[-1]), [statement]
    if standard:
        return _end(standard[-1]), ["", statement]
    first = next(node for node in module.body if not _is_docstring(node))
    return _first_line(first) - 1, [statement, ""] if imports else [statement, "", ""]


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _group(node: ast.Import | ast.ImportFrom, package: str) -> str:
    if isinstance(node, ast.ImportFrom):
        name = "" if node.level else node.module or ""
    else:
        name = node.names[0].name
    root = name.split(".")[0]
    if not root or root == package:
        return "own"
    return "standard" if root in sys.stdlib_module_names else "third party"


def _check_only_added(before: ast.Module, source: str, name: str, call: str, imported: str) -> None:
    """Refuse a module that differs in more than the statements that were added."""
    with suppress(CannotAddError):
        after = _parsed(source)
        _remove_first(_plain_function(after, name).body, call)
        if not _imports(before, imported.removeprefix("import ")):
            _remove_first(after.body, imported)
        if ast.dump(after) == ast.dump(before):
            return
    raise CannotAddError(f"{name} is written in a way that cannot be changed safely")


def _remove_first(body: list[ast.stmt], statement: str) -> None:
    for node in body:
        if ast.unparse(node) == statement:
            body.remove(node)
            return
