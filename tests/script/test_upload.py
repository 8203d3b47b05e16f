# SPDX-License-Identifier: MPL-2.0
"""The workload upload, by a curl of the test.

`test_workloads.py` has the real one upload to loopback.
"""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest
from errors import SkippedError
from measuring import curl
from workloads import upload

# A set of ten at once, two sets.
SETS = (
    "from workloads import upload\n"
    "upload.QUICK.update(objects=10, at_once=10, sets=2, time_limit_s=60.0)\n"
)
COMPLETED = {"state": "completed", "reason": None}
URL = "https://host.example/b"
# A curl that keeps its configurations, and answers for a server that speaks HTTP/2, or only
# HTTP/1.1.
FAKE_CURL = """#!/bin/sh
if [ "$1" = --version ]; then printf 'curl 7.88.1 (x)\\nFeatures: HTTP2 SSL\\n'; exit; fi
number=$(ls "$CONFIGS" | wc -l)
cp "$3" "$CONFIGS/$number"
spoken=1.1 connections=1
if grep -q '^http2$' "$3"; then spoken=$SPOKEN; fi
for word in $(grep -o '^url' "$3"); do
  printf '\\nio-benchmark: %s 0.010 %s %s\\n' $CODE $connections $spoken >&2
  connections=0
done
if [ $number = "$FAILS_AT" ]; then echo 'curl: (92) HTTP/2 stream 1 was not closed' >&2; exit 92; fi
exit $STATUS
"""


@pytest.fixture
def configurations(worker, tmp_path):
    """The folder of the configurations that the uploader's curl gets."""
    tools, folder = tmp_path / "tools", tmp_path / "configurations"
    folder.mkdir()
    worker.limit_path(tools, "sh", "ls", "wc", "cp", "grep")
    (tools / "curl").write_text(FAKE_CURL)
    (tools / "curl").chmod(0o755)
    worker.environment |= {"CONFIGS": str(folder), "SPOKEN": "2", "CODE": "201", "STATUS": "0"}
    worker.workloads = ("upload",)
    return folder


def run(worker, url):
    """The exit code, the log and the entries of a run."""
    code, output = worker.run("--profile", "quick", "--upload-url", url, prelude=SETS)
    worker.result()
    return code, output, worker.document()["workloads"]


PLAIN = [
    "silent",
    "no-progress-meter",
    "show-error",
    "globoff",
    "fail-early",
    "http1.1",
    "max-time = 30",
    (
        'write-out = "%{stderr}\\nio-benchmark: %{http_code} %{time_total} %{num_connects} '
        '%{http_version}\\n"'
    ),
]
EXPECT, NO_EXPECT = 'header = "Expect: 100-continue"', 'header = "Expect:"'
AT_ONCE = ["parallel", "parallel-max = 10"]


def test_each_way(worker, configurations):
    """What curl is told, how many objects are sent, and what is read from its answers."""
    code, output, entries = run(worker, f"{URL}?name={{name}}&signature=secret")
    assert code == 0, output
    # The file has the server alone.
    assert "secret" not in worker.result_path.read_text() + output
    assert worker.document()["config"]["upload_url"] == "https://host.example"
    keys = ("target", "delay_ns")
    targets = [tuple(map(entry["parameters"].get, keys)) for entry in entries]
    assert targets == [("https://host.example", None)] * 4
    observed = [entry["observed"] for entry in entries]
    facts = [(each["http_version"], each["connections"]) for each in observed]
    assert facts == [("1.1", 1), ("1.1", 1), ("1.1", 2), ("2", 2)]
    assert [each["expect_100_stalls"] for each in observed] == [0, 0, 0, None]
    operations = [entry["samples"]["operations"] for entry in entries]
    assert operations == [*([[1] * 10] * 2), *([[10, 10]] * 2)]
    files = sorted(configurations.iterdir(), key=lambda path: int(path.name))
    lines = [path.read_text().splitlines() for path in files]
    objects = [[line for line in each if line.startswith("url = ")] for each in lines]
    address = f'url = "{URL}?name=io-benchmark-0009&signature=secret"'
    assert objects[1][9] == address
    # Three objects before each way but the last are the reference, without Expect.
    assert [*map(len, objects)] == [3, 10, 3, 10, 3, 10, 10, 10, 10]
    options = [
        [line for line in each if not line.startswith(("url", "upload-file", "output"))]
        for each in lines
    ]
    by_http2 = [word.replace("http1.1", "http2") for word in PLAIN]
    reference, once = [*PLAIN, NO_EXPECT], [*PLAIN, EXPECT]
    together = [*once, *AT_ONCE, "parallel-immediate"]
    assert options == [
        reference,
        [*once, 'header = "Connection: close"'],
        reference,
        once,
        reference,
        together,
        together,
        *[[*by_http2, NO_EXPECT, *AT_ONCE]] * 2,
    ]


# Of three objects that took 10 ms each.
LINES = "\nio-benchmark: 201 0.010 1 1.1\n" * 3


