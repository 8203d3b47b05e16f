# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How many small reads and writes a second the disks do (workload random-io)."""

from collections.abc import Callable, Sequence

from io_benchmark.analysis.diagnosis.case import Beside, Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.disk_waits import caps_of
from io_benchmark.analysis.diagnosis.evidence import span
from io_benchmark.analysis.diagnosis.other_measurements import (
    AS_FAST_RATIO,
    decided,
    most_telling,
    slower_by,
    texts,
)
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed import published_caps
from io_benchmark.analysis.observed.device_stack import stack_of

NAME = "random-io"
# One operation at a time waits for the disk's latency; only many at once reach what caps allow.
AT_ONCE = "-depth-32"

Cap = Callable[[View], float | None]


def random_io(case: Case) -> Finding:
    found = case.measured(NAME)
    if not found:
        return Finding(
            State.NOT_OBSERVABLE,
            *texts([]),
            "these copies are sequential; how many small reads and writes a second the disks do, "
            "workload random-io tells",
            workload=NAME,
        )
    own = case.sibling() if case.subject.workload == NAME else None
    many = [one for one in found if one.subject.variant.endswith(AT_ONCE)]
    one = own or most_telling(case, many or found)
    evidence = _evidence(case, found, one)
    if one is None or not case.differs:
        return Finding(
            State.RULED_OUT, *evidence, "there is no difference in time for it to explain"
        )
    ratio = slower_by(case, one)
    if ratio < AS_FAST_RATIO:
        return Finding(
            State.RULED_OUT, *evidence, "the slower side's disks do as many operations a second"
        )
    if not decided(one):
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            f"{one.subject.variant}: {ratio:.2f}× fewer, which may be chance: more workers would "
            "tell",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"the slower side's disks do {ratio:.2f}× fewer operations a second ({one.subject.variant})",
        # The copies are sequential: their caps are those of bandwidth.
        predicted_ratio=_predicted(case, one) if own is not None else None,
    )


def _cap(one: Beside) -> Cap | None:
    """The published limit of this variant, all disks of the place together."""
    if not one.subject.variant.endswith(AT_ONCE):
        return None
    reads = one.subject.variant.startswith("read")

    def of(view: View) -> float | None:
        stack = stack_of(view)
        caps = caps_of(view, stack.width) if stack is not None else None
        return _limit(caps, reads=reads)

    return of


def _limit(caps: published_caps.Caps | None, *, reads: bool) -> float | None:
    limit = (caps.read_iops if reads else caps.write_iops) if caps is not None else None
    return None if limit is None else float(limit)


def _predicted(case: Case, one: Beside) -> float | None:
    cap = _cap(one)
    if cap is None:
        return None
    baseline, candidate = mean_of(case.baseline, cap), mean_of(case.candidate, cap)
    return baseline / candidate if baseline and candidate and baseline != candidate else None


def _evidence(case: Case, found: Sequence[Beside], one: Beside | None) -> tuple[str, str]:
    """The telling figure with its published cap, then the others."""
    baseline, candidate = texts(found, one)
    cap = _cap(one) if one is not None else None
    if cap is None:
        return baseline, candidate

    def text(views: Sequence[View]) -> str:
        known = any(map(cap, views))
        return f"published cap {span(views, cap, 'IOPS')}" if known else "no published cap"

    return f"{baseline}; {text(case.baseline)}", f"{candidate}; {text(case.candidate)}"


RULES = (
    Rule(
        "random-io",
        "The slower side's disks do fewer operations a second.",
        random_io,
        frozenset(("cache-retrieve", NAME)),
    ),
)
