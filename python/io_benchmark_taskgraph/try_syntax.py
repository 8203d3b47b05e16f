# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What a commit message asks for: a line `try: -j NAME[,NAME]`."""

import re

from io_benchmark_taskgraph.mistakes import UserMistake

_LINE = re.compile(r"^[ \t]*try:[ \t]+((?:.*[ \t])?-j.*)$", re.MULTILINE)
_REQUEST = re.compile(r"-j[ \t=]*([^\s,=-][^\s,]*(?:,[^\s,]+)*)")


def jobs(message: str) -> list[str]:
    """The names on the message's `try:` line; none where no line asks for jobs.

    A line `try: …` without `-j` is prose.
    """
    line = _LINE.search(message)
    if line is None:
        return []
    request = _REQUEST.fullmatch(line.group(1).strip())
    if request is None:
        raise UserMistake(
            f"the commit message's line {line.group(0).strip()!r} is not understood; "
            "write try: -j NAME[,NAME] without spaces between the names"
        )
    return request.group(1).split(",")
