# SPDX-License-Identifier: MPL-2.0
"""The transforms of the kind `io-benchmark`, one per file, in the order of kind.yml."""

from collections.abc import Iterator
from typing import Any

Tasks = Iterator[dict[str, Any]]
