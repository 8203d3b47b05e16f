# SPDX-License-Identifier: MPL-2.0
"""Run the tests that run a line: scripts/test --line FILE:NUMBER [PYTEST ARGUMENT...]

Which tests run which lines is recorded once, in .tox/lines, by all tests but those that measure,
simulate or install. Where the file has changed since then, the line is looked up where it was.
"""

import ast
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from line_plugin import ANY_LINE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORDED = ("python", "scripts/io-benchmark")
LEFT_OUT = ("container", "lab", "packaging", "scripts", "simulation")
WORKERS = min(len(os.sched_getaffinity(0)), 4)
FORM = re.compile(r"(.+):([0-9]+)")
EXIT_USAGE = 2


class LineError(Exception):
    """What was asked for cannot be answered: one line that says why."""


@dataclass(frozen=True)
class Statement:
    """The lines of the statement that contains a line."""

    lines: range
    at_import: bool  # no function contains it


def statement_at(source: str, number: int) -> Statement | None:
    """Return the innermost statement of a line; None where the line has no code."""
    return _innermost(ast.parse(source).body, number, at_import=True)


def _innermost(body: Iterable[ast.stmt], number: int, *, at_import: bool) -> Statement | None:
    for node in body:
        if not _first_line(node) <= number <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return None  # a docstring
        # The line of a function's name runs when it is called.
        at_import = at_import and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        inner = _statements_in(node)
        found = _innermost(inner, number, at_import=at_import)
        if found is not None:
            return found
        # A blank line or a comment between its statements is no code.
        end = min(map(_first_line, inner), default=(node.end_lineno or node.lineno) + 1)
        return Statement(range(_first_line(node), end), at_import) if number < end else None
    return None


def _first_line(node: ast.stmt) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.lineno


def _statements_in(node: ast.stmt) -> list[ast.stmt]:
    """Return the statements directly inside a compound one."""
    inner: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            inner.append(child)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            inner += child.body
    return inner


def lines_before(now: Sequence[str], then: Sequence[str], lines: range) -> set[int]:
    """Return the numbers that these lines had; of new lines, those of the lines around them."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, then, now, autojunk=False)
    for tag, then_start, then_end, now_start, now_end in matcher.get_opcodes():
        touched = [at for at in range(now_start, now_end) if at + 1 in lines]
        if not touched:
            continue
        if tag == "equal":
            found.update(then_start + at - now_start + 1 for at in touched)
        elif tag == "replace":
            found.update(range(then_start + 1, then_end + 1))
        else:
            found.update((then_start, then_start + 1))
    return found


class LineMap:
    """The recorded tests of each line, in a folder with a file for each module."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def is_there(self) -> bool:
        return self.folder.is_dir()

    def save(self, records: Iterable[str], root: Path) -> None:
        """Write a map of what the plugin recorded: of each test a number whose bits are lines."""
        masks: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for record in records:
            test, _, hits = json.loads(record)
            for file, line in hits:
                masks[file][test] |= 1 << line
        building = self.folder.with_name(f"{self.folder.name}-{os.getpid()}")
        for file, tests in masks.items():
            source = Path(file).relative_to(root)
            path = building / f"{source}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            hexadecimal = {test: f"{mask:x}" for test, mask in tests.items()}
            known = {"source": Path(file).read_text(encoding="utf-8"), "tests": hexadecimal}
            path.write_text(json.dumps(known), encoding="utf-8")
        shutil.rmtree(self.folder, ignore_errors=True)
        building.rename(self.folder)

    def tests_of(self, file: str, statement: Statement, source: str) -> tuple[list[str], bool]:
        """Return the tests that run a statement, and whether the file has changed since then."""
        path = self.folder / f"{file}.json"
        if not path.exists():
            return [], False
        known = json.loads(path.read_text(encoding="utf-8"))
        lines = {ANY_LINE}
        if not statement.at_import:
            then, now = known["source"].splitlines(), source.splitlines()
            lines = lines_before(now, then, statement.lines)
        mask = sum(1 << line for line in lines)
        tests = [test for test, hits in known["tests"].items() if int(hits, 16) & mask]
        return sorted(tests), known["source"] != source

    def record(self, tests: Sequence[str], root: Path) -> None:
        """Run the tests, and save which lines of the program each one that passes runs."""
        files = [path for folder in RECORDED for path in (root / folder).rglob("*.py")]
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder) / "lines.json"
            wanted.write_text(json.dumps(dict.fromkeys(map(str, files))), encoding="utf-8")
            options = ("-m", "not serial and not container", "-p", "no:cacheprovider")
            code = run_pytest([*options, *tests], {"RECORDED_LINES": str(wanted)})
            if code not in {0, 1}:  # passed, failed
                raise LineError("the tests cannot be run, so their lines were not recorded")
            parts = [path.read_text(encoding="utf-8") for path in Path(folder).glob("*.record")]
        self.save([line for part in parts for line in part.splitlines()], root)


