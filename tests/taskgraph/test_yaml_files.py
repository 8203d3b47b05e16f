# SPDX-License-Identifier: MPL-2.0
"""Files that YAML would load as something else than what they say, or never."""

import pytest
from yaml import YAMLError

from io_benchmark_taskgraph import yaml_files
from io_benchmark_taskgraph.mistakes import UserMistake

NO_ALIAS = "is not supported; write the value out"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param("a: &x [1]\nb: *x", 2, f"the alias *x {NO_ALIAS}", id="alias"),
        pytest.param("a: 1\nb: &x [2, {c: *x}]", 2, f"the alias *x {NO_ALIAS}", id="in itself"),
        pytest.param(
            "[" * 51 + "]" * 51,
            1,
            "values are nested more than 50 deep; nest them less",
            id="lists in lists",
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
        "a: [b, b]\nc: b",
        "? [a]\n: a\n? {b: 1}\n: a\na: 1",
        "[" * 50 + "]" * 50,
    ],
)
def test_accepted(tmp_path, text):
    """The same key in two mappings, and values like keys."""
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
