# SPDX-License-Identifier: MPL-2.0
"""A deployment on the loopback, and the program submit on it; a module chooses its `deployment`."""

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from loopback import Loopback
from loopback_deployment import Deployment
from submit_program import submit


@pytest.fixture
def loopback(deployment: Deployment) -> Iterator[Loopback]:
    with Loopback(deployment) as running:
        yield running


@pytest.fixture
def call(loopback: Loopback) -> Callable[..., tuple[int, str, str]]:
    return partial(submit, loopback)
