# SPDX-License-Identifier: MPL-2.0
"""Whatever a deployment answers instead of an explanation: one line, soon, and never a traceback."""

import json
import random

import pytest
from recorded_pushes import written

from io_benchmark.sources.taskcluster.access import Access

SHORT, LONG = 300, 20_000
ME = Access("https://tc.example", "https://tc.example", "as me", {"clientId": "me"})
MEGABYTE = 1024 * 1024
PIECES = (
    "```",
    "\n\n",
    '{"AnyOf": [',
    '{"AllOf": {"AnyOf": ',
    "]}",
    "null",
    "\x1b[2J",
    "\u202e",
    "  * data",
    " " * 50,
    "queue:create-task:low:a/b",
    '"queue:create-task:high:a/b", 1',
    "Stale timestamp",
    "9" * 5000,
    "\ud800",
)


def test_mutated_explanations(request):
    """Recorded texts with pieces put in and cut out."""
    count = LONG if request.config.getoption("--long") else SHORT
    dice = random.Random(9)
    messages = [
        body["message"]
        for one in written().values()
        if isinstance(body := one["response"]["body"], dict) and "message" in body
    ]
    for _ in range(count):
        text = dice.choice(messages)
        for _ in range(dice.randrange(1, 6)):
            begin, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
            text = (
                text[:begin] + dice.choice(PIECES) + text[end if dice.random() < 0.3 else begin :]
            )
        shown = ME.refusal(dice.choice((400, 401, 403, 409, 413)), text)
        assert len(shown) <= 2000
        assert shown.isprintable() or "\ud800" in text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```" + " " * MEGABYTE, id="spaces"),
        pytest.param("\n" * MEGABYTE, id="lines"),
        pytest.param("```" * (MEGABYTE // 3), id="fences"),
        pytest.param("```" + "[" * MEGABYTE + "```", id="brackets"),
        pytest.param("```" + '{"AnyOf":[' * 900 + "]}" * 900 + "```", id="nested"),
        pytest.param("```" + json.dumps({"AllOf": ["x"] * 100_000}) + "```", id="many scopes"),
        pytest.param("  * data\n" * (MEGABYTE // 9), id="complaints"),
    ],
)
@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_megabyte_of_it(status, text):
    """In linear time: with a pattern that tries again at each space this takes an hour."""
    assert len(ME.refusal(status, text)) <= 2000
