# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The first screen of a comparison: at most 23 lines, so that the prompt has the last one of 24."""

from collections.abc import Callable

from io_benchmark.report.content.first_screen import FirstScreen
from io_benchmark.report.content.tables import FiguresTable, MeasureTable
from io_benchmark.report.formats import Layout
from io_benchmark.report.formats.page import STYLES, Page
from io_benchmark.report.formats.styled_text import Text

_LINES = 23


def render_first_screen(
    screen: FirstScreen,
    layout: Layout,
    show_figures: Callable[[Page, FiguresTable], None],
    show_measures: Callable[[Page, MeasureTable], None],
) -> str:
    """Return the screen; where it would be full, what matters least is left out."""

    def write(part: FirstScreen) -> str:
        page = Page(layout)
        page.paragraph(part.title, "bold", indent="")
        if part.spaced:
            page.line()
        _show_lines(page, part)
        if part.figures is not None or part.measures is not None:
            page.line()
        if part.table_title:
            page.paragraph(f"{part.table_title}:")
        if part.figures is not None:
            show_figures(page, part.figures)
        if part.measures is not None:
            show_measures(page, part.measures)
        if part.spaced:
            page.line()
        page.paragraph(_rest(layout, part), "dim", indent="")
        return page.text()

    return screen.that_fits(write, _LINES - layout.lines_below)


def _show_lines(page: Page, screen: FirstScreen) -> None:
    for line in screen.lines:
        style = STYLES.get(line.verdict, "yellow" if line.mark == "!" else "bold")
        text = Text((line.lead, style), " " if line.lead and line.text else "", line.text)
        if line.mark:
            page.item(text, mark=line.mark)
        else:
            page.paragraph(text, indent="      ", first="    ")


def _rest(layout: Layout, screen: FirstScreen) -> str:
    rest = "Warnings and all else" if screen.hides_warnings else "Everything else"
    if layout.page:
        return f"{rest}: {layout.page}, or compare --details."
    return f"{rest}: compare --details, or as a page with --write html=FILE."
