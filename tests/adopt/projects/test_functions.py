# SPDX-License-Identifier: MPL-2.0
"""Calls that are added to a project's functions, and what cannot be changed."""

import pytest

from io_benchmark.adopt.projects.functions import (
    DECISION_PARAMETERS,
    REGISTER,
    CannotAddError,
    add_call,
    with_call,
)

from .builders import added_lines, draft_of

# Modules, in which added lines begin with a plus.
DOCSTRING = '''\
"""A module."""

import os

+import io_benchmark_taskgraph
import other
from .a import b


def register(graph_config):
    """Do this.

    And that.
    """
+    io_benchmark_taskgraph.register(graph_config)
    b(os, other)
'''
STANDARD_LIBRARY = """\
from importlib import import_module
+
+import io_benchmark_taskgraph


def register(graph_config):
+    io_benchmark_taskgraph.register(graph_config)
    # What follows needs this.

    import_module("a")
"""
OWN_IMPORTS = """\
import abc
+
+import io_benchmark_taskgraph

from .a import b
from own_taskgraph.a import c


def register(config: "dict", /, more=1):
+    io_benchmark_taskgraph.register(config)
    return b, c, abc
"""
SORTED = """\
import abacus
import attr as other
+import io_benchmark_taskgraph
import taskgraph
from attr import b


def register(
    graph_config,
):
+  io_benchmark_taskgraph.register(graph_config)
  if b:
    return
"""
LAST_OF_OTHERS = """\
import abacus, attr
+import io_benchmark_taskgraph
class A:
    def register(self): ...
def register(graph_config):
+\tio_benchmark_taskgraph.register(graph_config)
\t@A
\tdef register(): ...
"""
ONLY_OWN = """\
# A licence.

+import io_benchmark_taskgraph
+
from .a import b
s = "a\x0c\u2028b"
def register(graph_config):
+    io_benchmark_taskgraph.register(graph_config)
    b(s); b(s)"""
NO_IMPORTS = """\
# A licence.

+import io_benchmark_taskgraph
+
+
@print
class A: ...
def register(graph_config):
+    io_benchmark_taskgraph.register(graph_config)
    @print
    class A: ...
"""


def registered(source):
    return with_call(source, "register", REGISTER, "own_taskgraph")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "module",
    [
        DOCSTRING,
        STANDARD_LIBRARY,
        OWN_IMPORTS,
        SORTED,
        LAST_OF_OTHERS,
        ONLY_OWN,
        NO_IMPORTS,
    ],
)
def test_added(module, end):
    """The import is in its place, and the call comes first; a second time adds nothing."""
    lines = module.split("\n")
    before = end.join(line for line in lines if not line.startswith("+"))
    after = end.join(line.removeprefix("+") for line in lines)
    assert registered(before) == after
    assert registered(after) == after


@pytest.mark.parametrize(
    "source",
    [
        "import io_benchmark_taskgraph as a\ndef register(g):\n    a.register(g)\n",
        "from io_benchmark_taskgraph import register as a\ndef register(g):\n    if g: a(g)\n",
        (
            "import io_benchmark_taskgraph.parameters\n"
            "def register(g):\n    io_benchmark_taskgraph.register(g)\n"
        ),
        (
            "def register(g):\n    import io_benchmark_taskgraph\n"
            "    return io_benchmark_taskgraph.register(g)\n"
        ),
    ],
)
def test_made_already(source):
    """A call that is there already is not added again."""
    assert registered(source) == source


