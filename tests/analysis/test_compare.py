# SPDX-License-Identifier: MPL-2.0
"""The whole comparison, on the seed's case and on workloads in batches."""

from typing import Any

import pytest
import workload_entries
from seed_case import outcome
from seed_facts import cpu_limit
from seed_workers import SUBJECT, broken, compared, measured, report_of, workers

from io_benchmark.analysis.model.comparison import Severity, Verdict
from io_benchmark.analysis.model.measurement import SubjectReport
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.statistics.noise import relative_times
from io_benchmark.report.content import text_of

REFUSED, WARNING = Severity.REFUSED, Severity.WARNING


def test_the_seeds_table() -> None:
    """Avg, P50, P95, P99 and Total of seed 000's final table, the ratios 1.00, 1.01 and 1.92."""
    (subject,) = report_of(workers()).subjects
    rows = {}
    for side, figures in subject.figures.items():
        percentiles_ns = [figures.percentiles_ns[percent] for percent in (50, 95, 99)]
        rounded_ms = [round(ns / 1e6) for ns in (figures.mean_ns, *percentiles_ns)]
        rows[side] = [*rounded_ms, round(figures.total_ns / 1e9, 1)]
    assert list(rows.items()) == [
        ("intel", [76, 80, 109, 118, 151.9]),
        ("amd-16", [146, 157, 205, 237, 291.4]),
        ("amd-30", [77, 82, 115, 149, 154.0]),
    ]
    assert [round(comparison.ratio, 2) for comparison in subject.comparisons] == [1.92, 1.01]


def test_results_of_another_fidelity() -> None:
    """What 1.0.0 measured with `--fidelity real` is compared with the same, and gets no causes."""
    real = {"workloads.0.fidelity": "real"}
    report = compared({"intel": real, "amd-16": real})
    (subject,) = report.subjects
    assert subject.subject == Subject("cache-retrieve", "workspace", "overwrite", "real")
    assert [comparison.verdict for comparison in subject.comparisons] == [Verdict.SLOWER]
    assert report.diagnoses == ()
    mixed = compared({"intel": {}, "amd-16": real})
    assert [part.comparisons for part in mixed.subjects] == [(), ()]


def subjects_of(report: SampledReport, rule: str) -> list[Subject | None]:
    return [problem.subject for problem in broken(report, rule)]


def test_a_problem_of_all_subjects_is_one_problem() -> None:
    """It names no subject; one of some subjects has each of them."""
    two, one = (dict(measured(only=names)) for names in (("spawn", "metadata/stat"), ("spawn",)))
    assert subjects_of(compared({"intel": two, "amd-16": two}), "one-worker") == [None]
    assert set(subjects_of(report_of(workers()), "one-worker")) == {SUBJECT}
    drifting = {"workloads.0.samples.copy_ns": sorted}
    assert subjects_of(compared({"intel": one, "amd-16": one | drifting}), "drift") == [SUBJECT]


def batches(times_ns: list[float], operations: list[int]) -> Run:
    """Return one entry with these batches, as the reader would hand it on."""
    (entry,) = workload_entries.entries(only=("spawn",))
    entry["samples"] = {
        "start_ns": list(range(len(times_ns))),
        "duration_ns": list(map(round, times_ns)),
        "operations": operations,
    }
    (worker,) = workers(pools=("intel",), change={"intel": {"workloads": [entry]}})
    return worker.runs[0]


def test_means_of_batches() -> None:
    """A batch counts by its operations; a sum beyond 64 bits is not negative."""
    assert batches([100.0, 100.0, 400.0], [1, 1, 8]).mean_ns == 60.0
    longest = batches([10**16] * 2000, [1] * 2000)
    assert (longest.mean_ns, relative_times(longest).error_of_mean) == (1e16, 0.0)


def report(candidate: dict[str, Any], baseline: dict[str, Any] | None = None) -> SampledReport:
    return compared({"intel": measured() if baseline is None else baseline, "amd-16": candidate})


def part(made: SampledReport, ending: str) -> SubjectReport:
    """Return the measurement whose name ends so."""
    return next(result for result in made.subjects if str(result.subject).endswith(ending))


