# SPDX-License-Identifier: MPL-2.0
"""The workload upload: to a server of the test, and by a curl of the test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from early_end import SkippedError
from upload_servers import Handler, Sink
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
def client(tmp_path: Path) -> upload._Curl:
    """This machine's."""
    try:
        return upload._Curl(str(tmp_path), None)
    except SkippedError as error:
        pytest.skip(str(error))


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().serving() as server:
        yield server


@pytest.fixture
def uploader(worker: Worker, client: upload._Curl) -> Worker:
    assert client.name
    worker.workloads = ("upload",)
    return worker


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
    uploader: Worker, client: upload._Curl, sink: Sink
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
        ("echo curl 7.66.0", "{path} is not curl 7.67 or later"),
        ("exit 1", "{path} is not curl 7.67 or later"),
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
            upload._Curl(str(tmp_path), None)
    else:
        client = upload._Curl(str(tmp_path), None)
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
    assert upload._quoted('a"b\\c') == r'"a\"b\\c"'


# A curl that keeps its configurations, and answers for a server that speaks HTTP/2, or only HTTP/1.1.
FAKE_CURL = """#!/bin/sh
if [ "$1" = --version ]; then printf 'curl 7.88.1 (x)\\nFeatures: HTTP2 SSL\\n'; exit; fi
number=$(ls "$CONFIGS" | wc -l)
cp "$3" "$CONFIGS/$number"
spoken=1.1 connections=1
if grep -q '^http2$' "$3"; then spoken=$SPOKEN; fi
if [ $number = "$FAILS_AT" ]; then echo 'curl: (92) HTTP/2 stream 1 was not closed' >&2; exit 92; fi
for word in $(grep -o '^url' "$3"); do
  printf '\\nio-benchmark: 201 0.010 %s %s\\n' $connections $spoken >&2
  connections=0
done
"""


@pytest.fixture
def configurations(worker: Worker, tmp_path: Path) -> Path:
    """The folder of the configurations that the uploader's curl gets."""
    tools, folder = tmp_path / "tools", tmp_path / "configurations"
    folder.mkdir()
    worker.limit_path(tools, *("sh", "ls", "wc", "cp", "grep"))
    (tools / "curl").write_text(FAKE_CURL)
    (tools / "curl").chmod(0o755)
    worker.environment |= {"CONFIGS": str(folder), "SPOKEN": "2"}
    worker.workloads = ("upload",)
    return folder


PLAIN = [
    *("silent", "no-progress-meter", "show-error", "globoff", "fail-early", "http1.1"),
    "max-time = 30",
    'write-out = "%{stderr}\\nio-benchmark: %{http_code} %{time_total} %{num_connects} %{http_version}\\n"',
]
EXPECT, NO_EXPECT = 'header = "Expect: 100-continue"', 'header = "Expect:"'
AT_ONCE = ["parallel", "parallel-max = 10"]


def test_each_way(worker: Worker, configurations: Path) -> None:
    """What curl is told, how many objects are sent, and what is read from its answers."""
    code, output, entries = run(worker, "https://host.example/b", SETS)
    assert code == 0, output
    observed = [entry["observed"] for entry in entries]
    facts = [(each["http_version"], each["connections"]) for each in observed]
    assert facts == [("1.1", 1), ("1.1", 1), ("1.1", 2), ("2", 2)]
    assert [each["expect_100_stalls"] for each in observed] == [0, 0, 0, None]
    operations = [entry["samples"]["operations"] for entry in entries]
    assert operations == [*([[1] * 10] * 2), *([[10, 10]] * 2)]
    files = sorted(configurations.iterdir(), key=lambda path: int(path.name))
    lines = [path.read_text().splitlines() for path in files]
    objects = [sum(line.startswith("url = ") for line in each) for each in lines]
    # Three objects before each way but the last are the reference, without Expect.
    assert objects == [3, 10, 3, 10, 3, 10, 10, 10, 10]
    options = [
        [line for line in each if not line.startswith(("url", "upload-file", "output"))]
        for each in lines
    ]
    by_http2 = [word.replace("http1.1", "http2") for word in PLAIN]
    reference, once = [*PLAIN, NO_EXPECT], [*PLAIN, EXPECT]
    together = [*once, *AT_ONCE, "parallel-immediate"]
    assert options == [
        *(reference, [*once, 'header = "Connection: close"'], reference, once),
        *(reference, together, together),
        *[[*by_http2, NO_EXPECT, *AT_ONCE]] * 2,
    ]


@pytest.mark.parametrize(
    ("environment", "outcome", "samples"),
    [
        pytest.param(
            {"SPOKEN": "1.1"}, skipped("the server speaks HTTP/1.1"), 0, id="without HTTP/2"
        ),
        pytest.param(
            {"FAILS_AT": "8"},
            {
                "state": "failed",
                "reason": "place workspace ({}): the upload failed: curl: (92) HTTP/2 stream 1 was "
                "not closed",
            },
            1,
            id="the second set fails",
        ),
    ],
)
def test_http_2_that_is_not(
    worker: Worker,
    configurations: Path,
    environment: dict[str, str],
    outcome: dict[str, str],
    samples: int,
) -> None:
    """It is skipped by name, or fails with curl's reason; what was sent before and the other ways count."""
    worker.environment |= environment
    code, _, entries = run(worker, "https://host.example/", SETS)
    assert (code, configurations.is_dir()) == (int(outcome["state"] == "failed"), True)
    reason = outcome["reason"].format(worker.workspace)
    assert [entry["outcome"] for entry in entries] == [
        *[COMPLETED] * 3,
        {**outcome, "reason": reason},
    ]
    assert len(entries[3]["samples"]["start_ns"]) == samples
