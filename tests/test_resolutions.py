# SPDX-License-Identifier: MPL-2.0
"""How a run ended, in words."""

import re

import pytest
from checkout import ROOT

from io_benchmark.resolutions import IN_WORDS, in_words


@pytest.mark.parametrize(
    ("state", "reason", "words"),
    [
        ("exception", "worker-shutdown", "was preempted (worker-shutdown)"),
        ("exception", "some-new-reason", "is exception (some-new-reason)"),
        ("exception", None, "is exception"),
        ("failed", "failed", "failed"),
        ("failed", None, "failed"),
        ("running", None, "is running"),
        ("completed", "worker-shutdown", "is completed (worker-shutdown)"),
    ],
)
def test_words(state, reason, words):
    """A reason of the queue has its own words; one that is not known stays as it is."""
    assert in_words(state, reason) == words


def test_documented():
    """taskcluster/docs/measuring.md has every reason with its words, in this order."""
    page = (ROOT / "taskcluster/docs/measuring.md").read_text()
    table = page.partition("| the report says | `reasonResolved` |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([^`|]+) \| `([a-z-]+)`", table, re.MULTILINE)
    assert [(reason, words) for words, reason in rows] == list(IN_WORDS.items())
