# SPDX-License-Identifier: MPL-2.0
"""A pytest plugin that records which tests run which lines, runs a mutant, or chooses tests by id.

RECORDED_LINES is a JSON file of lines by module; the record goes next to it. MUTANT is the path of
a module, a line's number, and the text to run instead. CHOSEN_TESTS is a JSON file of the ids of
the tests to run. The programs that tests start are neither recorded nor changed.
"""

import functools
import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ANY_LINE = 0  # stands for a call of any function of the module


class Recorder:
    """Writes a line for each test that passes: its id, its seconds, and the lines that it ran.

    The lines of a file are numbers, or null for all of them.
    """

    def __init__(self, lines: Path) -> None:
        self.lines = {
            file: None if wanted is None else set(wanted)
            for file, wanted in json.loads(lines.read_text()).items()
        }
        self.record = lines.with_name(f"{os.getpid()}.record")
        self.wanted: dict[CodeType, frozenset[int]] = {}
        self.hits: set[tuple[str, int]] = set()
        self.missing: dict[CodeType, set[int]] = {}  # the lines that this test did not run so far
        # A later test gets the value that a fixture of a wider scope made for an earlier one.
        self.fixtures: dict[object, set[tuple[str, int]]] = {}

    def trace(self, frame: FrameType, _event: str, _argument: object) -> Any:
        code, file = frame.f_code, frame.f_code.co_filename
        # Modules and classes run when they are first imported, whoever does it.
        if file not in self.lines or not code.co_flags & inspect.CO_OPTIMIZED:
            return None
        if code not in self.missing:
            self.hits.add((file, ANY_LINE))
            self.missing[code] = set(self.wanted_lines(code))
        missing = self.missing[code]
        if frame.f_lineno in missing:
            missing.remove(frame.f_lineno)
            self.hits.add((file, frame.f_lineno))
        if missing:
            return self.trace
        frame.f_trace_lines = False  # nothing more to see in this call
        return None

    def wanted_lines(self, code: CodeType) -> frozenset[int]:
        """Return the lines of a function that are recorded."""
        if code not in self.wanted:
            lines = {line for *_, line in code.co_lines() if line is not None}
            wanted = self.lines[code.co_filename]
            self.wanted[code] = frozenset(lines if wanted is None else lines & wanted)
        return self.wanted[code]

    def start(self) -> None:
        self.hits, self.missing = set(), {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        for module in [module for name, module in sys.modules.items() if name[:1] != "_"]:
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()  # else only the first test would run what made the value
        failures, started_s = item.session.testsfailed, time.monotonic()
        self.start()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        yield
        sys.settrace(None)
        threading.settrace(None)
        fixtures = item._fixtureinfo  # type: ignore[attr-defined]
        for definitions in fixtures.name2fixturedefs.values():
            self.hits.update(*(self.fixtures.get(one, ()) for one in definitions))
        if self.hits and item.session.testsfailed == failures:
            entry = (item.nodeid, time.monotonic() - started_s, sorted(self.hits))
            with self.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        before = self.hits
        self.start()
        yield
        if fixturedef.scope != "function":
            self.fixtures[fixturedef] = self.hits
        self.hits = before | self.hits


def run_mutant(path: str, number: int, text: str) -> None:
    """Have Python import the module with another line, also where its bytecode is cached."""
    get_code = SourceFileLoader.get_code

    def get_mutant(loader: Any, name: str) -> CodeType | None:
        if loader.path != path:
            return get_code(loader, name)
        lines = loader.get_data(path).decode().split("\n")
        lines[number - 1] = text
        return compile("\n".join(lines), path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_mutant  # type: ignore[assignment,method-assign]


def pytest_configure(config: pytest.Config) -> None:
    if "RECORDED_LINES" in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ["RECORDED_LINES"])))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not chosen; an id that is no more is no mistake."""
    if "CHOSEN_TESTS" not in os.environ:
        return
    chosen = set(json.loads(Path(os.environ["CHOSEN_TESTS"]).read_text(encoding="utf-8")))
    left_out = [item for item in items if item.nodeid not in chosen]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item.nodeid in chosen]


if "MUTANT" in os.environ:
    run_mutant(*json.loads(os.environ["MUTANT"]))
