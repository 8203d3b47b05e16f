# SPDX-License-Identifier: MPL-2.0
"""Causes of simulated machines: what was changed is named, and hardly ever anything else.

What these facts do not show may be missing; what is supported must be true. The machines of a pair
copy the same files; trials are run by the same physical model as the retrieves.
"""

import itertools
import operator
import random
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import divided_reports
import pytest
from simulated_machine import Disk
from simulated_results import Measured, Pool, measure
from situations import BASE, FAST, IRRELEVANT, ONE_DISK, SLOW, TRUTHS, Truth, sides

from io_benchmark.analysis.model.cause import State, TrialState
from io_benchmark.analysis.model.comparison import Verdict
from io_benchmark.analysis.model.report import Report
from io_benchmark.analysis.model.time_parts import Part
from io_benchmark.results.workloads.cache_retrieve import TrialKind

RETRIEVES, SHORT_RETRIEVES = 400, 200
SHORT_SEEDS, LONG_SEEDS = 5, 40
TRIED_SEEDS, LONG_TRIED_SEEDS = 4, 20
# Of all decided cases, in the long form.
WRONG_FIRST, WRONG, MISSED, NOT_SEPARABLE = 0.003, 0.01, 0.03, 0.12
UNTRIED, TRIED, CONFIRMED = "without trials", "tried", "confirmed"
SHORT = [(how, name) for how in (UNTRIED, CONFIRMED) for name in TRUTHS]


def names(report: Report, *states: State) -> list[str]:
    return [cause.name for cause in report.diagnoses[0].causes if cause.state in states]


def mistakes(report: Report, truth: Truth) -> Counter[str]:
    """Count what a comparison says wrongly."""
    named = names(report, State.SUPPORTED, State.CONFIRMED)
    allowed = truth.right | truth.beside
    is_named = bool(truth.right & {*named}) or not truth.right
    is_open = bool(truth.right & {*names(report, State.NOT_SEPARABLE)})
    # What both share helps whichever of several causes it is.
    first_remedy = {remedy.cause for remedy in report.diagnoses[0].remedies[:1]}
    return Counter(
        decided=1,
        wrong_first=bool(named) and named[0] not in allowed,
        wrong=not {*named} <= allowed,
        wrong_remedy=not first_remedy <= allowed | {"ext4-flush"},
        missed=not is_named and not is_open,
        not_separable=not is_named and is_open,
        refuted=bool(truth.right & {*names(report, State.REFUTED)}),
    )


def wrong_parts(report: Report, measured: Mapping[str, Sequence[Measured]]) -> list[Part]:
    """Return the parts whose difference is wrong by a tenth of the whole difference or more."""
    (division,) = report.subjects[0].divisions
    times = {
        side: [statistics.fmean(run.mean_ns[each.part] for run in runs) for each in division.parts]
        for side, runs in measured.items()
    }
    truths = map(operator.sub, times[division.candidate], times[division.baseline])
    most_ns = 0.1 * abs(division.difference_ns)
    return [
        each.part
        for each, truth_ns in zip(division.parts, truths, strict=True)
        if abs(each.difference_ns - truth_ns) > most_ns
    ]


def judge(name: str, seed: int, share: float, how: str, *, is_long: bool = False) -> Counter[str]:
    """Count what a comparison gets wrong; nothing where it does not decide."""
    truth, dice = TRUTHS[name], random.Random(f"{name}/{seed}/{share}")
    workers = dice.choice([3, 3, 4, 6]) if is_long else 3
    pools = [Pool(*side, workers) for side in sides(truth, dice, share).items()]
    baseline = dice.choice([FAST, SLOW])
    options: dict[str, Any] = {
        "destination": truth.destination,
        "between": dice.uniform(0.01, 0.05),
        "retrieves": RETRIEVES if is_long else SHORT_RETRIEVES,
    }
    if how == CONFIRMED:
        report = divided_reports.tried(*pools, baseline=baseline, seed=seed, **options)
    else:
        measured = measure(pools, seed, trials=how == TRIED, **options)
        report = divided_reports.of_measured(measured, baseline)
    (comparison,) = report.subjects[0].comparisons
    expected = Verdict.SLOWER if baseline == FAST else Verdict.FASTER
    if comparison.verdict is not expected or not report.diagnoses:
        return Counter()
    found = mistakes(report, truth)
    if how == UNTRIED:
        found["wrong_parts"] = len(wrong_parts(report, measured))
        # Where no cause is right, none may be open either.
        found["open"] = not truth.right and bool(names(report, State.NOT_SEPARABLE))
    return found


