# SPDX-License-Identifier: MPL-2.0
"""Why one side is slower: hypotheses judged by what both sides' workers observed.

A cause is supported where its fact differs between the sides in the direction of the measured
ratio, ruled out where both sides were seen and that is not so, and otherwise not observable.
Reports have the causes of a module in the order in which it declares them, and the modules by their
`ORDER`: what is most often the reason comes first. taskcluster/docs/causes.md has what each cause reads.
"""

import pkgutil
from importlib import import_module

from io_benchmark.analysis.diagnosis.rules import CauseRule

_MODULES = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
RULES: tuple[CauseRule, ...] = tuple(
    rule
    for module in sorted(_MODULES, key=lambda module: module.ORDER)
    for rule in vars(module).values()
    if isinstance(rule, CauseRule)
)
