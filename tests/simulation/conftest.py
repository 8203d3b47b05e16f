# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How often each simulation is repeated: a short form by default, `--long` by `tox -e simulation`."""

import math

import pytest

SHORT, LONG = 200, 10_000


@pytest.fixture
def repetitions(request: pytest.FixtureRequest) -> int:
    return LONG if request.config.getoption("--long", default=False) else SHORT


@pytest.fixture
def tolerance(repetitions: int) -> float:
    """Three standard errors of a rate near 5 %: a rate that keeps its bar passes 999 times of 1000."""
    return 3 * math.sqrt(0.05 * 0.95 / repetitions)
