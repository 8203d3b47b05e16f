# SPDX-License-Identifier: MPL-2.0
"""One download: what it follows, what it refuses, and what may be tried again."""

import shutil
import socket
import ssl
import time

import pytest
from artifact_server import (
    MIB,
    artifact_server,
    certificate,
    head,
    redirecting,
    reset,
    sending,
    whole,
)
from measuring import fetching
from measuring.fetching import BROKEN, FAILED, SKIPPED, FetchError


@pytest.fixture
def server():
    with artifact_server() as running:
        yield running


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(fetching, "SILENCE_S", 0.3)


def fetch(url, piece_bytes=2 * MIB, limit_s=10, tls=None):
    """The download, and the bytes that came."""
    received = bytearray()
    return fetching.fetch(url, piece_bytes, limit_s, tls, received.extend), len(received)


def test_the_request(server):
    """Nothing is sent but the range, the program's name and what HTTP needs."""
    server.url += "?signature=a%20b"
    done, received = fetch(server.url)
    assert server.requests == [
        b"GET /a?signature=a%%20b HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
        b"Accept-Encoding: identity\r\n"
        b"User-Agent: io-benchmark/1.0.0 (https://github.com/mozilla-releng/io-benchmark)\r\n"
        b"Range: bytes=0-2097151\r\n\r\n" % server.port
    ]
    assert (done["bytes"], received) == (2 * MIB, 2 * MIB)
    assert done["facts"] == {
        "address_family": "IPv4",
        "answered_by": {"host": "127.0.0.1"},
        "http_version": "1.1",
        "object_bytes": 100 * MIB,
        "redirects": 0,
        "tls_version": None,
    }


def test_steps(server):
    """Together they are the time from the start to the last byte; the second half is its part."""

    def answer(stream, *_):
        time.sleep(0.1)
        stream.sendall(head(206, Content_Length=2 * MIB) + bytes(MIB))
        time.sleep(0.05)
        stream.sendall(bytes(MIB))

    server.answer = redirecting("/b", answer)
    done, _ = fetch(server.url)
    steps = done["steps"]
    assert steps.pop("tls_ns") is None
    assert steps["first_byte_ns"] >= 100_000_000
    assert steps["body_ns"] >= 50_000_000
    assert 0 < steps.pop("second_half_ns") < steps["body_ns"]
    assert steps["redirect_ns"] > 0
    duration_ns = done["end_ns"] - done["start_ns"]
    assert 0 <= duration_ns - sum(steps.values()) < 20_000_000


CHUNKS = b"100000\r\n" + bytes(MIB) + b"\r\n"
ANSWERS = [
    pytest.param(whole(2 * MIB, 200), 2 * MIB, id="a server without ranges"),
    pytest.param(
        sending(head(200, Content_Length=50 * 10**9), *[bytes(MIB)] * 64),
        50 * 10**9,
        id="50 GB: it ends the connection after the piece",
    ),
    pytest.param(
        sending(head(200, Transfer_Encoding="chunked"), CHUNKS * 3, b"0\r\n\r\n"), None, id="chunks"
    ),
    pytest.param(sending(head(200), bytes(3 * MIB)), None, id="no length"),
    pytest.param(
        sending(head(200, Content_Length="-7"), bytes(3 * MIB)), None, id="a length below 0"
    ),
]


@pytest.mark.parametrize(("answer", "size"), ANSWERS)
def test_how_servers_answer(server, answer, size):
    """The piece is downloaded, and no more."""
    server.answer = answer
    done, received = fetch(server.url)
    assert (done["bytes"], received, done["facts"]["object_bytes"]) == (2 * MIB, 2 * MIB, size)


def test_a_smaller_object(server):
    """Of an object that is smaller than the piece, its whole MiB."""
    size = 5 * MIB // 2
    server.answer = sending(head(206, Content_Range=f"bytes 0-{size - 1}/{size}"), bytes(size))
    done, received = fetch(server.url, 16 * MIB)
    assert (done["bytes"], received) == (2 * MIB, 2 * MIB)


def test_headers_of_the_answer(server):
    """Those that tell who answered, short and printable; none that names the request."""
    headers = {
        "Server": "A\u00e4" * 200,
        "Via": "1.1 google",
        "x_amz_request_id": "7",
        "CF_Ray": "1-IAD",
    }
    server.answer = whole(2 * MIB, 206, Content_Encoding="gzip", **headers)
    done, _ = fetch(server.url)
    assert done["facts"]["answered_by"] == {
        "host": "127.0.0.1",
        "server": "A?" * 50,
        "via": "1.1 google",
        "content-encoding": "gzip",
        "cf-ray": "1-IAD",
    }


