# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Sections of Markdown and reStructuredText pages."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox.doc_page import DocPage

MARKDOWN = partial(DocPage, markdown=True)
REST = partial(DocPage, markdown=False)
EITHER = [pytest.param(MARKDOWN, id="markdown"), pytest.param(REST, id="rst")]


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        pytest.param(
            MARKDOWN,
            "# Kinds\n\n## last\n\nText.\n",
            "# Kinds\n\n## last\n\nText.\n\n## io\n\nWhat `it` is.\n",
            id="markdown",
        ),
        pytest.param(
            MARKDOWN,
            "# Kinds\n\nSee [one].\n\n[one]: https://example.invalid\n",
            "# Kinds\n\nSee [one].\n\n## io\n\nWhat `it` is.\n\n[one]: https://example.invalid\n",
            id="markdown-before-link-targets",
        ),
        pytest.param(
            MARKDOWN,
            "# Kinds\n\n## last\n\nNo end",
            "# Kinds\n\n## last\n\nNo end\n\n## io\n\nWhat `it` is.\n",
            id="markdown-no-line-end",
        ),
        pytest.param(
            MARKDOWN,
            "# Kinds\r\n\r\nText.\r\n",
            "# Kinds\r\n\r\nText.\r\n\r\n## io\r\n\r\nWhat `it` is.\r\n",
            id="markdown-crlf",
        ),
        pytest.param(
            REST,
            "Kinds\n=====\n\nlast\n----\nText.\n",
            "Kinds\n=====\n\nlast\n----\nText.\n\nio\n--\nWhat ``it`` is.\n",
            id="rst",
        ),
        pytest.param(
            REST,
            "=====\nKinds\n=====\n\nlast\n====\nSee one_.\n\n.. _one: https://example.invalid\n",
            "=====\nKinds\n=====\n\nlast\n====\nSee one_.\n\nio\n==\nWhat ``it`` is.\n\n"
            ".. _one: https://example.invalid\n",
            id="rst-underlined-as-the-others",
        ),
    ],
)
def test_put_at_the_end(form, before, after):
    """A new section follows the last one, in the page's own form; other lines stay as they are."""
    assert form(before).current("io") is None
    assert form(before).put("io", "What `it` is.\n") == after
    assert form(after).put("io", "What `it` is.\n") == after


def test_replace():
    """A section that is there already keeps its place."""
    before = "# Kinds\n\n## io\n\nOld.\n\n### part\n\nOld too.\n\n## next\n\nText.\n"
    after = "# Kinds\n\n## io\n\nNew.\n\n## next\n\nText.\n"
    assert MARKDOWN(before).current("io") == "## io\n\nOld.\n\n### part\n\nOld too."
    assert MARKDOWN(before).put("io", "New.\n") == after


def test_a_block_of_code_has_no_headings():
    """What looks like a heading in one is text."""
    text = "# Kinds\n\n```yaml\n## io\n```\n\n~~~~\n```\n## io\n~~~~\n\n## other\n"
    assert MARKDOWN(text).titles == ["Kinds", "other"]


def test_a_block_of_code_that_is_never_closed():
    """A section at its end would be no section, so the page is refused."""
    with pytest.raises(
        IoBenchmarkError, match="the section io to the end of the documentation page: a code block"
    ):
        MARKDOWN("# Kinds\n\n```yaml\nkey: 1\n").put("io", "Text.\n")


def test_rest_titles():
    """Underlined lines are titles; a transition, a short rule and an indented block are not."""
    text = "Kinds\n=====\n\none\n---\n\n----\n\ntwo\n--\n\n    three\n    -----\n\nfour\n````\n"
    assert REST(text).titles == ["Kinds", "one", "four"]


@pytest.mark.parametrize("form", EITHER)
@given(text=st.text(alphabet="#`-= \n\r\tab[]:.\x0c\u2028", max_size=80))
def test_any_page(form, text):
    """Whatever a page holds: the section is found again, and every other line is still there."""
    if form(text).current("io") is not None:
        return
    try:
        added = form(text).put("io", "Text.\n")
    except IoBenchmarkError:
        assert form is MARKDOWN
        return
    assert form(added).current("io") == form(text).written("io", "Text.\n")
    assert form(added).put("io", "Text.\n") == added
    lines = iter(added.splitlines())
    assert all(line in lines for line in text.splitlines())
