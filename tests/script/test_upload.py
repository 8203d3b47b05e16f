# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The workload upload: against its own server, against one that the test runs, by curl and without."""

import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import uploading
from worker import Worker
from workloads import upload

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
REST = {
    "stopped_early": None,
    "precision_reached_ratio": None,
    "completed": True,
    "incomplete_reason": None,
}
# Few enough that a second for each is no long test.
FEW = "from workloads import upload\nupload.QUICK_OBJECTS = upload.QUICK_AT_ONCE = 2\n"
FEW += "upload.QUICK_SETS = 1\nupload.QUICK_TIME_LIMIT_S = 60.0\n"


@dataclass
class Received:
    paths: list[str] = field(default_factory=list)
    lengths: set[int] = field(default_factory=set)


class Sink(ThreadingHTTPServer):
    """Takes objects; `answers_expect` as most servers do, `status` as it is told."""

    daemon_threads = True

    def __init__(self, answers_expect: bool, status: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers_expect = answers_expect
        self.status = status
        self.received = Received()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Sink

    def handle_expect_100(self) -> bool:
        return super().handle_expect_100() if self.server.answers_expect else True

    def do_PUT(self) -> None:
        length = int(self.headers["Content-Length"])
        self.rfile.read(length)
        self.server.received.paths.append(self.path)
        self.server.received.lengths.add(length)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing: what arrived is kept."""


@pytest.fixture
def sink(request: pytest.FixtureRequest) -> Iterator[Sink]:
    """A server that answers Expect with 201s, unless the test asks for another."""
    server = Sink(**getattr(request, "param", {"answers_expect": True, "status": 201}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


silent = pytest.mark.parametrize(
    "sink", [pytest.param({"answers_expect": False, "status": 201}, id="silent")], indirect=True
)
refusing = pytest.mark.parametrize(
    "sink", [pytest.param({"answers_expect": True, "status": 403}, id="403")], indirect=True
)


@pytest.fixture
def uploader(worker: Worker) -> Worker:
    worker.workloads = ("upload",)
    return worker


def without_figures(entry: dict[str, Any]) -> dict[str, Any]:
    """Asserts what holds of the figures, and leaves them out."""
    samples = entry.pop("samples")
    at_once = entry["parameters"]["objects_at_once"]
    assert 0 < len(samples["start_ns"]) <= entry["parameters"]["samples_planned"]
    assert samples["operations"] == [at_once] * len(samples["start_ns"])
    assert min(samples["duration_ns"]) > 0
    assert entry.pop("run_ns") > 0
    entry.pop("device_bytes")
    return entry


def expected(variant: str, at_once: int, samples: int, observed: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "upload",
        "place": "workspace",
        "variant": variant,
        "threads": None,
        "parameters": {
            "target": "loopback",
            "object_bytes": 5120,
            "objects_planned": at_once * samples,
            "objects_at_once": at_once,
            "samples_planned": samples,
            "delay_ns": 5_000_000,
            "time_limit_s": 60.0,
        },
        "observed": observed,
        **REST,
    }


PATIENT = "from workloads import upload\nupload.QUICK_TIME_LIMIT_S = 60.0\n"


@needs_curl
def test_by_curl(uploader: Worker) -> None:
    """A connection for each, one for all, many at once: nothing stalls on loopback."""
    _, method, _ = uploading.find_curl()
    entries = uploader.measure(prelude=PATIENT)
    for entry in entries:
        references = entry["observed"].pop("without_expect_ns")
        assert len(references) == 3
        assert min(references) >= 5_000_000  # the server's delay
        # On a machine that has no time one may look stalled; all of them would be.
        assert 0 <= entry["observed"].pop("expect_100_stalls") < 20
    same = {"method": method, "http_version": "1.1"}
    assert [without_figures(entry) for entry in entries] == [
        expected("connection-each", 1, 20, {**same, "connections": 20}),
        expected("keep-alive", 1, 20, {**same, "connections": 1}),
        expected("concurrent", 10, 3, {**same, "connections": 30}),
    ]
    assert uploader.document()["warnings"] == []


def test_without_curl(uploader: Worker, tmp_path: Path) -> None:
    """Python does it, which log, entry and warning say; it never asks for a go-ahead."""
    uploader.limit_path(tmp_path / "tools", "true")
    entries = uploader.measure(prelude=PATIENT)
    same = {
        "method": "http.client",
        "http_version": "1.1",
        "without_expect_ns": None,
        "expect_100_stalls": None,
    }
    assert [without_figures(entry) for entry in entries] == [
        expected("connection-each", 1, 20, {**same, "connections": 20}),
        expected("keep-alive", 1, 20, {**same, "connections": 1}),
        expected("concurrent", 10, 3, {**same, "connections": 30}),
    ]
    assert uploader.document()["warnings"] == [
        {"name": "upload-method", "message": "curl is not on PATH: measured by http.client"}
    ]


@needs_curl
@silent
def test_a_server_that_never_answers_expect(uploader: Worker, sink: Sink) -> None:
    """Each object waits a second: counted, and said in the log."""
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 0, output
    entries = uploader.document()["workloads"][:3]
    assert [entry["observed"]["expect_100_stalls"] for entry in entries] == [2, 2, 2]
    line = "  2 of 2 objects waited a second for an answer to Expect: 100-continue"
    assert output.splitlines().count(line) == 3


@needs_curl
def test_to_a_url(uploader: Worker, sink: Sink) -> None:
    """Everything goes there, under a few names, and the file tells whose server it was alone."""
    url = f"{sink.url}/bucket/o?name={{name}}&signature=secret"
    code, output = uploader.run("--profile", "quick", "--upload-url", url, prelude=FEW)
    assert code == 0, output
    assert sorted(set(sink.received.paths)) == [
        f"/bucket/o?name=io-benchmark-{number:04}&signature=secret" for number in range(3)
    ]
    assert sink.received.lengths == {5120}
    assert "secret" not in uploader.result_path.read_text()
    assert "secret" not in output
    document = uploader.document()
    assert document["config"]["upload_url"] == sink.url
    assert [
        (entry["variant"], entry["parameters"]["target"], entry["parameters"]["delay_ns"])
        for entry in document["workloads"]
    ] == [
        (variant, sink.url, None)
        for variant in ("connection-each", "keep-alive", "concurrent", "http2")
    ]


@needs_curl
def test_http_2_that_the_server_has_not(uploader: Worker, sink: Sink) -> None:
    """It is skipped by name; the other ways count."""
    if not uploading.find_curl()[2]:
        pytest.skip("needs a curl with HTTP/2")
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 0, output
    document = uploader.document()
    assert document["completed"]
    assert document["workloads"][3]["incomplete_reason"] == "skipped: the server speaks HTTP/1.1"
    assert [warning["name"] for warning in document["warnings"]] == ["skipped"]


def test_http_2_that_curl_has_not(uploader: Worker, sink: Sink, tmp_path: Path) -> None:
    """Python's client has none either: skipped by name."""
    uploader.limit_path(tmp_path / "tools", "true")
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 0, output
    reason = uploader.document()["workloads"][3]["incomplete_reason"]
    assert reason == "skipped: http.client offers no HTTP/2"


@refusing
@pytest.mark.parametrize(
    "tools", [pytest.param(["curl"], id="curl"), pytest.param([], id="http.client")]
)
def test_a_server_that_refuses(
    uploader: Worker, sink: Sink, tmp_path: Path, tools: list[str]
) -> None:
    """What it answered is the reason; nothing counts as uploaded."""
    if tools and shutil.which("curl") is None:
        pytest.skip("needs curl")
    uploader.limit_path(tmp_path / "tools", "true", *tools)
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 1
    assert "Traceback" not in output
    assert uploader.result().incomplete_reason == (
        f"place workspace ({uploader.workspace}): the server answered HTTP 403"
    )
    assert list(uploader.workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        pytest.param(["curl"], "the upload failed: curl: (7) ", id="curl"),
        pytest.param([], "the upload failed: ConnectionRefusedError: ", id="http.client"),
    ],
)
def test_nobody_there(uploader: Worker, tmp_path: Path, tools: list[str], reason: str) -> None:
    """A server that cannot be reached is the failure, in the tool's own words."""
    if tools and shutil.which("curl") is None:
        pytest.skip("needs curl")
    uploader.limit_path(tmp_path / "tools", "true", *tools)
    closed = Sink(answers_expect=True, status=201)
    closed.server_close()
    code, output = uploader.run("--profile", "quick", "--upload-url", closed.url, prelude=FEW)
    assert code == 1
    assert "Traceback" not in output
    where = f"place workspace ({uploader.workspace}): "
    assert str(uploader.result().incomplete_reason).startswith(where + reason)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        pytest.param(
            "printf 'curl 7.68.0 (x)\\nFeatures: HTTP2 SSL\\n'",
            ("{path}", "curl-7.68.0", True),
            id="ubuntu-20.04",
        ),
        pytest.param(
            "printf 'curl 8.5.0 (x)\\nFeatures: SSL\\n'",
            ("{path}", "curl-8.5.0", False),
            id="plain",
        ),
        pytest.param("echo curl 7.58.0", (None, "curl 7.58.0 is too old", False), id="old"),
        pytest.param("exit 1", (None, "{path} does not tell its version", False), id="broken"),
    ],
)
def test_which_curl(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    found: tuple[str | None, str, bool],
) -> None:
    """Its version decides whether it is used, and its features whether it can do HTTP/2."""
    program = tmp_path / "curl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    path, text, http2 = found
    path = path and path.format(path=program)
    assert uploading.find_curl() == (path, text.format(path=program), http2)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        pytest.param("http://h", "http://h/io-benchmark-0007", id="host"),
        pytest.param("https://h/a/", "https://h/a/io-benchmark-0007", id="folder"),
        pytest.param("https://h/o?n={name}", "https://h/o?n=io-benchmark-0007", id="query"),
    ],
)
def test_an_objects_address(url: str, address: str) -> None:
    """The name is added, or put where the URL wants it."""
    assert upload.address(url, 7) == address


def test_what_curl_is_asked_is_quoted() -> None:
    """A quote in an address stays part of it."""
    assert uploading.quoted('a"b\\c') == r'"a\"b\\c"'
