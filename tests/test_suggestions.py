# SPDX-License-Identifier: MPL-2.0
"""What was probably meant: one close name, or none."""

import time

import pytest

from io_benchmark.suggestions import did_you_mean

POOLS = ["amd-16", "amd-30", "intel"]


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("intle", POOLS, "intel"),
        ("Intel", POOLS, "intel"),
        ("amd-3", POOLS, "amd-30"),
        ("--basline", ["--baseline", "--margin"], "--baseline"),
        ("baseline", ["--baseline"], "--baseline"),
        # These options have only their dashes in common.
        ("--xy", ["--on", "--at"], ""),
        ("arm", POOLS, ""),
        ("", POOLS, ""),
        ("intle", [], ""),
    ],
)
def test_names(word: str, names: list[str], meant: str) -> None:
    """The closest name, as it is written; nothing where none is close."""
    assert did_you_mean(word, names) == (f"; did you mean {meant}?" if meant else "")


def test_hostile_names() -> None:
    """Names of results come from anywhere: many and long ones take no time."""
    started = time.process_time()
    did_you_mean("a" * 100_000, (f"{number}" * 1000 + "a" * 100_000 for number in range(2000)))
    did_you_mean("ab" * 5000, ("ab" * 49 + str(number % 10) for number in range(100_000)))
    assert time.process_time() - started < 5
