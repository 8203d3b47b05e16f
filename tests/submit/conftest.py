# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A policy that waits for nothing."""

import pytest

from io_benchmark.sources.web.retrying import RequestPolicy


@pytest.fixture
def policy():
    async def sleep(_seconds):
        pass

    return RequestPolicy(sleep=sleep, dice=lambda: 0.5, connect_s=60, silence_s=60, answer_s=120)
