# SPDX-License-Identifier: MPL-2.0
"""Reading a result file: what a good one holds, and how a bad one is reported."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from golden import schemas
from hypothesis import given
from hypothesis import strategies as st
from worker import retrieves_of

from io_benchmark import results
from io_benchmark.errors import ResultError
from io_benchmark.results import reader
from io_benchmark.results.common_types import OutcomeState, ResultOutcome
from io_benchmark.results.workload import ProcessTimes
from io_benchmark.results.workloads import WORKLOADS

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
GOOD, ALL = FIXTURES / "result-v2.json", FIXTURES / "result-v2-all.json"
PUBLISHED = ROOT / "taskcluster" / "docs" / "result.schema.json"


def document(path: Path = GOOD) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_bytes())
    return loaded


def read(path: Path) -> results.Result:
    return results.parse(results.load(path), str(path))


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
    columns = ((name, getattr(entry.samples, name)) for name in entry.samples.__struct_fields__)
    return {name: list(column) for name, column in columns if column is not None}


def test_a_real_file_reads_whole() -> None:
    """What the script wrote comes back value for value."""
    result = read(GOOD)
    assert columns_of(result.workloads[0]) == document()["workloads"][0]["samples"]
    assert (result.version, result.task.pool) == (2, "intel")
    assert result.outcome == ResultOutcome(state=OutcomeState.COMPLETED, reason=None)
    # Written before there was the key.
    assert result.config.perfherder == "pool"
    assert [device.name for device in result.storage.places[0].leaf_devices] == ["vda"]


def test_keys_of_a_newer_script_are_passed_over() -> None:
    """A version may grow keys; a reader that knows fewer still reads."""
    assert results.parse(changed("host.something_new", [1]), "x") == read(GOOD)


@pytest.mark.parametrize(
    ("state", "reason", "explanation"),
    [
        pytest.param("completed", None, None, id="completed"),
        pytest.param("failed", None, "no reason given", id="no reason"),
        pytest.param("skipped", "no space", "no space", id="skipped"),
        pytest.param("not-started", None, "not started", id="not-started"),
        pytest.param("not-started", "no space", "not started: no space", id="not started, why"),
        pytest.param("running", None, "still running, or killed", id="running"),
    ],
)
def test_an_outcome_is_explained(state: str, reason: str | None, explanation: str | None) -> None:
    """Every state but `completed` has words, also where the worker could not write any."""
    assert ResultOutcome(state=OutcomeState(state), reason=reason).explanation == explanation


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "x: is empty; download it again or measure again", id="empty"),
        pytest.param(
            GOOD.read_bytes()[:-300],
            "x: ends too early: its upload or download was cut; download it again or measure again",
            id="truncated",
        ),
        pytest.param(
            b" <!DOCTYPE html>",
            "x: is a web page, such as a login page; log in and download it again",
            id="web-page",
        ),
        pytest.param(b"\x1f\x8b\x08", "x: is a compressed file; unpack it", id="gzip"),
        pytest.param(b"{'version': 1}", "x: JSON is malformed", id="no-json"),
        pytest.param(b"[1]", "x: Expected `object`, got `array`", id="list"),
        pytest.param(b"\xff\xfe", "x: ", id="no-text"),
        pytest.param(b"[" * 100_000, "x: ", id="deep"),
        pytest.param(b'{"a":' * 100_000, "x: ", id="deep-objects"),
        pytest.param(
            b'{"version": 1}',
            "x: $.version: 1 is too old for this program, which reads version 2: run the benchmark again",
            id="version-1",
        ),
        pytest.param(
            b'{"version": 99}',
            "x: $.version: 99 is newer than this program, which reads version 2: update io-benchmark",
            id="version-99",
        ),
        pytest.param(
            b'{"version": "1"}', "x: Expected `int`, got `str` - at `$.version`", id="text"
        ),
        pytest.param(b'{"version": 2}', "x: Object missing required field `script`", id="bare"),
        pytest.param(
            changed("outcome.state", "done"),
            "x: Invalid enum value 'done' - at `$.outcome.state`",
            id="state-of-the-run",
        ),
        pytest.param(
            changed("workloads.0.outcome", None),
            "x: Expected `object`, got `null` - at `$.workloads[0].outcome`",
            id="outcome-of-an-entry",
        ),
        pytest.param(
            changed("workloads.0.samples.copy_ns.3", "7"),
            "x: Expected `int`, got `str` - at `$.workloads[0].samples.copy_ns[3]`",
            id="number-as-text",
        ),
        pytest.param(
            changed("workloads.0.samples.copy_ns.3", -1),
            "x: Expected `int` >= 0 - at `$.workloads[0].samples.copy_ns[3]`",
            id="negative-time",
        ),
        pytest.param(
            changed("workloads.0.samples.copy_ns.3", 10**30),
            "x: ",
            id="beyond-64-bits",
        ),
        pytest.param(
            changed("workloads.0.samples.lookup_ns", []),
            "x: $.workloads[0].samples: its columns differ in length",
            id="columns",
        ),
        pytest.param(
            changed("workloads.0.samples.copy_ns.3", 10**17),
            "x: Expected `int` <= 10000000000000000 - at `$.workloads[0].samples.copy_ns[3]`",
            id="a-copy-of-years",
        ),
        pytest.param(
            changed("workloads.0.retrieves_planned", 5),
            "x: $.workloads[0].samples: 40 retrieves, but 5 were planned",
            id="more-than-planned",
        ),
        pytest.param(
            changed("workloads.0.file_sizes_bytes", [1]),
            "x: $.workloads[0].samples.file_index: names a file that file_sizes_bytes does not have",
            id="unknown-file",
        ),
        pytest.param(
            changed("timeline.columns.dirty_bytes", []),
            "x: $.timeline: its columns differ in length",
            id="timeline",
        ),
        pytest.param(
            changed("workloads.0.name", 5),
            "x: Expected `str`, got `int` - at `$.workloads[0].name`",
            id="workload-a-number",
        ),
        pytest.param(
            changed("workloads.0.name", "a\x1b[31m"),
            "x: Expected `str` matching regex",
            id="workload-with-escape",
        ),
        pytest.param(
            changed("workloads", [{}]),
            "x: Object missing required field `name` - at `$.workloads[0]`",
            id="entry-without-name",
        ),
        pytest.param(
            changed("workloads", [{"name": "cache-retrieve"}]),
            "x: Object missing required field `place` - at `$.workloads[0]`",
            id="entry-without-facts",
        ),
        pytest.param(
            changed("workloads", [{"name": "other"}] * 401),
            "x: Expected `array` of length <= 400 - at `$.workloads`",
            id="too-many-entries",
        ),
        pytest.param(changed("task.pool", "../up"), "x: ", id="pool-as-path"),
        pytest.param(changed("task.pool", "a\x1b[31m"), "x: ", id="pool-with-escape"),
        pytest.param(
            GOOD.read_bytes().replace(b'"interval_s": 1.0', b'"interval_s": NaN'), "x: ", id="nan"
        ),
        pytest.param(
            GOOD.read_bytes().replace(b'"interval_s": 1.0', b'"interval_s": 1e999'),
            "x: ",
            id="infinity",
        ),
    ],
)
def test_a_bad_file_is_one_line(data: bytes, message: str) -> None:
    """Which file, which key, what is wrong: one printable line, never a traceback."""
    with pytest.raises(ResultError) as refused:
        results.parse(data, "x")
    text = str(refused.value)
    assert text.startswith(message)
    assert text.isprintable()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        pytest.param(
            "samples.duration_ns.2",
            0,
            "Expected `int` >= 1 - at `$.workloads[1].samples.duration_ns[2]`",
            id="no-time",
        ),
        pytest.param(
            "samples.operations.2",
            0,
            "Expected `int` >= 1 - at `$.workloads[1].samples.operations[2]`",
            id="no-operations",
        ),
        pytest.param(
            "samples.operations.2",
            10**13,
            "Expected `int` <= 1000000000000 - at `$.workloads[1].samples.operations[2]`",
            id="too-many-operations",
        ),
        pytest.param(
            "samples.start_ns",
            [],
            "$.workloads[1].samples: its columns differ in length",
            id="columns",
        ),
        pytest.param(
            "variant",
            "../up",
            "Expected `str` matching regex '^[A-Za-z0-9]",
            id="variant-as-path",
        ),
        pytest.param(
            "threads", -1, "Expected `int` >= 0 - at `$.workloads[1].threads`", id="threads"
        ),
        pytest.param(
            "parameters",
            {},
            "Object missing required field `samples_planned` - at `$.workloads[1].parameters`",
            id="no-parameters",
        ),
        pytest.param(
            "observed.method",
            5,
            "Expected `str | null`, got `int` - at `$.workloads[1].observed.method`",
            id="method-a-number",
        ),
        pytest.param(
            "samples",
            {"file_index": [], "start_ns": [], "lookup_ns": [], "copy_ns": []},
            "Object missing required field `duration_ns` - at `$.workloads[1].samples`",
            id="samples-of-another-workload",
        ),
    ],
)
def test_an_entry_in_batches_is_as_strict(key: str, value: object, message: str) -> None:
    """Which entry, which key, what is wrong with it, in one printable line."""
    with pytest.raises(ResultError) as refused:
        results.parse(changed(f"workloads.1.{key}", value, ALL), "x")
    text = str(refused.value)
    assert text.startswith(f"x: {message}")
    assert text.isprintable()


def test_a_ratio_in_batches_is_a_number() -> None:
    """One that JSON cannot hold is refused, wherever it stands."""
    data = changed("workloads.1.precision_reached_ratio", 7.5, ALL).replace(b"7.5", b"1e999")
    with pytest.raises(ResultError, match=r"precision_reached_ratio|out of range"):
        results.parse(data, "x")


SPENT = ("lookup_user_ns", "lookup_kernel_ns", "lookup_waiting_ns")


def with_spent(**columns: Any) -> bytes:
    """The good file, with columns of what the lookups spent."""
    whole = document()
    samples = whole["workloads"][0]["samples"]
    samples.update(dict.fromkeys(SPENT, [1] * len(samples["copy_ns"])), **columns)
    return json.dumps(whole).encode()


def test_what_retrieves_spent_is_read() -> None:
    """The columns come back as written; one that the worker cannot know is null as a whole."""
    (entry,) = results.parse(with_spent(lookup_waiting_ns=None), "x").workloads
    ones = [1] * len(entry.samples.start_ns)
    assert columns_of(entry) == {
        **document()["workloads"][0]["samples"],
        "lookup_user_ns": ones,
        "lookup_kernel_ns": ones,
    }


@pytest.mark.parametrize(
    ("column", "message"),
    [
        pytest.param([1], "samples: its columns differ in length", id="short"),
        pytest.param([], "samples: its columns differ in length", id="empty"),
        pytest.param([None] * 40, "Expected `int`, got `null`", id="null in it"),
        pytest.param([-1] * 40, "Expected `int` >= 0", id="negative"),
        pytest.param([10**17] * 40, "Expected `int` <= 10000000000000000", id="years"),
        pytest.param([1.5] * 40, "Expected `int`, got `float`", id="fraction"),
        pytest.param("1", "Expected `array | null`, got `str`", id="text"),
    ],
)
@pytest.mark.parametrize("name", SPENT)
def test_what_retrieves_spent_is_checked(name: str, column: object, message: str) -> None:
    """As strictly as the times themselves."""
    with pytest.raises(ResultError, match=re.escape(message)):
        results.parse(with_spent(**{name: column}), "x")


TIMES = {"wall_ns": 10, "user_ns": 4, "kernel_ns": 3, "waiting_ns": None}


def position_of_batches() -> int:
    (first, *_) = (at for at, entry in enumerate(document(ALL)["workloads"]) if "variant" in entry)
    return int(first)


def with_process_times(times: object) -> bytes:
    return changed(f"workloads.{position_of_batches()}.process_times", times, ALL)


def test_what_processes_spent_is_read() -> None:
    """All four sums; waiting may be unknown."""
    entry = results.parse(with_process_times(TIMES), "x").workloads[position_of_batches()]
    assert isinstance(entry, results.BatchEntry)
    assert entry.process_times == ProcessTimes(wall_ns=10, user_ns=4, kernel_ns=3, waiting_ns=None)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        pytest.param({}, "missing required field `wall_ns`", id="empty"),
        pytest.param({**TIMES, "wall_ns": 0}, "Expected `int` >= 1", id="no time"),
        pytest.param({**TIMES, "user_ns": -1}, "Expected `int` >= 0", id="negative"),
        pytest.param({**TIMES, "kernel_ns": None}, "Expected `int`, got `null`", id="null"),
        pytest.param({**TIMES, "waiting_ns": 10**17}, "Expected `int` <= 1", id="years"),
        pytest.param({**TIMES, "wall_ns": 10**30}, "x: ", id="beyond-64-bits"),
        pytest.param([10, 4, 3, 0], "Expected `object | null`, got `array`", id="list"),
    ],
)
def test_what_processes_spent_is_checked(times: object, message: str) -> None:
    """A number that no run can have is refused."""
    with pytest.raises(ResultError, match=re.escape(message)):
        results.parse(with_process_times(times), "x")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        pytest.param(-1, "Expected `int` >= 0", id="negative"),
        pytest.param(2**63, "Expected `int` <= 9223372036854775807", id="beyond-64-bits"),
    ],
)
def test_what_the_final_sync_wrote_is_checked(written: int, message: str) -> None:
    """As all bytes of devices are."""
    devices = {"vda": {"read": 0, "written": written}}
    with pytest.raises(ResultError, match=re.escape(message)):
        results.parse(changed("workloads.0.final_sync_device_bytes", devices), "x")


def test_every_workload_reads_whole() -> None:
    """What the script wrote of each comes back value for value."""
    result = read(ALL)
    written = document(ALL)["workloads"]
    assert len(result.workloads) == len(written)
    for entry, original in zip(result.workloads, written, strict=True):
        assert columns_of(entry) == original["samples"]
        facts = msgspec.to_builtins(msgspec.structs.replace(entry, samples=None))
        # Written before there were these keys.
        newer = {"process_times", "final_sync_device_bytes", "trials"} & set(
            entry.__struct_fields__
        )
        assert facts == {**original, "samples": None, **dict.fromkeys(newer)}
    recorded = set(WORKLOADS) - {"unpack"}  # a later one: tests/script/test_unpack.py
    assert {entry.__struct_config__.tag for entry in result.workloads} == recorded


def test_a_workload_of_a_newer_script_is_passed_over_by_name() -> None:
    """A version may grow workloads: what is known is still read, and the rest is reported."""
    whole = document()
    newer = [{"name": f"newer-{at}", "anything": [at]} for at in range(7)]
    whole["workloads"] = [newer[0], *whole["workloads"], *newer[1:], newer[0]]
    result = results.parse(json.dumps(whole).encode(), "x")
    assert [entry.place for entry in result.workloads] == ["workspace"]
    message = (
        "newer-0, newer-1, newer-2, newer-3, newer-4 and 2 more: unknown to this program and "
        "skipped; update io-benchmark"
    )
    assert [(one.name, one.message) for one in result.warnings[-1:]] == [
        ("unknown-workload", message)
    ]


def test_a_retrieve_that_took_no_time_is_none() -> None:
    """A ratio to nothing would be no number: such a file was not measured."""
    whole = document()
    samples = whole["workloads"][0]["samples"]
    samples["lookup_ns"][7] = samples["copy_ns"][7] = 0
    with pytest.raises(ResultError, match="samples: a retrieve took no time at all"):
        results.parse(json.dumps(whole).encode(), "x")


def trials(**changed: Any) -> dict[str, Any]:
    block = {"trial": "normal", "lookup_ns": [9, 8], "copy_ns": [70, 80]}
    return {
        "state": "completed",
        "reason": None,
        "pace_bytes_per_s": None,
        "file_indexes": [3, 1],
        "duration_ns": 400,
        "ceilings": [{"written_bytes": 1048576, "duration_ns": 12}],
        "blocks": [block, {**block, "trial": "lookup", "lookup_ns": [0, 0]}],
        **changed,
    }


def test_trials_are_read() -> None:
    """All of them, in the order of time; in files without them there are none."""
    whole = document()
    (entry,) = retrieves_of(results.parse(json.dumps(whole).encode(), "x"))
    assert entry.trials is None
    whole["workloads"][0]["trials"] = trials()
    (entry,) = retrieves_of(results.parse(json.dumps(whole).encode(), "x"))
    assert msgspec.to_builtins(entry.trials) == trials()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        pytest.param(
            {"file_indexes": [3, 100]},
            "trials.file_indexes: names a file that file_sizes_bytes does not have",
            id="file",
        ),
        pytest.param(
            {"file_indexes": [3]},
            "trials.blocks: a block does not have 1 retrieves, as trials.file_indexes has",
            id="length",
        ),
        pytest.param({"file_indexes": [0] * 10_001}, "file_indexes", id="many retrieves"),
        pytest.param({"blocks": trials()["blocks"] * 51}, "blocks", id="many blocks"),
        pytest.param({"ceilings": trials()["ceilings"] * 101}, "ceilings", id="many ceilings"),
        pytest.param(
            {"ceilings": [{"written_bytes": 5, "duration_ns": 0}]}, "ns", id="no duration"
        ),
        pytest.param({"pace_bytes_per_s": 0}, "pace_bytes_per_s", id="no pace"),
        pytest.param({"state": "other"}, "state", id="state"),
    ],
)
def test_trials_that_are_not_consistent(changed: dict[str, Any], problem: str) -> None:
    """Refused, as any other part of a result."""
    whole = document()
    whole["workloads"][0]["trials"] = trials(**changed)
    with pytest.raises(ResultError, match=problem):
        results.parse(json.dumps(whole).encode(), "x")


def test_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is not even read to its end."""
    monkeypatch.setattr(reader, "MAXIMUM_BYTES", 100)
    path = tmp_path / "big.json"
    path.write_bytes(b" " * 1000)
    with pytest.raises(ResultError, match="holds 101 bytes, more than 100"):
        read(path)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("missing.json", "No such file or directory", id="missing"),
        pytest.param(".", "Is a directory", id="folder"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, name: str, reason: str) -> None:
    """The path and the system's own reason."""
    with pytest.raises(ResultError, match=reason):
        read(tmp_path / name)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(GOOD, id="cache-retrieve"),
        pytest.param(ALL, id="every workload"),
    ],
)
@given(data=st.data())
def test_no_mutation_gives_a_traceback(path: Path, data: st.DataObject) -> None:
    """Bytes replaced, removed or repeated: either it still reads, or it is a ResultError."""
    original = path.read_bytes()
    at = data.draw(st.integers(0, len(original) - 1))
    length = data.draw(st.integers(0, 40))
    inserted = data.draw(st.binary(max_size=20))
    mutated = original[:at] + inserted + original[at + length :]
    message = ""
    try:
        results.parse(mutated, "x")
    except ResultError as error:
        message = str(error)
    assert message == "" or message.isprintable()


