# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How far the reading of results is, for whoever shows it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """`done` of `total` steps of what is being done; the total may not be known yet."""

    what: str
    done: int
    total: int | None
