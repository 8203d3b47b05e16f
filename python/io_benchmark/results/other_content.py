# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a failed download leaves in the place of a result or an archive."""

# By the first bytes.
_OTHER_CONTENT = (
    (b"<", "is a web page, such as a login page; log in and download it again"),
    (b"\x1f\x8b", "is a compressed file; unpack it"),
    (b"version https://git-lfs", "is a pointer of Git LFS; run `git lfs pull`"),
)


def other_content(start: bytes) -> str | None:
    """Return what a file is, and what to do, if its start shows that a download failed."""
    if not start:
        return "is empty; download it again or measure again"
    found = (text for first, text in _OTHER_CONTENT if start.lstrip().startswith(first))
    return next(found, None)
