# SPDX-License-Identifier: MPL-2.0
"""A host that does not answer: a person sees within two seconds what is waited for."""

import asyncio
import socket
from contextlib import closing

import pytest
from loopback import Fault, first
from loopback_deployment import AMD_16, ARTIFACT, Artifact
from msgspec.structs import replace

from io_benchmark.errors import GaveUpError
from io_benchmark.sources import silence
from io_benchmark.sources.silence import Silence, in_lines, in_progress
from io_benchmark.sources.web_client import WebClient

OBJECT = f"/public-bucket/{AMD_16}/0/{ARTIFACT}"


@pytest.fixture
def clock(monkeypatch):
    """Return the time that the module reads, in a list."""
    now = [0.0]
    monkeypatch.setattr(silence, "_now_s", lambda: now[0])
    return now


@pytest.fixture
def noticed():
    return []


@pytest.fixture
def silent(noticed):
    return Silence(lambda reason, silent_s: noticed.append((reason, silent_s)))


def looked(silent, clock, now_s):
    clock[0] = now_s
    silent.look()


def test_a_host_that_says_nothing(clock, silent, noticed):
    """It is noticed at each look once it was silent long enough, and while a request waits."""
    with silent.waiting("h"):
        for now_s in (0.5, 0.9, 1.0, 2.0):
            looked(silent, clock, now_s)
        assert noticed == [("h does not answer yet", 1.0), ("h does not answer yet", 2.0)]
    looked(silent, clock, 9.0)
    assert len(noticed) == 2


def test_a_part_of_an_answer_ends_the_silence(clock, silent, noticed):
    """A slow answer is an answer, also one to another request; later silence counts from then."""
    with silent.waiting("h"), silent.waiting("h"):
        clock[0] = 0.75
        silent.heard("h")
        looked(silent, clock, 1.5)
        assert noticed == []
        looked(silent, clock, 1.75)
        assert noticed == [("h does not answer yet", 1.0)]


def test_a_failure_is_the_reason(clock, silent, noticed):
    """The last failure is named while the request is repeated, with the host."""
    with silent.waiting("a.b"):
        silent.failed("a.b", "cannot connect to a.b: connection refused")
        looked(silent, clock, 2.0)
        silent.failed("a.b", "another answers 503")
        looked(silent, clock, 3.0)
        silent.heard("a.b")
        looked(silent, clock, 5.0)
    silent.heard("a.b")
    silent.failed("a.b", "nobody waits for it")
    assert noticed == [
        ("cannot connect to a.b: connection refused", 2.0),
        ("a.b: another answers 503", 3.0),
        ("a.b does not answer yet", 2.0),
    ]


def test_where_it_is_shown():
    """In the line of the progress each time, or once in a line of its own."""
    steps: list[tuple[str, int, int | None]] = []
    lines: list[str] = []
    for notice in (in_progress(lambda *step: steps.append(step)), in_lines(lines.append)):
        notice("h does not answer yet", 1.6)
        notice("h does not answer yet", 2.1)
        notice("h answers 503", 2.6)
    assert steps == [
        ("waiting: h does not answer yet; seconds", 2, None),
        ("waiting: h does not answer yet; seconds", 2, None),
        ("waiting: h answers 503; seconds", 3, None),
    ]
    assert lines == [
        "still waiting: h does not answer yet",
        "still waiting: h answers 503",
    ]


@pytest.fixture
def unheard():
    """Yield the address of a host that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x"


def test_within_two_seconds(policy, unheard):
    """Someone who looks at a terminal sees it before they wonder."""
    assert silence.SILENT_S + silence._EVERY_S < 1.5
    noticed = []

    async def main():
        impatient = replace(policy, answer_s=1.7, attempts=1)
        async with WebClient(impatient, lambda *silent: noticed.append(silent)) as http:
            await http.retry(unheard, lambda: http.download(unheard, 100))

    with pytest.raises(GaveUpError, match="does not answer in time"):
        asyncio.run(main())
    reason, silent_s = noticed[0]
    assert reason == "127.0.0.1 does not answer yet"
    assert silent_s >= silence.SILENT_S


def test_requests_that_are_repeated(loopback, policy, monkeypatch):
    """A failing host is named by its last failure; one that answers in the end is not named."""
    loopback.deployment.set_result(AMD_16, 0, Artifact(b"{}"))
    loopback.faults = first(3, Fault(status=503))
    url, noticed = loopback.storage_url + OBJECT, []
    monkeypatch.setattr(silence, "SILENT_S", -1.0)

    async def main():
        async def sleep(_seconds):
            http._silence.look()

        patient = replace(policy, sleep=sleep)
        async with WebClient(patient, lambda reason, _: noticed.append(reason)) as http:
            await http.retry(url, lambda: http.download(url, 100))
            http._silence.look()

    asyncio.run(main())
    assert noticed == ["127.0.0.1 answers 503"] * 3
