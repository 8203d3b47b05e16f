# SPDX-License-Identifier: MPL-2.0
"""Workloads in batches: their figures, verdicts, validity, and findings about one side."""

import math
from typing import Any

import numpy as np
import pytest
import workload_entries
from seed_case import outcome
from seed_workers import measured, pair_report, workers

from io_benchmark.analysis.model import Entry, Problem, Severity, Subject, Verdict
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.results import workloads

US, MS = 1_000, 1_000_000


@pytest.mark.parametrize(
    ("name", "time_ns", "shown", "unit"),
    [
        pytest.param("random-io", 1e9 / 170_000, 170_000, "IOPS", id="rate"),
        pytest.param("metadata", 1 * US, 1_000_000, "ops/s", id="large-rate"),
        pytest.param("sync-write", 150 * US, 150, "µs", id="microseconds"),
        pytest.param("upload", 600 * MS, 600, "ms", id="milliseconds"),
        pytest.param("random-io", 0.0, math.inf, "IOPS", id="no-time"),
        pytest.param("another", 2 * MS, 2, "ms", id="unknown"),
    ],
)
def test_a_time_as_the_workloads_figure(name: str, time_ns: float, shown: float, unit: str) -> None:
    """A rate is the same time shown the other way round."""
    workload = workloads.of(name)
    assert workload.shown(time_ns) == pytest.approx(shown)
    assert workload.unit == unit


def batches(times_ns: list[float], operations: list[int]) -> Entry:
    """One entry with these batches, as the reader would hand it on."""
    (entry,) = workload_entries.entries(only=("spawn",))
    entry["samples"] = {
        "start_ns": list(range(len(times_ns))),
        "duration_ns": [round(one) for one in times_ns],
        "operations": operations,
    }
    (worker,) = workers(pools=("intel",), change={"intel": {"workloads": [entry]}})
    return worker.entries[0]


def test_the_mean_is_all_the_time_over_all_the_operations() -> None:
    """A batch counts by its operations, as a rate over the whole run does."""
    entry = batches([100.0, 100.0, 400.0], [1, 1, 8])
    assert entry.mean_ns == 60.0


def test_sums_beyond_64_bits_are_no_nonsense() -> None:
    """A million of the longest batches: as integers their sum would be negative."""
    entry = batches([10**16] * 2000, [1] * 2000)
    assert entry.mean_ns == 1e16
    assert entry.relative_times.error_of_mean == 0.0


def test_how_many_fit_into_a_window_is_no_noise_of_the_mean() -> None:
    """Windows of other lengths at the same speed: no error, equal halves, no drift."""
    counts = [10 + at % 7 for at in range(120)]
    entry = batches([50.0 * count for count in counts], counts)
    assert entry.relative_times.error_of_mean == pytest.approx(0.0, abs=1e-12)
    assert entry.relative_times.halves_ratio == pytest.approx(1.0)
    assert entry.relative_times.last_third_over_first == pytest.approx(1.0)


def test_an_allowance_that_ends_is_drift() -> None:
    """Ten times the operations in the first third, in windows of the same length."""
    entry = batches([1e8] * 90, [1000] * 30 + [100] * 60)
    assert entry.relative_times.last_third_over_first == pytest.approx(10.0)
    assert entry.relative_times.halves_ratio == pytest.approx(1.0)


def test_the_error_of_a_rate_is_that_of_simulation() -> None:
    """Windows of random counts and speeds: the mean's error is its spread over many runs."""
    generator = np.random.default_rng(5)
    means, errors = [], []
    for _ in range(200):
        counts = generator.integers(50, 150, 400)
        times = counts * 1e5 * (1 + 0.1 * generator.normal(0, 1, 400))
        entry = batches(times.tolist(), counts.tolist())
        means.append(math.log(entry.mean_ns))
        errors.append(entry.relative_times.error_of_mean**2)
    assert np.sqrt(np.mean(errors)) == pytest.approx(np.std(means), rel=0.15)


def report(candidate: dict[str, Any], baseline: dict[str, Any] | None = None) -> Report:
    return pair_report(dict(measured()) if baseline is None else baseline, candidate)


def of(found: Report, text: str) -> Any:
    """The subject whose name ends so."""
    return next(one for one in found.subjects if str(one.subject).endswith(text))


