# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the golden files of histories hold; run as a program, it writes them anew."""

from collections.abc import Callable
from pathlib import Path

import sample_history
from checkout import ROOT

from io_benchmark.report.history import html, markdown

GOLDEN = ROOT / "tests" / "report" / "history" / "golden"


def golden_outputs() -> dict[str, Callable[[], str]]:
    """Each golden file's name and what makes it."""
    made = sample_history
    return {
        "one-change-80-columns.txt": lambda: made.on_terminal(made.one_change(), 80),
        "one-change-40-columns.txt": lambda: made.on_terminal(made.one_change(), 40),
        "one-change-in-colour.txt": lambda: made.on_terminal(made.one_change(), 80, colour=True),
        "there-and-back-80-columns.txt": lambda: made.on_terminal(made.there_and_back(), 80),
        "too-few-80-columns.txt": lambda: made.on_terminal(made.too_few(), 80),
        "steady-80-columns.txt": lambda: made.on_terminal(made.steady(), 80),
        "two-series-80-columns.txt": lambda: made.on_terminal(made.two_series(), 80),
        "hostile-80-columns.txt": lambda: made.on_terminal(made.hostile(), 80),
        "nothing-80-columns.txt": lambda: made.on_terminal(made.nothing(), 80),
        "one-change.md": lambda: markdown.render(made.one_change()),
        "two-series.md": lambda: markdown.render(made.two_series()),
        "hostile.md": lambda: markdown.render(made.hostile()),
        "nothing.md": lambda: markdown.render(made.nothing()),
        "one-change.html": lambda: html.render(made.one_change()),
        "hostile.html": lambda: html.render(made.hostile()),
        "nothing.html": lambda: html.render(made.nothing()),
    }


def main() -> None:
    folder: Path = GOLDEN
    folder.mkdir(parents=True, exist_ok=True)
    outputs = golden_outputs()
    for old in folder.iterdir():
        if old.name not in outputs:
            old.unlink()
    for name, make in outputs.items():
        (folder / name).write_bytes(make().encode())


if __name__ == "__main__":
    main()
