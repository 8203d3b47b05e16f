# SPDX-License-Identifier: MPL-2.0
"""Many small objects over HTTP (seed 002): the cost of connections and of needless waiting.

  connection-each  one connection per object
  keep-alive       one connection, one object after another
  concurrent       many at once, one connection per object
  http2            many at once over one connection, or over several if the server accepts fewer per
                   connection; only with an https:// --upload-url

Measured: the time per object; of objects that are sent at once, the time of a set, from the first
one's start to the last one's end. Without --upload-url the objects go to this script's own server on
loopback. It waits before each answer, and once more on a new connection, as a distant server would.
Then nothing leaves this machine, and pools differ only by their own share. By curl; without it, the
workload is skipped. Also measured: what curl spent on a CPU and waiting for one, from its start to its end.
Not measured: bandwidth, the server's CPU.

curl sends Expect: 100-continue and waits one second for the answer. So a server that never answers costs
a second per object. Such objects are counted: they took about a second longer than the median of a few
objects that were sent without Expect.
"""

import asyncio
import contextlib
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import time

import kernel
from crew import Crew, ending_with_parent
from early_end import SkippedError, WorkloadError
from log import NS_PER_S
from measuring.batches import Batches

OBJECT_BYTES = 5 * 1024  # the seed's 75 files held 350 kB
FULL = {"objects": 200, "at_once": 50, "sets": 20, "delay_ns": 20_000_000, "time_limit_s": 30.0}
QUICK = {"objects": 20, "at_once": 10, "sets": 3, "delay_ns": 5_000_000, "time_limit_s": 3.0}
REFERENCE_OBJECTS = 3
STALL_NS = 900_000_000  # of curl's one second
TOGETHER = ("concurrent", "http2")
MARK = "io-benchmark:"
OBJECT_TIMEOUT_S = 30
LOOPBACK = "http://127.0.0.1:"
OLDEST_CURL = (7, 67)  # --parallel, --no-progress-meter


class _Upload(Batches):
    name = "upload"
    unit = "ms"
    unit_ns = 1_000_000
    maximum_s = 140
    per_place = False
    observes = ("method", "http_version", "connections", "without_expect_ns", "expect_100_stalls")
    names = ("connection-each", "keep-alive", "concurrent", "http2")
    full, quick = FULL, QUICK

    def variants(self):
        variants = super().variants()
        return variants[:-1] if self._bench.settings.upload_url is None else variants

    def parameters(self, variant):
        together, sizes = variant["variant"] in TOGETHER, self.sizes
        samples = sizes["sets" if together else "objects"]
        at_once = sizes["at_once"] if together else 1
        origin = self._bench.settings.upload_origin
        return {
            "target": origin or "loopback",
            "object_bytes": OBJECT_BYTES,
            "objects_planned": samples * at_once,
            "objects_at_once": at_once,
            "samples_planned": samples,
            "delay_ns": sizes["delay_ns"] if origin is None else None,
        }

    def prepare(self):
        self._file = os.path.join(self._folder, "object")
        with open(self._file, "xb") as file:
            file.write(os.urandom(OBJECT_BYTES))
        self._curl = _Curl(self._folder, self._bench.held)

    def measure(self, entry):
        way, url = entry["variant"], self._bench.settings.upload_url
        if way == "http2" and not self._curl.has_http2:
            raise SkippedError("%s offers no HTTP/2" % self._curl.name)
        if way == "http2" and not url.startswith("https:"):
            # Without TLS it would be an upgrade to h2c, which browsers and object stores do not support.
            raise SkippedError("HTTP/2 needs TLS: give an https:// --upload-url")
        entry["observed"]["method"] = self._curl.name
        if url is not None:
            self._measure_to(url, way, entry)
            return

        def work(_number, ready, tell):
            ready()
            asyncio.run(_serve(entry["parameters"]["delay_ns"] / NS_PER_S, tell))

        with Crew(1, work) as crew:
            port = next(self.take_messages(crew))[1]
            self._measure_to(LOOPBACK + str(port), way, entry)

    def _measure_to(self, url, way, entry):
        parameters, observed = entry["parameters"], entry["observed"]
        upload, expects = self._curl.upload, way != "http2"
        if expects:
            urls = _addresses(url, REFERENCE_OBJECTS)
            uploads = upload(urls, self._file, "keep-alive", lambda *_: None, expect=False)
            with contextlib.closing(uploads):
                observed["without_expect_ns"] = [sent[1] - sent[0] for sent in uploads if sent]
            observed["expect_100_stalls"] = 0
        observed["connections"] = 0
        self.begin(time.monotonic_ns())
        together = way in TOGETHER
        urls = _addresses(url, parameters["objects_at_once" if together else "objects_planned"])
        enough = False
        while not enough:
            # Closed at once: an interruption must not leave a curl running.
            uploads = upload(urls, self._file, way, self.add_spent, expect=expects)
            with contextlib.closing(uploads):
                enough = self._upload_set(uploads, together, entry)

    def _upload_set(self, uploads, together, entry):
        """Add the uploads of one set; return whether there are enough samples."""
        observed, times = entry["observed"], []
        for sent in uploads:
            now_ns = time.monotonic_ns()
            if sent is None:
                self.look_around(now_ns)
                if self._rows and now_ns >= self.deadline_ns:
                    return True
                continue
            start_ns, end_ns, connections, version = sent
            if entry["variant"] == "http2" and version != "2":
                raise SkippedError("the server speaks HTTP/%s" % version)
            observed["http_version"] = version
            observed["connections"] += connections
            times.append((start_ns, end_ns))
            if observed["without_expect_ns"]:
                usual_ns = statistics.median(observed["without_expect_ns"])
                observed["expect_100_stalls"] += end_ns - start_ns - usual_ns >= STALL_NS
            if not together and self.add([(start_ns, end_ns)]):
                return True
        if not together:
            return False
        starts_ns, ends_ns = zip(*times)
        return self.add([(min(starts_ns), max(ends_ns))], len(times))