def test_cache_retrieve_leads_and_the_others_follow_in_their_order() -> None:
    """Whatever the script measured first."""
    last = {"workloads": lambda own: [*reversed(workload_entries.entries()), *own]}
    found = pair_report(last, last)
    names = list(dict.fromkeys(one.subject.workload for one in found.subjects))
    assert names == list(workloads.WORKLOADS)


def test_a_verdict_is_always_on_times() -> None:
    """Fewer operations a second are slower, though the rate is the smaller number."""
    found = report(dict(measured({"random-io/write-depth-32": 2.0}, seed=2)))
    part = of(found, "write-depth-32")
    (comparison,) = part.comparisons
    assert comparison.verdict is Verdict.SLOWER
    assert comparison.ratio == pytest.approx(2.0, rel=0.01)
    assert comparison.method == "batches in blocks"
    rates = {
        side: workloads.of("random-io").shown(figures.mean_ns)
        for side, figures in part.figures.items()
    }
    assert rates == {
        "intel": pytest.approx(90_000, rel=0.01),
        "amd-16": pytest.approx(45_000, rel=0.01),
    }
    figures = part.figures["intel"]
    assert (figures.samples, figures.lookup_mean_ns, figures.copy_mean_ns) == (60, None, None)
    assert figures.operations == pytest.approx(60 * 18_000, rel=0.01)


def test_each_measurement_is_a_question_of_its_own() -> None:
    """Holm's steps count candidates, not measurements; with many of them the report says so."""
    found = report(dict(measured(seed=2)))
    assert {one.interval.level_ratio for part in found.subjects for one in part.comparisons} == {
        0.95
    }
    (remark,) = found.remarks
    assert text_of(remark) == (
        "30 measurements are compared, each by itself: where sides do not differ, about "
        "1 in 20 is called slower or faster by chance"
    )
    few = pair_report(dict(measured(only=("spawn",))), dict(measured(only=("spawn",))))
    assert few.remarks == ()


def remarks_of(found: Report) -> list[str]:
    return [text_of(remark) for remark in found.remarks]


def details(found: Report, text: str) -> dict[str, dict[str, float]]:
    part = of(found, text)
    return {
        side: {one.name: round(one.value, 2) for one in figures.details}
        for side, figures in part.figures.items()
    }


def test_figures_that_one_workload_alone_has() -> None:
    """The gain by threads, the cost of copies and connections, hidden files and stalls."""
    found = report(
        dict(
            measured(
                {"metadata/stat/4": 4, "exec/copies": 1.5},
                observed={
                    "metadata/visibility": {"not_visible": 3},
                    "upload/connection-each": {"expect_100_stalls": 50},
                },
            )
        )
    )
    assert details(found, "stat, 1 at once") == {"intel": {}, "amd-16": {}}
    assert details(found, "stat, 4 at once") == {
        "intel": {"scaling": 3.74},
        "amd-16": {"scaling": 0.93},
    }
    assert details(found, "visibility, 2 at once") == {
        "intel": {"not-visible": 0.0},
        "amd-16": {"not-visible": 3.0},
    }
    assert details(found, "copies, 4 at once") == {
        "intel": {"over-hardlinked": 1.1, "cpu-time": 29.0},
        "amd-16": {"over-hardlinked": 1.65, "cpu-time": 29.0},
    }
    assert details(found, "connection-each") == {
        "intel": {"over-keep-alive": 1.17, "expect-stalls": 0.0},
        "amd-16": {"over-keep-alive": 1.17, "expect-stalls": 50.0},
    }
    assert details(found, "read-depth-1")["intel"] == {"latency-p99": 210.0}


def test_what_is_found_alike_in_several_places_is_one_remark() -> None:
    """It names the places; where the figures differ each place has its own."""
    hidden = {"metadata/visibility": {"not_visible": 7, "longest_invisible_ns": 5_000_000}}

    def change(count: int) -> dict[str, Any]:
        only = ("metadata/visibility",)
        other = {"metadata/visibility": hidden["metadata/visibility"] | {"not_visible": count}}
        made = workload_entries.entries(only=only, observed=hidden)
        made += workload_entries.entries(only=only, observed=hidden, place="container")
        made += workload_entries.entries(only=only, observed=other, place="memory")
        return {"workloads": lambda own: [*own, *made]}

    remarks = [text for text in remarks_of(report({}, change(9))) if "not visible" in text]
    assert [one.partition(" files")[0] for one in remarks] == [
        "intel, places workspace, container: 7",
        "intel, place memory: 9",
    ]


