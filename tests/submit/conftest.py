# SPDX-License-Identifier: MPL-2.0
"""A policy that waits for nothing."""

import pytest

from io_benchmark.sources.requests import RequestPolicy


@pytest.fixture
def policy():
    async def sleep(_seconds):
        pass

    return RequestPolicy(sleep=sleep, dice=lambda: 0.5, connect_s=60, silence_s=60, answer_s=120)
