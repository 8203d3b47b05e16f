# SPDX-License-Identifier: MPL-2.0
"""Download the first 16 MiB of one object, as tasks download artifacts: network and place.

  to-memory  the bytes are dropped: the network alone. It uses no place, and runs once per task
  to-place   the bytes are written to a new file of the place as they come, until the disk has them

Each by 1 connection, and by 4 at once, each of which downloads the same bytes. All take turns, so
that the network is as fast for one as for the others.

Measured: a set of downloads, from the first one's start to the last one's end: looking the host up,
connecting, TLS, redirects, waiting for the first byte, and the bytes; with the final sync of
to-place. Of each download what these steps took; and what its process spent on a CPU and waiting
for one. A download that breaks off is not a sample: it is counted and repeated.
Not measured: decompression, checking hashes, the bytes after the first 16 MiB. A task waits for no
final sync: subtract `sync_ns` for what it waits for while memory takes its files. Python's own
connections are used, without a proxy; where the environment names one, the workload is skipped.

The object is at --download-url: a kind gives the docker image of its task, or `download-url`.
Without one it is a server of this script on loopback, without TLS. Then nothing leaves this
machine, and pools differ only by their own share.
"""

import asyncio
import contextlib
import functools
import os
import time

from errors import SkippedError, WorkloadError
from log import MIB, NS_PER_S
from measuring.batches import PYTHON, Batches
from measuring.fetching import BROKEN, SKIPPED, FetchError, fetch
from system import accounts, clock, crews, files, folders, page_cache

FULL = {"piece_bytes": 16 * MIB, "samples_planned": 20, "time_limit_s": 15.0}
QUICK = {"piece_bytes": 2 * MIB, "samples_planned": 20, "time_limit_s": 3.0}
CONNECTIONS = (1, 4)
# A download takes at most this part of the time of all, and then has only some whole MiB.
SAMPLE_SHARE = 0.25
GRACE_S = 6  # until a download that says nothing is ended
REPEATS = 3  # of each entry
PAUSE_S = 0.5
LOOPBACK = "http://127.0.0.1:"
NO_URL = "there is nothing to download: its docker image is no artifact; give a download-url"
STEPS = (
    "redirect_ns",
    "resolve_ns",
    "connect_ns",
    "tls_ns",
    "first_byte_ns",
    "body_ns",
    "second_half_ns",
    "sync_ns",
)
FACTS = (
    "address_family",
    "answered_by",
    "http_version",
    "object_bytes",
    "redirects",
    "tls_version",
)


