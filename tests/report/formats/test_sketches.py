# SPDX-License-Identifier: MPL-2.0
"""Small lines in cells: drawn on a page, characters elsewhere."""

import re

import pytest

from io_benchmark.report.blocks import Document, Row, Sketch, Table
from io_benchmark.report.formats import Layout, markdown, page, text
from io_benchmark.report.formats.sketches import sketch

SKETCH = Sketch(
    "▅▅▁",
    label="Write: 400 <MiB/s>, then 300",
    spots=((0.0, 1.0), (0.5, 1.0), (1.0, 0.0)),
    changes=(0.75,),
)
IN_A_CELL = Document("title", [Table("Pool", ["12 months"], [Row("intel", [SKETCH])])])


def test_a_page_draws_it() -> None:
    """Values are in their order over the whole width, and a change is a line from top to bottom."""
    drawn = sketch(SKETCH)
    (line,) = re.findall('class="curve" d="M([^"]*)"', drawn)
    spots = [tuple(map(float, spot.split())) for spot in line.split("L")]
    assert spots == [(2, 2), (60, 2), (118, 22)]
    assert re.findall('class="change" d="([^"]*)"', drawn) == ["M89 0V24"]
    assert "<title>Write: 400 &lt;MiB/s&gt;, then 300</title>" in drawn
    assert drawn in page.render(IN_A_CELL, Layout())
    assert "▅" not in page.render(IN_A_CELL, Layout())


@pytest.mark.parametrize("form", [text, markdown])
def test_text_has_its_characters(form) -> None:
    """A terminal and Markdown show the line in characters, in its cell."""
    (row,) = [line for line in form.render(IN_A_CELL, Layout()).splitlines() if "intel" in line]
    assert "▅▅▁" in row


@pytest.mark.parametrize(
    ("spots", "curve"),
    [((), []), (((0.5, 0.5),), ["M60 12h0"])],
    ids=["without values", "one value"],
)
def test_few_values(spots, curve) -> None:
    """A single value is a point, and none is nothing."""
    assert (
        re.findall('class="curve" d="([^"]*)"', sketch(Sketch("", label="", spots=spots))) == curve
    )
