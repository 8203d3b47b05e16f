# SPDX-License-Identifier: MPL-2.0
"""Reading a result file: what a good one holds, and how a bad one is reported."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from extreme_values import described_numbers
from golden import schemas
from windows_facts import windows_host, windows_place

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results.machine import Limits
from io_benchmark.results.parts import OutcomeState, ResultOutcome

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
GOOD, ALL = FIXTURES / "result-v2.json", FIXTURES / "result-v2-all.json"
DATA = GOOD.read_bytes()
PUBLISHED = ROOT / "taskcluster" / "docs" / "result.schema.json"
TIMES = {"wall_ns": 10, "user_ns": 4, "kernel_ns": 3, "waiting_ns": None}
BLOCK = {"trial": "normal", "lookup_ns": [9, 8], "copy_ns": [70, 80]}
TRIALS: dict[str, Any] = {
    "state": "completed",
    "reason": None,
    "pace_bytes_per_s": None,
    "file_indexes": [3, 1],
    "duration_ns": 400,
    "ceilings": [{"written_bytes": 1048576, "duration_ns": 12}],
    "blocks": [BLOCK, {**BLOCK, "trial": "lookup", "lookup_ns": [0, 0]}],
}
RETRIEVES, BATCHES = "workloads.0.", "workloads.1."  # of the second file


NO_SUCH_FILE = "names a file that file_sizes_bytes does not have"


def document(path: Path = GOOD) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


# A ratio to nothing would be no number: such a file was not measured.
NO_TIME = {**document()["workloads"][0]["samples"], "lookup_ns": [0] * 40, "copy_ns": [0] * 40}


def changed(path: str, value: object, file: Path = GOOD) -> bytes:
    """The good file with one value replaced; the path's parts are keys or positions."""
    whole = document(file)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner: Any = whole
    for part in parents:
        inner = inner[part]
    inner[last] = value
    return json.dumps(whole).encode()


def columns_of(entry: results.BatchEntry | results.CacheRetrieveEntry) -> dict[str, list[int]]:
    """The columns that the file has; older scripts wrote fewer."""
    return {name: list(column) for name, column in entry.samples.known.items()}


def refusal(data: bytes) -> str:
    with pytest.raises(ResultError) as refused:
        results.parse(data, "x")
    line = str(refused.value)
    assert line.startswith("x: ")
    assert line.isprintable()
    return line.removeprefix("x: ")


def test_a_real_file_reads_whole() -> None:
    """What the script wrote comes back value for value; keys of a newer script are skipped."""
    result = results.parse(results.load(GOOD), str(GOOD))
    assert columns_of(result.workloads[0]) == document()["workloads"][0]["samples"]
    assert (result.version, result.task.pool) == (2, "intel")
    assert result.outcome == ResultOutcome(state=OutcomeState.COMPLETED, reason=None)
    # Written before there was the key.
    assert result.config.trials == "never"
    assert [device.name for device in result.storage.places[0].leaf_devices] == ["vda"]
    assert results.parse(changed("host.something_new", [1]), "x") == result


@pytest.mark.parametrize(
    ("state", "reason", "explanation"),
    [
        ("completed", None, None),
        ("failed", None, "no reason given"),
        ("skipped", "no space", "no space"),
        ("not-started", None, "not started"),
        ("not-started", "no space", "not started: no space"),
        ("running", None, "still running, or killed"),
    ],
)
def test_an_outcome_is_explained(state: str, reason: str | None, explanation: str | None) -> None:
    """Every state but `completed` has words, also where the worker could not write any."""
    assert ResultOutcome(state=OutcomeState(state), reason=reason).explanation == explanation


def test_a_windows_result_reads_whole() -> None:
    """What only Windows records is there, what it cannot know is null; Linux has none of it."""
    whole = document()
    assert results.parse(DATA, "x").host.system == "linux"  # type: ignore[union-attr]
    whole["host"] |= {"system": "windows", "user_id": None, "windows": windows_host()}
    (place, *_) = whole["storage"]["places"]
    place["windows"] = windows_place(has_paging_file=True)
    place["devices"][0] |= {"bus": "nvme", "is_removable": False}
    whole["sharing_violations"] = 3
    result = results.parse(json.dumps(whole).encode(), "x")
    assert result.host is not None
    assert (result.host.system, result.host.user_id) == ("windows", None)
    assert msgspec.to_builtins(result.host.windows) == windows_host()
    read = result.storage.places[0]
    assert msgspec.to_builtins(read.windows) == windows_place(has_paging_file=True)
    assert (read.devices[0].bus, read.devices[0].is_removable) == ("nvme", False)
    assert result.sharing_violations == 3


