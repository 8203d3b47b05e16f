# SPDX-License-Identifier: MPL-2.0
"""Causes that other workloads show: thresholds, what is not observable, and the words.

The recorded trees prove each cause end to end (tests/trees).
"""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from seed_facts import PLACE, scheduler
from seed_workers import explanation_text, measured, pair_report, remedy_text, texts

from io_benchmark.analysis.diagnosis.causes import RULES
from io_benchmark.analysis.diagnosis_model import Cause, Diagnosis, State
from io_benchmark.analysis.report_model import Report
from io_benchmark.report.content.statement_text import text_of

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE = State.NOT_SEPARABLE
STAT_LOCKED = {"metadata/stat/2": 2, "metadata/stat/4": 5}
OVERLAY = {"upper_directory": "/var/lib/docker/x/diff", "volatile": False}
HIDDEN = {"metadata/visibility": {"not_visible": 200, "longest_invisible_ns": 5_000_000}}
STALLED = {"upload/connection-each": {"expect_100_stalls": 50}}
NO_EXPECT = {"upload": {"expect_100_stalls": None}}


def overlay(layers: int) -> dict[str, Any]:
    return {f"{PLACE}.kind": "overlay", f"{PLACE}.overlay": {**OVERLAY, "lower_layers": layers}}


def diagnosis(report: Report, workload: str) -> Diagnosis:
    subjects = [found.subject and found.subject.workload for found in report.diagnoses]
    return report.diagnoses[subjects.index(workload)]


def cause(
    name: str, workload: str, baseline: dict[str, Any], candidate: dict[str, Any], count: int = 1
) -> Cause:
    causes = diagnosis(pair_report(baseline, candidate, count), workload).causes
    return next(judged for judged in causes if judged.name == name)


def only(*names: str, **keywords: Any) -> dict[str, Any]:
    return dict(measured(only=names, **keywords))


def slow(factors: Mapping[str, float], *names: str, **keywords: Any) -> dict[str, Any]:
    return dict(measured(factors, only=names, **keywords))


RETRIEVE = "cache-retrieve"
FAST_SPAWN, RANDOM, SYNC = only("spawn"), only("random-io"), only("sync-write")
SLOW_LOOKUPS = slow({"spawn": 100}, "spawn") | {
    "workloads.0.samples.lookup_ns": lambda column: [ns + 40_000_000 for ns in column]
}
METADATA, EXEC, UPLOAD = only("metadata"), only("exec"), only("upload")
EXPECT_EACH = {"upload/connection-each": 150}
SLOW_NAMES = slow({"metadata/create-rename-unlink": 3}, "metadata")
UNKNOWN_LAYERS = slow({"metadata": 3}, "metadata") | {f"{PLACE}.kind": "overlay"}
BOTH_COPIES = {"exec/hardlinked": 1.7, "exec/copies": 1.75}
AS_MUCH = {"upload/connection-each": 13 / 7, "upload/keep-alive": 2}
COPIES_ALONE = SLOW_LOOKUPS | {"workloads.0.device_bytes": None}
APPENDS = slow({"sync-write": 5}, "sync-write/dsync-append")
STALLED_BOTH = slow(EXPECT_EACH, "upload", observed=STALLED)
# Cause, state, what the situation is, the workload whose difference it explains, both sides' changes.
CASES: list[tuple[str, State, str, str, dict[str, Any], dict[str, Any]]] = [
    ("spawn-cost", RULED_OUT, "one side", RETRIEVE, FAST_SPAWN, {}),
    ("spawn-cost", SUPPORTED, "most of the difference", RETRIEVE, FAST_SPAWN, COPIES_ALONE),
    ("spawn-cost", NOT_SEPARABLE, "the disks write meanwhile", RETRIEVE, FAST_SPAWN, SLOW_LOOKUPS),
    (
        "random-io",
        NOT_OBSERVABLE,
        "chance",
        RETRIEVE,
        RANDOM,
        slow({"random-io": 1.13}, "random-io"),
    ),
    ("slow-flush", NOT_OBSERVABLE, "not in place", "sync-write", SYNC, APPENDS),
    ("slow-journal", NOT_OBSERVABLE, "not in place", "sync-write", SYNC, APPENDS),
    (
        *("metadata-lock", RULED_OUT, "one alone is slower", "metadata", METADATA),
        slow({"metadata/stat/1": 3}, "metadata"),
    ),
    (
        *("metadata-lock", NOT_OBSERVABLE, "one thread only", "metadata", METADATA),
        slow({"metadata": 3}, "metadata/stat/1"),
    ),
    (
        *("overlay-layers", RULED_OUT, "a missing name takes no longer", "metadata"),
        *(METADATA | overlay(1), SLOW_NAMES | overlay(21)),
    ),
    (
        *("overlay-layers", NOT_OBSERVABLE, "layers unseen", "metadata"),
        *(METADATA | overlay(9), UNKNOWN_LAYERS),
    ),
    (
        *("files-not-visible", NOT_OBSERVABLE, "not looked for", "metadata", METADATA),
        slow({"metadata": 3}, "metadata/stat"),
    ),
    (
        *("per-builder-copies", NOT_OBSERVABLE, "only copies", "exec", EXEC),
        slow({"exec": 1.7}, "exec/copies"),
    ),
    ("per-builder-copies", RULED_OUT, "as much", "exec", EXEC, slow(BOTH_COPIES, "exec")),
    (
        *("expect-continue-stall", RULED_OUT, "all of both wait", "upload"),
        *(only("upload", observed=STALLED), STALLED_BOTH),
    ),
    (
        *("expect-continue-stall", NOT_OBSERVABLE, "no Expect was sent", "upload"),
        only("upload", observed=NO_EXPECT),
        slow({"upload": 2}, "upload", observed=NO_EXPECT),
    ),
    ("connection-each", RULED_OUT, "as much time", "upload", UPLOAD, slow(AS_MUCH, "upload")),
    (
        *("connection-each", NOT_OBSERVABLE, "only one each", "upload", UPLOAD),
        slow({"upload": 3}, "upload/connection-each"),
    ),
]


