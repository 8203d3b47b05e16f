# SPDX-License-Identifier: MPL-2.0
"""What is added to a checkout, removed from it and refused."""

import re

import pytest

from io_benchmark.errors import IoBenchmarkError, UsageError
from io_benchmark.firefox.checkout import CONFIG, KINDS_PAGE, Checkout
from io_benchmark.firefox.kind import KIND, PROGRAM, TRANSFORMS

from .conftest import install, remove, snapshot


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_install_and_remove(firefox):
    """A run adds five files' content, the second nothing; --remove restores every byte and mode."""
    (firefox / CONFIG).chmod(0o640)
    before = snapshot(firefox)
    page = KINDS_PAGE
    assert install(firefox) == [KIND, PROGRAM, TRANSFORMS, page, CONFIG]
    after = snapshot(firefox)
    assert install(firefox) == []
    assert set(after) - set(before) == {KIND, PROGRAM, TRANSFORMS}
    for path in (page, CONFIG):
        lines, more = before[path][0].splitlines(True), iter(after[path][0].splitlines(True))
        assert all(line in more for line in lines)
        assert after[path][1] == before[path][1]
    assert remove(firefox) == [KIND, PROGRAM, TRANSFORMS, page, CONFIG]
    assert (snapshot(firefox), remove(firefox)) == (before, [])
    assert not (firefox / KIND).parent.exists()


@pytest.mark.parametrize("path", [KIND, PROGRAM, TRANSFORMS])
def test_nothing_is_overwritten(firefox, path):
    """A file that was edited there, or is of another version, stops everything until it is removed."""
    (firefox / path).parent.mkdir(exist_ok=True)
    (firefox / path).write_text("theirs\n")
    before = snapshot(firefox)
    with pytest.raises(IoBenchmarkError, match=rf"{path}: edited there .* nothing was written"):
        install(firefox)
    assert snapshot(firefox) == before
    assert remove(firefox) == [path]
    install(firefox)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param("'UV':", "'IOB': 'Else'\n        'UV':", "cannot be added", id="other name"),
        pytest.param("        'I': ", "        ? 'I'\n        : ", "cannot be added", id="no line"),
        pytest.param("group-names:", "names:", "has no group names", id="no names"),
        pytest.param("trust-domain: gecko", "trust-domain: [", "has no group names", id="no YAML"),
    ],
)
def test_group_name_that_cannot_be_added(firefox, old, new, problem):
    """The error names the file and the group."""
    edit(firefox / CONFIG, old, new)
    with pytest.raises(IoBenchmarkError, match=rf"config\.yml: .*{problem}.* IOB"):
        install(firefox)


def test_another_section(firefox):
    """A section of that name with other text is neither kept twice nor removed."""
    page = firefox / KINDS_PAGE
    install(firefox)
    edit(page, "The same I/O benchmark", "Some benchmark")
    for change in (install, remove):
        with pytest.raises(IoBenchmarkError, match="has another section io-benchmark"):
            change(firefox)


@pytest.mark.parametrize(
    "missing", [CONFIG, KINDS_PAGE, "taskcluster/gecko_taskgraph/transforms/task.py"]
)
def test_not_a_checkout(firefox, missing):
    """The message names the file by which a checkout is known."""
    (firefox / missing).unlink()
    with pytest.raises(UsageError, match=f"{re.escape(missing)} is missing; name the folder"):
        Checkout.open(firefox)


def test_not_text_and_not_a_file(firefox):
    """What cannot be read is one line with the reason."""
    page = firefox / KINDS_PAGE
    page.write_bytes(b"Task \xff")
    with pytest.raises(IoBenchmarkError, match="is not UTF-8 at byte 5; save it as UTF-8"):
        install(firefox)
    (firefox / KIND).mkdir(parents=True)
    with pytest.raises(IoBenchmarkError, match=r"kind\.yml: Is a directory"):
        install(firefox)
