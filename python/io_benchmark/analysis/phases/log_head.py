# SPDX-License-Identifier: MPL-2.0
"""What a log says before the task's own work begins: a phase begins at each known line.

Whatever a task prints could look like these lines. So those of the worker count only before its
command starts, those of run-task only after that has started, and none once own work has begun.
"""

import re

from msgspec import Struct, field

from io_benchmark.analysis.phases.fetches import FetchTimes
from io_benchmark.analysis.phases.log_lines import StampedLine, parse_go_duration, parse_line
from io_benchmark.analysis.phases.measured_parts import parse_parts
from io_benchmark.analysis.phases.phase_model import Part, PhaseName
from io_benchmark.number_text import number_of, size

_S = 10**9
# A log of an hour has some thousand lines before its own work.
_MOST_LINES, MOST_HEAD_BYTES = 100_000, 16 * 1024 * 1024
_MOST_SEGMENTS, _MOST_PARTS = 5_000, 40
# What a shell or docker may print before run-task does, such as the layers of an image.
_LINES_BEFORE_RUN_TASK = 200
# By how much a command's own time and the stamps around it may differ.
TOLERANCE_NS, TOLERANCE_RATIO = 1 * _S, 0.02
_BACK_NS = 1 * _S  # writers do not wait for each other; a clock that was set differs by more

_POOL = re.compile(rb"Worker Type \(([\w.-]{1,100}/[\w.-]{1,100})\) settings:")
_TASK_ID = re.compile(rb"Task ID: ([\w-]{22})\b")
_COMMAND = re.compile(rb"Executing command ([0-9]{1,4}): ?(.*)", re.DOTALL)
_RUN_TASK = b"run-task"
_ANY_COMMAND = b"docker run " + _RUN_TASK  # docker-worker does not show which it is
_WALL_TIME = re.compile(rb"\s*Wall Time: (\S{1,60})")
# Not every version names the writer of these.
_MOUNT = re.compile(
    rb"\[mounts\] |Downloading (?:task|url) |Downloaded [0-9]+ bytes with |Found existing download "
    rb"|No SHA256 specified |(?:Copying|Decompressing|Extracting|Removing) \S* ?file "
    rb"|(?:Moving|No) existing writable directory cache |Granting |Successfully mounted "
)
_MOUNT_DOWNLOAD = re.compile(rb"Downloading (?:task \S+ artifact|url) (\S+) to ")
_UNPACKING = (b"Extracting ", b"Decompressing ", b"Copying ")
_HITS = (b"Found existing download ", b"No SHA256 specified ")
_LONG_CLAIM_NS = 2 * _S  # live log and proxy take a part of a second
_MOUNT_SIZE = re.compile(rb"Downloaded ([0-9]{1,15}) bytes with SHA256 ")
_WIRE_SIZE = re.compile(rb"Downloaded ([0-9]{1,9}(?:\.[0-9]{1,9})?) mb\b")
_LAYER = re.compile(rb"\S{1,200} - Downloaded in [0-9.]+ seconds")
_HG_SIZE = re.compile(
    rb"(?:transferred|stream-cloned [0-9]+ files /) ([0-9.]{1,12}) (bytes|KB|MB|GB) in "
    rb"([0-9.]{1,12}) seconds"
)
_HG_UNITS = {b"bytes": 1, b"KB": 1024, b"MB": 1024**2, b"GB": 1024**3}
_NOT_NAMED = (
    "not sure: its command does not name run-task, so that the task itself may have printed the "
    "lines of its checkout and fetches"
)
# The phases of run-task by the writers of its lines.
_OF_RUN_TASK = {
    b"cache": PhaseName.CACHES,
    b"chown": PhaseName.CACHES,
    b"volume": PhaseName.CACHES,
    b"vcs": PhaseName.CHECKOUT,
    b"fetches": PhaseName.DOWNLOAD,
    b"pip-install": PhaseName.PACKAGES,
    b"setup": PhaseName.OTHER,
    b"script": PhaseName.OTHER,
}
# docker-worker's lines about images, by how they begin.
_OF_DOCKER_WORKER = {
    b"using cache ": PhaseName.CACHES,
    b"Downloading artifact ": PhaseName.IMAGE_DOWNLOAD,
    b"Decompressing downloaded image": PhaseName.IMAGE_LOAD,
    b"Loading docker image from": PhaseName.IMAGE_LOAD,
    b"Image '": PhaseName.OTHER,
}


class Segment(Struct):
    """A phase from a line on, and what the lines within it say."""

    phase: PhaseName
    start_ns: int
    size_bytes: int = 0
    busy_ns: int = 0
    fetches: FetchTimes | None = None


