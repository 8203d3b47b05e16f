# SPDX-License-Identifier: MPL-2.0
"""Causes of independent machines: what was changed is named, and hardly ever anything else."""

import itertools
import json
import math
import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import program
import pytest
from independent_machine import Disk, Machine
from independent_results import result

Change = Callable[[random.Random, Machine], Machine]
FAST, SLOW = "fast", "slow"
LIMIT_ABOVE = "slower disks beside a limit above"
RETRIEVES, SHORT_RETRIEVES = 400, 200
SHORT_SEEDS, LONG_SEEDS = 5, 40
# Of all decided cases, in the long form.
WRONG_FIRST, WRONG, MISSED, NOT_SEPARABLE = 0.003, 0.01, 0.03, 0.12
# Where a limit is a little above what the disks write.
WRONG_BESIDE_A_LIMIT, MISSED_BESIDE_A_LIMIT = 0.1, 0.3


class Truth(NamedTuple):
    """The causes that are right for a change of one side, and those that may be named beside them."""

    right: frozenset[str] | set[str]
    slow: Change
    both: Change = lambda _dice, machine: machine
    beside: frozenset[str] | set[str] = frozenset()
    destination: str = "overwrite"


def factor(dice: random.Random, low: float, high: float) -> float:
    return math.exp(dice.uniform(math.log(low), math.log(high)))


def joined(*changes: Change) -> Change:
    def change(dice: random.Random, machine: Machine) -> Machine:
        for each in changes:
            machine = each(dice, machine)
        return machine

    return change


def drawn(**ranges: Any) -> Change:
    """Set facts: to one of a list, or to a number between two."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        facts: dict[str, Any] = {
            name: dice.choice(ends) if isinstance(ends, list) else dice.uniform(*ends)
            for name, ends in ranges.items()
        }
        return replace(machine, **facts)

    return change


def multiplied(low: float, high: float, *names: str) -> Change:
    """Multiply facts by one factor."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        times = factor(dice, low, high)
        return replace(machine, **{name: times * getattr(machine, name) for name in names})

    return change


def added(low: float, high: float, name: str) -> Change:
    return lambda dice, machine: replace(
        machine, **{name: getattr(machine, name) + dice.uniform(low, high)}
    )


