# SPDX-License-Identifier: MPL-2.0
"""The line `try: -j NAME[,NAME] [--rebuild N]` of a commit message."""

import pytest
from user_mistakes import mistake

from io_benchmark_taskgraph.selection import requested

RIGHT = "write try: -j NAME[,NAME] [--rebuild N] without spaces between the names"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("try: -j io-benchmark", (["io-benchmark"], 0)),
        ("try: -j amd-16,intel", (["amd-16", "intel"], 0)),
        ("Faster\n\n  try:  -j  amd-16  \n\nmore", (["amd-16"], 0)),
        ("try: -jamd-16", (["amd-16"], 0)),
        ("try: -j=amd-16", (["amd-16"], 0)),
        ("Faster\r\n\r\ntry: -j amd-16\r\n", (["amd-16"], 0)),
        ("try: -j amd-16 --rebuild 6", (["amd-16"], 6)),
        ("try: --rebuild 6 -j amd-16", (["amd-16"], 6)),
        ("try: --rebuild=6 -j=a,b", (["a", "b"], 6)),
        ("try: -j a --rebuild 1", (["a"], 1)),
        ("try: -j a --rebuild 100", (["a"], 100)),
        ("try: another approach", None),
        ("try: re-join the halves", None),
        ("try: a --rebuild-all of it", None),
        ("retry: -j amd-16", None),
        ("Please write try: -j amd-16", None),
        ("", None),
    ],
)
def test_messages(message, expected):
    """Only a separate line requests tasks, and only with -j; --rebuild comes before or after it."""
    assert requested(message) == expected


@pytest.mark.parametrize(
    "line",
    [
        *("try: -j amd-16, intel", "try: -j amd-16,,intel", "try: -j amd-16,", "try: -j"),
        *("try: -b do -p linux64 -j amd-16", "try: -j amd-16 -j intel", "try: -j --all"),
        *("try: --rebuild 3", "try: -j amd-16 --rebuild", "try: --rebuild -j amd-16"),
        *("try: -j a --rebuild 3 --rebuild 4", "try: --rebuild 3 -j a --rebuild 4"),
    ],
)
def test_mistakes(line):
    """A line that asks in another way is not guessed at."""
    text = f"the commit message's line {line!r} is not understood; {RIGHT}"
    assert mistake(requested, f"Faster\n\n{line}\n") == text


@pytest.mark.parametrize("number", ["0", "101", "-3", "3.0", "six", "1" * 50])
@pytest.mark.parametrize("form", ["try: -j amd-16 --rebuild {}", "try: --rebuild {} -j amd-16"])
def test_numbers_out_of_bounds(form, number):
    """The line is quoted, with the right form."""
    line = form.format(number)
    assert mistake(requested, line) == (
        f"the commit message's line {line!r}: --rebuild {number} is not a whole number from 1 "
        f"to 100; {RIGHT}"
    )