class LogHead(Struct):
    """Reads lines until the task's own work has begun, or until there were too many."""

    segments: list[Segment] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    has_ended: bool = False
    pool: str = ""
    task_id: str = ""
    first_ns: int | None = None
    last_ns: int | None = None  # the newest stamp
    command_ns: int | None = None  # when the first command started
    steps_back: int = 0  # lines whose stamp is earlier than one before
    _started_ns: int = 0  # the newest command
    _commands: int = 0
    _is_container: bool = False
    _names_run_task: bool = False
    _has_run_task: bool = False
    _wall_ns: int | None = None  # of the newest command, if it ended
    _output_lines: int = 0
    _lines: int = 0
    _image: Segment | None = None  # the newest download of a mount
    _has_image_mount: bool = False
    _shows_image: bool = False

    def read(self, line: bytes) -> bool:
        """Read a line; return whether the next one is wanted as well."""
        self._lines += 1
        stamped = parse_line(line)
        if stamped is None:
            self._unstamped(line)
        else:
            # An own command may print any stamp.
            if not self.has_own_command or stamped.writer == b"taskcluster":
                self._note_time(stamped.time_ns)
            if self._has_run_task:
                self._run_task(stamped)
            elif self._commands:
                self._before_run_task(stamped)
            elif stamped.writer == b"taskcluster":
                self._worker(stamped)
        if self._lines >= _MOST_LINES:
            self.stop()
        return not self.has_ended

    def stop(self) -> None:
        """Read no further: there was too much before own work."""
        if not self.has_ended and (self._has_run_task or not self._commands):
            limit = f"{number_of(_MOST_LINES, 'line')} and {size(MOST_HEAD_BYTES)}"
            self.messages.append(f"its own work does not begin within the first {limit} of the log")
        self.has_ended = True

    @property
    def has_own_command(self) -> bool:
        """Return whether a command runs that is not known to be run-task."""
        return bool(self._commands) and not self._has_run_task

    def _note_time(self, time_ns: int) -> None:
        if self.first_ns is None or self.last_ns is None:
            self.first_ns = self.last_ns = time_ns
            self._enter(PhaseName.OTHER, time_ns)
        elif time_ns < self.last_ns - _BACK_NS:
            self.steps_back += 1
        self.last_ns = time_ns

    def _enter(self, phase: PhaseName, time_ns: int) -> Segment:
        """Return the segment of a phase, which may have begun before."""
        if self.segments and self.segments[-1].phase is phase:
            return self.segments[-1]
        return self._begin(phase, time_ns)

    def _begin(self, phase: PhaseName, time_ns: int) -> Segment:
        if len(self.segments) < _MOST_SEGMENTS:
            self.segments.append(Segment(phase, time_ns))
        return self.segments[-1]

    def _unstamped(self, line: bytes) -> None:
        """Read a line of a program that run-task or docker-worker does not put a stamp before."""
        if self._has_run_task:
            self._of_fetch_content(line)
            self._add_parts(line)
        elif self._commands:
            self._output_lines += bool(line.strip())
        elif self.last_ns is not None and _LAYER.match(line):
            self._enter(PhaseName.IMAGE_PULL, self.last_ns)

    def _worker(self, line: StampedLine) -> None:
        """Read a line of the worker before its first command."""
        message = line.message
        if _MOUNT.match(message):
            self._mount(message.removeprefix(b"[mounts] "), line.time_ns)
        elif message.startswith(b"[d2g] "):
            self._shows_image = True
            phase = PhaseName.OTHER
            if message.startswith(b"[d2g] Loading docker image"):
                phase = PhaseName.IMAGE_LOAD if self._has_image_mount else PhaseName.IMAGE_PULL
            self._enter(phase, line.time_ns)
        elif command := _COMMAND.match(message):
            self._command(line.time_ns, command[2])
        elif line.has_space:
            self._docker_worker(line)
        elif match := _POOL.match(message):
            self.pool = match[1].decode("ascii", "replace")
        elif match := _TASK_ID.match(message):
            self.task_id = match[1].decode("ascii", "replace")

    def _mount(self, message: bytes, time_ns: int) -> None:
        self._has_image_mount |= b"dockerimage" in message or b"/image.tar" in message
        if match := _MOUNT_DOWNLOAD.match(message):
            # Before version 96.7.1 only the artifact's name tells that it is the image.
            is_image = b"/image.tar" in match[1]
            self._image = self._begin(
                PhaseName.IMAGE_DOWNLOAD if is_image else PhaseName.CACHES, time_ns
            )
        elif match := _MOUNT_SIZE.match(message):
            if self._image is not None:
                self._image.size_bytes = int(match[1])
            self._begin(PhaseName.CACHES, time_ns)
        elif b"dockerimage" in message and message.startswith(_UNPACKING):
            self._enter(PhaseName.IMAGE_LOAD, time_ns)
        else:
            if message.startswith(_HITS) and self.segments[-1].phase is PhaseName.OTHER:
                self._remark_on_reading(time_ns - self.segments[-1].start_ns)
            if message.startswith(b'File mount "dockerimage"') and self._image is not None:
                self._image.phase = PhaseName.IMAGE_DOWNLOAD
            self._enter(PhaseName.CACHES, time_ns)

    def _remark_on_reading(self, passed_ns: int) -> None:
        """Say what may be in the time before a cached file: its line follows its reading."""
        if passed_ns >= _LONG_CLAIM_NS:
            self.messages.append(
                f"of {PhaseName.OTHER}, {passed_ns / _S:.1f} s are before the first cached file: "
                "the worker reads all of it to check it"
            )

    def _docker_worker(self, line: StampedLine) -> None:
        message = line.message
        if match := _TASK_ID.match(message):
            self.task_id = match[1].decode("ascii", "replace")
        elif message.startswith(b"=== Task Starting ==="):
            self._command(line.time_ns, _ANY_COMMAND)
        elif match := _WIRE_SIZE.match(message):
            self.segments[-1].size_bytes += round(float(match[1]) * 1024**2)
        else:
            for begin, phase in _OF_DOCKER_WORKER.items():
                if message.startswith(begin):
                    self._enter(phase, line.time_ns)

    def _command(self, time_ns: int, command: bytes) -> None:
        """Begin a command: own work, unless run-task turns out to be it."""
        self._commands += 1
        self._is_container = b"docker run" in command[:200]
        self._names_run_task = _RUN_TASK in command
        self._started_ns = time_ns
        self._output_lines, self._wall_ns = 0, None
        if self.command_ns is None:
            self.command_ns = time_ns
            if self._has_image_mount and not self._shows_image:
                self.messages.append(
                    "this version of the worker does not show when it loads the image: that is in "
                    f"{PhaseName.CACHES} or {PhaseName.CONTAINER_START}"
                )
        self._begin(PhaseName.OWN_WORK, time_ns)

    def _before_run_task(self, line: StampedLine) -> None:
        """Read what may come between the start of a command and that of run-task."""
        message = line.message
        if line.writer == b"setup" and message.startswith(b"run-task started"):
            if self._output_lines <= _LINES_BEFORE_RUN_TASK:
                self._has_run_task = True
                if not self._names_run_task:
                    self.messages.append(_NOT_NAMED)
                phase = PhaseName.CONTAINER_START if self._is_container else PhaseName.OTHER
                self.segments[-1].phase = phase
                self._enter(PhaseName.OTHER, line.time_ns)
        elif line.writer != b"taskcluster":
            self._output_lines += 1
        elif match := _WALL_TIME.match(message):
            wall_ns = parse_go_duration(match[1])
            passed_ns = line.time_ns - self._started_ns
            self._wall_ns = wall_ns if agree(wall_ns, passed_ns) else None
        elif self._wall_ns is not None:
            # The command before has ended, and says itself how long it took.
            match = _COMMAND.match(message)
            if match is not None and int(match[1]) == self._commands:
                self._command(line.time_ns, match[2])
        elif not self._output_lines:
            # Further lines of the command itself.
            self._names_run_task |= _RUN_TASK in message

    def _run_task(self, line: StampedLine) -> None:
        if line.writer == b"task":
            if line.message.startswith(b"executing "):
                self._enter(PhaseName.OWN_WORK, line.time_ns)
                self.has_ended = True
            return
        phase = _OF_RUN_TASK.get(line.writer)
        if phase is None:
            return
        is_end = line.message.startswith(b"finished fetching artifacts")
        segment = self._enter(PhaseName.OTHER if is_end else phase, line.time_ns)
        if phase is PhaseName.DOWNLOAD and not is_end and segment.fetches is None:
            segment.fetches = FetchTimes()
        elif phase is PhaseName.CHECKOUT and (match := _HG_SIZE.search(line.message[:300])):
            segment.size_bytes += round(_number(match[1]) * _HG_UNITS[match[2]])
            segment.busy_ns += round(_number(match[3]) * _S)
        # Firefox's run-task puts a stamp before these as well.
        self._of_fetch_content(line.message)
        self._add_parts(line.message)

    def _add_parts(self, message: bytes) -> None:
        self.parts += parse_parts(message)[: _MOST_PARTS - len(self.parts)]

    def _of_fetch_content(self, message: bytes) -> None:
        fetches = self.segments[-1].fetches
        if fetches is not None:
            fetches.read(message)


def agree(claimed_ns: int | None, passed_ns: int) -> bool:
    """Return whether a duration that a worker writes is that between the stamps around it."""
    if claimed_ns is None:
        return False
    return abs(claimed_ns - passed_ns) <= max(TOLERANCE_NS, TOLERANCE_RATIO * claimed_ns)


def _number(digits: bytes) -> float:
    try:
        return float(digits)
    except ValueError:
        return 0.0
