# SPDX-License-Identifier: MPL-2.0
"""The workload upload: to a server of the test, and over TLS to a real HTTP/2 server."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from early_end import SkippedError
from measuring import curl
from upload_servers import Certificate, Handler, Sink, fronted, make_certificate
from worker import Worker
from workloads import upload

WAYS = ("connection-each", "keep-alive", "concurrent", "http2")
PATIENT = "from workloads import upload\nupload.QUICK['time_limit_s'] = 60.0\n"
# Few enough that a second for each is no long test.
FEW = PATIENT + "upload.QUICK.update(objects=2, at_once=2, sets=1)\n"
# A set of ten at once, two sets.
SETS = PATIENT + "upload.QUICK.update(objects=10, at_once=10, sets=2)\n"
COMPLETED = {"state": "completed", "reason": None}


def skipped(reason: str) -> dict[str, str]:
    return {"state": "skipped", "reason": reason}


@pytest.fixture
def client(tmp_path: Path) -> curl.Curl:
    """This machine's."""
    try:
        return curl.Curl(str(tmp_path), None)
    except SkippedError as error:
        pytest.skip(str(error))


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().serving() as server:
        yield server


@pytest.fixture
def uploader(worker: Worker, client: curl.Curl) -> Worker:
    assert client.name
    worker.workloads = ("upload",)
    return worker


@pytest.fixture
def certificate(uploader: Worker, client: curl.Curl, tmp_path: Path) -> Certificate:
    """The uploader trusts it."""
    if not client.has_http2:
        pytest.skip("needs a curl with HTTP/2")
    certificate = make_certificate(tmp_path)
    uploader.environment |= certificate.trusted
    return certificate


def run(uploader: Worker, url: str, prelude: str) -> tuple[int, str, list[Any]]:
    """The exit code, the log and the entries of a run that leaves no curl and none of its files."""
    code, output = uploader.run("--profile", "quick", "--upload-url", url, prelude=prelude)
    assert "Traceback" not in output
    assert list(uploader.workspace.iterdir()) == []
    config = f"{uploader.workspace}/".encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert config not in path.read_bytes()
        except OSError:
            continue  # ended meanwhile
    uploader.result()
    return code, output, uploader.document()["workloads"]


def test_a_server_that_never_answers_expect(
    uploader: Worker, client: curl.Curl, sink: Sink
) -> None:
    """Each object waits a second, and is counted. The file has the server alone."""
    sink.answers_expect = False
    url = f"{sink.url}/bucket/o?name={{name}}&signature=secret"
    code, output, entries = run(uploader, url, FEW)
    assert code == 0, output
    assert [entry["observed"]["expect_100_stalls"] for entry in entries[:3]] == [2, 2, 2]
    paths = {f"/bucket/o?name=io-benchmark-000{number}&signature=secret" for number in range(3)}
    assert (set(sink.paths), sink.lengths) == (paths, {5120})
    assert "secret" not in uploader.result_path.read_text() + output
    assert uploader.document()["config"]["upload_url"] == sink.url
    assert [
        (entry["variant"], entry["parameters"]["target"], entry["parameters"]["delay_ns"])
        for entry in entries
    ] == [(variant, sink.url, None) for variant in WAYS]
    reason = "HTTP/2 needs TLS: give an https:// --upload-url"
    reason = reason if client.has_http2 else f"{client.name} offers no HTTP/2"
    assert [entry["outcome"] for entry in entries] == [*[COMPLETED] * 3, skipped(reason)]


def after(sink: Sink, count: int, fail: Callable[[Handler], None]) -> None:
    """Let the server fail after some objects."""
    sink.respond = lambda handler: fail(handler) if len(sink.paths) > count else handler.answer(201)


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        pytest.param(
            Handler.break_off,
            "the upload failed: curl: (18) transfer closed with 5 bytes remaining to read",
            id="middle",
        ),
        pytest.param(
            *(Handler.hang_up, "the upload failed: curl: (52) Empty reply from server"),
            id="no answer",
        ),
        pytest.param(
            *(lambda handler: handler.answer(403), "the server answered HTTP 403"), id="refused"
        ),
    ],
)
def test_an_answer_that_is_none(
    uploader: Worker, sink: Sink, fail: Callable[[Handler], None], reason: str
) -> None:
    """Such an object is not uploaded: the one before it counts, and the reason is the tool's own."""
    after(sink, 1 + upload.REFERENCE_OBJECTS, fail)
    code, _, entries = run(uploader, sink.url, FEW)
    first, observed = entries[0], entries[0]["observed"]
    assert (code, first["samples"]["operations"], observed["connections"]) == (1, [1], 1)
    reason = f"place workspace ({uploader.workspace}): {reason}"
    assert first["outcome"] == {"state": "failed", "reason": reason}


