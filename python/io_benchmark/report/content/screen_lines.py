# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A line of the first screen, and what is left out first where the screen is full."""

from msgspec import Struct

# Figures of a measurement, in the order in which they are left out.
COMPARED = "Compared avg"  # what a ratio is of, where that is not of the averages
ROWS = ("Total", "P50", "P95", "P99")
# The same order of everything: the lowest rank goes first.
NOTE, MEASURES, CONFIRM, AVERAGE, WHERE, TRY, ALWAYS = range(len(ROWS) + 1, len(ROWS) + 8)


class ScreenLine(Struct, frozen=True):
    lead: str
    text: str
    verdict: str = ""  # by which the lead is coloured
    mark: str = "-"  # nothing: it belongs to the line above
    rank: int = ALWAYS