def test_what_a_side_shows_by_itself_is_remarked() -> None:
    """A fault of a pool is reported even if the other pool has it too, and nothing differs."""
    same = dict(
        measured(
            {"metadata/stat/4": 5, "exec/copies": 1.5},
            observed={
                "metadata/visibility": {"not_visible": 800},
                "upload/connection-each": {"expect_100_stalls": 50},
            },
        )
    )
    remarks = [text for text in remarks_of(report(same, same)) if text.startswith("amd-16")]
    stalled, hidden, locked, copied = remarks
    assert stalled == (
        "amd-16: 50 uploads waited for an answer to Expect: 100-continue that did not come (upload): "
        "do not send this header"
    )
    assert hidden == (
        "amd-16, place workspace: 800 files that one thread had created were not visible to another "
        "at once, as POSIX promises (metadata, visibility)"
    )
    assert locked == (
        "amd-16, place workspace: 4 at once do 75 % of what one alone does (metadata, stat): "
        "something locks"
    )
    assert copied == (
        "amd-16, place workspace: a copy of the binary for each of 4 processes makes executing it "
        "take 1.65× the time that hardlinks to one take (exec): builders that share the file share "
        "the caches"
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"host.cpu_online_count": 4}, id="no CPU to spare"),
        pytest.param(
            {"limits.cpu": [{"group": "/", "quota_us": 200_000, "period_us": 100_000}]},
            id="a quota of two CPUs",
        ),
    ],
)
def test_too_few_cpus_are_no_lock(changes: dict[str, Any]) -> None:
    """Four at once on four CPUs: without a gain there need not be a lock."""
    slow = dict(measured({"metadata/stat/4": 5}, only=("metadata",)))
    fast = dict(measured(only=("metadata",)))
    assert any("something locks" in text for text in remarks_of(report(slow, fast)))
    assert not any("something locks" in text for text in remarks_of(report(slow | changes, fast)))


def problems(found: Report, rule: str) -> list[Problem]:
    return [one for one in found.problems if one.rule == rule]


def unlike(workload: str, **observed: str) -> dict[str, Any]:
    return {"only": (workload,), "observed": {workload: observed}}


@pytest.mark.parametrize(
    ("rule", "changes", "severity", "message"),
    [
        pytest.param(
            "method",
            unlike("random-io", method="python-o-direct"),
            Severity.REFUSED,
            "intel: measured by fio with libaio; amd-16: measured by python-o-direct with libaio",
            id="fio-against-own-loop",
        ),
        pytest.param(
            "method",
            unlike("upload", method="http.client"),
            Severity.REFUSED,
            "intel: measured by curl; amd-16: measured by http.client",
            id="curl-against-http-client",
        ),
        pytest.param(
            "http-version",
            unlike("upload", http_version="2"),
            Severity.REFUSED,
            "intel: HTTP/1.1; amd-16: HTTP/2",
            id="http-version",
        ),
        pytest.param(
            "parameters",
            {"only": ("exec",), "parameters": {"exec": {"blob_bytes": 40_000_000}}},
            Severity.REFUSED,
            "intel: blob_bytes 20971520; amd-16: blob_bytes 40000000",
            id="parameters",
        ),
        pytest.param(
            "interpreter",
            unlike("spawn", python="3.8.10"),
            Severity.WARNING,
            "intel: by Python 3.11; amd-16: by Python 3.8",
            id="interpreter",
        ),
    ],
)
def test_what_was_not_measured_alike(
    rule: str, changes: dict[str, Any], severity: Severity, message: str
) -> None:
    """The rule refuses or warns with both sides' values; a refused pair has no verdict."""
    baseline = dict(measured(only=changes["only"]))
    found = report(dict(measured(**changes)), baseline)
    broken = problems(found, rule)
    assert {(one.severity, text_of(one.message)) for one in broken} == {(severity, message)}
    compared = [
        one
        for part in found.subjects
        if part.subject.workload == changes["only"][0]
        for one in part.comparisons
    ]
    assert (compared == []) == (severity is Severity.REFUSED)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"observed": {"random-io": {"method": "fio-3.36"}}}, id="fio's version"),
        pytest.param({"parameters": {"random-io": {"time_limit_s": 5.0}}}, id="time limit"),
        pytest.param({"parameters": {"spawn": {"samples_planned": 9000}}}, id="samples"),
        pytest.param({"observed": {"spawn": {"python": "3.11.9"}}}, id="a bug-fix release"),
    ],
)
def test_what_makes_no_difference(changes: dict[str, Any]) -> None:
    """How much is measured may differ, and a tool's own version."""
    found = report(dict(measured(**changes)))
    assert {one.rule for one in found.problems} == {"one-worker"}


