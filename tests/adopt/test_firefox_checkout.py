# SPDX-License-Identifier: MPL-2.0
"""What is added to a checkout, updated and refused."""

import re

import pytest

from io_benchmark.adopt.firefox_checkout import CONFIG, KINDS_PAGES, Checkout
from io_benchmark.adopt.firefox_kind import FETCHES, KIND, TRANSFORMS
from io_benchmark.errors import IoBenchmarkError, UsageError

from .conftest import install, snapshot

KINDS_PAGE, OLD_PAGE = KINDS_PAGES


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize("page", KINDS_PAGES)
def test_install(firefox, page):
    """A run adds files and entries, the second nothing; modes stay."""
    (firefox / KINDS_PAGE).rename(firefox / page)
    (firefox / CONFIG).chmod(0o640)
    before = snapshot(firefox)
    changed = [page, CONFIG, FETCHES]
    assert install(firefox) == [KIND, TRANSFORMS, *changed]
    after = snapshot(firefox)
    assert install(firefox) == []
    assert set(after) - set(before) == {KIND, TRANSFORMS}
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
    edit(firefox / KIND, "retrieves 2000", "retrieves 1000")
    edit(firefox / FETCHES, "\n    description: The worker's", "\n    description: An older")
    assert install(firefox) == [KIND, FETCHES]
    assert snapshot(firefox) == expected


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param("'UV':", "'IOB': 'Else'\n        'UV':", "be added.* IOB", id="other name"),
        pytest.param("        'I': ", "        ? 'I'\n        : ", "be added.* IOB", id="no line"),
        pytest.param("group-names:", "names:", "has no group names.* IOB", id="no names"),
        pytest.param("workers:", "others:", "or no aliases of workers", id="no aliases"),
        pytest.param(
            *("b-linux(|-docker(|-x?large)-amd|", "b-linux-gcp(|"),
            r"has no alias b-linux-docker-amd, b-.*, but b-linux-gcp\(\|.*; name the pools as --pool",
            id="ESR",
        ),
    ],
)
def test_another_configuration(firefox, old, new, problem):
    """The error names the file, and the group or the aliases that are missing; nothing is written."""
    edit(firefox / CONFIG, old, new)
    before = snapshot(firefox)
    with pytest.raises(IoBenchmarkError, match=rf"config\.yml: .*{problem}"):
        install(firefox)
    assert snapshot(firefox) == before


@pytest.mark.parametrize(
    "missing", [CONFIG, KINDS_PAGE, "taskcluster/gecko_taskgraph/transforms/task.py"]
)
def test_not_a_checkout(firefox, missing):
    """The message names the file by which a checkout is known."""
    (firefox / missing).unlink()
    with pytest.raises(UsageError, match=f"{re.escape(missing)} is missing; name the folder"):
        Checkout.open(firefox)


def test_another_kind(firefox):
    """A kind of that name which the command did not write is not overwritten."""
    (firefox / KIND).parent.mkdir()
    (firefox / KIND).write_text("tasks: {}\n")
    before = snapshot(firefox)
    with pytest.raises(IoBenchmarkError, match="not written by io-benchmark firefox; rename that"):
        install(firefox)
    assert snapshot(firefox) == before


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