def test_a_verdict_is_always_on_times() -> None:
    """Fewer operations a second are slower, though the rate is the smaller number."""
    made = part(report(dict(measured({"random-io/write-depth-32": 2.0}, seed=2))), "write-depth-32")
    (comparison,) = made.comparisons
    assert (comparison.verdict, comparison.method) == (Verdict.SLOWER, "batches in blocks")
    intel, amd = made.figures.values()
    assert (comparison.ratio, intel.value, amd.value) == pytest.approx((2, 90_000, 45_000), 0.01)
    assert (intel.samples, intel.lookup_mean_ns, intel.copy_mean_ns) == (60, None, None)
    assert intel.operations == pytest.approx(60 * 18_000, rel=0.01)


def details(made: SampledReport, ending: str) -> dict[str, dict[str, float]]:
    return {
        side: {detail.name: round(detail.value, 2) for detail in figures.details}
        for side, figures in part(made, ending).figures.items()
    }


def hidden(count: int) -> dict[str, Any]:
    return {"metadata/visibility": {"not_visible": count}}


STALLS = {"upload/connection-each": {"expect_100_stalls": 50}}


def test_figures_that_one_workload_alone_has() -> None:
    """The gain by threads, the cost of copies and connections, hidden files and stalls."""
    changed = measured({"metadata/stat/4": 4, "exec/copies": 1.5}, observed=hidden(3) | STALLS)
    made = report(dict(changed))
    names = ("stat, 1 at once", "stat, 4 at once", "visibility, 2 at once", "copies, 4 at once")
    assert [tuple(details(made, name).values()) for name in (*names, "connection-each")] == [
        ({}, {}),
        ({"scaling": 3.74}, {"scaling": 0.93}),
        ({"not-visible": 0.0}, {"not-visible": 3.0}),
        ({"over-hardlinked": 1.1, "cpu-time": 29.0}, {"over-hardlinked": 1.65, "cpu-time": 29.0}),
        (
            {"over-keep-alive": 1.17, "expect-stalls": 0.0},
            {"over-keep-alive": 1.17, "expect-stalls": 50.0},
        ),
    ]
    assert details(made, "read-depth-1")["intel"] == {"latency-p99": 210.0}


LOCK, COPIES = "something locks", "builders that share the file share the caches"


@pytest.mark.parametrize(
    ("slower", "changes", "finding"),
    [
        # Four at once that do as much as one, beyond twice the error of that; and a ratio of 1.2.
        ({"metadata/stat/4": 3.74}, {}, []),
        ({"metadata/stat/4": 3.76}, {}, [LOCK]),
        ({"exec/copies": 1.094}, {}, []),
        ({"exec/copies": 1.096}, {}, [COPIES]),
        # On four CPUs there need not be a lock.
        ({"metadata/stat/4": 5}, {"host.cpu_online_count": 5}, [LOCK]),
        ({"metadata/stat/4": 5}, {"host.cpu_online_count": 4}, []),
        ({"metadata/stat/4": 5}, cpu_limit(2), []),
    ],
)
def test_findings_beyond_a_limit(slower, changes, finding):
    """A figure of one side is a finding where it passes its limit by more than its error."""
    slow = dict(measured(slower, only=("metadata/stat", "exec")))
    made = report(slow | changes, dict(measured(only=("metadata/stat", "exec"))))
    lines = [line for line in map(text_of, made.remarks) if line.startswith("amd-16")]
    assert len(lines) == len(finding)
    assert all(words in line for words, line in zip(finding, lines, strict=True))


def problems(made: SampledReport, *rules: str) -> list[tuple[str, Severity, str]]:
    found = [problem for rule in rules for problem in broken(made, rule)]
    return [(problem.rule, problem.severity, text_of(problem.message)) for problem in found]


BY = "measured by "
EXEC = {"parameters": {"exec": {"blob_bytes": 40_000_000}}}