NO_RESULT = (
    "is not a result of the benchmark: it has no `version`; give an io-benchmark.json that the "
    "benchmark wrote"
)
CUT = "ends too early: its upload or download was cut; download it again or measure again"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty; download it again or measure again"),
        (DATA[:-300], CUT),
        (b" <!DOCTYPE html>", "is a web page, such as a login page; log in and download it again"),
        (b"\x1f\x8b\x08", "is a compressed file; unpack it"),
        (b"version https://git-lfs.github.com/spec/v1", "is a pointer of Git LFS; run `git lfs"),
        (b"{'version': 1}", "JSON is malformed"),
        (b"\xff\xfe", ""),
        (b"[" * 100_000, ""),
        (b'{"a":' * 100_000, ""),
        (
            b'{"version": 1}',
            "$.version: 1 is too old for this program, which reads version 2: run the benchmark",
        ),
        (
            b'{"version": 99}',
            "$.version: 99 is newer than this program, which reads version 2: update io-benchmark",
        ),
        (b'{"version": "1"}', "Expected `int`, got `str` - at `$.version`"),
        (b'{"version": 2}', "$.script: is missing"),
        (b'{"version": 2, "script": {"version": "1"}}', "$.script.sha256: is missing"),
        (b'{"a": 1}', NO_RESULT),
        (b"[1]", NO_RESULT),
        (b'"text"', NO_RESULT),
        (
            b'{"version": 1, "wall_ns": 7}',
            "is a profile of a task, which the command predict reads",
        ),
        (DATA.replace(b'"duration_ns": ', b'"duration_ns": NaN, "x": ', 1), ""),
        (changed(f"{BATCHES}parameters.time_limit_s", 7.5, ALL).replace(b"7.5", b"1e999"), ""),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else "",
)
def test_a_bad_file_is_one_line(data: bytes, message: str) -> None:
    """What the file is, and what to do: one printable line, never a traceback."""
    assert refusal(data).startswith(message)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (f"{RETRIEVES}samples.copy_ns.3", -1, "Expected `int` >= 0 - at `$.workloads[0].sam"),
        (f"{RETRIEVES}samples.lookup_ns", [], "[0].samples: its columns differ in"),
        (f"{RETRIEVES}samples", NO_TIME, "[0].samples: a retrieve took no time at all"),
        (f"{RETRIEVES}retrieves_planned", 5, "[0].samples: 40 retrieves, more than the 5"),
        (f"{RETRIEVES}samples.file_index.0", 100, f"[0].samples.file_index: {NO_SUCH_FILE}"),
        (f"{RETRIEVES}samples.lookup_user_ns", [], "[0].samples: its columns differ"),
        (f"{RETRIEVES}turn_ends", [20, 20], "[0].turn_ends: do not increase from 1 to 40"),
        (f"{RETRIEVES}turn_ends", [20, 41], "[0].turn_ends: do not increase from 1 to 40"),
        (f"{BATCHES}turn_ends", [0], "[1].turn_ends: do not increase from 1 to"),
        ("timeline.columns.dirty_bytes", [], "$.timeline: its columns differ in length"),
        ("host.vm.dirty_ratio", 2**63, "Expected `int` <= 9223372036854775807 - at `$.host.vm[..."),
        ("host.vm.dirty_ratio", -(2**63) - 1, "Expected `int` >= -9223372036854775808 - at `$.ho"),
        ("host.vm.dirty_ratio", 10**400, ""),
        (f"{BATCHES}samples.start_ns", [], "[1].samples: its columns differ in"),
        (
            f"{RETRIEVES}trials",
            TRIALS | {"file_indexes": [3, 100]},
            f"[0].trials.file_indexes: {NO_SUCH_FILE}",
        ),
        (
            f"{RETRIEVES}trials",
            TRIALS | {"file_indexes": [3]},
            "[0].trials.blocks: a block does not have 1 retrieve, as",
        ),
    ],
)
def test_a_bad_value_is_one_line(path: str, value: object, message: str) -> None:
    """Which key, and what is wrong with it."""
    file = ALL if path.startswith(BATCHES) else GOOD
    assert refusal(changed(path, value, file)).removeprefix("$.workloads").startswith(message)


