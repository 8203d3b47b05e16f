# SPDX-License-Identifier: MPL-2.0
"""Why one side is slower: hypotheses judged by what both sides' workers observed.

A cause is supported where its fact differs between the sides in the direction of the measured
ratio, ruled out where both sides were seen and that is not so, and otherwise not observable.
Each module declares its causes in `RULES`, and in `ORDER` their position in reports: what is most
often the reason comes first. taskcluster/docs/causes.md has what each cause reads.
"""

import pkgutil
from importlib import import_module

from io_benchmark.analysis.diagnosis.rules import CauseRule

_MODULES = [import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
RULES: tuple[CauseRule, ...] = tuple(
    rule for module in sorted(_MODULES, key=lambda each: each.ORDER) for rule in module.RULES
)
