# SPDX-License-Identifier: MPL-2.0
"""Why one side is slower: hypotheses judged by what both sides' workers observed.

A cause is supported where its fact differs between the sides in the direction of the measured
ratio, ruled out where both sides were seen and that is not so, and otherwise not observable.
Reports have the causes of a module in the order in which it declares them.
taskcluster/docs/causes.md has what each cause reads.
"""

from importlib import import_module

from io_benchmark.analysis.explaining.rules import CauseRule

# In the order of reports: what is most often the reason comes first.
_MODULES = (
    "disks", "network_disks", "windows.places", "disk_speed", "io_limits", "ranked_settings",
    "mount_costs", "schedulers", "memory", "cpu", "operation_costs", "names", "transfers",
    "network", "drift", "other_load",
)  # fmt: skip
RULES: tuple[CauseRule, ...] = tuple(
    rule
    for module in _MODULES
    for rule in vars(import_module(f"{__name__}.{module}")).values()
    if isinstance(rule, CauseRule)
)
RULES_BY_NAME = {rule.name: rule for rule in RULES}
