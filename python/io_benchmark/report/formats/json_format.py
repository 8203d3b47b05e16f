# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The parts of the JSON report and their types. Every number's name carries its unit.

A number is null where it could not be computed or has no bound: there are no NaN and infinities in
JSON. Keys may be added within one version; one that goes or changes its meaning makes a new one.

Versions:
  1 (2026-11)  the first
  2 (2026-11)  evidence and explanations of causes and remedies are objects: the text with its values
"""

from typing import Literal

from msgspec import Struct

VERSION: Literal[2] = 2

Number = float | None
VerdictName = Literal["slower", "faster", "equivalent", "inconclusive"]


class Record(Struct, frozen=True, kw_only=True):
    """The base of every part of the report."""


class Subject(Record, frozen=True, omit_defaults=True):
    """Destination and fidelity are cache-retrieve's, variant and threads every other workload's."""

    workload: str
    place: str
    destination: str | None = None
    fidelity: str | None = None
    variant: str | None = None
    threads: int | None = None


class Detail(Record, frozen=True):
    """A figure that one workload alone has; `unit` is empty for a count."""

    name: str
    label: str
    value: Number
    unit: str
    higher_is_better: bool


class Figures(Record, frozen=True):
    """One side's times for one operation: each figure is the mean over its workers.

    `value` is the mean in the workload's own unit, which may be a rate.
    """

    side: str
    workers: int
    samples: int
    operations: int
    value: Number
    unit: str
    higher_is_better: bool
    mean_ns: Number
    p50_ns: Number
    p95_ns: Number
    p99_ns: Number
    total_ns: Number
    lookup_mean_ns: Number
    copy_mean_ns: Number
    within_worker_ratio: Number
    between_workers_ratio: Number
    details: list[Detail]


class Interval(Record, frozen=True):
    low_ratio: Number
    high_ratio: Number
    level_ratio: Number


class Advice(Record, frozen=True):
    """What would decide an inconclusive comparison; `workers_to_add` null: not repetition."""

    leaning: VerdictName
    workers_to_add: int | None
    variation_ratio: Number
    message: str


class Comparison(Record, frozen=True):
    """Mean time of the candidate over that of the baseline: above 1 is slower."""

    baseline: str
    candidate: str
    ratio: Number
    interval: Interval
    interval_90: Interval
    p_value: Number
    verdict: VerdictName
    method: str
    assumed_variation_ratio: Number
    variation_to_explain_ratio: Number
    advice: Advice | None


class Noise(Record, frozen=True):
    kind: str
    low_ratio: Number
    high_ratio: Number


class Regime(Record, frozen=True):
    """What held a side's copies up; bytes and time are the means of its workers."""

    side: str
    regime: Literal[
        "absorbed by the page cache",
        "bound by writeback",
        "bound by a device",
        "bound by a cap",
        "bound by the CPU",
        "bound by reading",
        "unknown",
    ]
    why: str
    copied_bytes: Number
    written_bytes: Number
    left_dirty_bytes: Number
    drain_ns: Number


class SubjectReport(Record, frozen=True):
    subject: Subject
    figures: list[Figures]
    comparisons: list[Comparison]
    noise: list[Noise]
    regimes: list[Regime]


class AtPlace(Record, frozen=True):
    """One side at one place; `what` says what the place is.

    `mean_ns` null: `missing` says why. `ratio` is over the side's own first place, paired within its
    workers; null there, and where `not_held` says why. `differs`: what was not done as at the first.
    """

    side: str
    what: str
    mean_ns: Number
    missing: str
    ratio: Number
    interval: Interval | None
    method: str
    workers: int
    not_held: str
    differs: list[str]


class PlaceVerdict(Record, frozen=True):
    """Of a candidate on its baseline at that place, as in `subjects`."""

    baseline: str
    candidate: str
    ratio: Number
    verdict: VerdictName


class PlaceRow(Record, frozen=True):
    place: str
    sides: list[AtPlace]
    verdicts: list[PlaceVerdict]


class Places(Record, frozen=True):
    """One measurement in every place of its tasks; `subject` is that in the first of them."""

    subject: Subject
    rows: list[PlaceRow]


class Value(Record, frozen=True, omit_defaults=True):
    """A value in a statement: text, or from `low` to `high` in `unit`."""

    name: str
    text: str
    low: Number = None
    high: Number = None
    unit: str | None = None


class Statement(Record, frozen=True, omit_defaults=True):
    """A sentence as reports for people have it, and the values in it."""

    text: str
    values: list[Value] = []


class Fact(Record, frozen=True, omit_defaults=True):
    """One value of the observation `name`, seen on `count` of `total` workers.

    With `counts_runs` they are runs of a single worker.
    """

    name: str
    text: str
    count: int
    total: int
    values: list[Value] = []
    counts_runs: bool = False


class Evidence(Record, frozen=True):
    """What one side's workers showed; `summary` leads a report's sentence."""

    text: str
    summary: str
    facts: list[Fact]


class Cause(Record, frozen=True):
    name: str
    hypothesis: str
    state: Literal["supported", "ruled out", "not observable"]
    baseline_evidence: Evidence
    candidate_evidence: Evidence
    explanation: list[Statement]
    predicted_ratio: Number
    share_ratio: Number
    workload: str | None


class Remedy(Record, frozen=True):
    cause: str
    action: str
    gain_ratio: Number
    measured: bool
    evidence: list[Statement]


class Diagnosis(Record, frozen=True):
    """`subject`: what was compared that this explains; null: the first that was."""

    candidate: str
    subject: Subject | None
    causes: list[Cause]
    remedies: list[Remedy]


class Problem(Record, frozen=True):
    """A broken rule; `subject` null: everything from these sides."""

    rule: str
    severity: Literal["refused", "allowed", "warning"]
    subject: Subject | None
    sides: list[str]
    message: str


class Replication(Record, frozen=True):
    """One side's workers; `workers_needed` (in all) and `_to_add` null: `standing` says why."""

    side: str
    runs: int
    workers: int
    workers_compared: int
    standing: Literal["decided", "open", "not by repetition", "no verdict"]
    workers_needed: int | None
    workers_to_add: int | None


class Worker(Record, frozen=True):
    """A run; those with the same `machine` count as one worker, "unknown" as one each."""

    side: str
    pool: str
    task_id: str
    run_id: int | None
    worker_id: str
    state: str
    completed: bool
    incomplete_reason: str | None
    instance_type: str | None
    zone: str | None
    source: str
    reason: str | None
    machine: str


class Document(Record, frozen=True):
    """The whole report but the raw samples, which are in the result files."""

    version: Literal[2]
    title: str
    baseline: str
    baseline_reason: str
    margin_ratio: Number
    subjects: list[SubjectReport]
    places: list[Places]
    diagnoses: list[Diagnosis]
    problems: list[Problem]
    replication: list[Replication]
    workers: list[Worker]
    unreadable: list[str]
    remarks: list[str]
