# SPDX-License-Identifier: MPL-2.0
"""A pytest plugin that records which tests run which lines, or runs a mutant instead of a module.

MUTANT_LINES is a JSON file of lines by module; the record goes next to it. MUTANT is the path of a
module, a line's number, and the text to run instead. The programs that tests start run no mutant.
"""

import functools
import inspect
import json
import os
import sys
import threading
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ANY_LINE = 0  # stands for a call of any function of the module


class Recorder:
    """Writes a line for each test that passes: its id, its seconds, and the lines that it ran."""

    def __init__(self, lines: Path) -> None:
        self.lines = {file: set(wanted) for file, wanted in json.loads(lines.read_text()).items()}
        self.record = lines.with_name(f"{os.getpid()}.record")
        self.traced: dict[CodeType, bool] = {}
        self.hits: set[tuple[str, int]] = set()
        # A later test gets the value that a fixture of a wider scope made for an earlier one.
        self.fixtures: dict[object, set[tuple[str, int]]] = {}

    def trace(self, frame: FrameType, event: str, _argument: object) -> Any:
        code, file = frame.f_code, frame.f_code.co_filename
        # Modules and classes run when they are first imported, whoever does it.
        if file not in self.lines or not code.co_flags & inspect.CO_OPTIMIZED:
            return None
        if event == "call":
            self.hits.add((file, ANY_LINE))
            if code not in self.traced:
                self.traced[code] = any(line in self.lines[file] for *_, line in code.co_lines())
        if frame.f_lineno in self.lines[file]:
            self.hits.add((file, frame.f_lineno))
        return self.trace if self.traced[code] else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        for module in [module for name, module in sys.modules.items() if name[:1] != "_"]:
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()  # else only the first test would run what made the value
        self.hits, failures, started_s = set(), item.session.testsfailed, time.monotonic()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        yield
        sys.settrace(None)
        threading.settrace(None)
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            self.hits.update(*(self.fixtures.get(one, ()) for one in definitions))
        if self.hits and item.session.testsfailed == failures:
            entry = (item.nodeid, time.monotonic() - started_s, sorted(self.hits))
            with self.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        before, self.hits = self.hits, set()
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


def pytest_configure(config):
    if "MUTANT_LINES" in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ["MUTANT_LINES"])))


if "MUTANT" in os.environ:
    run_mutant(*json.loads(os.environ["MUTANT"]))
