# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The line `try: -j NAME[,NAME]` of a commit message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from io_benchmark_taskgraph.mistakes import UserMistake
from io_benchmark_taskgraph.try_syntax import jobs


@pytest.mark.parametrize(
    ("message", "names"),
    [
        pytest.param("try: -j io-benchmark", ["io-benchmark"], id="one"),
        pytest.param("try: -j amd-16,intel", ["amd-16", "intel"], id="two"),
        pytest.param("Faster\n\n  try:  -j  amd-16  \n\nmore", ["amd-16"], id="among lines"),
        pytest.param("try: -jamd-16", ["amd-16"], id="without a space"),
        pytest.param("try: -j=amd-16", ["amd-16"], id="with an equals sign"),
        pytest.param("Faster\r\n\r\ntry: -j amd-16\r\n", ["amd-16"], id="Windows line ends"),
        pytest.param("try: another approach", [], id="prose"),
        pytest.param("try: re-join the halves", [], id="prose with a hyphen"),
        pytest.param("retry: -j amd-16", [], id="another word"),
        pytest.param("Please write try: -j amd-16", [], id="not at the start"),
        pytest.param("", [], id="empty"),
    ],
)
def test_messages(message, names):
    """Only a line of its own asks, and only with -j."""
    assert jobs(message) == names


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
    ],
)
def test_mistakes(line):
    """A line that asks in another way is not guessed at."""
    with pytest.raises(UserMistake) as caught:
        jobs(f"Faster\n\n{line}\n")
    assert str(caught.value) == (
        f"the commit message's line {line!r} is not understood; write try: -j NAME[,NAME] without "
        "spaces between the names"
    )


def answer(message):
    try:
        return jobs(message)
    except UserMistake as error:
        return str(error)


@given(st.one_of(st.text(), st.text().map("try: -j {}".format)))
def test_any_message(message):
    """Whatever a message holds, the answer is names without commas or spaces, or one line."""
    found = answer(message)
    if isinstance(found, str):
        assert found.splitlines() == [found]
    else:
        assert all(name and name == name.strip() and "," not in name for name in found)
