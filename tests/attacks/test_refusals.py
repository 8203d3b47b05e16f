# SPDX-License-Identifier: MPL-2.0
"""Whatever a deployment answers instead of an explanation: one line, soon, never a traceback."""

import json

import pytest

from io_benchmark.sources.taskcluster.access import Access

ME = Access("https://tc.example", "https://tc.example", "as me", {"clientId": "me"})
MEGABYTE = 1024 * 1024


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