OUT_OF_TIME = outcome("time-budget", "the time budget of 60 s is used up")
STOPPED = outcome("stopped", "stopped by SIGTERM")
REFUSED, WARNING = Severity.REFUSED, Severity.WARNING


@pytest.mark.parametrize(
    ("rule", "count", "ended", "severity", "message"),
    [
        ("too-few-retrieves", 2, None, REFUSED, "2 batches; at least 3 are needed"),
        ("few-retrieves", 3, None, WARNING, "3 batches; 20 or more give steadier figures"),
        ("few-retrieves", 19, None, WARNING, "19 batches; 20 or more give steadier figures"),
        (None, 20, None, WARNING, ""),
        ("incomplete", 100, STOPPED, REFUSED, "100 of 500 batches: stopped by SIGTERM"),
        ("incomplete", 19, OUT_OF_TIME, REFUSED, "19 of 500 batches: the time budget"),
        ("cut-short", 20, OUT_OF_TIME, WARNING, "20 of 500 batches: the time budget"),
    ],
)
def test_runs_that_are_too_short(
    rule: str | None, count: int, ended: Any, severity: Severity, message: str
) -> None:
    """The rules are those of retrieves; a batch is an average, so that fewer do."""
    (entry,) = workload_entries.entries(only=("spawn",))
    samples = {name: column[:count] for name, column in entry["samples"].items()}
    cut = {**entry, "samples": samples, "outcome": ended or entry["outcome"]}
    change = {"workloads": lambda recorded: [*recorded, cut]}
    made = report(change, dict(measured(only=("spawn",))))
    rules = ("too-few-retrieves", "few-retrieves", "incomplete", "cut-short")
    broken = [problem for problem in made.problems if problem.rule in rules]
    assert [problem.rule for problem in broken] == [rule] * (rule is not None)
    for problem in broken:
        assert problem.severity is severity
        assert message in text_of(problem.message)


def test_what_was_skipped_is_named_and_no_fault() -> None:
    """A warning with its reason once, no verdict for it, and the rest is compared."""
    skipped = [
        workload_entries.skipped(one, "the place refuses O_DIRECT")
        for one in workload_entries.entries(only=("random-io/read-depth-1",))
    ]
    change = {
        "workloads": lambda own: [*own, *skipped, *workload_entries.entries(only=("spawn",))],
        "warnings": [{"name": "skipped", "message": "workspace/random-io: O_DIRECT"}],
    }
    found = report(change, dict(measured(only=("random-io/read-depth-1", "spawn"))))
    (problem,) = problems(found, "skipped")
    assert (problem.severity, problem.subject) == (
        Severity.WARNING,
        Subject("random-io", "workspace", variant="read-depth-1"),
    )
    assert text_of(problem.message).endswith("not measured: the place refuses O_DIRECT")
    assert problems(found, "worker-warning") == []
    assert of(found, "read-depth-1").comparisons == ()
    assert len(of(found, "posix-spawn").comparisons) == 1


def test_skipped_everywhere_is_no_measurement() -> None:
    """There is nothing to show of it, but that it was skipped."""
    skipped = [
        workload_entries.skipped(one, "no space")
        for one in workload_entries.entries(only=("exec",))
    ]
    change = {"workloads": lambda own: [*own, *skipped]}
    found = report(change, change)
    assert [one.subject.workload for one in found.subjects] == ["cache-retrieve"]
    assert len(problems(found, "skipped")) == 4


def test_a_place_is_of_no_matter_to_what_does_not_use_it() -> None:
    """Spawn and upload are compared though the places are of another kind."""
    overlay = {"storage.places.0.kind": "overlay"}
    found = report(dict(measured(seed=2)) | overlay)
    compared = {part.subject.workload for part in found.subjects if part.comparisons}
    assert compared == {"spawn", "upload"}
