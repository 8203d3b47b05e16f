# SPDX-License-Identifier: MPL-2.0
"""The workload upload: against its own server, against one that the test runs, by curl and without."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import upload_clients
from upload_servers import Handler, Sink
from worker import Worker, take_process_times
from workloads import upload

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
REST = {
    "stopped_early": None,
    "precision_reached_ratio": None,
    "outcome": {"state": "completed", "reason": None},
}
# Few enough that a second for each is no long test.
FEW = "from workloads import upload\nupload.QUICK_OBJECTS = upload.QUICK_AT_ONCE = 2\n"
FEW += "upload.QUICK_SETS = 1\nupload.QUICK_TIME_LIMIT_S = 60.0\n"


@pytest.fixture
def sink(request: pytest.FixtureRequest) -> Iterator[Sink]:
    """A server that answers Expect with 201s, unless the test asks for another."""
    with Sink(**getattr(request, "param", {})).serving() as server:
        yield server


silent = pytest.mark.parametrize(
    "sink", [pytest.param({"answers_expect": False}, id="silent")], indirect=True
)
refusing = pytest.mark.parametrize("sink", [pytest.param({"status": 403}, id="403")], indirect=True)


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
    take_process_times(entry)
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
    _, method, _ = upload_clients.Curl.find()
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
    remark = "2 of 2 objects waited a second for an answer to Expect: 100-continue"
    assert output.count(remark) == 3


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
def test_http_2_without_tls(uploader: Worker, sink: Sink) -> None:
    """Nobody is asked to switch to HTTP/2 in the clear: skipped by name, the other ways count."""
    if not upload_clients.Curl.find()[2]:
        pytest.skip("needs a curl with HTTP/2")
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 0, output
    document = uploader.document()
    assert document["outcome"]["state"] == "completed"
    reason = "HTTP/2 needs TLS: give an https:// --upload-url"
    assert [entry["outcome"] for entry in document["workloads"]] == [
        *[{"state": "completed", "reason": None}] * 3,
        {"state": "skipped", "reason": reason},
    ]
    assert [warning["name"] for warning in document["warnings"]] == ["skipped"]


@pytest.mark.parametrize(
    ("tools", "fail", "reason"),
    [
        pytest.param(
            ["curl"],
            Handler.break_off,
            "curl: (18) transfer closed with 5 bytes remaining to read",
            id="curl-middle",
        ),
        pytest.param(
            ["curl"], Handler.hang_up, "curl: (52) Empty reply from server", id="curl-no-answer"
        ),
        pytest.param(
            [],
            Handler.break_off,
            "IncompleteRead: IncompleteRead(5 bytes read, 5 more expected)",
            id="http.client-middle",
        ),
        pytest.param(
            [],
            Handler.hang_up,
            "RemoteDisconnected: Remote end closed connection without response",
            id="http.client-no-answer",
        ),
    ],
)
def test_an_answer_that_breaks_off(
    uploader: Worker,
    sink: Sink,
    tmp_path: Path,
    tools: list[str],
    fail: Callable[[Handler], None],
    reason: str,
) -> None:
    """Such an object is not uploaded: the one before it counts, and the reason is the tool's own."""
    if tools and shutil.which("curl") is None:
        pytest.skip("needs curl")
    uploader.limit_path(tmp_path / "tools", "true", *tools)
    whole = 1 + (upload.REFERENCE_OBJECTS if tools else 0)

    def respond(handler: Handler) -> None:
        if len(sink.received.paths) > whole:
            fail(handler)
        else:
            handler.answer(201)

    sink.respond = respond
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 1
    assert "Traceback" not in output
    entry = uploader.document()["workloads"][0]
    assert entry["samples"]["operations"] == [1]
    assert entry["observed"]["connections"] == 1
    assert entry["outcome"] == {
        "state": "failed",
        "reason": f"place workspace ({uploader.workspace}): the upload failed: {reason}",
    }


def test_http_2_that_curl_has_not(uploader: Worker, sink: Sink, tmp_path: Path) -> None:
    """Python's client has none either: skipped by name."""
    uploader.limit_path(tmp_path / "tools", "true")
    code, output = uploader.run("--profile", "quick", "--upload-url", sink.url, prelude=FEW)
    assert code == 0, output
    skipped = {"state": "skipped", "reason": "http.client offers no HTTP/2"}
    assert uploader.document()["workloads"][3]["outcome"] == skipped


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
    assert uploader.result().outcome.reason == (
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
    closed = Sink()
    closed.server_close()
    code, output = uploader.run("--profile", "quick", "--upload-url", closed.url, prelude=FEW)
    assert code == 1
    assert "Traceback" not in output
    where = f"place workspace ({uploader.workspace}): "
    assert str(uploader.result().outcome.reason).startswith(where + reason)


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
        pytest.param("exit 1", (None, "cannot read the version of {path}", False), id="broken"),
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
    assert upload_clients.Curl.find() == (path, text.format(path=program), http2)


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
    assert upload._address(url, 7) == address


def test_what_curl_is_asked_is_quoted() -> None:
    """A quote in an address stays part of it."""
    assert upload_clients._quoted('a"b\\c') == r'"a\"b\\c"'
