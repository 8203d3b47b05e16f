# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Files that YAML would load as something else than what they say, or never."""

import pytest
from yaml import YAMLError

from io_benchmark_taskgraph import yaml_files
from io_benchmark_taskgraph.mistakes import UserMistake

TOO_MANY = (
    "there are more than 100,000 values, with aliases written out; write fewer, or repeat fewer by "
    "aliases"
)
TOO_DEEP = "values are nested more than 50 deep, with aliases written out; nest them less"


def repeated(levels, first="[a]", each="[{}]"):
    """Each line is nine times the one before: nine to the power of the levels."""
    values = (each.format(",".join([f"*x{level - 1}"] * 9)) for level in range(1, levels))
    return "\n".join(f"x{level}: &x{level} {value}" for level, value in enumerate([first, *values]))


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param(repeated(10), 6, TOO_MANY, id="aliases of aliases"),
        pytest.param(
            repeated(10, "{a: 1}", "{{<<: [{}]}}"), 6, TOO_MANY, id="merged mappings of mappings"
        ),
        pytest.param("[" * 51 + "]" * 51, 1, TOO_DEEP, id="lists in lists"),
        pytest.param(
            "\n".join(["x0: &x0 []", *(f"x{i}: &x{i} [*x{i - 1}]" for i in range(1, 60))]),
            50,
            TOO_DEEP,
            id="aliases in aliases",
        ),
        pytest.param(
            "a: 1\nb: &name [2, {c: *name}]",
            2,
            "the alias *name is inside the value that it names, which would never end; write the "
            "value without it",
            id="an alias in itself",
        ),
        pytest.param(
            "a:\n  b: 1\n  c: {d: 1}\n  b: 2",
            4,
            "the key b is given twice in one mapping and only the last would count; rename or "
            "remove one",
            id="a key twice",
        ),
        pytest.param(
            '? "a\\nb"\n: 1\n? "a\\nb"\n: 2',
            3,
            "the key 'a\\nb' is given twice in one mapping and only the last would count; rename "
            "or remove one",
            id="a key of two lines",
        ),
    ],
)
def test_mistakes(tmp_path, text, line, problem):
    """One line: the file, the line in it, what is wrong and what to do."""
    file = tmp_path / "kind.yml"
    file.write_text(text)
    with pytest.raises(UserMistake) as caught:
        yaml_files._check(file, "x/kind.yml")
    assert str(caught.value) == f"x/kind.yml line {line}: {problem}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: {b: 1}\nc: {b: 1}",
        "a: [b, b]\nc: b\nd: *unknown",
        "a: &a {b: 1}\nc: [*a, *a]\nd: {<<: *a, b: 2}",
        "[" * 50 + "]" * 50,
        repeated(5),
    ],
)
def test_accepted(tmp_path, text):
    """The same key in two mappings, values as keys, aliases in moderation."""
    file = tmp_path / "kind.yml"
    file.write_text(text)
    yaml_files._check(file, "kind.yml")


def test_no_yaml(tmp_path):
    """What is not YAML is the loader's error, with the file's name, as taskgraph's own is."""
    file = tmp_path / "kind.yml"
    file.write_text("a: [b\n")
    with pytest.raises(YAMLError) as caught:
        yaml_files._check(file, "kind.yml")
    assert f'in "{file}", line 2' in str(caught.value)


def test_tree(tmp_path):
    """The configuration's and every kind's files are read, whichever transforms it has; a pipe or device is not."""
    for kind in ("a", "b"):
        (tmp_path / "taskcluster" / "kinds" / kind).mkdir(parents=True)
    (tmp_path / "taskcluster/kinds/a/kind.yml").write_text("a: 1")
    yaml_files.check_tree(tmp_path / "taskcluster")
    (tmp_path / "taskcluster/config.yml").write_text("a: &a [*a]")
    with pytest.raises(UserMistake, match=r"/config\.yml line 1: the alias"):
        yaml_files.check_tree(tmp_path / "taskcluster")
    (tmp_path / "taskcluster/config.yml").unlink()
    (tmp_path / "taskcluster/kinds/a/pools").mkdir()
    (tmp_path / "taskcluster/kinds/a/pools/more.yml").write_text("a: 1\na: 2")
    with pytest.raises(UserMistake, match=r"/kinds/a/pools/more\.yml line 2: the key a"):
        yaml_files.check_tree(tmp_path / "taskcluster")
    (tmp_path / "taskcluster/kinds/a/pools/more.yml").unlink()
    (tmp_path / "taskcluster/kinds/b/more.yml").symlink_to("/dev/zero")
    with pytest.raises(UserMistake) as caught:
        yaml_files.check_tree(tmp_path / "taskcluster")
    assert str(caught.value) == ("taskcluster/kinds/b/more.yml: is not a regular file; remove it")
