# SPDX-License-Identifier: MPL-2.0
"""curl, as the workload `upload` uses it: its options, and what its lines say of each object."""

import os
import re
import shutil
from typing import List, Optional

from errors import SkippedError, WorkloadError
from log import NS_PER_S
from system import clock, processes, programs

CONFIG = "curl.config"
TOGETHER = ("concurrent", "http2")
MARK = "io-benchmark:"
OBJECT_TIMEOUT_S = 30
LOOPBACK = "http://127.0.0.1:"
OLDEST_CURL = (7, 67)  # --parallel, --no-progress-meter


class Curl:
    """One curl per set of objects, in the folder. SkippedError without a suitable curl.

    Its options are in a file there. Paths are relative: Windows' curl reads them in a code page.
    upload() yields (start_ns, end_ns, connections, http_version) per object, and adds what curl
    spent from its start to its end by `add_spent`. A refusal by the server or a network failure is
    a WorkloadError.
    """

    def __init__(self, folder, held):
        self._held = held
        self._folder = folder
        path = shutil.which("curl")
        if path is None:
            raise SkippedError("curl is not on PATH")
        answer = processes.output_of([path, "--version"])
        version = re.match(r"curl (([0-9]+)\.([0-9]+)[0-9.]*)", answer)
        if version is None or (int(version[2]), int(version[3])) < OLDEST_CURL:
            raise SkippedError("%s is not curl 7.67 or later" % path)
        self._path = os.path.abspath(path)
        self.name = "curl-" + version[1]
        self.has_http2 = re.search(r"^Features:.*\bHTTP2\b", answer, re.MULTILINE) is not None

    def upload(self, urls, file, way, add_spent, *, expect):
        """Yield each object when curl has sent it, and None from time to time."""
        self._write_config(urls, file, way, expect)
        program, started_ns = None, clock.now_ns()
        try:
            with self._held():
                # -q: ignore the settings in the user's home
                command = [self._path, "-q", "--config", CONFIG]
                program = programs.Program(command, self._folder)
            yield from self._follow(program, started_ns, add_spent, way)
        finally:
            if program is not None and program.exit_code is None:
                program.end()
                self._reap(program, started_ns, add_spent)

    def _reap(self, program, started_ns, add_spent):
        program.wait()
        wall_ns = clock.now_ns() - started_ns
        with self._held():
            add_spent(wall_ns, *program.reap())

    def _follow(self, program, started_ns, add_spent, way):
        """Yield an object only at the next one or the end: its answer may be incomplete."""
        pending, errors, held = b"", [], []
        place = list if way in TOGETHER else _one_after_another
        while True:
            data = program.read(0.5)
            if data is None:
                yield None
                continue
            now_ns = clock.now_ns()
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                message = line.decode("utf-8", "replace").strip()
                if message.startswith(MARK):
                    # 000, or 100 for Continue, without an answer: curl ends with the reason
                    is_answered = not message.startswith((MARK + " 0", MARK + " 1"))
                    try:
                        held.append(_parse_object(message, now_ns) if is_answered else None)
                    except WorkloadError:
                        yield from filter(None, place(held))
                        raise
                elif message:
                    errors.append(message)
            held = place(held)
            while len(held) > 1:
                yield held.pop(0)
            if not data:
                break
        self._reap(program, started_ns, add_spent)
        if program.exit_code != 0:
            reason = errors[0][:200] if errors else "status %d" % program.exit_code
            raise WorkloadError("the upload failed: %s" % reason)
        yield from filter(None, held)

    def _write_config(self, urls, file, way, expect):
        lines = [
            "silent",
            "no-progress-meter",  # --parallel has another one
            "show-error",
            "globoff",
            "fail-early",
            "http2" if way == "http2" else "http1.1",
            "max-time = %d" % OBJECT_TIMEOUT_S,
            'write-out = "%%{stderr}%s %%{http_code} %%{time_total} %%{num_connects} '
            '%%{http_version}\\n"' % ("\\n" + MARK),
            # curl does this by default for an upload, but not in every version.
            'header = "Expect:%s"' % (" 100-continue" if expect else ""),
        ]
        if urls[0].startswith(LOOPBACK):
            lines.append('noproxy = "*"')
        if way == "connection-each":
            lines.append('header = "Connection: close"')
        if way in TOGETHER:
            lines += ["parallel", "parallel-max = %d" % len(urls)]
        if way == "concurrent":
            lines.append("parallel-immediate")
        for url in urls:
            lines.append("url = %s" % _quoted(url))
            lines.append("upload-file = %s" % _quoted(file))
            lines.append("output = %s" % _quoted(os.devnull))
        with open(os.path.join(self._folder, CONFIG), "w", encoding="utf-8") as config:
            config.write("\n".join(lines) + "\n")


def _quoted(word):
    return '"%s"' % word.replace("\\", "\\\\").replace('"', '\\"')


def _parse_object(message, now_ns):
    code, total_s, connections, version = message[len(MARK) :].split()
    if not code.startswith("2"):
        raise WorkloadError("the server answered HTTP %s" % code)
    duration_ns = int(float(total_s) * NS_PER_S)
    return now_ns - duration_ns, now_ns, int(connections), version


def _one_after_another(objects):
    """Return objects that curl sent in this order, each before the next one began.

    It tells how long each took, and not when. Of several whose lines are read at once, because this
    process had to wait, only the last one's end is known; the others ended before.
    """
    placed: List[Optional[tuple]] = []
    next_ns = None
    for sent in reversed(objects):
        if sent is None:
            placed.append(None)
            continue
        start_ns, end_ns, *facts = sent
        late_ns = 0 if next_ns is None else max(0, end_ns - next_ns)
        next_ns = start_ns - late_ns
        placed.append((next_ns, end_ns - late_ns, *facts))
    placed.reverse()
    return placed
