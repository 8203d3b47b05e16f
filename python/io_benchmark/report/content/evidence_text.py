# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Evidence, explanations and remedies as text."""

from collections import Counter
from collections.abc import Sequence

from io_benchmark.analysis.model import Evidence, Observation
from io_benchmark.analysis.statements import Statement
from io_benchmark.report.content.statement_text import text_of

_FACT_LENGTH = 120
_VARIANTS_SHOWN = 4


def evidence_text(evidence: Evidence) -> str:
    """Return all observations of one side: '1 disk; write rate 388 MiB/s'."""
    return "; ".join(map(_observation_text, evidence.observations))


def summary_text(evidence: Evidence) -> str:
    """Return what leads a sentence, or nothing."""
    return "" if evidence.summary is None else text_of(evidence.summary, _FACT_LENGTH)


def sentences(statements: Sequence[Statement]) -> str:
    """Return all statements, which are whole sentences."""
    return " ".join(map(text_of, statements))


def _observation_text(observation: Observation) -> str:
    """Return 'ext4' of a single worker, 'ext4 on 2 of 3 workers, …' of several."""
    counts: Counter[str] = Counter()
    for seen in observation.seen:
        counts[text_of(seen.value, _FACT_LENGTH)] += seen.count
    if observation.total <= 1:
        return next(iter(counts))
    of = "runs" if observation.counts_runs else "workers"
    shown = [
        f"{text} on {min(count, observation.total)} of {observation.total} {of}"
        for text, count in list(counts.items())[:_VARIANTS_SHOWN]
    ]
    left = len(counts) - _VARIANTS_SHOWN
    return ", ".join(shown) + (f", {left} more" if left > 0 else "")