@pytest.mark.parametrize(
    ("allowed", "online", "quotas", "usable"),
    [
        (4, 8, [], 4.0),
        (4, 2, [], 2.0),
        (4, None, [], 4.0),
        (4, 8, [(200, 100), (150, 100)], 1.5),
        (1, 1, [(200, 100)], 1.0),
        (4, 8, [(200, 0)], 4.0),
        (4, 8, [(0, 100)], 4.0),
        (0, 0, [], 1.0),
    ],
)
def test_cpus_that_a_task_may_use(allowed, online, quotas, usable):
    """The smallest of the machine's, those that the task may run on, and every quota above it."""
    host = results.parse(DATA, "x").host
    assert host is not None
    host = msgspec.structs.replace(host, cpu_count=allowed, cpu_online_count=online)
    cpu = [{"quota_us": quota, "period_us": period} for quota, period in quotas]
    nothing: dict[str, Any] = {"cgroup_versions": [], "groups": {}, "io": [], "memory": []}
    limits = msgspec.convert({**nothing, "cpu": cpu}, Limits)
    assert (host.usable_cpus(limits), host.usable_cpus(None)) == (
        usable,
        max(1, min(allowed, online or allowed)),
    )


def test_several_threads_at_once() -> None:
    """The first results of a process may be read at the same time: once, this ended Python."""
    script = (
        "import sys, threading; sys.setswitchinterval(1e-6)\n"
        "from io_benchmark import results\n"
        "data, barrier, read = open(sys.argv[1], 'rb').read(), threading.Barrier(8), []\n"
        "go = lambda: (barrier.wait(), read.append(results.parse(data, 'x')))\n"
        "threads = [threading.Thread(target=go) for _ in range(8)]\n"
        "[thread.start() for thread in threads], [thread.join() for thread in threads]\n"
        "sys.exit(len(read) != 8)\n"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script, str(GOOD)], check=False)
        assert done.returncode == 0


def test_recorded_workloads_read_whole() -> None:
    """What the program uses of each comes back value for value, also newer keys.

    The tests of the script read entries of every workload.
    """
    whole = document(ALL)
    (batch, *_) = (entry for entry in whole["workloads"] if "variant" in entry)
    batch["process_times"] = TIMES
    result = results.parse(json.dumps(whole).encode(), "x")
    for entry, original in zip(result.workloads, whole["workloads"], strict=True):
        assert columns_of(entry) == original["samples"]
        facts = msgspec.to_builtins(msgspec.structs.replace(entry, samples=None))
        newer = {"process_times", "final_sync_device_bytes", "trials", "turn_ends"}
        is_newer = newer - set(original)
        assert is_part_of(facts, {**original, "samples": None, **dict.fromkeys(is_newer)})


def is_part_of(part: Any, whole: Any) -> bool:
    """Return whether the whole has all values of the part."""
    if isinstance(part, dict):
        return all(is_part_of(value, whole.get(key)) for key, value in part.items())
    if isinstance(part, list):
        return all(is_part_of(*pair) for pair in zip(part, whole, strict=True))
    return bool(part == whole)


@pytest.mark.parametrize("setting", [2**63 - 1, -(2**63)])
def test_the_ends_of_a_setting(setting: int) -> None:
    """64 bits, of which the kernel's own settings have no more."""
    host = results.parse(changed("host.vm.dirty_ratio", setting), "x").host
    assert host is not None
    assert host.vm["dirty_ratio"] == setting


def test_a_workload_of_a_newer_script_is_skipped_by_name() -> None:
    """A version may grow workloads: what is known is still read, and the rest is reported."""
    newer = [{"name": f"newer-{number}", "anything": [number]} for number in range(7)]
    entries = [newer[0], *document()["workloads"], *newer[1:], newer[0]]
    result = results.parse(changed("workloads", entries), "x")
    assert [entry.place for entry in result.workloads] == ["workspace"]
    message = (
        "newer-0, newer-1, newer-2, newer-3, newer-4 and 2 more: unknown to this program and "
        "skipped; update io-benchmark"
    )
    assert [(remark.name, remark.message) for remark in result.warnings[-1:]] == [
        ("unknown-workload", message)
    ]


