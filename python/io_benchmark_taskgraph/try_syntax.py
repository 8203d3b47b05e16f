# SPDX-License-Identifier: MPL-2.0
"""Parse the line `try: -j NAME[,NAME] [--rebuild N]` of a commit message, in any order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from io_benchmark_taskgraph.mistakes import UserMistake, plain, shown
from io_benchmark_taskgraph.stanza import MAX_REPLICATES

_MARK = "try:"
_BLANK = " \t"
_OPTION = re.compile(r"-j|--rebuild(?![\w-])")
_JOBS = r"-j[ \t=]*(?P<jobs>[^\s,=-][^\s,]*(?:,[^\s,]+)*)"
_REBUILD = r"--rebuild(?:[ \t]+|=)(?P<rebuild>[^\s-]\S*|-\d\S*)"
_REQUESTS = tuple(
    re.compile(pattern)
    for pattern in (_JOBS, rf"{_JOBS}[ \t]+{_REBUILD}", rf"{_REBUILD}[ \t]+{_JOBS}")
)
_RIGHT = "try: -j NAME[,NAME] [--rebuild N] without spaces between the names"


@dataclass(frozen=True)
class _Request:
    jobs: tuple[str, ...]
    replicates: int | None = None


def _is_request(line: str) -> bool:
    """Return whether it is a line `try: …` with one of the options as a word."""
    text = line.lstrip(_BLANK)
    rest = text[len(_MARK) :]
    if not text.startswith(_MARK) or not rest.startswith(tuple(_BLANK)):
        return False
    return any(_OPTION.match(word) for word in re.split(f"[{_BLANK}]", rest))


def request(message: str) -> _Request | None:
    """Return the request of the message's `try:` line; None without such a line.

    A line `try: …` without `-j` or `--rebuild` is prose.
    """
    line = next((line for line in message.split("\n") if _is_request(line)), None)
    if line is None:
        return None
    where = f"the commit message's line {shown(line.strip())}"
    options = line.strip()[len(_MARK) :].strip()
    matches = (pattern.fullmatch(options) for pattern in _REQUESTS)
    match = next(filter(None, matches), None)
    if match is None:
        raise UserMistake(f"{where} is not understood; write {_RIGHT}")
    given = match.groupdict()
    jobs = tuple(given["jobs"].split(","))
    if given.get("rebuild") is None:
        return _Request(jobs)
    count = given["rebuild"]
    if re.fullmatch("[0-9]{1,9}", count) and 1 <= int(count) <= MAX_REPLICATES:
        return _Request(jobs, int(count))
    raise UserMistake(
        f"{where}: --rebuild {plain(count)} is not a whole number from 1 to "
        f"{MAX_REPLICATES}; write {_RIGHT}"
    )