def test_the_published_schema_is_the_readers() -> None:
    """The JSON Schema in the documentation says what the reader does, and takes the real files."""
    published = json.loads(PUBLISHED.read_text())
    assert published == schemas()[PUBLISHED]
    for path in (GOOD, ALL):
        jsonschema.Draft202012Validator(published).validate(document(path))


def _too_long(path: str, item: Any, count: int) -> Any:
    """The good file with a list or mapping of `count` items."""
    value: Any = [item] * count if item != {} else {str(at): "1" for at in range(count)}
    return pytest.param(changed(path, value), id=path)


@pytest.mark.parametrize(
    "data",
    [
        _too_long("config.workloads", "a", 101),
        _too_long("config.places", {"name": "a", "path": "a"}, 101),
        _too_long("config.destinations", "a", 101),
        _too_long("config.environment", {}, 10_001),
        _too_long("task.location", {}, 101),
        _too_long("host.first_touch_ns_per_mib", 1, 10_001),
        _too_long("storage.places", {"name": "a", "path": "a"}, 101),
        _too_long("storage.places.0.devices.0.below", "a", 10_001),
        _too_long("limits.cgroup_versions", "a", 101),
        _too_long("warnings", {"name": "a", "message": "a"}, 10_001),
        _too_long("workloads.0.file_sizes_bytes", 1, 100_001),
        _too_long("workloads.0.trims", {"after_retrieves": 1, "sync_ns": 1}, 10_001),
        _too_long("workloads.0.samples.copy_ns", 1, 250_001),
        _too_long("timeline.columns.dirty_bytes", 1, 100_001),
    ],
)
def test_every_list_and_mapping_has_a_length(data: bytes) -> None:
    """Far above what a worker writes, and small enough that many results can be kept."""
    with pytest.raises(ResultError, match=r"of length <= [0-9]+ - at `\$\."):
        results.parse(data, "x")


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
            for at, inner in enumerate(part):
                look(inner, f"{path}[{at}]")

    look(schemas()[PUBLISHED], "$")
    assert unbounded == []