def test_files_that_cannot_be_loaded(tmp_path: Path) -> None:
    """A file over the limit is refused; the path and the system's own reason are named."""
    path = tmp_path / "big.json"
    path.write_bytes(b" " * 1000)
    assert results.load(path, 1000) == b" " * 1000
    with pytest.raises(ResultError, match=f"{path}: is larger than 999 B"):
        results.load(path, 999)
    assert refusal(b" " * (16 * 1024**2 + 1)) == "holds 16,777,217 bytes, more than 16,777,216"
    for missing, reason in (("none", "No such file or directory"), (".", "Is a directory")):
        with pytest.raises(ResultError, match=f"{tmp_path}.*: {reason}"):
            results.load(tmp_path / missing)


def test_the_published_schema_is_the_readers() -> None:
    """The JSON Schema in the documentation says what the reader does, and takes the real files."""
    published = json.loads(PUBLISHED.read_text())
    assert published == schemas()[PUBLISHED]
    for path in (GOOD, ALL):
        jsonschema.Draft202012Validator(published).validate(document(path))


@pytest.mark.parametrize("path", [PUBLISHED, PUBLISHED.with_name("task-profile.schema.json")])
def test_the_schema_bounds_every_number(path: Path) -> None:
    """What is computed of numbers between these bounds is finite: test_extreme_values.py tries."""
    found = list(described_numbers(schemas()[path]))
    assert [at for at, about in found if not {"minimum", "maximum"} <= about.keys()] == []
    integers = [about for _, about in found if about["type"] == "integer"]
    assert all(about["minimum"] >= -(2**63) for about in integers)
    assert all(about["maximum"] < 2**63 for about in integers)


def test_the_schema_bounds_every_list_mapping_and_text() -> None:
    """Nothing in the format is unlimited, so that no new key is forgotten."""
    unbounded = []

    def look(part: Any, path: str) -> None:
        if isinstance(part, dict):
            kind = str(part.get("type", ""))
            bound = {"array": "maxItems", "string": "maxLength"}.get(kind)
            if kind == "object" and "properties" not in part:
                bound = "maxProperties"
            if bound and bound not in part and "pattern" not in part:
                unbounded.append(path)
            for key, inner in part.items():
                look(inner, f"{path}.{key}")
        elif isinstance(part, list):
            for number, inner in enumerate(part):
                look(inner, f"{path}[{number}]")

    look(schemas()[PUBLISHED], "$")
    assert unbounded == []


@pytest.mark.parametrize(
    ("filling", "name", "most"),
    [
        (b"1,", "commas", 2_000_000),
        (b'"', "quotation marks", 200_000),
        (b"{}", "objects", 50_000),
        (b"[]", "lists", 20_000),
    ],
)
def test_parts_are_counted_before_anything_is_decoded(filling: bytes, name: str, most: int) -> None:
    """Not even the version is read of what would take twenty times its size; small files may."""
    line = f"holds {most + 1:,} {name}, more than {most:,}"
    assert refusal(filling * (most + 1) + b" " * 256 * 1024) == line
    assert not refusal(filling * most + b" " * 256 * 1024).startswith("holds")


def test_a_timeline_with_gaps_comes_back_as_written() -> None:
    """Columns are packed; a missing value stays missing."""
    columns = document()["timeline"]["columns"]
    name, column = next(iter(columns.items()))
    columns[name] = [None, *column[1:-1], None]
    timeline = results.parse(changed("timeline.columns", columns), "x").timeline
    assert timeline is not None
    assert {key: list(values) for key, values in timeline.columns.items()} == columns


@pytest.mark.parametrize(
    ("url", "is_link"),
    [
        ("https://ci.example/o/r/actions/runs/7?job=2&a=%20#log_a", True),
        ("http://10.0.0.1:8080/job/x/12/", True),
        (None, False),
        ("javascript:alert(1)", False),
        ("https://user:word@ci.example/", False),
        ("https://ci.example/)[x](https://evil.example", False),
        ('https://ci.example/" onclick="alert(1)', False),
        ("https://ci.example/\x1b]8;;", False),
        ("https://ex\u0430mple/", False),
        ("https://ci.example/" + "x" * 300, False),
    ],
)
def test_a_url_that_reports_may_link_to(url: str | None, is_link: bool) -> None:
    """Anyone may have set it: http or https, short, without a user and without any markup."""
    task = results.parse(changed("task.ci", {"system": "x", "url": url}), "x").task
    assert task.ci is not None
    assert task.ci.link == (url if is_link else None)
