# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Two ways to upload many objects: curl, and Python's http.client where there is no curl.

Each yields (start_ns, end_ns, connections, http_version) per object, by this process's clock. It adds what
was spent to `process_times`: by Python's threads while they upload, or by curl from its start to its end.
A refusal by the server or a network failure is a WorkloadError.
"""

import functools
import http.client
import os
import re
import select
import shutil
import signal
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import accounting
from crew import ending_with_parent
from early_end import WorkloadError
from log import NS_PER_S
from reading import output_of

MARK = "io-benchmark:"
OBJECT_TIMEOUT_S = 30
OLDEST_CURL = (7, 67)  # --parallel, --no-progress-meter


class Curl:
    """One curl per set of objects; its options are in a file."""

    def __init__(self, path, folder, is_loopback, held):
        self._path = path
        self._held = held
        self._config = os.path.join(folder, "curl.config")
        self._is_loopback = is_loopback

    @staticmethod
    def find():
        """Return (path, "curl-VERSION", offers HTTP/2?), or (None, reason, False)."""
        path = shutil.which("curl")
        if path is None:
            return None, "curl is not on PATH", False
        text = output_of([path, "--version"])
        version = re.match(r"curl (([0-9]+)\.([0-9]+)[0-9.]*)", text)
        if version is None:
            return None, "cannot read the version of %s" % path, False
        if (int(version[2]), int(version[3])) < OLDEST_CURL:
            return None, "curl %s is too old" % version[1], False
        features = re.search("^Features:.*$", text, re.MULTILINE)
        http2 = features is not None and "HTTP2" in features[0].split()
        return path, "curl-" + version[1], http2

    def upload(self, urls, file, way, process_times, expect=True):
        """Yield each object when curl has sent it, and None from time to time.

        Without `expect` curl sends no Expect header.
        """
        self._write_config(urls, file, way, expect)
        process, started_ns = None, time.monotonic_ns()
        try:
            with self._held():
                process = subprocess.Popen(
                    # -q: ignore the settings in the user's home
                    [self._path, "-q", "--config", self._config],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    preexec_fn=ending_with_parent(),  # noqa: PLW1509 - there are no threads here
                )
            yield from self._follow(process, started_ns, process_times)
        finally:
            if process is not None:
                if process.returncode is None:
                    os.kill(process.pid, signal.SIGKILL)
                    self._reap(process, started_ns, process_times)
                process.stderr.close()

    def _reap(self, process, started_ns, process_times):
        """Wait as the process' wait() does, and add what it spent."""
        accounting.wait_for(process.pid)
        wall_ns = time.monotonic_ns() - started_ns
        with self._held():
            waiting_ns = accounting.waiting_ns_of(process.pid)
            status, user_ns, kernel_ns = accounting.reap(process.pid)
            is_killed = os.WIFSIGNALED(status)
            process.returncode = (
                -os.WTERMSIG(status) if is_killed else os.WEXITSTATUS(status)
            )
            process_times.add(wall_ns, user_ns, kernel_ns, waiting_ns)

    def _follow(self, process, started_ns, process_times):
        """Yield an object only at the next one or the end: its answer may be incomplete."""
        pending, errors, held, open_end = b"", [], [], process.stderr.fileno()
        while True:
            if not select.select([open_end], [], [], 0.5)[0]:
                yield None
                continue
            data = os.read(open_end, 1 << 16)
            now_ns = time.monotonic_ns()
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                text = line.decode("utf-8", "replace").strip()
                if text.startswith(MARK):
                    yield from held
                    # 000, or 100 for Continue, without an answer: curl ends with the reason
                    is_answered = not text.startswith((MARK + " 0", MARK + " 1"))
                    held = [_parse_object(text, now_ns)] if is_answered else []
                elif text:
                    errors.append(text)
            if not data:
                break
        self._reap(process, started_ns, process_times)
        if process.returncode != 0:
            reason = errors[0][:200] if errors else "status %d" % process.returncode
            raise WorkloadError("the upload failed: %s" % reason)
        yield from held

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
        lines += ['noproxy = "*"'] if self._is_loopback else []
        lines += ['header = "Connection: close"'] if way == "connection-each" else []
        if way in ("concurrent", "http2"):
            lines += ["parallel", "parallel-max = %d" % len(urls)]
            lines += ["parallel-immediate"] if way == "concurrent" else []
        for url in urls:
            lines += ["url = %s" % _quoted(url), "upload-file = %s" % _quoted(file)]
            lines += ['output = "/dev/null"']
        with open(self._config, "wb") as config:
            config.write(os.fsencode("\n".join(lines) + "\n"))


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def _parse_object(text, now_ns):
    code, total_s, connections, version = text[len(MARK) :].split()
    if not code.startswith("2"):
        raise WorkloadError("the server answered HTTP %s" % code)
    duration_ns = int(float(total_s) * NS_PER_S)
    return now_ns - duration_ns, now_ns, int(connections), version


def upload_by_http_client(urls, file, way, process_times, _expect=False):
    """Do the same by Python, which never sends an Expect header."""
    with open(file, "rb") as opened:
        body = opened.read()
    if way == "concurrent":
        barrier = threading.Barrier(len(urls))
        with ThreadPoolExecutor(len(urls)) as pool:
            put = functools.partial(_put_at_once, barrier, body)
            for sent, spent in pool.map(put, urls):
                process_times.add(sent[1] - sent[0], *spent)
                yield sent
        return
    connection = None
    try:
        with accounting.Account() as account:
            for url in urls:
                account.begin()
                start_ns = time.monotonic_ns()
                is_new = connection is None
                connection = _connect(url) if is_new else connection
                try:
                    _put(connection, url, body)
                finally:
                    if way == "connection-each":
                        connection.close()
                        connection = None
                end_ns = time.monotonic_ns()
                process_times.add(end_ns - start_ns, *account.end())
                yield start_ns, end_ns, int(is_new), "1.1"
    finally:  # also when the caller has enough
        if connection is not None:
            connection.close()


def _put_at_once(barrier, body, url):
    """Return what the caller yields for the object, and what the thread spent."""
    with accounting.Account() as account:
        barrier.wait()
        account.begin()
        start_ns = time.monotonic_ns()
        connection = _connect(url)
        try:
            _put(connection, url, body)
        finally:
            connection.close()
        end_ns = time.monotonic_ns()
        return (start_ns, end_ns, 1, "1.1"), account.end()


def _connect(url):
    parts = urlsplit(url)
    options = {"port": parts.port, "timeout": OBJECT_TIMEOUT_S}
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(parts.hostname, context=context, **options)
    return http.client.HTTPConnection(parts.hostname, **options)


def _put(connection, url, body):
    parts = urlsplit(url)
    target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
    try:
        connection.request("PUT", target, body)
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException) as error:
        reason = "%s: %s" % (type(error).__name__, error)
        raise WorkloadError("the upload failed: %s" % reason) from None
    if not 200 <= answer.status < 300:
        raise WorkloadError("the server answered HTTP %d" % answer.status)
