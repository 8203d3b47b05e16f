# SPDX-License-Identifier: MPL-2.0
"""The line `try: -j NAME[,NAME] [--rebuild N]` of a commit message."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from user_mistakes import mistake

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.try_syntax import _Request, request

RIGHT = "write try: -j NAME[,NAME] [--rebuild N] without spaces between the names"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("try: -j io-benchmark", _Request(("io-benchmark",))),
        ("try: -j amd-16,intel", _Request(("amd-16", "intel"))),
        ("Faster\n\n  try:  -j  amd-16  \n\nmore", _Request(("amd-16",))),
        ("try: -jamd-16", _Request(("amd-16",))),
        ("try: -j=amd-16", _Request(("amd-16",))),
        ("Faster\r\n\r\ntry: -j amd-16\r\n", _Request(("amd-16",))),
        ("try: -j amd-16 --rebuild 6", _Request(("amd-16",), 6)),
        ("try: --rebuild 6 -j amd-16", _Request(("amd-16",), 6)),
        ("try: --rebuild=6 -j=a,b", _Request(("a", "b"), 6)),
        ("try: -j a --rebuild 1", _Request(("a",), 1)),
        ("try: -j a --rebuild 100", _Request(("a",), 100)),
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
    assert request(message) == expected


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
    assert mistake(request, f"Faster\n\n{line}\n") == text


@pytest.mark.parametrize("number", ["0", "101", "-3", "3.0", "six", "1" * 50])
@pytest.mark.parametrize("form", ["try: -j amd-16 --rebuild {}", "try: --rebuild {} -j amd-16"])
def test_numbers_out_of_bounds(form, number):
    """The line is quoted, with the right form."""
    line = form.format(number)
    assert mistake(request, line) == (
        f"the commit message's line {line!r}: --rebuild {number} is not a whole number from 1 "
        f"to 100; {RIGHT}"
    )


WORDS = st.lists(st.sampled_from(["-j", "--rebuild", "a", "a,b", "3", "0", "=", "-"]))


@given(
    st.one_of(
        st.text(),
        st.text().map("try: -j {}".format),
        WORDS.map(lambda words: "try: " + " ".join(words)),
    )
)
def test_any_message(message):
    """Whatever a message holds, the answer is names without commas or spaces, or one line."""
    parsed: Any
    try:
        parsed = request(message)
    except UserMistake as error:
        parsed = str(error)
    if isinstance(parsed, str):
        assert parsed.splitlines() == [parsed]
    elif parsed is not None:
        assert all(name and name == name.strip() and "," not in name for name in parsed.jobs)
        assert parsed.replicates is None or 1 <= parsed.replicates <= 100
