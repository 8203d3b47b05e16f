# SPDX-License-Identifier: MPL-2.0
"""Deployments on the loopback, asked by a policy that does not wait."""

import pytest
from loopback import Loopback
from loopback_deployment import Deployment
from no_pauses import policy, waits

__all__ = ["policy", "waits"]


@pytest.fixture
def loopback():
    """Return the recorded deployment, which answers."""
    with Loopback() as running:
        yield running


@pytest.fixture
def deployment():
    """Return an empty deployment."""
    return Deployment()
