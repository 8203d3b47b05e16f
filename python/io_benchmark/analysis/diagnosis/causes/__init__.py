# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Why one side is slower: hypotheses judged by what both sides' workers observed.

A cause is supported where its fact differs between the sides in the direction of the measured
ratio, ruled out where both sides were seen and that is not so, and otherwise not observable.
taskcluster/docs/causes.md says for each what it reads.
"""

import math
import re
from collections.abc import Mapping, Sequence

from io_benchmark.analysis import words
from io_benchmark.analysis.diagnosis.case import Beside, Case, Finding, Rule, make_case
from io_benchmark.analysis.diagnosis.causes import (
    course,
    disks,
    executing,
    limits,
    lookups,
    machine,
    memory,
    mounts,
    names,
    operations,
    places,
    scheduler,
    syncing,
    uploading,
    volatile,
)
from io_benchmark.analysis.model import Cause, Evidence, Observation, Seen, State, Subject, Worker
from io_benchmark.analysis.statements import statement

# In the order in which a report lists them: what is most often the reason comes first.
RULES: tuple[Rule, ...] = (
    *disks.RULES,
    *limits.RULES,
    *places.RULES,
    *mounts.RULES,
    *volatile.RULES,
    *scheduler.RULES,
    *memory.RULES,
    *machine.RULES,
    *lookups.RULES,
    *operations.RULES,
    *syncing.RULES,
    *names.RULES,
    *executing.RULES,
    *uploading.RULES,
    *course.RULES,
)

# Seed 000's table, by its numbers: the causes that together answer each hypothesis.
SEED_HYPOTHESES: Mapping[int, tuple[str, ...]] = {
    1: ("cpu", "disk-speed", "random-io"),  # AMD CPU/NVMe hardware is slower
    2: ("storage-place",),  # Docker overlay2 adds overhead
    3: ("image-and-tools",),  # the Docker image is the issue
    4: ("boot-disk-fallback",),  # the type of the persistent boot disk
    5: ("cgroup-io-limit",),
    6: ("cgroup-memory-limit",),
    7: ("mount-options", "file-system"),  # Docker daemon configuration, seen as mount options
    8: ("lookup-cost", "spawn-cost"),  # fork/exec overhead
}


def judge(
    subject: Subject,
    ratio: float | None,
    baseline: Sequence[Worker],
    candidate: Sequence[Worker],
    beside: Sequence[Beside] = (),
) -> tuple[Cause, ...]:
    """Every cause that may explain this workload, in the registry's order.

    Without a ratio none is supported.
    """
    case = make_case(subject, ratio, baseline, candidate, beside)
    return tuple(
        _cause(rule, rule.judge(case), case) for rule in RULES if subject.workload in rule.explains
    )


def _cause(rule: Rule, finding: Finding, case: Case) -> Cause:
    share = _share(case.ratio, finding)
    return Cause(
        name=rule.name,
        hypothesis=rule.hypothesis,
        state=finding.state,
        baseline_evidence=_text_evidence(finding.baseline_evidence),
        candidate_evidence=_text_evidence(finding.candidate_evidence),
        explanation=(
            statement("{text}", text=finding.explanation + _share_text(case.ratio, finding, share)),
        ),
        predicted_ratio=finding.predicted_ratio,
        share=share,
        workload=finding.workload,
    )


def _text_evidence(text: str) -> Evidence:
    summary = re.split(r";|, machine type | on [0-9,]+ of [0-9,]+ workers", text)[0]
    return Evidence(
        (Observation("text", (Seen(statement("{text}", text=text), 1),), 1),),
        statement("{text}", text=re.sub(r"\s*\([^()]*\)", "", summary)),
    )


def _share(ratio: float | None, finding: Finding) -> float | None:
    """ln(measured) over ln(predicted); of a part that was measured itself, the other way round."""
    predicted = finding.predicted_ratio
    if finding.state is not State.SUPPORTED or ratio is None or predicted is None:
        return None
    if predicted <= 0 or predicted == 1 or ratio == 1:
        return None
    share = math.log(ratio) / math.log(predicted)
    return 1 / share if finding.is_part else share


def _share_text(ratio: float | None, finding: Finding, share: float | None) -> str:
    if share is None or ratio is None or finding.predicted_ratio is None:
        return ""
    if finding.is_part:
        part = f"{finding.predicted_ratio:.2f}×"
        return f". This makes {part} of the measured {ratio:.2f}×: {words.percent(share)}"
    text = f". Measured {ratio:.2f}× of a predicted {finding.predicted_ratio:.2f}×: "
    text += words.percent(share)
    if round(share, 2) > 1:
        text += ", over-explained: more than the caps alone would make"
    return text
