# SPDX-License-Identifier: MPL-2.0
"""Lines of older and other writers, each with the phase that it begins."""

import pytest

from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases
from io_benchmark.analysis.phases.read_log import LogReader, RunFacts

MIB = 1024 * 1024
HASH = "4f1121f66938146cc05dfe474f399a63"


def read(*lines: str) -> RunPhases:
    """Return the phases of a log with a line in each second; a bare line has no stamp."""
    reader = LogReader(RunFacts())
    second = 0
    for line in lines:
        if ": " in line and not line.startswith(" "):
            second += 1
            writer, _, message = line.partition(": ")
            separator = " " if writer == "docker-worker" else "T"
            writer = writer.replace("docker-worker", "taskcluster").replace("worker", "taskcluster")
            stamp = f"2026-11-28{separator}16:33:{second:02}.000Z"
            reader.take(f"[{writer} {stamp}] {message}\n".encode())
        else:
            reader.take(f"{line.strip()}\n".encode())
    return reader.finish()


def seconds(run: RunPhases) -> dict[str, int]:
    phases = dict.fromkeys(span.phase for span in run.spans)
    return {str(phase): run.duration_ns(phase) // 10**9 for phase in phases}


BEGIN = ("worker: Worker Type (p/w) settings:", "worker: === Task Starting ===")
RUN = ("worker: Executing command 0: docker run x run-task", "setup: run-task started in /b")
END = (
    "task: executing ['x']",
    "worker: Exit Code: 0",
    "worker: === Task Finished ===",
)


def test_a_pulled_image() -> None:
    """Without a mount of the image, d2g downloads and unpacks it at once."""
    load = ("worker: [d2g] Loading docker image", 'worker: [d2g] Loaded docker image "x"')
    assert seconds(read(*BEGIN, *load, *RUN, *END))["image pull"] == 1
    hit = "worker: [mounts] Found existing download for artifact:T:public/image.tar.zst (F) with"
    assert seconds(read(*BEGIN, hit, *load, *RUN, *END))["image load"] == 1


def test_an_image_by_another_name() -> None:
    """From version 96.7.1 on a line says which mount was the image."""
    download = (
        "worker: [mounts] Downloading task T artifact public/build/x.tar to /d/f",
        "worker: [mounts] Downloaded 1048576 bytes with SHA256 ab from task T artifact x to /d/f",
    )
    handled = 'worker: [mounts] File mount "dockerimage" handled by registered handler'
    load = ("worker: [d2g] Loading docker image", 'worker: [d2g] Loaded docker image "x"')
    run = read(*BEGIN, *download, handled, *load, *RUN, *END)
    assert seconds(run)["image download"] == seconds(run)["image load"] == 1
    assert [span.size_bytes for span in run.spans if span.size_bytes] == [MIB]
    # Without it, it is a mount as others are.
    assert "image download" not in seconds(read(*BEGIN, *download, *RUN, *END))


def test_mounts_that_are_unpacked() -> None:
    """Whether or not a version writes who copies and unpacks."""
    for lead in ("[mounts] ", ""):
        run = read(
            *BEGIN,
            f"worker: {lead}Downloading url https://x/y.zip to /d/f",
            f"worker: {lead}Downloaded 5 bytes with SHA256 ab from url https://x/y.zip to /d/f",
            f"worker: {lead}Copying file '/d/f' to '/t/f'",
            f"worker: {lead}Extracting zip file /t/f to '/t/dir'",
            f"worker: {lead}Removing file '/t/f'",
            *RUN,
            *END,
        )
        assert seconds(run)["mounts and caches"] == 5


def test_a_command_that_does_not_name_run_task() -> None:
    """A script may call it; or the task prints such lines itself, and a message says so."""
    printed = ("setup: run-task started in /x", "vcs: executing git")
    run = read(*BEGIN, "worker: Executing command 0: docker run x make", *printed, *END)
    assert seconds(run)["checkout"] == 1
    assert run.messages[0].startswith("not sure: its command does not name run-task")
    # A worker repeats the lines of a command; run-task may be in any of them.
    lines = ("worker: Executing command 0: docker run x", "worker: run-task -- make")
    (message,) = read(*BEGIN, *lines, *printed, *END).messages
    assert message == "the end of its own work is not sure: no duration confirms it"


def test_a_worker_that_does_not_show_the_image() -> None:
    """A message says in which phases its load may be."""
    mount = "worker: [mounts] Downloading task T artifact public/image.tar.zst to /d/f"
    run = read(*BEGIN, mount, *RUN, *END)
    assert run.messages[0].startswith("this version of the worker does not show when it loads")


def test_docker_worker_from_a_registry() -> None:
    """Its layers have no stamps; what is in the cache is not downloaded."""
    begin = ("docker-worker: Task ID: DCnyIIOITNCO5wvk1N-Z4A", "docker-worker: Public IP: 54.1")
    layers = (" 5037c5cd623d - Started downloading", " 5037c5cd623d - Downloaded in 0.015 seconds")
    started = ("docker-worker: === Task Starting ===", "setup: run-task started", *END[:1])
    end = (
        "docker-worker: === Task Finished ===",
        "docker-worker: Successful task run with exit code: 0 completed in 5.827 seconds",
    )
    run = read(*begin, *layers, *started, *end)
    assert seconds(run) == {
        "other": 2,
        "image pull": 1,
        "container start": 1,
        "own work": 1,
        "artifacts": 1,
    }
    assert (run.is_complete, run.messages) == (True, ())
    assert "image pull" not in seconds(read(*begin, " x exists in the cache.", *started, *end))


def test_mercurial() -> None:
    """What a clone transferred, in both forms, and in the units of hg."""
    old = "vcs: transferred 2.58 GB in 110.2 seconds (24.0 MB/sec)"
    new = "vcs: stream-cloned 478890 files / 2.58 GB in 110.2 seconds (24.0 MB/sec)"
    for line in (old, new):
        run = read(*BEGIN, *RUN, "vcs: ensuring https://x@y is available at /z", line, *END)
        (checkout,) = [span for span in run.spans if span.phase is PhaseName.CHECKOUT]
        expected = (round(2.58 * 1024**3), 110_200_000_000)
        assert (checkout.size_bytes, checkout.busy_ns) == expected


def test_fetches_of_firefox() -> None:
    """Its run-task puts a stamp before the lines of fetch-content."""
    run = read(
        *BEGIN,
        *RUN,
        "fetches: fetching artifacts",
        "fetches: Downloading https://x/a.tar.zst to /f/a.tar.zst",
        f"fetches: https://x/a.tar.zst resolved to 1048576 bytes with sha256 {HASH} in 2.000s",
        "fetches: Extracting /f/a.tar.zst to /f",
        "fetches: /f/a.tar.zst extracted in 2.000s",
        "fetches: finished fetching artifacts",
        *END,
    )
    assert seconds(run)["download of fetches"] == 3
    assert seconds(run)["unpacking of fetches"] == 2
    sizes = {span.phase: span.size_bytes for span in run.spans if span.size_bytes}
    assert sizes == {PhaseName.DOWNLOAD: MIB, PhaseName.UNPACK: MIB}


def test_a_download_that_is_repeated() -> None:
    """fetch-content waits a minute before it tries again; that is no time of unpacking."""
    pauses = ["x: waits"] * 30
    run = read(
        *BEGIN,
        *RUN,
        "fetches: fetching artifacts",
        "fetches: Download failed: HTTP Error 503",
        *pauses,
        f"fetches: https://x/a.tar.zst resolved to 1048576 bytes with sha256 {HASH} in 1.000s",
        "fetches: /f/a.tar.zst extracted in 3.000s",
        "fetches: finished fetching artifacts",
        *END,
    )
    assert seconds(run)["unpacking of fetches"] == 3
    assert seconds(run)["download of fetches"] == 31


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[1]",
        '{"framework": {"name": "talos"}, "suites": [{"name": "clone", "value": 0.5}]}',
        '{"framework": {"name": "vcs"}, "suites": [{"name": "clone", "value": "x"}]}',
        '{"framework": {"name": "vcs"}, "suites": [{"name": "<b>", "value": 0.5}]}',
        '{"framework": {"name": "vcs"}, "suites": [{"name": "overall", "value": 0.5}]}',
        '{"framework": {"name": "vcs"}, "suites": [{"name": "clone", "value": NaN}]}',
        '{"framework": {"name": "vcs"}, "suites": [{"name": "clone", "value": -1}]}',
        '{"framework": {"name": "vcs"}, "suites": [{"name": "clone", "value": 3.5}]}',
    ],
)
def test_measurements_that_are_not_used(data: str) -> None:
    """What is not of the checkout, is longer than it, or is not a number."""
    lines = (*BEGIN, *RUN, "vcs: executing x", "vcs: y", f"vcs: PERFHERDER_DATA: {data}", *END)
    assert read(*lines).parts == ()
    good = '{"framework": {"name": "vcs"}, "suites": [{"name": "clone", "value": 2.5}]}'
    lines = (*BEGIN, *RUN, "vcs: executing x", "vcs: y", f"vcs: PERFHERDER_DATA: {good}", *END)
    (part,) = read(*lines).parts
    assert (part.name, part.duration_ns) == ("clone", 2_500_000_000)


