# SPDX-License-Identifier: MPL-2.0
"""All requests obey a policy that waits for nothing."""

import pytest

from io_benchmark.sources import web_client
from io_benchmark.sources.requests import RequestPolicy


@pytest.fixture(autouse=True)
def _policy(monkeypatch):
    async def sleep(_seconds):
        pass

    made = RequestPolicy(sleep=sleep, dice=lambda: 0.5, connect_s=60, silence_s=60, answer_s=120)
    monkeypatch.setattr(web_client, "RequestPolicy", lambda: made)
