# SPDX-License-Identifier: MPL-2.0
"""Files that YAML would load as something else than what they say, or never."""

import pytest
from user_mistakes import mistake
from yaml import YAMLError

from io_benchmark_taskgraph import mistakes

ALIAS = "a value that an alias repeats is not supported; write it out"
TWICE = "is given twice in one mapping and only the last would count; rename or remove one"


@pytest.fixture
def file(tmp_path):
    """A file of the kind in a tree; its other kinds and its configuration are not checked."""
    (tmp_path / "taskcluster/kinds/io-benchmark/pools").mkdir(parents=True)
    for other in ("config.yml", "kinds/a.yml"):
        (tmp_path / "taskcluster" / other).write_text("a: 1\na: 2")
    return tmp_path / "taskcluster/kinds/io-benchmark/kind.yml"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x [1]\nb: *x", f"1: {ALIAS}"),
        ("a: 1\nb: &x [2, {c: *x}]", f"2: {ALIAS}"),
        ("a:\n  b: 1\n  c: {d: 1}\n  b: 2", f"4: the key b {TWICE}"),
        ('? "a\\nb"\n: 1\n? "a\\nb"\n: 2', f"3: the key 'a\\nb' {TWICE}"),
    ],
)
def test_mistakes(file, text, problem):
    """One line: the file, the line in it, what is wrong and what to do; in every kind's files."""
    for path in (file, file.parent / "pools/more.yml"):
        path.write_text(text)
        name = path.relative_to(file.parents[3])
        assert mistake(mistakes.check_tree, file.parents[2]) == f"{name} line {problem}"
        path.unlink()


@pytest.mark.parametrize("text", ["", "? [a]\n: a\n? {b: 1}\n: a\na: 1"])
def test_accepted(file, text):
    """An empty file, and keys that are not texts, are for those who read the file."""
    file.write_text(text)
    mistakes.check_tree(file.parents[2])


def test_other_files(file):
    """What is not YAML is the loader's error, with the file's name.

    Reading a device may never end.
    """
    (file.parent / "more.yml").symlink_to("/dev/zero")
    text = "taskcluster/kinds/io-benchmark/more.yml: is not a regular file; remove it"
    assert mistake(mistakes.check_tree, file.parents[2]) == text
    file.write_text("a: [b\n")
    with pytest.raises(YAMLError) as caught:
        mistakes.check_tree(file.parents[2])
    assert f'in "{file}", line 2' in str(caught.value)
