# SPDX-License-Identifier: MPL-2.0
"""Fixtures: all requests obey a policy that does not wait, and records its waits."""

from datetime import UTC, datetime

import pytest

from io_benchmark.sources import web_client
from io_benchmark.sources.requests import RequestPolicy


@pytest.fixture
def waits() -> list[float]:
    """Return the list of waits, in seconds."""
    return []


@pytest.fixture(autouse=True)
def policy(waits: list[float], monkeypatch: pytest.MonkeyPatch) -> RequestPolicy:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    made = RequestPolicy(
        sleep=sleep,
        dice=lambda: 0.5,
        connect_s=60,
        silence_s=60,
        answer_s=120,
        now=lambda: datetime(2026, 11, 21, 12, 0, tzinfo=UTC),
    )
    monkeypatch.setattr(web_client, "RequestPolicy", lambda: made)
    return made