def run_pytest(arguments: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run pytest with the plugin that records lines and chooses tests."""
    paths = os.pathsep.join((str(ROOT / "python"), str(HERE)))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "line_plugin", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, **variables},
        check=False,
    ).returncode


def asked_for(text: str) -> tuple[str, str, Statement]:
    """Return the file below the root, its text, and the statement that was named."""
    match = FORM.fullmatch(text)
    if match is None:
        example = "python/io_benchmark/text.py:20"
        raise LineError(f"--line {text}: not of the form FILE:NUMBER, such as {example}")
    path, number = (ROOT / match[1]).resolve(), int(match[2])
    if not path.is_file():
        raise LineError(f"--line {text}: there is no such file in {ROOT}")
    if path.suffix != ".py" or not any(path.is_relative_to(ROOT / name) for name in RECORDED):
        where = " and ".join(f"{name}/" for name in RECORDED)
        raise LineError(f"--line {text}: only Python files in {where} are recorded")
    source = path.read_text(encoding="utf-8")
    count = len(source.splitlines())
    if not 1 <= number <= count:
        raise LineError(f"--line {text}: the file has {count} lines")
    try:
        statement = statement_at(source, number)
    except SyntaxError as error:
        raise LineError(f"--line {text}: line {error.lineno} is not valid Python") from None
    if statement is None:
        raise LineError(f"--line {text}: this line has no code")
    return str(path.relative_to(ROOT)), source, statement


def say(text: str) -> None:
    print(f"scripts/test --line: {text}", file=sys.stderr, flush=True)


def run_tests_of(text: str, further: Sequence[str], line_map: LineMap) -> int:
    file, source, statement = asked_for(text)
    if not line_map.is_there:
        say("recording which tests run which lines; this runs all tests once, for about 10 minutes")
        left_out = [f"--ignore=tests/{name}" for name in LEFT_OUT]
        line_map.record(["-q", f"--numprocesses={WORKERS}", *left_out, "tests"], ROOT)
    tests, has_changed = line_map.tests_of(file, statement, source)
    recorded_s = line_map.folder.stat().st_mtime
    newer = [path for path in (ROOT / "tests").rglob("*.py") if path.stat().st_mtime > recorded_s]
    if has_changed or newer:
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(recorded_s))
        since = f"{len(newer)} files of tests" + (f" and {file}" if has_changed else "")
        folder = os.path.relpath(line_map.folder, ROOT)
        say(f"recorded {date}; {since} changed since then. Delete {folder} to record it again")
    if not tests:
        raise LineError(f"--line {text}: no recorded test runs this line")
    what = "call functions of this module" if statement.at_import else "run this line"
    say(f"recorded tests that {what}: {len(tests)}")
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as chosen:
        json.dump(tests, chosen)
        chosen.flush()
        files = sorted({test.partition("::")[0] for test in tests})
        there = [name for name in files if (ROOT / name).exists()]
        return run_pytest([*there, *further], {"CHOSEN_TESTS": chosen.name})


def main(arguments: Sequence[str]) -> int:
    if not arguments:
        arguments = [""]  # not of the form either
    try:
        return run_tests_of(arguments[0], arguments[1:], LineMap(ROOT / ".tox" / "lines"))
    except LineError as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_USAGE


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(EXIT_USAGE)
