# SPDX-License-Identifier: MPL-2.0
"""Numbers at the ends of what a file may hold: what is computed of them stays finite, and is shown.

Each number of a result and of a profile is drawn, alone and with others, at the bounds of the
published schema. Whoever may write one worker's result must not take the report from everybody.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
import workload_entries
from checkout import ROOT
from extreme_values import Number, copied, described_numbers, numbers
from golden import schemas
from hypothesis import given, settings
from hypothesis import strategies as st
from predicted_tasks import profile_document
from published_profiles import Sample, resource_document
from simulated_results import Pool, measure_one
from situations import BASE, FAST, ONE_DISK, SLOW
from windows_facts import windows_place

from io_benchmark import results
from io_benchmark.analysis.compare import compare
from io_benchmark.analysis.comparing.pairs import Options
from io_benchmark.analysis.history import series
from io_benchmark.analysis.history.history_model import HistoryReading, LeftOut
from io_benchmark.analysis.history.readings import readings_of
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.prediction.predict import predict
from io_benchmark.analysis.prediction.prediction_model import Predictions
from io_benchmark.analysis.reading.intake import worker_of
from io_benchmark.costs.worker_time import LEAST_AMOUNT, MOST_AMOUNT, Price
from io_benchmark.errors import ResultError
from io_benchmark.report.formats import FORMATS, GENERAL_FORMATS, Layout, rendered
from io_benchmark.results.resource_profile import parse_any_profile
from io_benchmark.sources.run_results import RunProfile, RunResult

pytestmark = pytest.mark.filterwarnings("error")

DOCS = ROOT / "taskcluster" / "docs"
MACHINES = {FAST: BASE, SLOW: ONE_DISK}
WORKERS, RETRIEVES, SAMPLES, OF_EACH_WORKLOAD = 3, 24, 6, 1
TIMES = {"wall_ns": 10, "user_ns": 4, "kernel_ns": 3, "waiting_ns": 1}
# They count rows, or name one: another number is refused, as test_results.py shows.
COUNTED = re.compile("turn_ends|file_index|retrieves_planned|/version")
# Between the ends: nothing, the smallest, and where 32 bits, a float's integers and a schema's
# times end.
BETWEEN = (0, 1, 2**31, 2**53 + 1, 10**16, 2**62)
NOT_FINITE = re.compile(r"(?<![\w-])(nan|inf|infinity)(?![\w-])|∞", re.IGNORECASE)
STYLE = re.compile("<style>.*?</style>|<script>.*?</script>", re.DOTALL)


@cache
def schema(name: str) -> dict[str, Any]:
    described: dict[str, Any] = schemas()[DOCS / f"{name}.schema.json"]
    return described


@cache
def full_results(pool: str) -> list[dict[str, Any]]:
    """Return results that have every part that a result can have."""
    measured = (
        measure_one(Pool(pool, MACHINES[pool]), at, 1, retrieves=RETRIEVES, trials=True)
        for at in range(WORKERS)
    )
    documents = [copied(each.document) for each in measured]
    for document in documents:
        document["task"]["ci"] = {"system": "github", "run": "1", "attempt": 1}
        document["host"]["cpu_throttle_count"] = 3
        document["sharing_violations"] = 2
        document["config"] |= {"pace_bytes_per_s": None, "time_budget_s": 600.0}
        document["limits"] |= {
            "cpu": [{"quota_us": 1_600_000, "period_us": 100_000}],
            "memory": [{"bytes": 2**36}],
            "io": [
                {"group": "/", "device": "259:0", "device_name": None, "kind": "wbps", "value": 1}
            ],
        }
        (place, *_) = document["storage"]["places"]
        place["overlay"] = {"lower_layers": 3, "volatile": False}
        place["windows"] = windows_place()
        for device in place["devices"]:
            device["stripe_count"] = 2
        (retrieval,) = document["workloads"]
        retrieval |= {"turn_ends": [12, RETRIEVES], "trims": [{"sync_ns": 5}]}
        retrieval["trials"]["pace_bytes_per_s"] = 10**8
        document["workloads"] += few_entries()
    return documents


def few_entries() -> list[dict[str, Any]]:
    """Return the first entries of each workload, with first samples and with all that any has."""
    kept: list[dict[str, Any]] = []
    for entry in map(copied, workload_entries.entries()):
        if sum(other["name"] == entry["name"] for other in kept) < OF_EACH_WORKLOAD:
            entry["samples"] = {key: column[:SAMPLES] for key, column in entry["samples"].items()}
            entry |= {"turn_ends": [3, SAMPLES], "threads": entry["threads"] or 2}
            entry["device_bytes"] = {"nvme1n1": {"read": 5, "written": 6}}
            entry["process_times"] = entry["process_times"] or TIMES
            entry["observed"] |= {"not_visible": 1, "expect_100_stalls": 1, "sync_ns": 1}
            entry["observed"] |= {"written_bytes": 1}
            if entry["name"] == "download":
                steps = entry["observed"]["steps"]
                steps["sync_ns"] = [7] * len(steps["sync_ns"])
            entry["parameters"] |= {"writes_a_process": 3}
            kept.append(entry)
    return kept


def full_profile() -> dict[str, Any]:
    """Return a profile that has every part that a profile can have."""
    made = profile_document(
        (90, 10, 0, 90), cpu_s=1, syncs={"flushes": 5, "commits": 5}, waiting=0.5, read_mib=3
    )
    (full, *_) = full_results(FAST)
    made["limits"], made["storage"] = full["limits"], {"places": full["storage"]["places"]}
    made["host"] |= {name: full["host"][name] for name in ("fixed_work", "cpu_throttle_count")}
    made["task"]["ci"] = full["task"]["ci"]
    made["ending"] = {"code": 0, "signal": 9, "error": None}
    return copied(made)


def by_description(name: str, document: Any) -> dict[str, list[Number]]:
    """Return the numbers of a document by where the schema describes them."""
    grouped: dict[str, list[Number]] = {}
    for number in numbers(schema(name), document):
        if not COUNTED.search(number.described):
            grouped.setdefault(number.described, []).append(number)
    return grouped


@pytest.mark.parametrize("name", ["result", "task-profile"])
def test_no_number_is_forgotten(name: str) -> None:
    """The documents whose numbers are drawn have every number that the schema describes."""
    document = full_results(SLOW)[0] if name == "result" else full_profile()
    described = {at for at, _ in described_numbers(schema(name)) if not COUNTED.search(at)}
    # Only in a run that confirms, which is compared with no other pool.
    described.discard("#/$defs/Config/properties/pace_bytes_per_s/anyOf/0")
    assert described == by_description(name, document).keys()


def value(draw: st.DrawFn, number: Number) -> float:
    """Draw a number at one of its ends, or between them."""
    chosen = draw(st.sampled_from((number.least, number.most, *BETWEEN)))
    return min(max(chosen, number.least), number.most)


def change(draw: st.DrawFn, name: str, document: Any, most: int) -> None:
    """Put extreme values in the place of some numbers: everywhere, or in one place."""
    grouped = by_description(name, document)
    for described in draw(st.lists(st.sampled_from(sorted(grouped)), min_size=1, max_size=most)):
        places = grouped[described]
        if draw(st.booleans()):
            extreme = value(draw, places[0])
            for number in places:
                number.set(document, extreme)
        else:
            number = draw(st.sampled_from(places))
            number.set(document, value(draw, number))


@st.composite
def extreme_results(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw results of one pool: all of its workers, or one, have extreme values."""
    documents = [copied(document) for document in full_results(SLOW)]
    for document in documents if draw(st.booleans()) else documents[:1]:
        change(draw, "result", document, 12)
    return documents


