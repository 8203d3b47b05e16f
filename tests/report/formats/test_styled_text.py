# SPDX-License-Identifier: MPL-2.0
"""Styled text is shown exactly as rich shows it."""

import io

import rich.text
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from io_benchmark.report.formats.styled_text import shown, wrapped

STYLES = ("", "bold", "dim", "yellow", "bold red", "bold green", "bold cyan", "bold magenta")
# Wide characters and accents, blanks, line ends, and words that are longer than a line.
TEXTS = st.text(st.sampled_from("ab×─日\u0301 \n"), max_size=60)
PIECES = st.lists(st.tuples(TEXTS, st.sampled_from(STYLES)), max_size=4)


@given(PIECES, st.integers(12, 40), st.booleans(), st.booleans())
def test_as_rich(pieces, width, has_styles, has_colors):
    """Lines are broken and styled at the same places, with the same codes."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=has_styles,
        color_system="standard" if has_styles else None,
        no_color=not has_colors,
        _environ={},
    )
    for line in rich.text.Text.assemble(*pieces).wrap(console, width):
        line.rstrip()
        console.print(line, soft_wrap=True, highlight=False)
    lines = wrapped(pieces, width)
    texts = (shown(line, has_styles=has_styles, has_colors=has_colors) for line in lines)
    assert "".join(f"{text}\n" for text in texts) == stream.getvalue()


def test_numbers_keep_their_units():
    """A line does not end between a number and its unit."""
    pieces = [("it took about ", ""), ("146 ms", "bold"), (" for 3 workers", "")]
    assert list(wrapped(pieces, 18)) == [
        [("it took about ", ""), ("", "bold"), ("", "")],
        [("", ""), ("146 ms", "bold"), (" for 3 ", "")],
        [("", ""), ("", "bold"), ("workers", "")],
    ]
