# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Sections of a page of documentation, Markdown or reStructuredText: find, put, remove.

Firefox's generator looks for each kind and each attribute as a heading: `## NAME` in Markdown,
`NAME` above a line of dashes or the like in reStructuredText.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from io_benchmark.errors import IoBenchmarkError
from io_benchmark.firefox import text_lines

_MARKDOWN_HEADING = re.compile(r"(#{1,6}) +(\S.*?)[ #]*")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1*")
# They stand at the end of a page and belong to all of it.
_LINK_TARGET = re.compile(r"\[[^\]]+\]: .*|\.\. _.*")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


@dataclass(frozen=True)
class _Heading:
    title: str
    level: int  # reStructuredText has none that could be seen here: all are 1
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
        # As docutils has it: shorter than its title, and than four, it is text.
        if not underline or not is_title or len(underline[0]) < min(4, len(line.rstrip())):
            continue
        over = at > 0 and bare[at - 1].rstrip() == following.rstrip()
        yield _Heading(line.rstrip(), 1, at - over, "" if over else underline[1])


def _is_filling(line: str) -> bool:
    return not line.strip() or bool(_LINK_TARGET.fullmatch(line))


@dataclass(frozen=True)
class _DocPage:
    lines: list[str]
    bare: list[str]
    headings: list[_Heading]
    markdown: bool

    def span(self, title: str) -> tuple[int, int] | None:
        """Return the lines of a section, from its heading to its last line with text."""
        for at, heading in enumerate(self.headings):
            if heading.title == title:
                others = self.headings[at + 1 :]
                following = (one.start for one in others if one.level <= heading.level)
                stop = next(following, len(self.lines))
                return heading.start, self._without_filling(heading.start, stop)
        return None

    def end(self) -> int:
        return self._without_filling(0, len(self.lines))

    def written(self, title: str, body: str) -> list[str]:
        if self.markdown:
            return [f"## {title}", "", *body.splitlines()]
        underlines = [heading.underline for heading in self.headings if heading.underline]
        underline = (underlines[-1] if underlines else "-") * len(title)
        return [title, underline, *_CODE.sub(r"``\1``", body).splitlines()]

    def _without_filling(self, start: int, stop: int) -> int:
        while stop > start and _is_filling(self.bare[stop - 1]):
            stop -= 1
        return stop


@dataclass(frozen=True)
class DocSections:
    """The entries of a page, by their titles. Bodies are given as Markdown paragraphs."""

    markdown: bool

    def _page(self, text: str) -> _DocPage:
        lines = text_lines.split(text)
        bare = [line.rstrip("\r\n") for line in lines]
        find = _markdown_headings if self.markdown else _rest_headings
        return _DocPage(lines, bare, list(find(bare)), self.markdown)

    def titles(self, text: str) -> list[str]:
        return [heading.title for heading in self._page(text).headings]

    def current(self, text: str, title: str) -> str | None:
        """The whole section as it stands there, heading included."""
        page = self._page(text)
        span = page.span(title)
        return None if span is None else "\n".join(page.bare[slice(*span)])

    def written(self, text: str, title: str, body: str) -> str:
        """The whole section as this page would hold it."""
        return "\n".join(self._page(text).written(title, body))

    def put(self, text: str, title: str, body: str) -> str:
        """Replace the section, or add it at the end of the page."""
        page = self._page(text)
        new = page.written(title, body)
        span = page.span(title)
        if span is None:
            after = text_lines.replace_lines(page.lines, page.end(), page.end(), ["", *new])
        else:
            after = text_lines.replace_lines(page.lines, *span, new)
        if self.current(after, title) != "\n".join(new):
            raise IoBenchmarkError(
                f"cannot add the section {title} to the end of the documentation page: a code "
                "block is not closed there; close it"
            )
        return after

    def remove(self, text: str, title: str) -> str:
        page = self._page(text)
        span = page.span(title)
        if span is None:
            return text
        start, stop = span
        if start > 0 and not page.bare[start - 1].strip():
            start -= 1
        return text_lines.replace_lines(page.lines, start, stop, [])