def test_what_fetch_content_measured() -> None:
    """It is of all fetches, downloaded and unpacked; other measurements of builds are not used."""
    suites = '[{"name": "fetch_content", "value": 2.5}, {"name": "build time", "value": 1.0}]'
    data = f'{{"framework": {{"name": "build_metrics"}}, "suites": {suites}}}'
    fetches = (
        "fetches: fetching artifacts",
        f"fetches: https://x/a.tar.zst resolved to 1048576 bytes with sha256 {HASH} in 2.000s",
        "fetches: /f/a.tar.zst extracted in 2.000s",
        f"fetches: PERFHERDER_DATA: {data}",
        "fetches: finished fetching artifacts",
    )
    (part,) = read(*BEGIN, *RUN, *fetches, *END).parts
    assert (part.phase, part.name) == (PhaseName.DOWNLOAD, "fetch_content")
    assert part.duration_ns == 2_500_000_000
    late = data.replace("2.5", "4.5")
    assert read(*BEGIN, *RUN, *(line.replace(data, late) for line in fetches), *END).parts == ()


@pytest.mark.parametrize(("pauses", "is_said"), [(1, True), (0, False)])
def test_a_cached_file_that_is_read(pauses: int, is_said: bool) -> None:
    """Its line comes when it was read, so that the time before it may be that of reading."""
    hit = "worker: [mounts] Found existing download for KEY (F) with correct SHA256 H"
    run = read(BEGIN[0], *["worker: Task ID: x"] * pauses, hit, *RUN, *END)
    said = [message for message in run.messages if message.startswith("of other, 2.0 s are before")]
    assert bool(said) == is_said
    assert seconds(run)["mounts and caches"] == 1
