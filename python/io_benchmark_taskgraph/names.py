# SPDX-License-Identifier: MPL-2.0
"""Names of pools, and the symbols of their tasks on Treeherder. Standard library only."""

import re

# Perfherder takes the pool as an extra option of at most 45 characters.
POOL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,44}")
SYMBOL_LENGTH = 25  # Treeherder's limit
# How much of a symbol a pool may have, so that a replicate's number fits behind it, such as -100.
POOL_SYMBOL_LENGTH = SYMBOL_LENGTH - 4


def symbol_with(symbol: str, end: str) -> str:
    """Return a symbol with this end, cut before it where that is too long."""
    return symbol[: SYMBOL_LENGTH - len(end)] + end
