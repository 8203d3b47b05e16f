# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Sections of a page of documentation, Markdown or reStructuredText: find, put, remove.

Firefox's generator looks for each kind and each attribute as a heading: `## NAME` in Markdown,
`NAME` above a line of dashes or the like in reStructuredText.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import text_lines

_MARKDOWN_HEADING = re.compile(r"(#{1,6}) +(\S.*?)[ #]*")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1*")
# Link targets at the end of a page; they belong to the whole page, not to its last section.
_LINK_TARGET = re.compile(r"\[[^\]]+\]: .*|\.\. _.*")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


class _Heading(Struct, frozen=True):
    title: str
    level: int  # in reStructuredText always 1, because its underlines do not show the level
    start: int
    underline: str = ""


def _markdown_headings(bare: Sequence[str]) -> Iterator[_Heading]:
    fence = ""
    for at, line in enumerate(bare):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        heading = None if fence else _MARKDOWN_HEADING.fullmatch(line)
        if heading:
            yield _Heading(heading[2], len(heading[1]), at)


def _rest_headings(bare: Sequence[str]) -> Iterator[_Heading]:
    for at, (line, following) in enumerate(pairwise(bare)):
        underline = _UNDERLINE.fullmatch(following.rstrip())
        is_title = (
            line.strip() and not line[0].isspace() and not _UNDERLINE.fullmatch(line.rstrip())
        )
        # As in docutils: an underline shorter than its title, and than four characters, is text.
        if not underline or not is_title or len(underline[0]) < min(4, len(line.rstrip())):
            continue
        over = at > 0 and bare[at - 1].rstrip() == following.rstrip()
        yield _Heading(line.rstrip(), 1, at - over, "" if over else underline[1])


def _is_filling(line: str) -> bool:
    return not line.strip() or bool(_LINK_TARGET.fullmatch(line))


class DocPage:
    """The sections of a page, by their titles. Bodies are given as Markdown paragraphs."""

    def __init__(self, text: str, *, markdown: bool) -> None:
        self._markdown = markdown
        self._lines = text_lines.split(text)
        self._bare = [line.rstrip("\r\n") for line in self._lines]
        find = _markdown_headings if markdown else _rest_headings
        self._headings = list(find(self._bare))

    @property
    def titles(self) -> list[str]:
        return [heading.title for heading in self._headings]

    def current(self, title: str) -> str | None:
        """Return the whole section as the page has it, with its heading."""
        span = self._span(title)
        return None if span is None else "\n".join(self._bare[slice(*span)])

    def written(self, title: str, body: str) -> str:
        """Return the whole section in the form of this page."""
        return "\n".join(self._section(title, body))

    def put(self, title: str, body: str) -> str:
        """Replace the section, or add it at the end of the page."""
        new = self._section(title, body)
        span = self._span(title)
        if span is None:
            end = self._without_filling(0, len(self._lines))
            after = text_lines.replace_lines(self._lines, end, end, ["", *new])
        else:
            after = text_lines.replace_lines(self._lines, *span, new)
        if DocPage(after, markdown=self._markdown).current(title) != "\n".join(new):
            raise IoBenchmarkError(
                f"cannot add the section {title} to the end of the documentation page: a code "
                "block is not closed there; close it"
            )
        return after

    def _span(self, title: str) -> tuple[int, int] | None:
        """Return the lines of a section, from its heading to its last line with text."""
        for at, heading in enumerate(self._headings):
            if heading.title == title:
                others = self._headings[at + 1 :]
                following = (section.start for section in others if section.level <= heading.level)
                stop = next(following, len(self._lines))
                return heading.start, self._without_filling(heading.start, stop)
        return None

    def _section(self, title: str, body: str) -> list[str]:
        if self._markdown:
            return [f"## {title}", "", *body.splitlines()]
        underlines = [heading.underline for heading in self._headings if heading.underline]
        underline = (underlines[-1] if underlines else "-") * len(title)
        return [title, underline, *_CODE.sub(r"``\1``", body).splitlines()]

    def _without_filling(self, start: int, stop: int) -> int:
        while stop > start and _is_filling(self._bare[stop - 1]):
            stop -= 1
        return stop
