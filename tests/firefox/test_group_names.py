# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The one line in taskcluster/config.yml."""

import re

import pytest
import yaml

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.group_names import GroupNames

from .conftest import HERE

CONFIG = (HERE / "checkout/taskcluster/config.yml").read_text()


def config(*lines, end="\n"):
    indented = ("  " + line for line in lines)
    return end.join(["treeherder:", "  group-names:", *indented, "index: {products: [x]}", ""])


def test_in_the_stand_in():
    """It follows the group whose key sorts just before, quoted as that one is; all else is the same."""
    after = GroupNames(CONFIG).put("IOB", "I/O benchmark")
    before, inserted, rest = after.partition("        'IOB': 'I/O benchmark'\n")
    assert before.endswith("        'I': 'Docker images'\n")
    assert inserted
    assert before + rest == CONFIG
    assert GroupNames(after).current("IOB") == "I/O benchmark"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        pytest.param(["  I: Docker", "  X: Tests"], "  IOB: I/O benchmark", id="plain"),
        pytest.param(['  "I": "Docker"'], '  "IOB": "I/O benchmark"', id="double-quotes"),
        pytest.param(["  'I': Docker  # why"], "  'IOB': I/O benchmark", id="remark"),
    ],
)
def test_form_of_the_neighbour(lines, line):
    """Indentation and quotes are the neighbour's."""
    after = GroupNames(config(*lines)).put("IOB", "I/O benchmark")
    assert after == config(lines[0], line, *lines[1:])


def test_before_all_others():
    """Where every key sorts behind it, it comes first."""
    assert GroupNames(config("  X: Tests")).put("IOB", "I/O") == config("  IOB: I/O", "  X: Tests")


def test_groups_of_other_forms():
    """They are passed over, and nothing is put into them."""
    before = config("  'A': 'x'", "  'I': >", "    folded", "  'J': [x]", "  'X': 'x'")
    after = config(
        "  'A': 'x'", "  'IOB': 'I/O'", "  'I': >", *["    folded"], "  'J': [x]", "  'X': 'x'"
    )
    assert GroupNames(before).put("IOB", "I/O") == after


def test_line_ends():
    """The line has the end of those around it."""
    before = config("  'I': 'Docker'", end="\r\n")
    after = GroupNames(before).put("IOB", "I/O")
    assert after == config("  'I': 'Docker'", "  'IOB': 'I/O'", end="\r\n")


def test_other_line_ends_of_yaml():
    """Above the groups they change nothing, though YAML counts them as lines."""
    above = "# \x85 \u2028 \u2029\r \n"
    after = GroupNames(above + config("  I: Docker")).put("IOB", "I/O")
    assert after == above + config("  I: Docker", "  IOB: I/O")


@pytest.mark.parametrize(
    "name",
    [
        "I/O benchmark",
        "it's",
        'a "b"',
        "a: b",
        "a # b",
        "null",
        "back\\slash",
        "{x}",
        "- x",
        "ä",
        "[x",
        "*x",
    ],
)
@pytest.mark.parametrize("style", ["", "'", '"'])
def test_any_name(name, style):
    """Whatever the name and the quotes there, the YAML says the name."""
    text = config(f"  {style}I{style}: {style}Docker{style}")
    for before in (text, GroupNames(text).put("IOB", "another one")):
        after = GroupNames(before).put("IOB", name)
        groups = yaml.safe_load(after)["treeherder"]["group-names"]
        assert groups == {"I": "Docker", "IOB": name}


def test_replace():
    """Of a group that is there, only the name changes."""
    before = config("  'I': 'Docker'", "  'IOB': 'Old'  # remark")
    after = config("  'I': 'Docker'", "  'IOB': 'New'  # remark")
    assert GroupNames(before).put("IOB", "New") == after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("treeherder:\n  group-names: {I: x}\n", "not written as a block", id="flow"),
        pytest.param("treeherder: {}\n", "group-names is missing", id="no-names"),
        pytest.param("other: 1\n", "treeherder is missing", id="no-treeherder"),
        pytest.param(config("  I: >", "    folded"), "no group is a name on one line", id="folded"),
        pytest.param(config("  ? I", "  : x"), "no group is a name on one line", id="complex"),
        pytest.param(
            config("  I: x", "  IOB: [x]"), "IOB in line 4 is not a name on one line", id="list"
        ),
        pytest.param(config("  IOB: x", "  IOB: y"), "IOB is given 2 times", id="twice"),
        pytest.param(
            config("  I: x", end="\r"), "line 1 does not begin with a group's key", id="cr"
        ),
    ],
)
def test_what_cannot_be_edited_safely(text, why):
    """A form that a line cannot be put into is refused, with what is wrong and what to do."""
    with pytest.raises(IoBenchmarkError, match=re.escape(why)) as caught:
        GroupNames(text).put("IOB", "I/O")
    assert str(caught.value).startswith("taskcluster/config.yml: ")
    assert str(caught.value).endswith("group-names with one line per group, as KEY: NAME")


def test_no_yaml():
    """A file that does not parse is named so, on one line."""
    with pytest.raises(
        IoBenchmarkError, match=r"config\.yml: is not valid YAML \(.*\); correct it first"
    ):
        GroupNames("treeherder: [\n").put("IOB", "I/O")
