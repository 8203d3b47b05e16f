# SPDX-License-Identifier: MPL-2.0
"""The workload download, from a server of the test; `test_fetching.py` has single downloads.

`test_workloads.py` has the workload with its own server.
"""

import time

import pytest
from artifact_server import MIB, artifact_server, head, redirecting, sending, whole
from errors import SkippedError
from workloads import download

# Two sets of 2 MiB per connection, without pauses.
SMALL = (
    "from workloads import download\n"
    "download.QUICK.update(samples_planned=2, piece_bytes=2**21, time_limit_s=60.0)\n"
    "download.PAUSE_S = 0\n"
)
HOST = "127.0.0.1"


@pytest.fixture
def server():
    with artifact_server() as running:
        yield running


def run(worker, url, prelude=SMALL):
    """The exit code, the log and the entries of a run."""
    worker.workloads = ("download",)
    code, output = worker.run("--profile", "quick", "--download-url", url, prelude=prelude)
    worker.result()
    return code, output, worker.document()["workloads"]


def test_both_ways(worker, server):
    """A redirect is followed for each; to memory is measured in the first place alone."""
    server.answer = redirecting(server.url.replace("127.0.0.1", "localhost"), whole(2 * MIB))
    second = worker.workspace.parent / "second"
    second.mkdir()
    worker.workloads = ("download",)
    places = ("--place", f"workspace={worker.workspace}", "--place", f"second={second}")
    url = f"{server.url}?signature=secret"
    code, output = worker.run("--profile", "quick", "--download-url", url, *places, prelude=SMALL)
    assert code == 0, output
    assert "secret" not in worker.result_path.read_text() + output
    assert worker.document()["config"]["download_url"] == f"http://{HOST}:{server.port}"
    entries = worker.document()["workloads"]
    assert [(entry["place"], entry["variant"], entry["threads"]) for entry in entries] == [
        ("workspace", "to-memory", 1),
        ("workspace", "to-memory", 4),
        ("workspace", "to-place", 1),
        ("workspace", "to-place", 4),
        ("second", "to-place", 1),
        ("second", "to-place", 4),
    ]
    for entry in entries:
        count, observed = entry["threads"], entry["observed"]
        assert entry["outcome"]["state"] == "completed"
        assert entry["parameters"] == {
            "piece_bytes": 2 * MIB,
            "samples_planned": 2,
            "time_limit_s": 60.0,
            "target": f"http://{HOST}:{server.port}",
        }
        assert entry["samples"]["operations"] == [2 * count] * 2
        assert entry["turn_ends"] == [1, 2]
        assert observed["answered_by"] == {"host": "localhost"}
        assert observed["object_bytes"] == 100 * MIB
        assert min(observed["steps"]["redirect_ns"]) > 0
        is_written = entry["variant"] == "to-place"
        assert observed["written_bytes"] == (4 * MIB * count if is_written else None)
    # One of the probe and 2 per connection, each of two requests.
    assert len(server.requests) == sum(2 * (1 + 2 * entry["threads"]) for entry in entries)
    assert list(second.iterdir()) == []


def test_a_small_object(worker, server):
    """Its whole MiB are what is compared with other pools."""
    size = 7 * MIB // 4
    server.answer = sending(head(206, Content_Range=f"bytes 0-9/{size}"), bytes(size))
    code, output, entries = run(worker, server.url)
    assert code == 0, output
    sizes = {
        (entry["parameters"]["piece_bytes"], *entry["samples"]["operations"]) for entry in entries
    }
    assert sizes == {(MIB, 1, 1), (MIB, 4, 4)}


def test_downloads_that_break_off(worker, server):
    """A set of them is counted and repeated, and is no sample."""

    def answer(stream, request, number):
        # The probes of all four entries come first, with 1 MiB each.
        broken = sending(head(206, Content_Length=2 * MIB), bytes(MIB))
        (broken if number == 4 else whole(2 * MIB))(stream, request, number)

    server.answer = answer
    code, output, entries = run(worker, server.url)
    assert code == 0, output
    assert sum(entry["observed"]["retries"] for entry in entries) == 1
    downloads = [len(entry["observed"]["steps"]["body_ns"]) for entry in entries]
    assert downloads == [2 * entry["threads"] for entry in entries]


@pytest.mark.parametrize(
    ("answer", "state", "reason", "requests"),
    [
        (sending(head(404)), "skipped", f"{HOST} answered HTTP 404", 4),
        (sending(head(503)), "failed", f"{HOST} answered HTTP 503; tried 4 times", 4),
        (
            whole(0, 200),
            "failed",
            f"the object of {HOST} has 0 bytes, and a download needs 1 MiB",
            1,
        ),
    ],
)
def test_what_is_not_downloaded(worker, server, answer, state, reason, requests):
    """What another try cannot change is not repeated; nothing of the place goes on."""
    server.answer = answer
    code, output, entries = run(worker, server.url)
    assert code == 1, output
    where = worker.where if state == "failed" else ""
    assert {tuple(entry["outcome"].values()) for entry in entries} == {(state, where + reason)}
    assert len(server.requests) == requests


def test_a_server_that_never_ends(worker, server):
    """A header that comes byte by byte is no answer, however long it goes on."""

    def answer(stream, *_):
        while True:
            stream.sendall(b"x")

    server.answer = answer
    hurried = SMALL + "download.SAMPLE_SHARE = 1 / 60\ndownload.GRACE_S = 0\ndownload.REPEATS = 1\n"
    slow = "import http.client\nhttp.client._MAXLINE = 10**12\n"
    code, output, entries = run(worker, server.url, hurried + slow)
    assert code == 1, output
    (outcome,) = {tuple(entry["outcome"].values()) for entry in entries}
    assert outcome == ("failed", f"{worker.where}no answer within 1 s; tried 2 times")


def test_a_slow_network(worker, server):
    """A pool needs three samples to be compared, and gets them however slow its network is."""

    def answer(stream, *_):
        stream.sendall(head(206, Content_Length=2 * MIB) + bytes(MIB))
        while True:
            time.sleep(0.05)
            stream.sendall(bytes(20_000))

    server.answer = answer
    code, output, entries = run(
        worker,
        server.url,
        SMALL + "download.QUICK.update(samples_planned=6)\ndownload.QUICK['time_limit_s'] = 4.0\n",
    )
    assert code == 0, output
    for entry in entries:
        assert len(entry["samples"]["operations"]) >= 3
        assert set(entry["samples"]["operations"]) == {entry["threads"]}


def test_without_an_address(worker):
    """A kind that has no image to download is told what to do."""
    code, output, entries = run(worker, "none")
    assert code == 1, output
    assert {tuple(entry["outcome"].values()) for entry in entries} == {("skipped", download.NO_URL)}


@pytest.mark.parametrize(
    ("environment", "url", "variable"),
    [
        ({"https_proxy": "http://p:1"}, "https://host.example/", "https_proxy"),
        ({"all_proxy": "http://p:1"}, "https://host.example/", "all_proxy"),
        ({"https_proxy": "http://p:1", "no_proxy": ".example"}, "https://host.example/", None),
        ({"https_proxy": "http://p:1"}, "http://host.example/", None),
    ],
)
def test_a_proxy(monkeypatch, environment, url, variable):
    """Nothing passes it by without being told to, and nothing is measured through it."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if variable is None:
        download._check_proxy(url)
        return
    with pytest.raises(SkippedError, match=f"^{variable} is set, and a download by a proxy is not"):
        download._check_proxy(url)