class _Download(Batches):
    name = "download"
    unit = "MiB/s"
    maximum_s = 150
    names = ("to-memory", "to-place")
    observes = ("method", "python", "written_bytes", "sync_ns", "retries", "steps", *FACTS)
    full, quick = FULL, QUICK

    def variants(self):
        is_first = self.place in (None, self._bench.settings.places[0])
        names = self.names if is_first else ("to-place",)
        return [{"variant": name, "threads": count} for name in names for count in CONNECTIONS]

    def parameters(self, _variant):
        target = self._bench.settings.download_origin or "loopback"
        return {**self.sizes, "target": target}

    def options(self, entry):
        return [entry["variant"], "connections-%d" % entry["threads"]]

    def turns_with(self, _entry):
        return self.name

    def prepare(self):
        self._url = self._bench.settings.download_url
        if self._url == "none":
            raise SkippedError(NO_URL)
        if self._url is not None:
            _check_proxy(self._url)
            if self._url.startswith("https:"):
                _tls_context()  # skips the workload where there is no TLS
        self.check_space((max(CONNECTIONS) + 1) * self.sizes["piece_bytes"])

    def start(self, entry):
        """Download 1 MiB first: it says how large the object is."""
        observed = entry["observed"]
        observed.update(method="http.client", python=PYTHON, retries=0)
        observed["steps"] = {name: [] for name in STEPS}
        self._look = self._bench.between_samples
        with self._server(entry) as url:
            (probe,) = self._downloads(url, MIB, entry, is_probe=True)
        observed.update(probe["facts"])
        size_bytes = observed["object_bytes"]
        if size_bytes is not None and self._url is not None:
            parameters = entry["parameters"]
            smaller = min(parameters["piece_bytes"], size_bytes // MIB * MIB)
            parameters["piece_bytes"] = smaller

    def measure(self, entry):
        observed, piece_bytes = entry["observed"], entry["parameters"]["piece_bytes"]
        self._look = self.look_around
        with self._server(entry) as url:
            enough = False
            while not enough:
                downloads = self._downloads(url, piece_bytes, entry)
                for download in downloads:
                    self.add_spent(*download["spent"])
                    for name in STEPS:
                        observed["steps"][name].append(download["steps"].get(name))
                if entry["variant"] == "to-place":
                    written_bytes = sum(download["bytes"] for download in downloads)
                    sync_ns = sum(download["steps"]["sync_ns"] for download in downloads)
                    observed["written_bytes"] = (observed["written_bytes"] or 0) + written_bytes
                    observed["sync_ns"] = (observed["sync_ns"] or 0) + sync_ns
                starts_ns = [download["start_ns"] for download in downloads]
                ends_ns = [download["end_ns"] for download in downloads]
                mib = sum(download["bytes"] for download in downloads) // MIB
                enough = self.add([(min(starts_ns), max(ends_ns))], mib)

    def _downloads(self, url, piece_bytes, entry, *, is_probe=False):
        """Return the downloads of one set; repeat a set of which one broke off."""
        observed = entry["observed"]
        count = 1 if is_probe else entry["threads"]
        to_place = entry["variant"] == "to-place" and not is_probe
        while True:
            downloads, errors = self._download_together(url, piece_bytes, count, to_place)
            if not errors:
                return downloads
            kind, reason = errors[0]
            if kind == SKIPPED:
                raise SkippedError(reason)
            if kind != BROKEN or observed["retries"] == REPEATS:
                tries = "; tried %d times" % (REPEATS + 1) if kind == BROKEN else ""
                raise WorkloadError(reason + tries)
            observed["retries"] += 1
            time.sleep(PAUSE_S * observed["retries"])

    def _download_together(self, url, piece_bytes, count, to_place):
        """Return what each of several processes downloaded, and the errors of those that failed."""
        limit_s = SAMPLE_SHARE * self.sizes["time_limit_s"]
        paths = [os.path.join(self._folder, "download-%d" % number) for number in range(count)]

        downloads, errors = [], []
        give_up_ns = clock.now_ns() + int((limit_s + GRACE_S) * NS_PER_S)
        try:
            targets = paths if to_place else [None] * count
            with crews.Crew(count, _download, url, piece_bytes, limit_s, targets) as crew:
                for message in crew.messages():
                    now_ns = clock.now_ns()
                    self._look(now_ns)
                    if message is not None:
                        content = message[1]
                        failure = content.get("error")
                        (errors if failure else downloads).append(failure or content)
                    elif now_ns >= give_up_ns:
                        errors.append((BROKEN, "no answer within %g s" % limit_s))
                        break
        finally:
            for path in paths if to_place else ():
                with contextlib.suppress(FileNotFoundError):
                    folders.remove(path)
        if to_place:
            page_cache.sync_filesystem(self._folder)
        return downloads, errors

    @contextlib.contextmanager
    def _server(self, entry):
        """Yield the URL, of this script's own server if there is no other."""
        if self._url is not None:
            yield self._url
            return

        with crews.Crew(1, _run_server, entry["parameters"]["piece_bytes"]) as crew:
            _, port = next(filter(None, crew.messages()))
            yield LOOPBACK + str(port)


def _download(number, ready, tell, url, piece_bytes, limit_s, targets):
    """Download in a member of a crew; its certificates are read before all start."""
    tls = _tls_context() if url.startswith("https:") else None
    with accounts.Account() as account, _target(targets[number]) as target:
        ready()
        before = account.read()
        try:
            done = fetch(url, piece_bytes, limit_s, tls, target.take)
        except FetchError as error:
            tell({"error": (error.kind, error.reason)})
            return
        done["steps"]["sync_ns"] = sync_ns = target.sync()
        done["end_ns"] += sync_ns or 0
        spent = account.since(before)
        tell({**done, "spent": (done["end_ns"] - done["start_ns"], *spent)})


class _Target:
    """Where the bytes of a download go: into a file, or nowhere."""

    def __init__(self, descriptor):
        self._descriptor = descriptor

    def take(self, data):
        while self._descriptor is not None and data:
            data = data[os.write(self._descriptor, data) :]

    def sync(self):
        if self._descriptor is None:
            return None
        started_ns = clock.now_ns()
        files.sync(self._descriptor)
        return clock.now_ns() - started_ns


@contextlib.contextmanager
def _target(path):
    if path is None:
        yield _Target(None)
        return
    descriptor = files.open_new(path)
    try:
        yield _Target(descriptor)
    finally:
        os.close(descriptor)


@functools.lru_cache(maxsize=1)  # of a member where it does not come from its parent
def _tls_context():
    """Return what each connection uses; reading the certificates is no part of a download."""
    try:
        import ssl  # noqa: PLC0415 - some Pythons are built without it
    except ImportError:
        raise SkippedError("this Python has no ssl, which an https address needs") from None
    return ssl.create_default_context()


def _check_proxy(url):
    from urllib import parse, request  # noqa: PLC0415 - most workloads do not need them

    parts = parse.urlsplit(url)
    proxies = request.getproxies_environment()
    is_passed_by = request.proxy_bypass(parts.hostname)
    if (parts.scheme in proxies or "all" in proxies) and not is_passed_by:
        variable = parts.scheme if parts.scheme in proxies else "all"
        problem = "%s_proxy is set, and a download by a proxy is not measured; unset it or set "
        raise SkippedError((problem + "no_proxy") % variable)


def _run_server(_number, ready, tell, size):
    ready()
    asyncio.run(_serve(size, tell))


async def _serve(size, tell_port):
    """Answer each request on loopback with so many bytes, until it is killed."""

    async def handle(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
            block = bytes(MIB)
            for _ in range(size // MIB):
                writer.write(block)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    tell_port(server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()


WORKLOAD = _Download