@pytest.mark.parametrize(
    ("name", "state", "workload", "baseline", "candidate"),
    [
        pytest.param(name, state, *case, id=f"{name}-{state}-{situation}")
        for name, state, situation, *case in CASES
    ],
)
def test_state(name, state, workload, baseline, candidate):
    """Each situation has its state, evidence of both sides and a reason."""
    found = cause(name, workload, baseline, candidate)
    assert found.state is state
    assert all(texts(found))
    assert found.workload is None or found.state is NOT_OBSERVABLE


def test_every_cause_of_another_workload_can_be_not_observable():
    """The trees prove the two other states."""
    others = {rule.name for rule in RULES if "cache-retrieve" not in rule.workloads}
    tested = {name for name, state, *_ in CASES if state is NOT_OBSERVABLE}
    assert tested >= others


@pytest.mark.parametrize(
    ("name", "variant", "factors", "predicted", "evidence"),
    [
        pytest.param(
            *("metadata-lock", "metadata/stat", STAT_LOCKED, 4.98),
            (
                "throughput 3.74× with 4 threads (stat, one thread is 1)",
                "throughput 0.75× with 4 threads (stat, one thread is 1)",
            ),
            id="a lock",
        ),
        pytest.param(
            *("per-builder-copies", "exec", {"exec/copies": 1.7}, 1.7),
            ("time of copies 1.10× that of hardlinks", "time of copies 1.87× that of hardlinks"),
            id="copies",
        ),
    ],
)
def test_what_is_predicted(name, variant, factors, predicted, evidence):
    """By another measurement of the same pair: the share follows."""
    workload = variant.partition("/")[0]
    judged = cause(name, workload, only(variant), slow(factors, variant))
    assert judged.predicted_ratio == pytest.approx(predicted, rel=0.01)
    assert judged.share == pytest.approx(1.0, abs=0.01)
    assert texts(judged)[:2] == evidence