def test_a_slow_network(server):
    """At the limit of time it ends with the whole MiB that it has."""

    def answer(stream, *_):
        stream.sendall(head(206, Content_Length=4 * MIB) + bytes(3 * MIB // 2))
        for _step in range(40):
            time.sleep(0.05)
            stream.sendall(bytes(2048))

    server.answer = answer
    started = time.monotonic()
    done, received = fetch(server.url, 4 * MIB, limit_s=0.5)
    assert done["bytes"] == MIB <= received < 2 * MIB
    assert done["steps"]["second_half_ns"] is None
    assert time.monotonic() - started < 10


def silent(*_):
    time.sleep(1)


def half(stream, *_):
    stream.sendall(head(206, Content_Length=2 * MIB) + bytes(MIB))
    time.sleep(1)


def resetting(stream, *_):
    stream.sendall(head(206, Content_Length=2 * MIB) + bytes(1000))
    time.sleep(0.1)
    reset(stream)


HERE = "127.0.0.1"
SHORT = "needs 1 MiB"
PROBLEMS = [
    (silent, BROKEN, f"{HERE} did not answer: timed out"),
    (half, BROKEN, "the download broke off after "),
    (resetting, BROKEN, "the download broke off after "),
    (lambda stream, *_: reset(stream), BROKEN, f"{HERE} did not answer: Connection reset by peer"),
    (sending(head(206, Content_Length=2 * MIB), bytes(MIB)), BROKEN, "the answer ended after "),
    (sending(head(200, Transfer_Encoding="chunked"), b"zz\r\n"), BROKEN, "the download broke off "),
    (sending(b"\x00\xff\r\n\r\n"), BROKEN, f"{HERE} did not answer: "),
    (sending(head(200, **{f"x{i}": i for i in range(200)})), BROKEN, f"{HERE} did not answer: got"),
    (sending(head(200, x="y" * 70_000)), BROKEN, f"{HERE} did not answer: got more than"),
    (sending(head(503)), BROKEN, f"{HERE} answered HTTP 503"),
    (sending(head(429)), BROKEN, f"{HERE} answered HTTP 429"),
    (sending(head(404)), SKIPPED, f"{HERE} answered HTTP 404"),
    (sending(head(403)), SKIPPED, f"{HERE} answered HTTP 403"),
    (sending(head(200, Content_Length=0)), FAILED, f"the object of {HERE} has 0 bytes, and a"),
    (sending(head(416, Content_Range="bytes */0")), FAILED, f"the object of {HERE} has 0 bytes"),
    (
        whole(MIB - 1, 200),
        FAILED,
        f"the object of {HERE} has 1048575 bytes, and a download {SHORT}",
    ),
    (sending(head(302)), FAILED, "more than 5 redirects"),
    (sending(head(302, Location="/a")), FAILED, "more than 5 redirects"),
]
TARGETS = [
    ("file:///etc/passwd", f"{HERE} redirects to 'file:///etc/passwd', which is not followed"),
    ("ftp://host.example/a", f"{HERE} redirects to 'ftp://host.example/a', which is not"),
    ("https://user:password@host.example/", f"{HERE} redirects to 'https://user:password@"),
    ("http://[::1/", f"{HERE} redirects to 'http://[::1/', which is not followed"),
    ("http://host.example:port/", f"{HERE} redirects to 'http://host.example:port/'"),
    ("http://host.example/\u00e4", f"{HERE} redirects to 'http://host.example/?'"),
]
TARGET_PROBLEMS = [(sending(head(301, Location=target)), FAILED, why) for target, why in TARGETS]


@pytest.mark.parametrize(("answer", "kind", "reason"), [*PROBLEMS, *TARGET_PROBLEMS])
def test_what_is_refused(server, answer, kind, reason):
    """The reason is one line, and its kind says whether another try may succeed."""
    server.answer = answer
    with pytest.raises(FetchError) as error:
        fetch(server.url)
    assert (error.value.kind, error.value.reason[: len(reason)]) == (kind, reason)
    assert error.value.reason.isprintable()


def test_five_redirects(server):
    """The sixth request may get the bytes."""

    def answer(stream, request, number):
        (whole(2 * MIB) if number == 5 else sending(head(307, Location=f"/{number}")))(
            stream, request, number
        )

    server.answer = answer
    assert fetch(server.url)[1] == 2 * MIB
    assert server.requests[-1].startswith(b"GET /4 ")


@pytest.mark.parametrize("reach", [fetching.PUBLIC, fetching.LOOPBACK])
def test_a_redirect_to_a_more_private_address(server, monkeypatch, reach):
    """A public host leads to no private one; a private one may lead to itself."""
    with artifact_server("127.0.0.2") as other:
        server.answer = sending(head(303, Location=other.url))
        reaches = {"127.0.0.1": reach, "127.0.0.2": fetching.LOOPBACK}
        monkeypatch.setattr(fetching, "_reach", reaches.get)
        if reach == fetching.LOOPBACK:
            assert fetch(server.url)[1] == 2 * MIB
            return
        with pytest.raises(FetchError) as error:
            fetch(server.url)
        assert other.requests == []
    problem = "a redirect leads to 127.0.0.2 (127.0.0.2), a more private address"
    assert (error.value.kind, error.value.reason) == (FAILED, problem)


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("8.8.8.8", fetching.PUBLIC),
        ("2a00:1450::1", fetching.PUBLIC),
        ("10.0.0.1", fetching.PRIVATE),
        ("100.64.0.1", fetching.PRIVATE),
        ("fd00::1", fetching.PRIVATE),
        ("127.8.0.1", fetching.LOOPBACK),
        ("::1", fetching.LOOPBACK),
        ("169.254.169.254", fetching.LINK_LOCAL),
        ("fe80::1%eth0", fetching.LINK_LOCAL),
        ("::", fetching.LINK_LOCAL),
        ("::ffff:169.254.169.254", fetching.LINK_LOCAL),
        ("64:ff9b::a9fe:a9fe", fetching.LINK_LOCAL),
        ("2002:7f00:1::", fetching.LOOPBACK),
    ],
)
def test_how_private_an_address_is(address, reach):
    """Also one within another."""
    assert fetching._reach(address) == reach


