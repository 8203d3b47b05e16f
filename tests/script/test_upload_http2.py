# SPDX-License-Identifier: MPL-2.0
"""The workload upload over TLS: HTTP/2 by a real server, and what each failure of it leaves."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import upload_clients
from upload_servers import Certificate, Front, Handler, Sink, fronted, make_certificate
from worker import Worker

WAYS = ["connection-each", "keep-alive", "concurrent", "http2"]
# A set of ten at once, two sets; time enough on any machine.
SETS = "from workloads import upload\nupload.QUICK_OBJECTS = upload.QUICK_AT_ONCE = 10\n"
SETS += "upload.QUICK_SETS = 2\nupload.QUICK_TIME_LIMIT_S = 60.0\n"


@pytest.fixture(autouse=True)
def _curl() -> None:
    if not upload_clients.Curl.find()[2]:
        pytest.skip("needs a curl with HTTP/2")


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path)


@pytest.fixture
def uploader(worker: Worker, certificate: Certificate) -> Worker:
    """Trusts the certificate."""
    worker.workloads = ("upload",)
    worker.environment |= certificate.trusted
    return worker


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().serving() as server:
        yield server


@pytest.fixture
def front(sink: Sink, certificate: Certificate) -> Iterator[Front]:
    with fronted(sink, certificate) as server:
        yield server


def run(uploader: Worker, url: str) -> tuple[int, str]:
    """No curl is left in the end, and nothing of its files."""
    code, output = uploader.run("--profile", "quick", "--upload-url", url, prelude=SETS)
    assert "Traceback" not in output
    assert list(uploader.workspace.iterdir()) == []
    config = f"{uploader.workspace}/".encode()
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            commands.append(path.read_bytes())
        except OSError:
            continue  # ended meanwhile
    assert [command for command in commands if config in command] == []
    return code, output


def samples(uploader: Worker) -> dict[str, int]:
    return {
        entry["variant"]: len(entry["samples"]["start_ns"])
        for entry in uploader.document()["workloads"]
    }


def test_http_2(uploader: Worker, sink: Sink, front: Front) -> None:
    """One connection for all objects of a set; every other way sends the same ones by HTTP/1.1."""
    code, output = run(uploader, f"{front.url}/bucket")
    assert code == 0, output
    front.stop()
    carried = front.carried()
    entries = uploader.document()["workloads"]
    assert [
        (
            entry["variant"],
            entry["observed"]["http_version"],
            entry["observed"]["connections"],
            entry["samples"]["operations"],
            entry["outcome"]["state"],
        )
        for entry in entries
    ] == [
        ("connection-each", "1.1", 10, [1] * 10, "completed"),
        ("keep-alive", "1.1", 1, [1] * 10, "completed"),
        ("concurrent", "1.1", 20, [10, 10], "completed"),
        ("http2", "2", 2, [10, 10], "completed"),
    ]
    by_http2 = [one for one in carried if one.protocol == "h2"]
    others = [one for one in carried if one.protocol == "http/1.1"]
    assert len(by_http2) + len(others) == len(carried)
    objects = {f"PUT /bucket/io-benchmark-{number:04}" for number in range(10)}
    assert Counter(one.request for one in by_http2) == dict.fromkeys(
        [f"{name} HTTP/2" for name in objects], 2
    )
    assert {one.request for one in others} == {f"{name} HTTP/1.1" for name in objects}
    assert sorted(Counter(one.connection for one in by_http2).values()) == [10, 10]
    assert {one.status for one in carried} == {201}
    assert len(sink.received.paths) == len(carried)
    assert sink.received.lengths == {5120}
    assert "Sent by curl-" in output
    assert "HTTP/2, 2 connections" in output
    assert uploader.document()["warnings"] == []


def test_fewer_streams_than_objects(uploader: Worker, sink: Sink, certificate: Certificate) -> None:
    """Where the server takes few at once the others wait for them, or connect: the file tells."""
    with fronted(sink, certificate, "--frontend-http2-max-concurrent-streams=3") as front:
        code, output = run(uploader, front.url)
        assert code == 0, output
        front.stop()
        connections = {one.connection for one in front.carried() if one.protocol == "h2"}
    entry = uploader.document()["workloads"][3]
    assert entry["samples"]["operations"] == [10, 10]
    assert entry["observed"]["connections"] == len(connections)


def test_a_server_without_http_2(uploader: Worker, sink: Sink, certificate: Certificate) -> None:
    """It is skipped by name; the other ways count."""
    sink.speak_tls(certificate)
    code, output = run(uploader, sink.url)
    assert code == 0, output
    document = uploader.document()
    assert document["outcome"]["state"] == "completed"
    assert [entry["outcome"] for entry in document["workloads"]] == [
        *[{"state": "completed", "reason": None}] * 3,
        {"state": "skipped", "reason": "the server speaks HTTP/1.1"},
    ]
    assert [warning["name"] for warning in document["warnings"]] == ["skipped"]


def test_python_over_tls(
    uploader: Worker, sink: Sink, certificate: Certificate, tmp_path: Path
) -> None:
    """Without curl the three other ways count over TLS too."""
    sink.speak_tls(certificate)
    uploader.limit_path(tmp_path / "tools", "true")
    code, output = run(uploader, sink.url)
    assert code == 0, output
    assert samples(uploader) == {
        "connection-each": 10,
        "keep-alive": 10,
        "concurrent": 2,
        "http2": 0,
    }


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        pytest.param(["curl"], "curl: (60) SSL certificate problem: ", id="curl"),
        pytest.param([], "SSLCertVerificationError: ", id="http.client"),
    ],
)
def test_a_certificate_that_is_not_trusted(
    uploader: Worker,
    sink: Sink,
    certificate: Certificate,
    tmp_path: Path,
    tools: list[str],
    reason: str,
) -> None:
    """Nothing is sent, and the reason is the tool's own."""
    sink.speak_tls(certificate)
    uploader.environment = {}
    uploader.limit_path(tmp_path / "tools", "true", *tools)
    code, _ = run(uploader, sink.url)
    assert code == 1
    assert sink.received.paths == []
    assert samples(uploader) == dict.fromkeys(WAYS, 0)
    said = uploader.result().outcome.reason or ""
    where = f"place workspace ({uploader.workspace}): the upload failed: "
    assert said.startswith(where + reason)
    assert "\n" not in said