class _Curl:
    """One curl per set of objects; its options are in a file. SkippedError without a suitable curl.

    upload() yields (start_ns, end_ns, connections, http_version) per object, and adds what curl spent from its
    start to its end by `add_spent`. A refusal by the server or a network failure is a WorkloadError.
    """

    def __init__(self, folder, held):
        self._held = held
        self._config = os.path.join(folder, "curl.config")
        path = shutil.which("curl")
        if path is None:
            raise SkippedError("curl is not on PATH")
        answer = kernel.output_of([path, "--version"])
        version = re.match(r"curl (([0-9]+)\.([0-9]+)[0-9.]*)", answer)
        if version is None or (int(version[2]), int(version[3])) < OLDEST_CURL:
            raise SkippedError("%s is not curl 7.67 or later" % path)
        self._path: str = path
        self.name = "curl-" + version[1]
        self.has_http2 = re.search(r"^Features:.*\bHTTP2\b", answer, re.MULTILINE) is not None

    def upload(self, urls, file, way, add_spent, *, expect):
        """Yield each object when curl has sent it, and None from time to time."""
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
            yield from self._follow(process, started_ns, add_spent)
        finally:
            if process is not None:
                if process.returncode is None:
                    os.kill(process.pid, signal.SIGKILL)
                    self._reap(process, started_ns, add_spent)
                process.stderr.close()

    def _reap(self, process, started_ns, add_spent):
        """Wait as the process' wait() does, and add what it spent."""
        kernel.wait_for(process.pid)
        wall_ns = time.monotonic_ns() - started_ns
        with self._held():
            status, spent = kernel.reap(process.pid, kernel.waiting_ns_of(process.pid))
            is_killed = os.WIFSIGNALED(status)
            process.returncode = -os.WTERMSIG(status) if is_killed else os.WEXITSTATUS(status)
            add_spent(wall_ns, *spent)

    def _follow(self, process, started_ns, add_spent):
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
                message = line.decode("utf-8", "replace").strip()
                if message.startswith(MARK):
                    yield from held
                    # 000, or 100 for Continue, without an answer: curl ends with the reason
                    is_answered = not message.startswith((MARK + " 0", MARK + " 1"))
                    held = [_parse_object(message, now_ns)] if is_answered else []
                elif message:
                    errors.append(message)
            if not data:
                break
        self._reap(process, started_ns, add_spent)
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
        lines += ['noproxy = "*"'] if urls[0].startswith(LOOPBACK) else []
        lines += ['header = "Connection: close"'] if way == "connection-each" else []
        if way in TOGETHER:
            lines += ["parallel", "parallel-max = %d" % len(urls)]
            lines += ["parallel-immediate"] if way == "concurrent" else []
        for url in urls:
            lines += ["url = %s" % _quoted(url), "upload-file = %s" % _quoted(file)]
            lines += ['output = "/dev/null"']
        with open(self._config, "wb") as config:
            config.write(os.fsencode("\n".join(lines) + "\n"))


def _quoted(word):
    return '"%s"' % word.replace("\\", "\\\\").replace('"', '\\"')


def _parse_object(message, now_ns):
    code, total_s, connections, version = message[len(MARK) :].split()
    if not code.startswith("2"):
        raise WorkloadError("the server answered HTTP %s" % code)
    duration_ns = int(float(total_s) * NS_PER_S)
    return now_ns - duration_ns, now_ns, int(connections), version


def _addresses(url, count):
    """Return the URLs of objects; few names are reused, so few objects stay on the server."""
    url = url if "{name}" in url else url.rstrip("/") + "/{name}"
    return [url.replace("{name}", "io-benchmark-%04d" % number) for number in range(count)]


async def _serve(delay_s, report_port):
    """Accept objects on loopback, discard them, answer after a delay; until the process is killed."""

    async def handle(reader, writer):
        try:
            # A distant server's first answer on a new connection takes one more round trip.
            await asyncio.sleep(delay_s)
            while await _accept_object(reader, writer, delay_s):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
    report_port(server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


async def _accept_object(reader, writer, delay_s):
    """Read one object and answer; return false if the connection ends after it."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip().lower()
    if fields.get("expect") == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    await reader.readexactly(int(fields.get("content-length", "0")))
    await asyncio.sleep(delay_s)
    last = fields.get("connection") == "close"
    end = b"Connection: close\r\n" * last
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%s\r\n" % end)
    await writer.drain()
    return not last


WORKLOAD = _Upload
