# SPDX-License-Identifier: MPL-2.0
"""Each validity rule, kept and broken, on the seed's case."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import seed_case
import simulation
import workload_entries
from checkout import ROOT
from msgspec.structs import replace
from seed_case import outcome
from seed_facts import first
from seed_workers import broken, report_of, workers

from io_benchmark.analysis.model.comparison import Severity
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.statistics.steps import Step
from io_benchmark.analysis.validity import checks
from io_benchmark.analysis.validity import rules as validity
from io_benchmark.report.content import text_of

ENTRY = "workloads.0."
DOCUMENTATION = ROOT / "taskcluster" / "docs" / "validity.md"


def judged(change: dict[str, Any] | None = None, allow: tuple[str, ...] = ()) -> SampledReport:
    found = workers(pools=("intel", "amd-16"), change={"amd-16": change or {}})
    return report_of(found, allow=frozenset(allow))


INCOMPLETE = {f"{ENTRY}outcome": outcome("stopped", "stopped by SIGTERM")}
OUT_OF_TIME = {f"{ENTRY}outcome": outcome("time-budget", "the time budget of 3300 s is used up")}

WARM = {"drop_caches": "x", "cache_bytes": 100, "resident_bytes": 51}
HALF_WARM, LUKEWARM, COLD = (WARM | {"resident_bytes": share} for share in (50, 5, 4))
SHORTER = {**first(200), f"{ENTRY}retrieves_planned": 200}
KILLED = {"warnings": [{"name": "sampler-ended", "message": "killed"}]}
BROKEN = [
    ("incomplete", first(900) | INCOMPLETE, "900 of 2,000 retrieves: stopped by"),
    ("incomplete", first(99) | OUT_OF_TIME, "99 of 2,000 retrieves"),
    ("cut-short", first(100) | OUT_OF_TIME, "100 of 2,000 retrieves: the time"),
    ("too-few-retrieves", first(19), "19 retrieves; at least 20 are needed"),
    ("few-retrieves", first(20), "20 retrieves; 100 or more"),
    ("few-retrieves", first(99), "99 retrieves; 100 or more"),
    ("unequal-length", first(100), "are compared over the first 100 retrieves of each run"),
    ("os", {"host.system": "windows"}, "intel: measured on Linux; amd-16: measured on Windows"),
    ("profile", {"config.profile": "quick"}, "intel: profile full; amd-16: profile quick"),
    ("sequence", {"config.seed": 7}, "intel: seed 1; amd-16: seed 7"),
    ("sizes", {f"{ENTRY}file_sizes_bytes": [1048576] * 100}, "amd-16: 100 × 1 MiB, list of sizes"),
    ("sizes", {f"{ENTRY}file_sizes_bytes": sorted}, "amd-16: list of sizes"),
    ("retrieves", {f"{ENTRY}sequence_sha256": "0" * 64}, "amd-16: sequence 000000000000"),
    ("retrieves", SHORTER, "intel: 2,000 retrieves planned; amd-16: 200 retrieves planned"),
    ("copy-method", {f"{ENTRY}copy_method": "cp"}, "amd-16: copied by cp"),
    ("lookup-method", {f"{ENTRY}lookup_method": "other"}, "amd-16: looked up by other"),
    ("reflink", {f"{ENTRY}shares_extents": True}, "amd-16: copies share extents"),
    ("cache-state", {f"{ENTRY}cache_state": WARM}, "intel: cold cache; amd-16: warm cache"),
    ("cache-state", {f"{ENTRY}cache_state": HALF_WARM}, "amd-16: half-warm cache"),
    ("cache-state", {f"{ENTRY}cache_state": LUKEWARM}, "amd-16: half-warm cache"),
    ("cache-state", {f"{ENTRY}cache_state": None}, "amd-16: cache state unknown"),
    ("place-kind", {"storage.places.0.kind": "overlay"}, "amd-16: a place on overlay"),
    ("script-version", {"script.version": "9.9"}, "amd-16: script 9.9"),
    ("worker-warning", KILLED, "sampler-ended: killed"),
]
RULES = validity.RUN_RULES | validity.SIDE_RULES
SEVERITIES = {
    **{name: severity for name, (severity, _) in RULES.items()},
    "worker-warning": Severity.WARNING,
    **dict.fromkeys(validity.COMPARISON_RULES, Severity.WARNING),
    "nothing-in-common": Severity.REFUSED,
}


@pytest.mark.parametrize(("rule", "change", "message"), BROKEN)
def test_a_broken_rule_is_named_with_what_differs(rule, change, message):
    """The problem has its rule, severity and both sides' values; a refused pair has no verdict.

    With --allow RULE there is a verdict, and the report still names the rule.
    """
    is_warning = SEVERITIES[rule] is Severity.WARNING
    allowed = Severity.WARNING if is_warning else Severity.ALLOWED
    for allow, severity in (((), SEVERITIES[rule]), ((rule,), allowed)):
        report = judged(change, allow)
        (problem,) = broken(report, rule)
        assert message in text_of(problem.message)
        assert problem.severity is severity
        verdicts = [one for subject in report.subjects for one in subject.comparisons]
        assert (verdicts == []) == (severity is Severity.REFUSED)


def test_downloads_to_memory():
    """They use no place, so that of another kind does not matter."""
    entries = {"workloads": workload_entries.entries(only=["download"])}
    change = {"intel": entries, "amd-16": entries | {"storage.places.0.kind": "overlay"}}
    report = report_of(workers(pools=("intel", "amd-16"), change=change))
    compared = {part.subject.variant for part in report.subjects if part.comparisons}
    assert compared == {"to-memory"}


WINDOWS = {
    "host.system": "windows",
    f"{ENTRY}copy_method": "read and write 1 MiB",
    f"{ENTRY}lookup_method": "findstr, CreateProcess",
    f"{ENTRY}cache_state": None,
    "storage.places.0.kind": "directory",
}


def test_other_systems_are_compared_only_if_allowed() -> None:
    """The rule is named alone, not what follows from it; figures are shown, and no cause is named.

    A file system in memory does not follow from the system.
    """
    refused = judged(WINDOWS)
    (problem,) = (each for each in refused.problems if each.severity is Severity.REFUSED)
    assert (problem.rule, problem.can_be_allowed) == ("os", True)
    assert text_of(problem.message) == "intel: measured on Linux; amd-16: measured on Windows"
    allowed = judged(WINDOWS, ("os",))
    (problem,) = (each for each in allowed.problems if each.severity is not Severity.WARNING)
    assert (problem.rule, problem.severity) == ("os", Severity.ALLOWED)
    for report, compared in ((refused, 0), (allowed, 1)):
        (part,) = report.subjects
        assert {*part.figures} == {"intel", "amd-16"}
        assert len(part.comparisons) == compared
        assert report.diagnoses == ()
    in_memory = judged(WINDOWS | place("memory"), ("os",))
    assert [problem.rule for problem in broken(in_memory, "place-kind")] == ["place-kind"]


def test_two_windows_pools_keep_all_rules() -> None:
    """Between them a different way to copy is refused, as between two Linux pools."""
    change = {"intel": WINDOWS, "amd-16": WINDOWS | {f"{ENTRY}copy_method": "CopyFileEx"}}
    report = report_of(workers(pools=("intel", "amd-16"), change=change))
    assert broken(report, "os") == []
    assert [problem.severity for problem in broken(report, "copy-method")] == [Severity.REFUSED]
    change["amd-16"] = WINDOWS
    assert report_of(workers(pools=("intel", "amd-16"), change=change)).diagnoses


def place(kind):
    return {"storage.places.0.kind": kind}


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        (place("directory"), Severity.WARNING),
        (place("overlay"), Severity.WARNING),
        (place("volume"), None),
        # These differ by more than what ran the task.
        (place("memory"), Severity.REFUSED),
        (place("network"), Severity.REFUSED),
    ],
)
def test_docker_and_native(change, severity):
    """They are compared, with a warning that names them, over a disk that each has its way to."""
    docker = workers(pools=("intel",))
    native = [
        replace(worker, engine="native")
        for worker in workers(pools=("amd-16",), change={"amd-16": change})
    ]
    report = report_of([*docker, *native])
    (problem,) = broken(report, "engine")
    assert problem.severity is Severity.WARNING
    assert text_of(problem.message) == (
        "intel: run in a container, by docker or alike; amd-16: run natively"
    )
    assert [problem.severity for problem in broken(report, "place-kind")] == (
        [severity] if severity else []
    )
    is_compared = any(subject.comparisons for subject in report.subjects)
    assert is_compared is (severity is not Severity.REFUSED)


def test_the_seeds_case_breaks_no_rule_but_one_worker() -> None:
    """The measurements are identical; the only warning is about one worker per pool."""
    for change in ({}, first(100), {f"{ENTRY}cache_state": COLD}):
        rules = {problem.rule for problem in judged(change).problems}
        assert rules - {"unequal-length"} == {"one-worker"}


@pytest.mark.parametrize(
    ("rule", "error", "last", "message"),
    [
        ("noisy", 0.049, 1.0, None),
        ("noisy", 0.051, 1.0, "the mean of this run is known only to ±10 %; take more retrieves"),
        ("drift", 0.0, 1.09, None),
        (
            "drift",
            0.0,
            0.89,
            "the retrieves after the first 70 of 100 took 0.89× as long as those before",
        ),
        (
            "drift",
            0.0,
            1.11,
            "the retrieves after the first 70 of 100 took 1.11× as long as those before",
        ),
    ],
)
def test_the_least_that_is_warned_of(monkeypatch, rule, error, last, message):
    """A mean that is known to 5 % at worst, and a change by a tenth."""
    times = SimpleNamespace(error_of_mean=error, step=Step(70, 1.0, last))
    monkeypatch.setattr(validity, "relative_times", lambda _run: times)
    found = validity.RUN_RULES[rule][1](simulation.entry(np.ones(100)))
    assert (found and text_of(found)) == message


def test_nothing_in_common_is_refused_by_name() -> None:
    """Each side measured a different place: there is nothing to compare."""
    report = judged({f"{ENTRY}place": "elsewhere"})
    (problem,) = broken(report, "nothing-in-common")
    assert problem.sides == ("intel", "amd-16")


@pytest.mark.parametrize(
    ("sides", "allow", "severities", "workers_by_side"),
    [
        pytest.param(("intel", "amd-16"), (), ["warning"] * 2, (1, 1), id="both"),
        pytest.param(("amd-16",), (), ["warning"], (2, 1), id="one-side"),
        pytest.param(("intel", "amd-16"), ("retrieves",), ["allowed"], (2, 2), id="allowed"),
    ],
)
def test_runs_of_both_kinds(sides, allow, severities, workers_by_side):
    """On these sides one of two made 200 retrieves, as planned: the longer ones are compared."""
    fewer = {**first(200), f"{ENTRY}retrieves_planned": 200}
    change = {f"{side}/1": fewer for side in sides}
    made = workers(2, between=0.02, pools=("intel", "amd-16"), change=change)
    report = report_of(made, allow=frozenset(allow))
    problems = broken(report, "retrieves")
    assert [problem.severity for problem in problems] == severities
    left_out = ": left out: 200 retrieves were planned, and every side has runs of 2,000"
    if not allow:
        assert all(text_of(problem.message).endswith(left_out) for problem in problems)
    (subject,) = report.subjects
    assert [comparison.candidate for comparison in subject.comparisons] == ["amd-16"]
    counts = (subject.figures["intel"].workers, subject.figures["amd-16"].workers)
    assert counts == workers_by_side


def test_every_rule_is_documented() -> None:
    """The table in the documentation and the rules have the same names and severities."""
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in Path(DOCUMENTATION).read_text().splitlines()
        if line.startswith("| `")
    ]
    assert {row[0]: row[1] for row in rows} == {name: str(SEVERITIES[name]) for name in SEVERITIES}
    assert set(SEVERITIES) == set(validity.RULES)


@pytest.mark.parametrize(
    ("killed", "kept", "ratio", "named"),
    [
        # 1.1× at least, and by more than twice what workers differ: exp(0.1 × √2) = 1.152.
        (2, 3, 1.098, False),
        (2, 3, 1.102, True),
        (1, 1, 1.14, False),
        (1, 1, 1.16, True),
    ],
)
def test_runs_that_ended_early_because_they_were_slow(killed, kept, ratio, named):
    """Some were killed; over the retrieves that they did, they are compared with the others."""
    logs = {"a": [math.log(ratio)] * killed + [0.0] * kept, "b": [math.log(9)]}
    runs = [
        simulation.run_on(f"{side}/{at}", log, side, count=60)
        for side, side_logs in logs.items()
        for at, log in enumerate(side_logs)
    ]
    problems = checks._slower_left_out(runs, runs[killed:])
    assert [problem.sides for problem in problems] == [("a",)] * named
    for problem in problems:
        message = text_of(problem.message)
        plural = "s" if killed > 1 else ""
        assert message.startswith(f"a: {killed} run{plural} that ended early took 1.1")
        assert f"as long as the {kept} compared ones, over the same first 60 retrieves" in message


def test_a_run_unlike_the_rest_of_its_side_is_named() -> None:
    """It refuses the comparison of all; without it the others would be compared."""
    other_sizes = {f"{ENTRY}file_sizes_bytes": [81, *seed_case.SIZES_MIB[1:]]}
    found = workers(3, pools=("intel", "amd-16"), change={"amd-16/1": other_sizes})
    (problem,) = broken(report_of(found), "sizes")
    (worker,) = (each for each in found if min(each.runs[0].size_bytes) < 100)
    text = text_of(problem.message)
    assert text.endswith(f"Different from the rest of its side: {text_of(worker.task_name)}")
    # Of two runs that differ, neither is the rest.
    two = workers(2, pools=("intel", "amd-16"), change={"amd-16/1": other_sizes})
    (problem,) = broken(report_of(two), "sizes")
    assert "Different from the rest" not in text_of(problem.message)
