# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
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
import statistics
import time

from batches import Batches, ProcessTimes
from crew import Crew
from curl import LOOPBACK, Curl
from early_end import SkippedError, WorkloadError
from log import NS_PER_S
from settings import upload_origin

OBJECT_BYTES = 5 * 1024  # the seed's 75 files held 350 kB
OBJECTS, QUICK_OBJECTS = 200, 20
AT_ONCE, QUICK_AT_ONCE = 50, 10
SETS, QUICK_SETS = 20, 3
DELAY_NS, QUICK_DELAY_NS = 20_000_000, 5_000_000
TIME_LIMIT_S, QUICK_TIME_LIMIT_S = 30.0, 3.0
REFERENCE_OBJECTS = 3
STALL_NS = 900_000_000  # of curl's one second
TOGETHER = ("concurrent", "http2")


class _Upload(Batches):
    name = "upload"
    unit = "ms"
    unit_ns = 1_000_000
    maximum_s = 140
    per_place = False
    observes = ("method", "http_version", "connections", "without_expect_ns", "expect_100_stalls")

    @staticmethod
    def variants(settings):
        names = ["connection-each", "keep-alive", "concurrent"]
        names += ["http2"] if settings.upload_url is not None else []
        return [{"variant": name, "threads": None} for name in names]

    def parameters(self, variant):
        together = variant["variant"] in TOGETHER
        at_once = (QUICK_AT_ONCE if self._quick else AT_ONCE) if together else 1
        sets = QUICK_SETS if self._quick else SETS
        objects = QUICK_OBJECTS if self._quick else OBJECTS
        url = self._bench.settings.upload_url
        delay_ns = QUICK_DELAY_NS if self._quick else DELAY_NS
        return {
            "target": upload_origin(self._bench.settings) or "loopback",
            "object_bytes": OBJECT_BYTES,
            "objects_planned": sets * at_once if together else objects,
            "objects_at_once": at_once,
            "samples_planned": sets if together else objects,
            "delay_ns": delay_ns if url is None else None,
            "time_limit_s": QUICK_TIME_LIMIT_S if self._quick else TIME_LIMIT_S,
        }

    def prepare(self):
        self._file = os.path.join(self._folder, "object")
        with open(self._file, "xb") as file:
            file.write(os.urandom(OBJECT_BYTES))
        self._curl = Curl(self._folder, self._bench.held)

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
            delay_s = entry["parameters"]["delay_ns"] / NS_PER_S
            asyncio.run(_serve(delay_s, tell))

        with Crew(1, work) as crew:
            port = next(self.messages_of(crew))[1]
            self._measure_to(LOOPBACK + str(port), way, entry)

    def _measure_to(self, url, way, entry):
        parameters, observed = entry["parameters"], entry["observed"]
        upload, expects = self._curl.upload, way != "http2"
        if expects:
            some = [_address(url, at) for at in range(REFERENCE_OBJECTS)]
            uploads = upload(some, self._file, "keep-alive", ProcessTimes(), expect=False)
            with contextlib.closing(uploads):
                times = [sent[1] - sent[0] for sent in uploads if sent is not None]
            observed["without_expect_ns"] = times
            observed["expect_100_stalls"] = 0
        observed["connections"] = 0
        self.begin(time.monotonic_ns())
        together = way in TOGETHER
        at_once = parameters["objects_at_once" if together else "objects_planned"]
        urls = [_address(url, at) for at in range(at_once)]
        enough = False
        while not enough:
            # Closed at once: an interruption must not leave a curl running.
            uploads = upload(urls, self._file, way, self.process_times, expect=expects)
            with contextlib.closing(uploads):
                enough = self._upload_set(uploads, urls, together, entry)

    def _upload_set(self, uploads, urls, together, entry):
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
                is_stalled = end_ns - start_ns - usual_ns >= STALL_NS
                observed["expect_100_stalls"] += is_stalled
            if not together and self.add(entry, start_ns, end_ns):
                return True
        if len(times) != len(urls):
            counts = (self._curl.name, len(times), len(urls))
            raise WorkloadError("%s sent %d of %d objects" % counts)
        if not together:
            return False
        starts_ns, ends_ns = zip(*times)
        return self.add(entry, min(starts_ns), max(ends_ns), len(times))

    @classmethod
    def remarks(cls, entry):
        observed = entry["observed"]
        sent = (observed["method"], observed["http_version"], observed["connections"])
        lines = ["Sent by %s, HTTP/%s, %d connections" % sent]
        if observed["expect_100_stalls"]:
            objects = sum(entry["samples"]["operations"])
            text = "%d of %d objects waited a second for an answer to Expect: 100-continue"
            lines.append(text % (observed["expect_100_stalls"], objects))
        return lines


def _address(url, number):
    """Return the URL of an object; few names are reused, so few objects stay on the server."""
    url = url if "{name}" in url else url.rstrip("/") + "/{name}"
    return url.replace("{name}", "io-benchmark-%04d" % number)


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
