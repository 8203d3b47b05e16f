# SPDX-License-Identifier: MPL-2.0
"""What is added to a checkout, updated and refused."""

import re

import pytest

from io_benchmark.adopt.firefox_checkout import CONFIG, KINDS_PAGES, Checkout
from io_benchmark.adopt.firefox_kind import FETCHES, KIND, PROGRAM, TRANSFORMS
from io_benchmark.errors import IoBenchmarkError, UsageError

from .conftest import install, snapshot

KINDS_PAGE, OLD_PAGE = KINDS_PAGES


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("is_embedded", "files", "page"),
    [
        (False, [KIND, TRANSFORMS], KINDS_PAGE),
        (False, [KIND, TRANSFORMS], OLD_PAGE),
        (True, [KIND, TRANSFORMS, PROGRAM], KINDS_PAGE),
    ],
)
def test_install(firefox, is_embedded, files, page):
    """A run adds files and entries, the second nothing; modes stay."""
    (firefox / KINDS_PAGE).rename(firefox / page)
    (firefox / CONFIG).chmod(0o640)
    before = snapshot(firefox)
    changed = [page, CONFIG, *([] if is_embedded else [FETCHES])]
    assert install(firefox, is_embedded) == [*files, *changed]
    after = snapshot(firefox)
    assert install(firefox, is_embedded) == []
    assert set(after) - set(before) == set(files)
    for path in changed:
        lines, more = before[path][0].splitlines(True), iter(after[path][0].splitlines(True))
        assert all(line in more for line in lines)
        assert after[path][1] == before[path][1]
    heading = "\nio-benchmark\n------------\n" if page == OLD_PAGE else "\n## io-benchmark\n"
    assert heading.encode() in after[page][0]


def test_update(firefox):
    """Files and the fetch of another version are replaced; what is around the fetch stays."""
    install(firefox)
    expected = snapshot(firefox)
    (firefox / KIND).write_text("older\n")
    edit(firefox / FETCHES, "\n    description: The worker's", "\n    description: An older")
    assert install(firefox) == [KIND, FETCHES]
    assert snapshot(firefox) == expected


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
    before = page.read_bytes()
    page.write_bytes(b"Task \xff")
    with pytest.raises(IoBenchmarkError, match="is not UTF-8 at byte 5; save it as UTF-8"):
        install(firefox)
    page.write_bytes(before)
    (firefox / KIND).mkdir(parents=True)
    with pytest.raises(IoBenchmarkError, match=r"kind\.yml: Is a directory"):
        install(firefox)
