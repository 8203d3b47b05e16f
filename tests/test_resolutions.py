# SPDX-License-Identifier: MPL-2.0
"""How a run ended, in words."""

import pytest

from io_benchmark.resolutions import ending_in_words


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
    assert ending_in_words(state, reason) == words