def test_a_part_that_was_measured_is_no_prediction():
    """Twice as slow alone, and 2.5 times by the lock: the lock is 57 % of the fivefold."""
    candidate = slow({"metadata/stat": 2, "metadata/stat/4": 2.5}, "metadata/stat")
    found = cause("metadata-lock", "metadata", only("metadata/stat"), candidate)
    assert found.share == pytest.approx(math.log(2.5) / math.log(5), abs=0.01)
    assert explanation_text(found).endswith(" This makes 2.50× of the measured 5.00×: 57 %.")


@pytest.mark.parametrize("faster_bytes_per_s", [300_000, 100_000_000])
def test_a_limit_on_small_writes(faster_bytes_per_s: int):
    """A page and a flush at 100 operations a second: the limit predicts by operations, not by bytes.

    What else the faster side's disks moved on average says nothing about its writes.
    """

    def moved(change: dict[str, Any], bytes_per_s: int) -> dict[str, Any]:
        def entries(recorded: list[Any]) -> list[Any]:
            return [
                {**entry, "device_bytes": {"nvme1n1": {"read": 0, "written": written}}}
                for entry in change["workloads"](recorded)
                for written in [int(bytes_per_s * entry["run_ns"] / 1e9)]
            ]

        return {**change, "workloads": entries, "timeline": None}

    limit = {"group": "/sys/fs/cgroup", "device": "259:0", "device_name": "nvme1n1"}
    limited = {"limits.io": [{**limit, "kind": "write_operations_per_s", "value": 100}]}
    slower = moved(slow({"sync-write": 100}, "sync-write", seed=2), 180_000) | limited
    faster = moved(SYNC, faster_bytes_per_s)
    found = cause("cgroup-io-limit", "sync-write", faster, slower)
    assert found.state is not RULED_OUT
    assert found.predicted_ratio == pytest.approx(100, rel=0.2)


def test_schedulers_that_differ_and_writes_that_are_slower():
    """Neither scheduler is known to be slower: the times of synchronous writes are in the explanation."""
    candidate = slow({"sync-write": 5}, "sync-write", seed=2) | scheduler("kyber")
    judged = cause("scheduler", "cache-retrieve", SYNC, candidate)
    assert judged.state is NOT_OBSERVABLE
    assert "would show it. Synchronous writes take 5.0" in explanation_text(judged)


def test_a_part_is_not_credited_with_the_whole():
    """The lock is 57 % of the difference, so the faster side's time is not the gain of removing it."""
    candidate = slow({"metadata/stat": 2, "metadata/stat/4": 2.5}, "metadata/stat")
    report = pair_report(only("metadata/stat"), candidate)
    (remedy,) = diagnosis(report, "metadata").remedies
    assert remedy.gain_ratio == pytest.approx(2.5)
    assert (remedy.cause, remedy.measured) == ("metadata-lock", False)
    assert remedy_text(remedy.evidence).endswith(" This cause explains 57 % of that.")


def test_remedies_are_measured_by_other_variants():
    """The gain of hardlinks and of kept connections is what the same side measured with them."""
    report = pair_report(
        dict(measured(only=("exec", "upload"))),
        dict(measured({"exec/copies": 1.7, "upload/connection-each": 4}, only=("exec", "upload"))),
    )
    tried = {
        text_of(one.action): (round(one.gain_ratio or 0, 1), one.measured)
        for workload in ("exec", "upload")
        for one in diagnosis(report, workload).remedies
    }
    assert tried == {
        "hardlink the binaries of all builders to one file": (1.9, True),
        "keep the connection for the next object": (4.7, True),
        "upload many objects at once": (56.1, True),
    }


def test_late_files_of_a_side_that_is_faster_otherwise() -> None:
    """They get a separate diagnosis: that of stat is about the other side."""
    late = slow({"metadata/visibility": 10}, "metadata", observed=HIDDEN)
    report = pair_report(slow({"metadata/stat/1": 3}, "metadata"), late, 1)
    states = {
        one.subject.variant: cause.state
        for one in report.diagnoses
        if one.subject is not None
        for cause in one.causes
        if cause.name == "files-not-visible"
    }
    assert states == {"stat": RULED_OUT, "visibility": SUPPORTED}
