# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The transforms of the kind `io-benchmark`, one per file, in the order of kind.yml."""

from collections.abc import Iterator
from typing import Any

Tasks = Iterator[dict[str, Any]]