def test_a_call_of_something_else():
    """A call of the same name, and an import under another name, are not the package's."""
    source = (
        "import io_benchmark_taskgraph as a\nfrom b import register as c\n"
        "def register(g):\n    c(a)\n    a.parameters.register()\n"
    )
    assert "    io_benchmark_taskgraph.register(g)\n    c(a)\n" in registered(source)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("", "has no register"),
        ("def other(g):\n    def register(g): ...\n", "has no register"),
        ("import a\nregister = a.b(1)\n", "register is not one plain function"),
        ("from a import b as register\n", "register is not one plain function"),
        ("class register:\n    def __init__(self, g): ...\n", "register is not one plain"),
        ("async def register(g):\n    pass\n", "register is not one plain function"),
        ("if 1:\n    def register(g):\n        pass\n", "register is not one plain function"),
        ("def register(g):\n    pass\nregister = 1\n", "register is not one plain function"),
        (
            "def register(g):\n    pass\ndef register(g):\n    pass\n",
            "register is not one plain function",
        ),
        ("@a\ndef register(g):\n    pass\n", "register is decorated"),
        ("def register():\n    pass\n", "register takes fewer parameters than graph_config"),
        ("def register(*, g):\n    pass\n", "register takes fewer parameters than graph_config"),
        ("def register(g): pass\n", "register is written on one line"),
        ("def register(\n  g): pass\n", "register is written in a way that cannot be changed"),
        ('import a; x = """\nb"""\ndef register(g):\n    pass\n', "register is written in a way"),
        ("def register(g):\n    pass\nx = (\n", "is not Python at line 3"),
        ("def register(g):\n    x = '\0'\n", "is not Python"),
        (f"def register(g):\n    x = {'-' * 3000}1\n", "is n"),
        (f"def register(g):\n    x = {'+'.join('1' * 2000)}\n", "is nested too deep to be read"),
        (f"def register(g):\n    x = {'+'.join('1' * 5000)}\n", "is n"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_refused(source, problem):
    """What is not one plain function stays as it is."""
    with pytest.raises(CannotAddError) as caught:
        registered(source)
    assert str(caught.value).startswith(problem)


def test_functions_of_a_project(tmp_path):
    """They are found where taskgraph imports them; both may be in one module."""
    package = "taskcluster/own_taskgraph/__init__.py"
    functions = (
        "import voluptuous\n\n\ndef register(graph_config):\n    pass\n\n\n"
        "def fill(config, values):\n    values['a'] = config\n"
    )
    draft = draft_of(tmp_path, {package: functions, "taskcluster/own.py": functions})
    add_call(draft, DECISION_PARAMETERS, "own_taskgraph:fill")
    add_call(draft, REGISTER, "own_taskgraph:register")
    add_call(draft, REGISTER, "own:register")
    fill = "    io_benchmark_taskgraph.parameters.decision_parameters(config, values)\n"
    register = "    io_benchmark_taskgraph.register(graph_config)\n"
    assert added_lines(draft) == {
        package: ["import io_benchmark_taskgraph.parameters\n", register, fill],
        "taskcluster/own.py": ["import io_benchmark_taskgraph\n", register],
    }
    assert draft.steps == []


@pytest.mark.parametrize(
    ("statement", "is_noted"),
    [
        ("values['target_tasks_method'] = 'pr'", True),
        ('values["target_tasks_method"]="pr"', True),
        ('return values["target_tasks_method"] == "pr"', False),
    ],
)
def test_a_project_that_selects_tasks(tmp_path, statement, is_noted):
    """Its choice wins over a request in a commit message, and that is said."""
    path = "taskcluster/own.py"
    draft = draft_of(tmp_path, {path: f"import a\ndef f(config, values):\n    {statement}\n"})
    add_call(draft, DECISION_PARAMETERS, "own:f")
    assert [note.split(";")[0] for note in draft.notes] == (
        [f"{path} sets target_tasks_method"] if is_noted else []
    )


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("own:register", "taskcluster/own.py: register is not one plain function there"),
        ("mozilla_taskgraph:register", "mozilla_taskgraph:register: is not a function in taskc"),
        ("own.Class:register.call", "own.Class:register.call: is not a function in taskcluster/"),
        ("..etc:register", "..etc:register: is not a function in taskcluster/"),
        (None, "None: is not a function in taskcluster/"),
    ],
)
def test_what_a_person_has_to_add(tmp_path, target, place):
    """One line says which call, where, and why it is not added."""
    draft = draft_of(tmp_path, {"taskcluster/own.py": "from other import register\n"})
    add_call(draft, REGISTER, target)
    (step,) = draft.steps
    assert step.startswith(
        "add io_benchmark_taskgraph.register(graph_config) to the project's register by hand, "
        f"because {place}"
    )
    assert draft.texts == {}