@pytest.mark.parametrize(("how", "name"), SHORT)
def test_each_truth(how: str, name: str) -> None:
    """Where it first makes a difference, nothing wrong is supported, nothing right ruled out.

    The first remedy is for a truth, or for what both share. Each part of the time is nearly true.
    """
    share = 0.0 if how == UNTRIED else 1.0
    cases = (judge(name, seed, share, how) for seed in range(SHORT_SEEDS))
    found: Counter[str] = next(filter(None, cases), Counter())
    del found["not_separable"]
    assert found == Counter(decided=1)


@pytest.mark.parametrize(
    ("fact", "value"), [(fact, value) for fact, values in IRRELEVANT.items() for value in values]
)
def test_each_irrelevant_fact(fact: str, value: Any) -> None:
    """The slower side, which has one disk, has it alone: it is not supported."""
    slow = Pool(SLOW, replace(ONE_DISK, **{fact: value}))
    report = divided_reports.of_pools(slow, Pool(FAST, BASE))
    assert names(report, State.SUPPORTED) == ["device-count"]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_rates(share, request, record_property):
    """Of all truths together, few are not named, and hardly any wrong cause is.

    A kernel that only copies slowly, `sync`, and fewer disks that are slower as well are not
    separable from what has the same effect.
    """
    if not request.config.getoption("--long"):
        pytest.skip("only with --long")
    total = Counter[str]()
    for name, seed in itertools.product(TRUTHS, range(LONG_SEEDS)):
        total.update(judge(name, seed, share, TRIED, is_long=True))
    record_property("rates", f"simulated machines, {share}: {total}")
    decided = total["decided"]
    assert total["wrong_first"] <= WRONG_FIRST * decided
    assert total["wrong"] <= WRONG * decided
    assert total["missed"] <= MISSED * decided
    assert total["not_separable"] <= NOT_SEPARABLE * decided


BAD = (
    "fewer disks",
    "slower disks",
    "boot disk",
    "disk neighbour",
    "write limit",
    "slow CPU",
    "steal",
    "CPU competitors",
    "slow grep",
    "quota",
)


@pytest.mark.parametrize("name", BAD)
def test_one_bad_worker_is_named_and_does_not_blame_its_pool(name: str) -> None:
    """Four of its workers are as fast as the other pool's; the fifth has a cause of its own."""
    truth, bad = TRUTHS[name], BAD.index(name) % 5
    for seed in range(SHORT_SEEDS):
        made = sides(truth, random.Random(seed), 0.0)
        slow = Pool(SLOW, made[FAST], 5, {bad: made[SLOW]})
        measured = measure((slow, Pool(FAST, made[FAST], 5)), seed, retrieves=SHORT_RETRIEVES)
        report = divided_reports.of_measured(measured, FAST)
        if report.single_workers:
            break
    assert names(report, State.SUPPORTED) == []
    (named,) = report.single_workers
    task = measured[SLOW][bad].document["task"]
    assert (named.side, named.tasks) == (SLOW, (f"{task['task_id']}.{task['run_id']}",))
    assert named.others == 4
    assert named.diagnosis is not None
    supported = {each.name for each in named.diagnosis.causes if each.state is State.SUPPORTED}
    assert supported
    assert supported <= truth.right | truth.beside
    assert named.diagnosis.remedies[0].cause in supported
    (without,) = named.without
    assert without.ratio == pytest.approx(1, abs=0.05)


