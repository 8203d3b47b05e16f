# SPDX-License-Identifier: MPL-2.0
"""The line `try: -j NAME[,NAME] [--rebuild N]` of a commit message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.try_syntax import _Request, request

AMD_16 = _Request(("amd-16",))
RIGHT = "write try: -j NAME[,NAME] [--rebuild N] without spaces between the names"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("try: -j io-benchmark", _Request(("io-benchmark",)), id="one"),
        pytest.param("try: -j amd-16,intel", _Request(("amd-16", "intel")), id="two"),
        pytest.param("Faster\n\n  try:  -j  amd-16  \n\nmore", AMD_16, id="among lines"),
        pytest.param("try: -jamd-16", AMD_16, id="without a space"),
        pytest.param("try: -j=amd-16", AMD_16, id="with an equals sign"),
        pytest.param("Faster\r\n\r\ntry: -j amd-16\r\n", AMD_16, id="Windows line ends"),
        pytest.param("try: -j amd-16 --rebuild 6", _Request(("amd-16",), 6), id="rebuild after"),
        pytest.param("try: --rebuild 6 -j amd-16", _Request(("amd-16",), 6), id="rebuild before"),
        pytest.param("try: --rebuild=6 -j=a,b", _Request(("a", "b"), 6), id="rebuild with equals"),
        pytest.param("try: -j a --rebuild 1", _Request(("a",), 1), id="fewest"),
        pytest.param("try: -j a --rebuild 100", _Request(("a",), 100), id="most"),
        pytest.param("try: another approach", None, id="prose"),
        pytest.param("try: re-join the halves", None, id="prose with a hyphen"),
        pytest.param("try: a --rebuild-all of it", None, id="another option"),
        pytest.param("retry: -j amd-16", None, id="another word"),
        pytest.param("Please write try: -j amd-16", None, id="not at the start"),
        pytest.param("", None, id="empty"),
    ],
)
def test_messages(message, expected):
    """Only a separate line requests tasks, and only with -j; --rebuild comes before or after it."""
    assert request(message) == expected


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("try: -j amd-16, intel", id="space after the comma"),
        pytest.param("try: -j amd-16,,intel", id="two commas"),
        pytest.param("try: -j amd-16,", id="comma at the end"),
        pytest.param("try: -j", id="no name"),
        pytest.param("try: -b do -p linux64 -j amd-16", id="other options"),
        pytest.param("try: -j amd-16 -j intel", id="-j twice"),
        pytest.param("try: -j --all", id="an option for a name"),
        pytest.param("try: --rebuild 3", id="rebuild of nothing"),
        pytest.param("try: -j amd-16 --rebuild", id="rebuild without a number"),
        pytest.param("try: --rebuild -j amd-16", id="an option for a number"),
        pytest.param("try: -j amd-16 --rebuild 3 --rebuild 4", id="rebuild twice"),
        pytest.param("try: --rebuild 3 -j amd-16 --rebuild 4", id="rebuild around it"),
    ],
)
def test_mistakes(line):
    """A line that asks in another way is not guessed at."""
    with pytest.raises(UserMistake) as caught:
        request(f"Faster\n\n{line}\n")
    assert str(caught.value) == f"the commit message's line {line!r} is not understood; {RIGHT}"


@pytest.mark.parametrize("number", ["0", "101", "-3", "3.0", "six", "1" * 50])
@pytest.mark.parametrize("line", ["try: -j amd-16 --rebuild {}", "try: --rebuild {} -j amd-16"])
def test_numbers_out_of_bounds(line, number):
    """The number and its bounds are named."""
    written = line.format(number)
    with pytest.raises(UserMistake) as caught:
        request(written)
    assert str(caught.value) == (
        f"the commit message's line {written!r}: --rebuild {number} is not a whole number from 1 "
        f"to 100; {RIGHT}"
    )


def answer(message):
    try:
        return request(message)
    except UserMistake as error:
        return str(error)


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
    found = answer(message)
    if isinstance(found, str):
        assert found.splitlines() == [found]
    elif found is not None:
        assert all(name and name == name.strip() and "," not in name for name in found.jobs)
        assert found.replicates is None or 1 <= found.replicates <= 100
