# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Many small objects over HTTP (seed 002): what a connection costs, and what waits for nothing.

  connection-each  a connection for every object
  keep-alive       one connection, one object after the other
  concurrent       many at once, a connection each
  http2            many at once over one connection, or over more where the server takes fewer on
                   one; only against an https:// --upload-url

Measured: the time for an object; for those that go many at once, the time for all of a set, from the
first's begin to the last's end. Without --upload-url the objects go to a server of this script's own
on loopback, which waits before each answer and once more on a new connection, as a far one would:
then nothing leaves this machine, and what differs between pools is their own part alone. By curl
where it is on PATH, otherwise by Python's http.client; the result names which. Not measured: bandwidth.

curl asks for a go-ahead (Expect: 100-continue) and waits one second for it, so that a server that
never answers costs a second an object. Such objects are counted: those that took about a second
longer than the median of a few that were sent without asking.
"""

import contextlib
import os
import statistics
import time

import http_sink
from batches import Batches
from crew import Crew
from early_end import SkippedError, WorkloadError
from log import NS_PER_S, say
from settings import origin
from upload_clients import Curl, HttpClient, find_curl

OBJECT_BYTES = 5 * 1024  # the seed's 75 files held 350 kB
OBJECTS, QUICK_OBJECTS = 200, 20
AT_ONCE, QUICK_AT_ONCE = 50, 10
SETS, QUICK_SETS = 20, 3
DELAY_NS, QUICK_DELAY_NS = 20_000_000, 5_000_000
TIME_LIMIT_S, QUICK_TIME_LIMIT_S = 30.0, 3.0
REFERENCE_OBJECTS = 3
STALL_NS = 900_000_000  # of curl's one second
TOGETHER = ("concurrent", "http2")


class Upload(Batches):
    name = "upload"
    unit = "ms"
    unit_ns = 1_000_000
    maximum_s = 140
    per_place = False
    observes = (
        "method",
        "http_version",
        "connections",
        "without_expect_ns",
        "expect_100_stalls",
    )

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
            "target": "loopback" if url is None else origin(url),
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
        path, self._method, self._has_http2 = find_curl()
        self._curl = path
        if path is None:
            self._bench.warn(
                "upload-method", "%s: measured by http.client" % self._method
            )
            say("  %s: measured by Python's http.client" % self._method)
            self._method = "http.client"
        return {}

    def measure(self, variant, entry):
        way = variant["variant"]
        if way == "http2" and not self._has_http2:
            raise SkippedError("%s offers no HTTP/2" % self._method)
        url = self._bench.settings.upload_url
        if way == "http2" and not entry["parameters"]["target"].startswith("https:"):
            # Without TLS there is an Upgrade to h2c, which neither browsers nor object stores speak.
            raise SkippedError(
                "HTTP/2 goes over TLS alone: give an https:// --upload-url"
            )
        entry["observed"]["method"] = self._method
        if url is not None:
            self._measure_to(url, way, entry)
            return

        def work(_number, ready, tell):
            ready()
            http_sink.serve(entry["parameters"]["delay_ns"] / NS_PER_S, tell)

        with Crew(1, work) as crew:
            port = next(line[1] for line in crew.lines() if line is not None)
            self._measure_to("http://127.0.0.1:%d" % port, way, entry)

    def _measure_to(self, url, way, entry):
        parameters, observed = entry["parameters"], entry["observed"]
        upload = HttpClient().upload
        if self._curl is not None:
            is_loopback = parameters["target"] == "loopback"
            upload = Curl(
                self._curl, self._folder, is_loopback, self._bench.held
            ).upload
        if self._curl is not None and way != "http2":
            some = [address(url, at) for at in range(REFERENCE_OBJECTS)]
            with contextlib.closing(
                upload(some, self._file, "keep-alive", False)
            ) as uploads:
                done = [one for one in uploads if one is not None]
            observed["without_expect_ns"] = [one[1] - one[0] for one in done]
            observed["expect_100_stalls"] = 0
        observed["connections"] = 0
        self.begin_anew()
        together = way in TOGETHER
        at_once = (
            parameters["objects_at_once"] if together else parameters["objects_planned"]
        )
        urls = [address(url, at) for at in range(at_once)]
        asks = self._curl is not None and way != "http2"
        enough = False
        while not enough:
            # Closed at once: an interruption must not leave a curl to be waited for.
            with contextlib.closing(upload(urls, self._file, way, asks)) as uploads:
                enough = self._upload_set(uploads, urls, together, entry)

    def _upload_set(self, uploads, urls, together, entry):
        """True when there is enough."""
        observed, times = entry["observed"], []
        for one in uploads:
            now_ns = time.monotonic_ns()
            if one is None:
                self.look_around(now_ns)
                if self._rows and now_ns >= self.deadline_ns:
                    return True
                continue
            start_ns, end_ns, connections, version = one
            if entry["variant"] == "http2" and version != "2":
                raise SkippedError("the server speaks HTTP/%s" % version)
            observed["http_version"] = version
            observed["connections"] += connections
            times.append((start_ns, end_ns))
            if observed["without_expect_ns"]:
                longer_ns = (
                    end_ns - start_ns - statistics.median(observed["without_expect_ns"])
                )
                observed["expect_100_stalls"] += longer_ns >= STALL_NS
            if not together and self.add(entry, start_ns, end_ns):
                return True
        if len(times) != len(urls):
            raise WorkloadError(
                "%s told of %d of %d" % (self._method, len(times), len(urls))
            )
        if not together:
            return False
        first_ns, last_ns = (
            min(start for start, _ in times),
            max(end for _, end in times),
        )
        return self.add(entry, first_ns, last_ns, len(times))

    @classmethod
    def remarks(cls, entry):
        observed = entry["observed"]
        said = "Sent by %s, HTTP/%s, %d connections"
        lines = [
            said
            % (observed["method"], observed["http_version"], observed["connections"])
        ]
        if observed["expect_100_stalls"]:
            objects = sum(entry["samples"]["operations"])
            lines.append(
                "%d of %d objects waited a second for an answer to Expect: 100-continue"
                % (observed["expect_100_stalls"], objects)
            )
        return lines


def address(url, number):
    """The same few names again and again: at most so many objects are left there."""
    name = "io-benchmark-%04d" % number
    return (
        url.replace("{name}", name) if "{name}" in url else url.rstrip("/") + "/" + name
    )


WORKLOAD = Upload
