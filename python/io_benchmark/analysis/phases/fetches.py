# SPDX-License-Identifier: MPL-2.0
"""How long fetch-content downloaded and unpacked, by the lines that it ends each with.

It fetches several files at once, and each is unpacked when it has arrived. Its lines may have no
stamps. So the time of all fetches is divided by what each kind of work took in sum.
"""

import re

from msgspec import Struct, field

from io_benchmark.analysis.phases.phase_model import PhaseName, Span

_S = 10**9
_MOST_FILES = 5_000
_SECONDS = rb"([0-9]{1,7}\.[0-9]{1,6})s"
_DOWNLOADING = re.compile(rb"Downloading (\S{1,2000}) to (\S.{0,2000})")
_DOWNLOADED = re.compile(
    rb"(\S{1,2000}) resolved to ([0-9]{1,15}) bytes with sha256 [0-9a-f]+ in " + _SECONDS
)
_UNPACKED = re.compile(rb"(.{1,2000}) extracted in " + _SECONDS)
_STREAMED = re.compile(rb"(\S{1,2000}) extracted to .{1,2000} in " + _SECONDS)
_SEPARATOR = re.compile(rb"[/\\]")


class _Work(Struct):
    """One kind of work on all files."""

    busy_ns: int = 0
    size_bytes: int = 0


class FetchTimes(Struct):
    """What the lines of one run of fetch-content say."""

    _urls: dict[bytes, bytes] = field(default_factory=dict)  # by the end of the file's path
    _downloads: dict[bytes, _Work] = field(default_factory=dict)  # by URL
    _downloaded: _Work = field(default_factory=_Work)
    _unpacked: _Work = field(default_factory=_Work)
    _streamed: _Work = field(default_factory=_Work)

    def read(self, message: bytes) -> None:
        if match := _matched(_DOWNLOADED, b" resolved to ", message):
            url, work = match[1], _Work(_nanoseconds(match[3]), int(match[2]))
            _add(self._downloaded, work)
            if len(self._downloads) < _MOST_FILES:
                self._downloads[url] = work
        elif match := _matched(_UNPACKED, b" extracted in ", message):
            url = self._urls.get(_end_of_path(match[1]), b"")
            size_bytes = self._downloads.get(url, _Work()).size_bytes
            _add(self._unpacked, _Work(_nanoseconds(match[2]), size_bytes))
        elif match := _matched(_STREAMED, b" extracted to ", message):
            # Its download was the same time, and had its own line.
            work = self._downloads.pop(match[1], _Work())
            self._downloaded.busy_ns -= work.busy_ns
            self._downloaded.size_bytes -= work.size_bytes
            _add(self._streamed, _Work(_nanoseconds(match[2]), work.size_bytes))
        elif len(self._urls) < _MOST_FILES:
            match = _matched(_DOWNLOADING, b"Downloading ", message)
            if match is not None:
                self._urls[_end_of_path(match[2])] = match[1]

    def spans(self, start_ns: int, duration_ns: int) -> list[Span]:
        """Divide the time of all fetches; pauses before a download is repeated belong to it."""
        works = {
            PhaseName.DOWNLOAD: self._downloaded,
            PhaseName.STREAMED: self._streamed,
            PhaseName.UNPACK: self._unpacked,
        }
        busy_ns = sum(work.busy_ns for work in works.values())
        times_ns = {
            phase: min(work.busy_ns, duration_ns * work.busy_ns // busy_ns) if busy_ns else 0
            for phase, work in works.items()
        }
        is_streamed = self._streamed.busy_ns > 0 and self._downloaded.busy_ns <= 0
        rest = PhaseName.STREAMED if is_streamed else PhaseName.DOWNLOAD
        times_ns[rest] += duration_ns - sum(times_ns.values())
        spans = []
        for phase, work in works.items():
            if times_ns[phase] or work.size_bytes:
                size_bytes, moved_ns = work.size_bytes or None, work.busy_ns or None
                spans.append(Span(phase, start_ns, times_ns[phase], size_bytes, moved_ns))
                start_ns += times_ns[phase]
        return spans


def _matched(pattern: re.Pattern[bytes], words: bytes, message: bytes) -> re.Match[bytes] | None:
    """Match a whole message; few contain the words, and a long one would take time to refuse."""
    return pattern.fullmatch(message) if words in message else None


def _end_of_path(path: bytes) -> bytes:
    """Return the name of a file, and of its folder, which fetch-content makes for each."""
    return b"/".join(_SEPARATOR.split(path)[-2:])


def _add(whole: _Work, work: _Work) -> None:
    whole.busy_ns += work.busy_ns
    whole.size_bytes += work.size_bytes


def _nanoseconds(seconds: bytes) -> int:
    return round(float(seconds) * _S)
