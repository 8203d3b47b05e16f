# SPDX-License-Identifier: MPL-2.0
"""Pools of simulated Windows workers: a truth, and facts that cost nothing and differ as well."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seed_facts import PLACE
from simulated_windows import Measuring, WindowsPool
from situations import FAST, SLOW
from windows_machine import Scanner
from windows_truths import WindowsTruth

from io_benchmark.analysis.model.pool_machine import PoolMachine

SHORT_SHARE = 0.1  # of pushes, which are quick ones
UNKNOWN_SHARE = 0.15  # of pushes, whose workers cannot read some facts
UNKNOWN = (
    "timeline",
    "host.fixed_work",
    "host.windows.defender.is_real_time",
    "host.windows.filters",
    f"{PLACE}.windows.is_system_disk",
    f"{PLACE}.windows.is_temporary_disk",
    f"{PLACE}.windows.short_names",
    f"{PLACE}.windows.is_compressed",
    f"{PLACE}.windows.has_paging_file",
    f"{PLACE}.devices.0.bus",
    f"{PLACE}.devices.0.stripe_count",
)
NO_COUNTERS_SHARE = 0.05  # of pools whose workers may not read what their disks did
POOL_SIZES = (4, 4, 5, 6, 8, 12, 20)
WORKLOADS = ("unpack", "spawn", "sync-write", "metadata", "random-io")
# They cost nothing, on either side.
IRRELEVANT: Mapping[str, tuple[Any, ...]] = {
    "build": ("10.0.20348.3091", "10.0.22631.3737"),
    "display_version": ("23H2",),
    "product": ("Windows 11 Enterprise",),
    "cluster_bytes": (65536,),
    "substituted_letter": ("Y:",),
    "filters": (("WdFilter", "luafv", "bindflt", "wcifs"), ("luafv",)),
    "long_paths": (True,),
    "last_access": (True,),
    "power_plan": ("Ultimate Performance", "Balanced"),
    "has_paging_file": (True, False),
    "paging_file": ("C:\\pagefile.sys",),
    "grep_version": ("3.11",),
    "defender_excludes": (("C:\\", "D:\\"), ()),
    "cpu_model": ("AMD EPYC 9V74 80-Core Processor",),
    "zone": ("westus3-2",),
    "touch_ns_per_mib": (110_000.0,),
    "scanner": (Scanner(is_running=False),),
}


def drawn_pools(
    truth: WindowsTruth, dice: random.Random, share: float, most_workers: int = POOL_SIZES[-1]
) -> tuple[list[WindowsPool], Mapping[str, PoolMachine | None]]:
    """Return both pools; this share of the facts that cost nothing differs."""
    made = {SLOW: truth.slow.machine, FAST: truth.fast.machine}
    for name, values in IRRELEVANT.items():
        is_alike = getattr(made[FAST], name) == getattr(made[SLOW], name)
        matters = name == "scanner" and made[FAST].scanner.is_real_time
        if is_alike and not matters and name not in truth.facts and dice.random() < share:
            side = dice.choice([FAST, SLOW])
            made[side] = replace(made[side], **{name: dice.choice(values)})
    if dice.random() < NO_COUNTERS_SHARE:
        made = {name: replace(machine, has_counters=False) for name, machine in made.items()}
    between = dice.uniform(0.01, 0.05)
    pools = [
        WindowsPool(name, machine, min(most_workers, dice.choice(POOL_SIZES)), between)
        for name, machine in made.items()
    ]
    return pools, {SLOW: truth.slow.defined, FAST: truth.fast.defined}


def drawn_measuring(truth: WindowsTruth, dice: random.Random) -> Measuring:
    """Return what a push measures: cache-retrieve alone, with some workloads, or with all."""
    some = tuple(name for name in WORKLOADS if dice.random() < 0.5)
    is_short = dice.random() < SHORT_SHARE
    unknown = dice.sample(UNKNOWN, 2) if dice.random() < UNKNOWN_SHARE else []
    return Measuring(
        destination=dice.choice(truth.destinations),
        retrieves=60 if is_short else dice.choice([200, 300, 400]),
        workloads=dice.choice([(), some, WORKLOADS]),
        has_trials=dice.random() < 0.6,
        bursts=2 if is_short else 10,
        work_share=0.05 if is_short else 1.0,
        knows_dirty=dice.random() < 0.8,
        unknown=tuple(unknown),
    )
