# SPDX-License-Identifier: MPL-2.0
"""A page's tags, attributes and text, as a browser parses them."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br"}
TAGS = {
    "html",
    "head",
    "meta",
    "link",
    "title",
    "style",
    "body",
    "main",
    "nav",
    "section",
    "header",
    "footer",
    "h1",
    "h2",
    "h3",
    "p",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "div",
    "span",
    "br",
    "strong",
    "em",
    "code",
    "a",
    "figure",
    "figcaption",
    "details",
    "summary",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "desc",
    "path",
    "circle",
    "line",
    "rect",
    "text",
}


class Page(HTMLParser):
    """Parses a page, and checks that its tags are nested."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(key, value or "") for key, value in attributes]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def assert_harmless(page: Page, scripts: int = 0) -> None:
    """Check that a page has only our tags, no handlers, and no addresses outside the page."""
    assert set(page.tags) - {"script"} <= TAGS
    assert page.tags.count("script") == scripts
    assert [key for key, _ in page.attributes if key.startswith("on")] == []
    addresses = {value for key, value in page.attributes if key in ("href", "src", "xlink:href")}
    anchors = {f"#{value}" for key, value in page.attributes if key == "id"}
    assert addresses - anchors == {"data:,"}
