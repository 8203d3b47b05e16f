# SPDX-License-Identifier: MPL-2.0
"""Many small objects over HTTP (seed 002): the cost of connections and of needless waiting.

  connection-each  one connection per object
  keep-alive       one connection, one object after another
  concurrent       many at once, one connection per object
  http2            many at once over one connection, or over several if the server accepts fewer per
                   connection; only with an https:// --upload-url

Measured: the time per object; of objects that are sent at once, the time of a set, from the first
one's start to the last one's end. Without --upload-url the objects go to this script's own server
on loopback. It waits before each answer, and once more on a new connection, as a distant server
would. Then nothing leaves this machine, and pools differ only by their own share. By curl; without
it, the workload is skipped. Also measured: what curl spent on a CPU and waiting for one, from its
start to its end.
Not measured: bandwidth, the server's CPU.

curl sends Expect: 100-continue and waits one second for the answer. So a server that never answers
costs a second per object. Such objects are counted: they took about a second longer than the median
of a few objects that were sent without Expect.
"""

import asyncio
import contextlib
import os
import statistics

from errors import SkippedError
from log import NS_PER_S
from measuring.batches import Batches
from measuring.curl import LOOPBACK, TOGETHER, Curl
from system import clock, crews, programs

OBJECT = "object"
OBJECT_BYTES = 5 * 1024  # the seed's 75 files held 350 kB
FULL = {"objects": 200, "at_once": 50, "sets": 20, "delay_ns": 20_000_000, "time_limit_s": 30.0}
QUICK = {"objects": 20, "at_once": 10, "sets": 3, "delay_ns": 5_000_000, "time_limit_s": 3.0}
REFERENCE_OBJECTS = 3
STALL_NS = 900_000_000  # of curl's one second


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
        with open(os.path.join(self._folder, OBJECT), "xb") as file:
            file.write(os.urandom(OBJECT_BYTES))
        self._curl = Curl(self._folder, self._bench.held)

    def measure(self, entry):
        way, url = entry["variant"], self._bench.settings.upload_url
        if way == "http2" and not self._curl.has_http2:
            raise SkippedError("%s offers no HTTP/2" % self._curl.name)
        if way == "http2" and not url.startswith("https:"):
            # Without TLS it would be an upgrade to h2c, which browsers and object stores lack.
            raise SkippedError("HTTP/2 needs TLS: give an https:// --upload-url")
        entry["observed"]["method"] = self._curl.name
        if url is not None:
            self._measure_to(url, way, entry)
            return

        with crews.Crew(1, _run_server, entry["parameters"]["delay_ns"] / NS_PER_S) as crew:
            port = next(self.take_messages(crew))[1]
            self._measure_to(LOOPBACK + str(port), way, entry)

    def _measure_to(self, url, way, entry):
        parameters, observed = entry["parameters"], entry["observed"]
        upload, expects = self._curl.upload, way != "http2"
        if expects:
            urls = _addresses(url, REFERENCE_OBJECTS)
            uploads = upload(urls, OBJECT, "keep-alive", lambda *_: None, expect=False)
            with contextlib.closing(uploads):
                observed["without_expect_ns"] = [sent[1] - sent[0] for sent in uploads if sent]
            observed["expect_100_stalls"] = 0
        observed["connections"] = 0
        self.begin(clock.now_ns())
        together = way in TOGETHER
        urls = _addresses(url, parameters["objects_at_once" if together else "objects_planned"])
        enough = False
        while not enough:
            # Closed at once: an interruption must not leave a curl running.
            uploads = upload(urls, OBJECT, way, self.add_spent, expect=expects)
            with contextlib.closing(uploads):
                enough = self._upload_set(uploads, together, entry)

    def _upload_set(self, uploads, together, entry):
        """Add the uploads of one set; return whether there are enough samples."""
        observed, times = entry["observed"], []
        for sent in uploads:
            now_ns = clock.now_ns()
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
                if end_ns - start_ns - usual_ns >= STALL_NS:
                    observed["expect_100_stalls"] += 1
            if not together:
                # What was read late may seem to have ended after this one began.
                late_ns = max(0, self.ended_ns - start_ns)
                if self.add([(start_ns + late_ns, end_ns + late_ns)]):
                    return True
        if not together:
            return False
        starts_ns, ends_ns = zip(*times)
        return self.add([(min(starts_ns), max(ends_ns))], len(times))


def _addresses(url, count):
    """Return the URLs of objects; few names are reused, so few objects stay on the server."""
    url = url if "{name}" in url else url.rstrip("/") + "/{name}"
    return [url.replace("{name}", "io-benchmark-%04d" % number) for number in range(count)]


def _run_server(_number, ready, tell, delay_s):
    programs.make_waits_precise()
    ready()
    asyncio.run(_serve(delay_s, tell))


async def _serve(delay_s, report_port):
    """Accept and discard objects on loopback, and answer after a delay, until it is killed."""

    async def handle(reader, writer):
        try:
            # A distant server's first answer on a new connection takes one more round trip.
            await _wait(delay_s)
            while await _accept_object(reader, writer, delay_s):
                pass
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
    report_port(server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


async def _wait(delay_s):
    """Wait no less than this: asyncio ends a wait early by as much as its clock is coarse."""
    due_ns = clock.now_ns() + round(delay_s * NS_PER_S)
    while clock.now_ns() < due_ns:  # noqa: ASYNC110 - only time has to pass
        await asyncio.sleep((due_ns - clock.now_ns()) / NS_PER_S)


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
    await _wait(delay_s)
    is_last = fields.get("connection") == "close"
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
    if is_last:
        answer += b"Connection: close\r\n"
    writer.write(answer + b"\r\n")
    await writer.drain()
    return not is_last


WORKLOAD = _Upload