def test_a_bad_worker_is_replaced_whatever_makes_it_slow() -> None:
    """Slower disks that nothing shows, and a scheduler of its own: one of them, still bad."""
    disks = tuple(disk.divided(1.8) for disk in BASE.disks)
    slow = Pool(SLOW, BASE, 5, {2: replace(BASE, disks=disks, scheduler="bfq")})
    (named,) = divided_reports.of_pools(slow, Pool(FAST, BASE, 5)).single_workers
    assert named.diagnosis is not None
    states = {each.name: each.state for each in named.diagnosis.causes}
    assert {states["disk-speed"], states["scheduler"]} == {State.NOT_SEPARABLE}
    (remedy,) = named.diagnosis.remedies
    assert "replace this worker" in remedy.action.template


@pytest.mark.parametrize("seed", range(SHORT_SEEDS))
def test_equal_pools_have_neither_causes_nor_single_workers(seed: int) -> None:
    """Five equal workers in each pool."""
    report = divided_reports.of_pools(Pool(SLOW, BASE, 5), Pool(FAST, BASE, 5), seed=seed)
    assert report.single_workers == ()
    assert names(report, State.SUPPORTED) == []


# Of few workers, disks that vary more may leave it undecided.
STEADY = replace(BASE, disks_vary=0.01)
ONE = {"disks": ONE_DISK.disks}
SLOWER_DISKS = {"disks": (Disk(315, 680),) * 2}
OTHER_GREP = {"grep_version": "3.1"}
# Writeback takes CPU time, too.
FLUSHING = {"flush_ns_per_byte": 0.15}
# Write bandwidth, found by these causes.
BY_BANDWIDTH: dict[str, tuple[str, dict[str, Any]]] = {
    "one disk": ("device-count", ONE),
    "one disk, an unreached limit": ("device-count", {**ONE, "write_limit_mb_per_s": 6000.0}),
    "one disk, a hidden slow grep": ("device-count", {**ONE, **OTHER_GREP, "grep_ns": 7e6}),
    "a write limit": ("cgroup-io-limit", {"write_limit_mb_per_s": 157.0}),
}
# Anything else: no cause in storage may be confirmed.
NOT_BY_STORAGE: dict[str, dict[str, Any]] = {
    "slow grep": {**OTHER_GREP, "grep_ns": 105e6},
    "slow grep, slower disks": {**OTHER_GREP, **SLOWER_DISKS, "grep_ns": 210e6},
    "a neighbour blocked on another disk": {"blocked_elsewhere_share": 0.5},
    "CPU contention, slower disks": {**FLUSHING, **SLOWER_DISKS, "competitors_per_cpu": 12.0},
    "a very slow CPU": {
        **FLUSHING,
        "cpu_model": "slow",
        "user_factor": 12.5,
        "kernel_factor": 12.5,
    },
}
IN_STORAGE = ("device-count", "disk-speed", "cgroup-io-limit", "linear-volume", "ext4-flush")


def tried(facts: dict[str, Any], workers: int, seed: int) -> Report:
    """Compare machines with these facts with usual ones."""
    slow = Pool(SLOW, replace(STEADY, **facts), workers)
    return divided_reports.tried(slow, Pool(FAST, STEADY, workers), seed=seed)


@pytest.fixture(name="seeds")
def _seeds(request: pytest.FixtureRequest) -> range:
    return range(LONG_TRIED_SEEDS if request.config.getoption("--long") else TRIED_SEEDS)


@pytest.mark.parametrize("workers", [1, 3])
def test_write_bandwidth_is_confirmed(workers: int, seeds: range) -> None:
    """In 19 of 20 pushes or more, with decoys and without; no other cause ever is."""
    attempts = confirmed = 0
    for name, facts in BY_BANDWIDTH.values():
        for seed in seeds:
            found = names(tried(facts, workers, seed), State.CONFIRMED)
            assert found in ([], [name])
            attempts += 1
            confirmed += found == [name]
    assert confirmed >= 0.95 * attempts


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("facts", NOT_BY_STORAGE.values(), ids=NOT_BY_STORAGE)
def test_no_cause_in_storage_is_confirmed(facts, workers, seeds):
    """Where something else makes the difference."""
    for seed in seeds[1:]:
        report = tried(facts, workers, seed)
        assert not {*names(report, State.CONFIRMED)} & {*IN_STORAGE}
        outcomes = {each.kind: each.state for each in report.diagnoses[0].trials}
        assert outcomes.get(TrialKind.PACE) is not TrialState.CONFIRMED
