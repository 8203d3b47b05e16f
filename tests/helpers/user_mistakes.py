# SPDX-License-Identifier: MPL-2.0
"""Mistakes in a kind's files, as taskgraph prints them."""

from collections.abc import Callable
from typing import Any

import pytest

from io_benchmark_taskgraph.mistakes import BadKeyError, UserMistake


def mistake(call: Callable[..., object], *arguments: Any, **keywords: Any) -> str:
    """Return the one line of the mistake that a call ends with."""
    with pytest.raises((BadKeyError, UserMistake)) as caught:
        call(*arguments, **keywords)
    assert "\n" not in str(caught.value)
    return str(caught.value)