@pytest.fixture
def secure(server, tmp_path):
    """The server with TLS, and a context that trusts it."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    file = certificate(tmp_path)
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(file)
    server.url = f"https://localhost:{server.port}/a"
    return server, ssl.create_default_context(cafile=str(file))


def test_tls(secure):
    """Its version and its time are known."""
    server, trusting = secure
    done, _ = fetch(server.url, tls=trusting)
    assert done["facts"]["tls_version"] == "TLSv1.3"
    assert done["facts"]["answered_by"] == {"host": "localhost"}
    assert done["steps"]["tls_ns"] > 0


def test_what_is_wrong_with_tls(secure):
    """Another try does not help against a certificate; a server without TLS is broken."""
    server, trusting = secure
    with pytest.raises(FetchError) as error:
        fetch(server.url, tls=ssl.create_default_context())
    reason = "the certificate of localhost is refused: self-signed certificate"
    assert (error.value.kind, error.value.reason.replace("self signed", "self-signed")) == (
        SKIPPED,
        reason,
    )
    server.answer = sending(head(302, Location="http://localhost/"))
    with pytest.raises(FetchError, match="redirects from https to http, which is not followed"):
        fetch(server.url, tls=trusting)
    server.tls = None
    with pytest.raises(FetchError) as error:
        fetch(server.url, tls=trusting)
    assert error.value.kind == BROKEN
    assert error.value.reason.startswith("TLS with localhost failed: ")


def test_a_name_that_does_not_resolve(monkeypatch):
    """The resolver's words are the reason."""

    def refuse(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(FetchError) as error:
        fetch("https://nowhere.example/a")
    reason = "nowhere.example cannot be resolved: Name or service not known"
    assert (error.value.kind, error.value.reason) == (BROKEN, reason)


def test_a_port_that_nobody_has():
    """All addresses of the name were tried."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(FetchError, match=r"^127\.0\.0\.1 cannot be reached: Connection refused$"):
        fetch(f"http://127.0.0.1:{port}/")


def test_only_ipv6():
    """The family is recorded."""
    try:
        running = artifact_server("::1")
        with running as server:
            assert fetch(server.url)[0]["facts"]["address_family"] == "IPv6"
    except OSError:
        pytest.skip("needs IPv6")