def test_nobody_there(uploader: Worker) -> None:
    """A server that cannot be reached is the failure, in the tool's own words."""
    closed = Sink()
    closed.server_close()
    code, _, _ = run(uploader, closed.url, FEW)
    reason = f"place workspace ({uploader.workspace}): the upload failed: curl: (7) "
    assert (code, str(uploader.result().outcome.reason)[: len(reason)]) == (1, reason)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (
            "printf 'curl 7.68.0 (x)\\nFeatures: HTTP2 SSL\\n'",
            ("curl-7.68.0", True),
        ),
        ("printf 'curl 7.67.0\\nFeatures: SSL\\n'", ("curl-7.67.0", False)),
        ("echo curl 7.66.0", "curl 7.66.0 is too old"),
        ("exit 1", "cannot read the version of {path}"),
        (None, "curl is not on PATH"),
    ],
)
def test_which_curl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, outcome: Any
) -> None:
    """Its version decides whether it is used, and its features whether it can do HTTP/2."""
    program = tmp_path / "curl"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if isinstance(outcome, str):
        with pytest.raises(SkippedError, match=f"^{outcome.format(path=program)}$"):
            curl.Curl(str(tmp_path), None)
    else:
        client = curl.Curl(str(tmp_path), None)
        assert (client.name, client.has_http2) == outcome


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h", "http://h/io-benchmark-0007"),
        ("https://h/a/", "https://h/a/io-benchmark-0007"),
        ("https://h/o?n={name}", "https://h/o?n=io-benchmark-0007"),
    ],
)
def test_an_objects_address(url: str, address: str) -> None:
    """The name is added, or put where the URL wants it; a quote in it stays part of it."""
    assert upload._addresses(url, 8)[7] == address
    assert curl._quoted('a"b\\c') == r'"a\"b\\c"'


def test_http_2(uploader: Worker, sink: Sink, certificate: Certificate) -> None:
    """One connection for all objects of a set; every other way sends the same ones by HTTP/1.1."""
    with fronted(sink, certificate) as front:
        code, output, entries = run(uploader, f"{front.url}/bucket", SETS)
        assert code == 0, output
        front.stop()
        carried = front.carried()
    assert [
        (entry["observed"]["http_version"], entry["observed"]["connections"]) for entry in entries
    ] == [("1.1", 10), ("1.1", 1), ("1.1", 20), ("2", 2)]
    operations = [entry["samples"]["operations"] for entry in entries]
    assert operations == [*([[1] * 10] * 2), *([[10, 10]] * 2)]
    objects = {f"PUT /bucket/io-benchmark-{number:04}" for number in range(10)}
    by_h2 = [transfer for transfer in carried if transfer.protocol == "h2"]
    others = {transfer.request for transfer in carried if transfer.protocol == "http/1.1"}
    requests = Counter(transfer.request for transfer in by_h2)
    assert requests == dict.fromkeys([f"{name} HTTP/2" for name in objects], 2)
    assert others == {f"{name} HTTP/1.1" for name in objects}
    connections = Counter(transfer.connection for transfer in by_h2)
    assert sorted(connections.values()) == [10, 10]
    assert {transfer.status for transfer in carried} == {201}


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_server_without_http_2(
    uploader: Worker, sink: Sink, certificate: Certificate, is_trusted: bool
) -> None:
    """It is skipped by name; without trust nothing is sent, and the reason is the tool's own."""
    sink.speak_tls(certificate)
    if not is_trusted:
        uploader.environment = {}
    code, output, entries = run(uploader, sink.url, SETS)
    if is_trusted:
        assert code == 0, output
        outcomes = [*[COMPLETED] * 3, skipped("the server speaks HTTP/1.1")]
        assert [entry["outcome"] for entry in entries] == outcomes
    else:
        assert (code, sink.paths) == (1, [])
        reason = "the upload failed: curl: (60) SSL certificate problem: "
        assert reason in str(uploader.result().outcome.reason)


def test_http_2_that_fails(uploader: Worker, sink: Sink, certificate: Certificate) -> None:
    """The second set's failure is the reason in one line; the first set and the other ways count."""
    with fronted(sink, certificate) as front:
        after(sink, 3 * upload.REFERENCE_OBJECTS + 40 + 15, Handler.break_off)
        code, _, entries = run(uploader, front.url, SETS)
    assert code == 1
    assert [len(entry["samples"]["start_ns"]) for entry in entries] == [10, 10, 2, 1]
    reason = entries[3]["outcome"]["reason"]
    where = f"place workspace ({uploader.workspace}): the upload failed: curl: (92) HTTP/2 stream "
    assert reason.startswith(where)
    assert "\n" not in reason