@pytest.mark.parametrize("way", ["keep-alive", "concurrent"])
def test_objects_that_are_read_at_once(monkeypatch, way):
    """One after another, each ended before the next began; those that are sent at once overlap."""
    client = object.__new__(curl.Curl)
    client._reap = lambda program, *_: setattr(program, "exit_code", 0)
    monkeypatch.setattr(curl.clock, "now_ns", lambda: 10**9)
    pieces = [LINES.encode(), b""]
    program = SimpleNamespace(read=lambda _wait_s: pieces.pop(0))
    sent = [each[:2] for each in client._follow(program, 0, None, way)]
    begin = 10**9 - 10**7
    starts = [begin - 2 * 10**7, begin - 10**7, begin] if way == "keep-alive" else [begin] * 3
    assert sent == [(start, start + 10**7) for start in starts]


def test_an_object_that_was_read_late():
    """The next one begins after it, and no object takes another time."""
    workload = object.__new__(upload.WORKLOAD)
    workload._rows, workload._bench = [], SimpleNamespace(origin_ns=100)
    workload.look_around = lambda _: None
    workload.planned, workload.deadline_ns = 9, 10**9
    counts = {"connections": 0, "expect_100_stalls": 0, "without_expect_ns": None}
    entry = {"variant": "keep-alive", "observed": counts}
    sent = [(150, 180, 1, "1.1"), (170, 190, 0, "1.1"), (230, 260, 0, "1.1")]
    assert not workload._upload_set(iter(sent), False, entry)
    assert workload._rows == [(50, 30, 1), (80, 20, 1), (130, 30, 1)]


def test_a_server_that_never_answers_expect():
    """Each object that waits 0.9 s longer than the usual one without it is counted."""
    workload = object.__new__(upload.WORKLOAD)
    workload.add = lambda _times, _operations: False
    counts = {"connections": 0, "expect_100_stalls": 0, "without_expect_ns": [0, 10**7, 10**10]}
    entry = {"variant": "concurrent", "observed": counts}
    sent = [(5, 910_000_004, 1, "1.1"), (5, 910_000_005, 0, "1.1")]
    assert not workload._upload_set(iter(sent), True, entry)
    assert counts == {**counts, "connections": 1, "expect_100_stalls": 1, "http_version": "1.1"}


FAILED = "the upload failed: curl: (92) HTTP/2 stream 1 was not closed"
# What the last way, or the first one, ends with; how many of its samples count.
PROBLEMS = [
    (URL, {"SPOKEN": "1.1"}, -1, "skipped", "the server speaks HTTP/1.1", 0),
    (URL.replace("https", "http"), {}, -1, "skipped", "HTTP/2 needs TLS: give an https", 0),
    (URL, {"FAILS_AT": "8"}, -1, "failed", FAILED, 1),
    # The last object's answer may be incomplete.
    (URL, {"FAILS_AT": "1"}, 0, "failed", FAILED, 9),
    (URL, {"CODE": "403"}, 0, "failed", "the server answered HTTP 403", 0),
    # 000 without an answer, 100 for Continue: curl ends with the reason.
    *(
        (URL, {"CODE": code, "STATUS": "52"}, 0, "failed", "the upload failed: status 52", 0)
        for code in ("000", "100")
    ),
]


@pytest.mark.usefixtures("configurations")
@pytest.mark.parametrize(("url", "environment", "way", "state", "reason", "samples"), PROBLEMS)
def test_what_is_not_uploaded(worker, url, environment, way, state, reason, samples):
    """It is skipped by name, or fails with curl's reason.

    What was sent before and the other ways count.
    """
    worker.environment |= environment
    code, _, entries = run(worker, url)
    assert code == int(state == "failed")
    outcome = entries[way]["outcome"]
    where = worker.where if state == "failed" else ""
    assert (outcome["state"], outcome["reason"][: len(where + reason)]) == (state, where + reason)
    assert len(entries[way]["samples"]["start_ns"]) == samples
    if way:
        assert [entry["outcome"] for entry in entries[:way]] == [COMPLETED] * 3


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("printf 'curl 7.68.0 (x)\\nFeatures: HTTP2 SSL\\n'", ("curl-7.68.0", True)),
        ("printf 'curl 7.67.0\\nFeatures: SSL\\n'", ("curl-7.67.0", False)),
        ("echo curl 7.66.0", "{path} is not curl 7.67 or later"),
        ("exit 1", "{path} is not curl 7.67 or later"),
        (None, "curl is not on PATH"),
    ],
)
def test_which_curl(tmp_path, monkeypatch, script, outcome):
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


@pytest.mark.parametrize("end", ["", "/"])
def test_an_objects_address(end):
    """The name is added where the URL does not say where; a quote in it stays part of it."""
    assert upload._addresses(URL + end, 8)[7] == f"{URL}/io-benchmark-0007"
    assert curl._quoted('a"b\\c') == r'"a\"b\\c"'


TICK_S = 1 / 64


def test_waits_by_a_coarse_clock():
    """No wait is shorter than asked for, where asyncio's clock has ticks as on Windows."""

    async def waited_s() -> float:
        begun_s = time.monotonic()
        await upload._wait(0.03)
        return time.monotonic() - begun_s

    async def wait_at_once() -> list[float]:
        loop: Any = asyncio.get_running_loop()
        loop.time = lambda: time.monotonic() // TICK_S * TICK_S
        loop._clock_resolution = TICK_S
        tasks = []
        for _ in range(20):  # other events, at which asyncio looks for what is due
            tasks.append(asyncio.create_task(waited_s()))
            await loop.run_in_executor(None, time.sleep, 0.004)
        return await asyncio.gather(*tasks)

    assert min(asyncio.run(wait_at_once())) >= 0.03