def refusing(status: int) -> Callable[[Handler, Front], None]:
    return lambda handler, _: handler.answer(status)


def breaking_off(handler: Handler, _: Front) -> None:
    """nghttpx resets the stream."""
    handler.break_off()


def going_away(_: Handler, front: Front) -> None:
    front.stop()


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        pytest.param(refusing(403), "the server answered HTTP 403", id="403"),
        pytest.param(refusing(500), "the server answered HTTP 500", id="500"),
        pytest.param(breaking_off, "the upload failed: curl: (92) HTTP/2 stream ", id="reset"),
        pytest.param(going_away, "the upload failed: curl: (", id="gone"),
    ],
)
def test_http_2_that_fails(
    uploader: Worker,
    sink: Sink,
    front: Front,
    fail: Callable[[Handler, Front], None],
    reason: str,
) -> None:
    """The second set's failure is the reason in one line; the first set and the other ways count."""
    by_http2: list[str] = []

    def respond(handler: Handler) -> None:
        if handler.is_http2:
            by_http2.append(handler.path)
        if len(by_http2) > 15:
            fail(handler, front)
        else:
            handler.answer(201)

    sink.respond = respond
    code, _ = run(uploader, front.url)
    assert code == 1
    assert samples(uploader) == {
        "connection-each": 10,
        "keep-alive": 10,
        "concurrent": 2,
        "http2": 1,
    }
    document = uploader.document()
    states = [entry["outcome"]["state"] for entry in document["workloads"]]
    assert states == ["completed", "completed", "completed", "failed"]
    said = document["outcome"]["reason"]
    assert said.startswith(f"place workspace ({uploader.workspace}): {reason}")
    assert document["workloads"][3]["outcome"]["reason"] == said
    assert "\n" not in said
    uploader.result()  # the file is valid