@pytest.mark.parametrize(
    ("filling", "name"),
    [
        pytest.param(b"1,", "commas", id="numbers"),
        pytest.param(b'""', "quotation marks", id="texts"),
        pytest.param(b"{}", "objects", id="objects"),
        pytest.param(b"[]", "lists", id="lists"),
    ],
)
def test_parts_are_counted_before_anything_is_decoded(filling: bytes, name: str) -> None:
    """Not even the version is read of what would take twenty times its size."""
    data = filling * (1_100_000 if name == "quotation marks" else 2_200_000)
    with pytest.raises(ResultError, match=rf"^x: holds 2,200,000 {name}, more than [0-9,]+$"):
        results.parse(data, "x")


def test_a_timeline_with_gaps_comes_back_as_written() -> None:
    """Columns are packed; a missing value stays missing."""
    whole = document()
    columns = whole["timeline"]["columns"]
    name, column = next(iter(columns.items()))
    columns[name] = [None, *column[1:-1], None]
    timeline = results.parse(json.dumps(whole).encode(), "x").timeline
    assert timeline is not None
    assert {key: list(values) for key, values in timeline.columns.items()} == columns
    assert list(timeline.columns[name][:2]) == columns[name][:2]


@pytest.mark.parametrize(
    ("url", "is_link"),
    [
        pytest.param("https://ci.example/o/r/actions/runs/7?job=2&a=%20#log_a", True, id="job"),
        pytest.param("http://10.0.0.1:8080/job/x/12/", True, id="port"),
        pytest.param(None, False, id="none"),
        pytest.param("javascript:alert(1)", False, id="script"),
        pytest.param("https://user:word@ci.example/", False, id="password"),
        pytest.param("https://ci.example/)[x](https://evil.example", False, id="markdown"),
        pytest.param('https://ci.example/" onclick="alert(1)', False, id="html"),
        pytest.param("https://ci.example/a|b", False, id="table"),
        pytest.param("https://ci.example/\x1b]8;;", False, id="escape"),
        pytest.param("https://ci.example/\n", False, id="line"),
        pytest.param("https://ex\u0430mple/", False, id="look-alike"),
        pytest.param("https://ci.example/" + "x" * 300, False, id="long"),
    ],
)
def test_a_url_that_reports_may_link_to(url: str | None, is_link: bool) -> None:
    """Anyone may have set it: http or https, short, without a user and without markup of any format."""
    changed = document()
    changed["task"]["ci"] = {"system": "x", "url": url}
    task = results.parse(json.dumps(changed).encode(), "x").task
    assert task.ci is not None
    assert task.ci.link == (url if is_link else None)
