# SPDX-License-Identifier: MPL-2.0
"""Which tests run a line: what is recorded, looked up and said."""

import json
from pathlib import Path

import line_map
import pytest
from line_map import LineMap, Statement, lines_before, statement_at

SOURCE = '''"""A module."""

LIMIT = (
    1
)


def one(value):
    """A docstring."""
    if value:
        return [
            value,
        ]

    # a comment
    return None


class Two:
    @property
    def three(self):
        try:
            return LIMIT
        except ValueError:
            raise
'''
# By number, which a reader of SOURCE finds by its text.
NUMBERS = {text: at for at, text in enumerate(SOURCE.splitlines(), start=1)}


@pytest.mark.parametrize(
    ("text", "first", "last", "at_import"),
    [
        ("    1", "LIMIT = (", ")", True),
        ("def one(value):", "def one(value):", "def one(value):", False),
        ("    if value:", "    if value:", "    if value:", False),
        ("            value,", "        return [", "        ]", False),
        ("    return None", "    return None", "    return None", False),
        ("class Two:", "class Two:", "class Two:", True),
        ("    def three(self):", "    @property", "    def three(self):", False),
        ("            raise", "            raise", "            raise", False),
    ],
)
def test_statements(text, first, last, at_import):
    """A line belongs to its innermost statement, of which all lines count."""
    found = statement_at(SOURCE, NUMBERS[text])
    assert found == Statement(range(NUMBERS[first], NUMBERS[last] + 1), at_import)


@pytest.mark.parametrize("text", ['"""A module."""', '    """A docstring."""', "    # a comment"])
def test_lines_without_code(text):
    """Docstrings, comments and blank lines are none."""
    assert statement_at(SOURCE, NUMBERS[text]) is None


def test_lines_that_moved():
    """An equal line is looked up where it was; a new one by the lines around it."""
    then = ["a", "b", "c", "d"]
    assert lines_before(["new", *then], then, range(3, 4)) == {2}
    assert lines_before(["a", "B", "c", "d"], then, range(2, 3)) == {2}
    assert lines_before(["a", "b", "new", "c", "d"], then, range(3, 4)) == {2, 3}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A project of one module and two tests, in the place of this one."""
    module, tests = tmp_path / "python/two.py", tmp_path / "tests/test_two.py"
    module.parent.mkdir()
    module.write_text("def half(n):\n    if n % 2:\n        return None\n    return n // 2\n")
    tests.parent.mkdir()
    tests.write_text(
        "import two\n\n\ndef test_odd():\n    assert two.half(3) is None\n\n\n"
        "def test_even():\n    assert two.half(4) == 2\n"
    )
    monkeypatch.setattr(line_map, "ROOT", tmp_path)
    (tmp_path / ".tox").mkdir()
    return tmp_path


def run(capfd, *arguments):
    """Return the exit code, and what is said, without what pytest prints."""
    code = line_map.main([*arguments])
    return code, capfd.readouterr().err.splitlines()


def test_the_tests_of_a_line(checkout, monkeypatch, capfd):
    """What was recorded once is looked up from then on, also where the line has moved meanwhile."""
    # Without them pytest starts sooner.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    line_map.LineMap(checkout / ".tox/lines").record(["-q", "tests"], checkout)
    chosen = []

    def run_pytest(arguments, variables):
        tests = json.loads(Path(variables["CHOSEN_TESTS"]).read_text())
        chosen.append([*arguments, *(test.partition("::")[2] for test in tests)])
        return 0

    monkeypatch.setattr(line_map, "run_pytest", run_pytest)
    file = "python/two.py"
    capfd.readouterr()
    assert run(capfd, f"{file}:3", "-x") == (
        0,
        ["scripts/test --line: recorded tests that run this line: 1"],
    )
    assert run(capfd, f"{file}:2") == (
        0,
        ["scripts/test --line: recorded tests that run this line: 2"],
    )
    module = checkout / file
    module.write_text("# moved\n" + module.read_text())
    code, said = run(capfd, f"{file}:5")
    assert code == 0
    assert said[0].endswith(
        f"0 files of tests and {file} changed since then. Delete .tox/lines to record it again"
    )
    assert chosen == [
        ["tests/test_two.py", "-x", "test_odd"],
        ["tests/test_two.py", "test_even", "test_odd"],
        ["tests/test_two.py", "test_even"],
    ]


def test_the_first_call_records(checkout, monkeypatch, capfd):
    """It says so, and what a broken test run leaves is an error, not an empty record."""
    monkeypatch.setattr(line_map, "run_pytest", lambda _arguments, _variables: 2)
    assert run(capfd, "python/two.py:3") == (
        2,
        [
            (
                "scripts/test --line: recording which tests run which lines; this runs all tests "
                "once, for about 10 minutes"
            ),
            "error: the tests cannot be run, so their lines were not recorded",
        ],
    )
    assert not (checkout / ".tox/lines").exists()


def test_chosen_tests(checkout, monkeypatch, capfd):
    """pytest runs those of the chosen ids that there are."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    ids = checkout / "ids.json"
    ids.write_text(json.dumps(["tests/test_two.py::test_odd", "tests/test_two.py::test_gone"]))
    assert line_map.run_pytest(["-q", "tests"], {"CHOSEN_TESTS": str(ids)}) == 0
    assert "1 passed, 1 deselected" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("python/two.py", "not of the form FILE:NUMBER, such as python/io_benchmark/text.py:20"),
        ("python/three.py:1", "there is no such file in {root}"),
        (
            "tests/test_two.py:1",
            "only Python files in python/ and scripts/io-benchmark/ are recorded",
        ),
        ("python/two.py:5", "the file has 4 lines"),
        ("python/two.py:0", "the file has 4 lines"),
    ],
)
def test_mistakes(checkout, capfd, text, message):
    """Each is one line, and no test runs."""
    expected = f"error: --line {text}: {message.format(root=checkout)}"
    assert run(capfd, text) == (2, [expected])


def test_a_line_without_tests(checkout, capfd):
    """A module that no test imports has no record."""
    (checkout / ".tox/lines").mkdir()
    expected = "error: --line python/two.py:4: no recorded test runs this line"
    code, said = run(capfd, "python/two.py:4")
    assert (code, said[-1]) == (2, expected)


def test_modules_own_lines(tmp_path):
    """What runs when a module is imported is run by whoever calls a function of it."""
    (tmp_path / "two.py").write_text("LIMIT = 1\n")
    (tmp_path / "two.py.json").write_text(
        json.dumps({"source": "LIMIT = 1\n", "tests": {"test_a": "1", "test_b": "4"}})
    )
    statement = Statement(range(1, 2), at_import=True)
    assert LineMap(tmp_path).tests_of("two.py", statement, "LIMIT = 1\n") == (["test_a"], False)