@pytest.mark.parametrize(
    ("workload", "changes", "rule", "severity", "usual", "changed"),
    [
        (
            "random-io",
            {"method": "fio-3.33"},
            "method",
            REFUSED,
            BY + "python-o-direct",
            BY + "fio",
        ),
        ("upload", {"method": "http.client"}, "method", REFUSED, BY + "curl", BY + "http.client"),
        ("upload", {"http_version": "2"}, "http-version", REFUSED, "HTTP/1.1", "HTTP/2"),
        ("exec", EXEC, "parameters", REFUSED, "blob_bytes 20971520", "blob_bytes 40000000"),
        ("spawn", {"python": "3.8.10"}, "interpreter", WARNING, "by Python 3.11", "by Python 3.8"),
    ],
)
def test_different_measurements(workload, changes, rule, severity, usual, changed):
    """The rule refuses or warns with both sides' values; a refused pair has no verdict."""
    keywords = changes if changes is EXEC else {"observed": {workload: changes}}
    only = (workload,)
    made = report(dict(measured(only=only, **keywords)), dict(measured(only=only)))
    line = f"intel: {usual}; amd-16: {changed}"
    assert set(problems(made, rule)) == {(rule, severity, line)}
    compared = [bool(result.comparisons) for result in made.subjects[1:]]
    assert set(compared) == {severity is WARNING}


def test_turns_and_one_pass() -> None:
    """They are not compared, except for retrieves, which take as long in both."""
    plain = dict(measured(only=("sync-write",)))

    def in_turns(entries: list[Any]) -> list[Any]:
        return [{**entry, "turn_ends": [1, 3]} for entry in plain["workloads"](entries)]

    made = report({"workloads": in_turns}, plain)
    line = "intel: measured in one pass; amd-16: measured in turns"
    assert set(problems(made, "turns")) == {("turns", REFUSED, line)}
    are_compared = [bool(part.comparisons) for part in made.subjects]
    assert are_compared == [True] + [False] * (len(are_compared) - 1)


OUT_OF_TIME = outcome("time-budget", "the time budget of 60 s is used up")
STOPPED = outcome("stopped", "stopped by SIGTERM")


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
def test_runs_that_are_too_short(rule, count, ended, severity, message):
    """The rules are those of retrieves; a batch is an average, so that fewer do."""
    (entry,) = workload_entries.entries(only=("spawn",))
    samples = {name: column[:count] for name, column in entry["samples"].items()}
    cut = {**entry, "samples": samples, "outcome": ended or entry["outcome"]}
    change = {"workloads": lambda recorded: [*recorded, cut]}
    made = report(change, dict(measured(only=("spawn",))))
    broken = problems(made, "too-few-retrieves", "few-retrieves", "incomplete", "cut-short")
    assert [line[:2] for line in broken] == [(rule, severity)] * (rule is not None)
    assert all(message in line for *_, line in broken)


def test_what_was_skipped_is_named_and_no_fault() -> None:
    """A warning with its reason once, no verdict for it, and the rest is compared."""
    (entry,) = workload_entries.entries(only=("random-io/read-depth-1",))
    skipped = workload_entries.skipped(entry, "the place refuses O_DIRECT")
    added = [skipped, *workload_entries.entries(only=("spawn",))]
    change = {
        "workloads": lambda entries: [*entries, *added],
        "warnings": [{"name": "skipped", "message": "workspace/random-io: O_DIRECT"}],
    }
    made = report(change, dict(measured(only=("random-io/read-depth-1", "spawn"))))
    ((rule, severity, line),) = problems(made, "skipped", "worker-warning")
    assert (rule, severity) == ("skipped", WARNING)
    assert line.endswith("not measured: the place refuses O_DIRECT")
    subject = Subject("random-io", "workspace", variant="read-depth-1")
    assert subject in {problem.subject for problem in broken(made, "skipped")}
    names = ("read-depth-1", "posix-spawn")
    assert [len(part(made, name).comparisons) for name in names] == [0, 1]


def test_files_that_other_programs_held() -> None:
    """How often a call was repeated on Windows is named, of each pool that met it."""
    change = {"amd-16": {"sharing_violations": 2}, "intel": {"sharing_violations": 0}}
    report = report_of(workers(pools=("intel", "amd-16"), change=change))
    held = "amd-16: 2 times a file was held by another program, such as a scanner, and the call"
    assert [*map(text_of, report.remarks)] == [f"{held} was repeated"]