def divided(low: float, high: float) -> Change:
    """Slow all disks down by one factor."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        slower = factor(dice, low, high)
        return replace(machine, disks=tuple(disk.divided(slower) for disk in machine.disks))

    return change


def disks(*counts: int) -> Change:
    return lambda dice, machine: replace(machine, disks=machine.disks[:1] * dice.choice(counts))


def limit(low: float, high: float, kind: str = "write") -> Change:
    """Limit each disk to a part of what it writes or reads."""

    def change(dice: random.Random, machine: Machine) -> Machine:
        rate = getattr(machine.disks[0], f"{kind}_mb_per_s") * dice.uniform(low, high)
        return replace(machine, **{f"{kind}_limit_mb_per_s": rate})

    return change


def half_the_disks(dice: random.Random, machine: Machine) -> Machine:
    count = max(1, len(machine.disks) // 2) if dice.random() < 0.5 else 1
    return replace(machine, disks=machine.disks[:count])


def boot_disk(dice: random.Random, machine: Machine) -> Machine:
    disk = machine.disks[0].divided(factor(dice, 1.3, 4) / len(machine.disks))
    return replace(machine, is_boot_disk=True, disks=(disk,))


def neighbour(dice: random.Random, machine: Machine) -> Machine:
    disk, share = machine.disks[0], dice.uniform(0.25, 0.6)
    return replace(machine, neighbour_mb_per_s=disk.write_mb_per_s * len(machine.disks) * share)


SLOWER = divided(1.15, 2.5)
BUSY_CPU = divided(0.12, 0.12)  # disks so fast that the CPU decides
OLD_KERNEL = drawn(kernel=["6.1.0-31-cloud-amd64"])
OTHER_CPU = drawn(cpu_model=["Intel(R) Xeon(R) CPU @ 3.10GHz"])
SLOW_CPU = multiplied(1.2, 2, "user_factor", "kernel_factor")
SLOW_KERNEL = multiplied(1.2, 2, "kernel_factor")
SLOW_COPIES = multiplied(1.3, 2.5, "copy_factor")
SLOW_MEMORY = multiplied(1.3, 2.5, "copy_factor", "touch_ns_per_mib")
SLOW_TOUCH = joined(multiplied(4, 12, "touch_ns_per_mib"), drawn(new_page_share=[0.5]))
SLOW_GREP = joined(added(4e6, 20e6, "grep_ns"), drawn(grep_version=["3.11"]))
FULL_CELLS = drawn(slows_down_after_gib=(4, 12), slows_down_factor=(0.25, 0.5))
MUCH_MEMORY = drawn(memory_gib=[120], dirty_ratio=[60])
FEW_FAST_DISKS = joined(divided(0.06, 0.06), disks(2))
IO, OPTIONS, LOOKUPS = {"cgroup-io-limit"}, {"mount-options"}, {"lookup-cost", "image-and-tools"}
SPAWN, COUNT, SPEED, BOOT = {"spawn-cost"}, {"device-count"}, {"disk-speed"}, {"boot-disk-fallback"}
TRUTHS = {
    "fewer disks": Truth(COUNT, half_the_disks, disks(2, 3, 4), BOOT),
    "slower disks": Truth(SPEED, SLOWER),
    "slower disks, other model": Truth(SPEED, joined(SLOWER, drawn(disk_model=["nvme_card"]))),
    LIMIT_ABOVE: Truth(SPEED, joined(SLOWER, limit(1.1, 1.6))),
    "slower disks beside a read limit": Truth(SPEED, joined(SLOWER, limit(1.1, 1.6, "read"))),
    "linear": Truth({"linear-volume"}, drawn(layout=["linear"]), disks(2, 2, 4), COUNT),
    "mirror": Truth({"mirrored-volume"}, drawn(layout=["mirror"]), disks(2)),
    "boot disk": Truth(BOOT | SPEED, boot_disk, beside=COUNT),
    "write limit": Truth(IO, limit(0.4, 0.87)),
    "write limit of faster disks": Truth(IO, joined(limit(0.4, 0.87), divided(0.5, 0.5))),
    "read limit": Truth(IO, limit(0.15, 0.4, "read"), drawn(memory_gib=[64])),
    "memory limit": Truth({"cgroup-memory-limit"}, drawn(memory_limit_gib=(1, 4)), divided(2, 2)),
    "quota": Truth({"cgroup-cpu-limit"}, drawn(quota_cpus=(0.3, 0.8)), BUSY_CPU),
    "slow CPU": Truth({"cpu"}, joined(SLOW_CPU, OTHER_CPU), BUSY_CPU),
    "slow CPU, same model": Truth({"cpu"}, SLOW_CPU, BUSY_CPU),
    "steal": Truth({"cpu", "other-load"}, drawn(stolen_share=(0.2, 0.5)), BUSY_CPU),
    "slow kernel": Truth({"kernel"}, joined(SLOW_KERNEL, OLD_KERNEL), BUSY_CPU),
    "slow copying kernel": Truth({"kernel"}, joined(SLOW_COPIES, OLD_KERNEL), BUSY_CPU),
    "slow memory": Truth({"cpu", "memory-first-touch", "kernel"}, SLOW_MEMORY, BUSY_CPU),
    "first touch": Truth({"memory-first-touch"}, SLOW_TOUCH, BUSY_CPU),
    "scanner": Truth(set(), drawn(scan_ms=(30, 250))),
    "scanner by size": Truth(set(), drawn(scan_ms_per_mib=(0.5, 4))),
    "scanner, fast disks": Truth(set(), drawn(scan_ms=(10, 100)), BUSY_CPU),
    "scanner beside fewer disks": Truth(
        set(), joined(drawn(scan_ms=(20, 250)), disks(1)), FEW_FAST_DISKS
    ),
    "scanner beside a limit": Truth(
        set(), joined(drawn(scan_ms=(60, 250)), limit(0.3, 0.9)), divided(0.3, 0.3)
    ),
    "lookups held": Truth(LOOKUPS, drawn(lookup_held_ms=(5, 60)), BUSY_CPU, SPAWN),
    "lookups held beside fewer disks": Truth(
        LOOKUPS, joined(drawn(lookup_held_ms=(10, 60)), disks(1)), FEW_FAST_DISKS, SPAWN
    ),
    "slow grep": Truth(LOOKUPS, SLOW_GREP, BUSY_CPU, SPAWN),
    "slow process start": Truth(
        {"lookup-cost", "spawn-cost"}, added(4e6, 20e6, "process_ns"), BUSY_CPU, LOOKUPS
    ),
    "ext4 flush": Truth(
        {"ext4-flush"},
        drawn(flushes_rewritten_files=[True]),
        drawn(flushes_rewritten_files=[False]),
        OPTIONS,
    ),
    "dirty limit": Truth(
        {"dirty-limit"}, drawn(dirty_ratio=[1, 2, 3]), MUCH_MEMORY, destination="fresh"
    ),
    "CPU competitors": Truth({"other-load"}, drawn(competitors_per_cpu=(0.4, 2)), BUSY_CPU),
    "disk neighbour": Truth({"other-load"}, neighbour),
    "journal": Truth(OPTIONS, drawn(journals_data=[True])),
    "sync": Truth(OPTIONS, drawn(synchronous=[True])),
    "step": Truth({"drift-over-time"}, FULL_CELLS, beside=SPEED),
}
# They cost nothing, on either side, where both are alike otherwise.
IRRELEVANT: dict[str, Any] = {
    "kernel": "6.11.0-1011-gcp",
    "scheduler": "mq-deadline",
    "harmless_options": ("stripe=32",),
    "cp_version": "9.4",
    "cpu_model": "AMD EPYC 7B13",
    "zone": "us-west1-b",
    "swappiness": 10,
    "dirty_ratio": 40,
    "write_limit_mb_per_s": 9000.0,
    "memory_limit_gib": 30.0,
    "quota_cpus": 4.0,
}


def base(dice: random.Random) -> Machine:
    write = dice.uniform(250, 450)
    disk = Disk(write, write * dice.uniform(1.4, 2))
    return Machine(
        disks=(disk,) * dice.choice([1, 2, 2, 4]),
        cpus=dice.choice([8, 16, 30]),
        memory_gib=dice.choice([32, 64, 120]),
        user_factor=dice.uniform(0.8, 1.3),
        kernel_factor=dice.uniform(0.8, 1.3),
        copy_ns_per_mib=dice.uniform(90e3, 300e3),
        process_ns=dice.uniform(0.5e6, 1.6e6),
        grep_ns=dice.uniform(0.15e6, 0.8e6),
        stalls_per_gib=dice.choice([0, 0.05, 0.3]),
        new_page_share=dice.uniform(0.05, 0.5),
    )


def sides(truth: Truth, dice: random.Random, share: float) -> dict[str, Machine]:
    """Return the two machines; this share of the irrelevant facts differs."""
    machine = truth.both(dice, base(dice))
    made = {FAST: machine, SLOW: truth.slow(dice, machine)}
    for name, value in {**IRRELEVANT, "memory_gib": 2 * machine.memory_gib}.items():
        is_alike = getattr(made[FAST], name) == getattr(made[SLOW], name)
        if is_alike and dice.random() < share:
            side = dice.choice([FAST, SLOW])
            made[side] = replace(made[side], **{name: value})
    return made


def judge(name: str, seed: int, share: float, folder: Path, *, is_long: bool) -> Counter[str]:
    """Count what a comparison gets wrong; nothing where it does not decide."""
    truth, dice = TRUTHS[name], random.Random(f"{name}/{seed}/{share}")
    workers, between = (dice.choice([3, 3, 4, 6]) if is_long else 3), dice.uniform(0.01, 0.05)
    shutil.rmtree(folder)
    for pool, machine in sides(truth, dice, share).items():
        for worker in range(workers):
            document = result(
                machine,
                (pool, worker, seed),
                destination=truth.destination,
                between=between,
                retrieves=RETRIEVES if is_long else SHORT_RETRIEVES,
            )
            run = folder / f"{pool}{worker}" / "io-benchmark"
            run.mkdir(parents=True)
            (run / "io-benchmark.json").write_text(json.dumps(document))
    report = program.compare(folder, "--baseline", FAST)
    verdicts = [pair["verdict"] for each in report["subjects"] for pair in each["comparisons"]]
    if verdicts != ["slower"] or not report["diagnoses"]:
        return Counter()
    states = {cause["name"]: cause["state"] for cause in report["diagnoses"][0]["causes"]}
    named = [cause for cause, state in states.items() if state in {"supported", "confirmed"}]
    allowed = truth.right | truth.beside
    is_named = bool(truth.right & {*named}) or not truth.right
    is_open = "not separable" in {states.get(cause) for cause in truth.right}
    return Counter(
        decided=1,
        wrong_first=bool(named) and named[0] not in allowed,
        wrong=not {*named} <= allowed,
        missed=not is_named and not is_open,
        not_separable=not is_named and is_open,
    )


@pytest.mark.parametrize("name", TRUTHS)
def test_each_truth_with_all_irrelevant_facts(name: str, tmp_path: Path) -> None:
    """Where it first makes a difference, nothing wrong is supported, and what is right not ruled out."""
    cases = (judge(name, seed, 1.0, tmp_path, is_long=False) for seed in range(SHORT_SEEDS))
    found: Counter[str] = next(filter(None, cases), Counter())
    assert (found["decided"], found["wrong"], found["missed"]) == (1, 0, 0)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_rates(
    share: float,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """Of all truths together, few are not named, and hardly any wrong cause is.

    Windows of the timeline reach a limit that is a little above what disks write, so the limit
    cannot be told from them: one case in nine is missed, and one in sixty blames another cause.
    These are counted apart, with room for the few cases.
    A kernel that only copies slowly, and `sync`, are not separable from what has the same effect.
    """
    if not request.config.getoption("--long"):
        pytest.skip("only with --long")
    total, apart = Counter[str](), Counter[str]()
    for name, seed in itertools.product(TRUTHS, range(LONG_SEEDS)):
        counts = apart if name == LIMIT_ABOVE else total
        counts.update(judge(name, seed, share, tmp_path, is_long=True))
    record_property("rates", f"independent machines, {share}: {total}; beside a limit: {apart}")
    decided = total["decided"]
    assert total["wrong_first"] <= WRONG_FIRST * decided
    assert total["wrong"] <= WRONG * decided
    assert total["missed"] <= MISSED * decided
    assert total["not_separable"] <= NOT_SEPARABLE * decided
    assert apart["wrong"] <= WRONG_BESIDE_A_LIMIT * apart["decided"]
    assert apart["missed"] <= MISSED_BESIDE_A_LIMIT * apart["decided"]
