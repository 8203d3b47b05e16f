# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Limits of a result file's size, in bytes and in parts.

The types limit every list, but only after decoding, when lists of lists take twenty times the file's
size. So a few characters are counted first. Characters inside texts are included: the counts are upper
bounds.
"""

# A run with all defaults has 0.2 MB. Each figure is about a hundred times what such a run has.
MAXIMUM_BYTES = 16 * 1024 * 1024
MAXIMUM_PARTS = (
    (b",", 1_000_000, "commas"),
    (b'"', 200_000, "quotation marks"),
    (b"{", 50_000, "objects"),
    (b"[", 20_000, "lists"),
)
# A file up to this size takes few MB in any case; counting would take longer than decoding.
SMALL_BYTES = 256 * 1024


def too_many_parts(data: bytes) -> str | None:
    """Return why `data` must not be decoded; None if it may be."""
    if len(data) <= SMALL_BYTES:
        return None
    for character, most, name in MAXIMUM_PARTS:
        count = data.count(character)
        if count > most:
            return f"holds {count:,} {name}, more than {most:,}"
    return None