def parsed(document: Mapping[str, Any]) -> list[RunResult]:
    """Return a result; nothing where it is refused because it has no time."""
    try:
        return [RunResult(results.parse(json.dumps(document).encode(), "result"), None, "result")]
    except ResultError as error:
        assert "a retrieve took no time at all" in str(error)  # noqa: PT017 - the only reason
        return []


def workers(*documents: Mapping[str, Any]) -> list[Worker]:
    return [worker_of(run, run.pool) for document in documents for run in parsed(document)]


def assert_finite(text: str) -> None:
    shown = NOT_FINITE.search(STYLE.sub("", text))
    assert shown is None, text[max(0, shown.start() - 200) : shown.end() + 50]


def on_windows(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result as a worker on Windows would write it: what it waited for is unknown."""
    changed = copied({**document})
    changed["host"]["system"] = "windows"
    for burst in changed["host"]["fixed_work"] or ():
        burst["waiting_ns"] = None
    for entry in changed["workloads"]:
        for name in ("lookup_waiting_ns", "copy_waiting_ns"):
            entry["samples"] |= {name: None} if name in entry["samples"] else {}
        if entry.get("process_times"):
            entry["process_times"]["waiting_ns"] = None
    for place in changed["storage"]["places"]:
        del place["devices"][1:]
        place["devices"][0] |= {"kind": "spaces", "below": []}
    return changed


@pytest.mark.parametrize("form_of", [copied, on_windows], ids=["Linux", "Windows"])
@settings(max_examples=15)
@given(documents=extreme_results())
def test_extreme_results(
    form_of: Callable[[Any], dict[str, Any]], documents: list[dict[str, Any]]
) -> None:
    """They are compared, and shown in every format without a number that is not finite."""
    compared = workers(*map(form_of, [*full_results(FAST), *documents]))
    report = compare(Plan.of_pools((each.side for each in compared), FAST), compared, Options())
    for form in FORMATS:
        assert_finite(rendered(report, form, Layout(details=True)))


@settings(max_examples=5)
@given(st.lists(extreme_results(), min_size=1, max_size=2))
def test_extreme_histories(drawn: list[list[dict[str, Any]]]) -> None:
    """They are points of a history like others, in every format."""
    pushes = [*drawn, *[full_results(SLOW)] * 4]
    readings: list[HistoryReading] = []
    left_out: list[LeftOut] = []
    for number, documents in enumerate(map(copied, pushes)):
        for document in documents:
            document["task"] |= {"task_group_id": f"push-{number}", "task_id": None}
            document["started"] = f"2026-03-{number + 1:02}T10:00:00Z"
            for run in parsed(document):
                some, others = readings_of(run)
                readings += some
                left_out += others
    shown = series.history(SLOW, readings, left_out=left_out)
    for form in GENERAL_FORMATS:
        assert_finite(rendered(shown, form, Layout(details=True)))


@st.composite
def extreme_profile(draw: st.DrawFn) -> dict[str, Any]:
    document = full_profile()
    change(draw, "task-profile", document, 8)
    return document


@st.composite
def extreme_resources(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the profile of a machine, with the bounds that its reader gives each number."""
    document = resource_document([Sample(user=0.5, written_mib=9, waiting=0.2)] * 4)
    count = st.sampled_from((0, 1, 2**53 + 1, 2**63 - 1))
    for data in document["threads"][0]["markers"]["data"]:
        for key in data.keys() & {"read_bytes", "write_bytes", "write_count", "cached"}:
            data[key] = draw(count)
    document["meta"]["logicalCPUs"] = draw(st.sampled_from((1, 100_000)))
    return document


@given(
    st.one_of(extreme_profile(), extreme_resources()),
    extreme_results(),
    st.sampled_from((LEAST_AMOUNT, MOST_AMOUNT)),
)
def test_extreme_profiles(
    profile: dict[str, Any], documents: list[dict[str, Any]], price: float
) -> None:
    """They are predicted, and shown in every format without a number that is not finite."""
    try:
        read = parse_any_profile(json.dumps(profile).encode(), "profile")
    except ResultError as error:
        assert "does not increase" in str(error)  # noqa: PT017 - times are in order
        return
    pools = workers(*full_results(FAST), *documents)
    prices = {FAST: Price(LEAST_AMOUNT, "USD"), SLOW: Price(price, "USD")}
    predictions = Predictions(
        tuple(predict([RunProfile(read, "x", "x", FAST)], pools, prices)), (), ()
    )
    for form in GENERAL_FORMATS:
        assert_finite(rendered(predictions, form, Layout(details=True)))
