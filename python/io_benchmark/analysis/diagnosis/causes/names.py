# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What makes looking at files slow (seed 003): a lock, layers, or files that are not there yet."""

from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import Beside, Case, Finding, Rule, View
from io_benchmark.analysis.diagnosis.causes.limits import cpu_quota
from io_benchmark.analysis.diagnosis.evidence import plain
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN, Reading, Words, by_rank
from io_benchmark.analysis.diagnosis.other_measurements import (
    AS_FAST_RATIO,
    NOT_MEASURED,
    decided,
    detail,
    detail_texts,
    known_to_be_slower,
    part_of,
    slower_by,
    texts,
)
from io_benchmark.analysis.model import State
from io_benchmark.analysis.summary import workload_figures

NAME = "metadata"
# Several at once gain less than this of what they gain on the faster side.
SCALES_SHARE = 0.75
VISIBILITY = "visibility"
# Names that were never asked for go through every layer; the kernel remembers those that were.
MISSING = ("lookup-missing", "stat-missing")


def _with_threads(case: Case) -> Beside | None:
    """This variant by the most at once; where that gains as much, the one that gains least."""
    scaled = [
        one
        for one in case.measured(NAME)
        if detail(case, one, workload_figures.SCALING) is not None
    ]

    def gained(one: Beside) -> float:
        slower, faster = detail(case, one, workload_figures.SCALING) or (1.0, 1.0)
        return slower / faster

    own = [one for one in scaled if one.subject.variant == case.subject.variant]
    widest = max(own, key=lambda one: one.subject.threads, default=None)
    if widest is not None and gained(widest) < SCALES_SHARE:
        return widest
    return min(scaled, key=gained, default=None)


def lock(case: Case) -> Finding:
    one = _with_threads(case)
    scaling = detail(case, one, workload_figures.SCALING) if one is not None else None
    if one is None or scaling is None:
        return Finding(
            State.NOT_OBSERVABLE,
            NOT_MEASURED,
            NOT_MEASURED,
            "needs the same operations by one alone and by several at once on both sides",
            workload=NAME,
        )
    what = f"by {one.subject.threads} at once ({one.subject.variant}, one alone is 1)"
    evidence = detail_texts(one, workload_figures.SCALING, what)
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    slower, faster = scaling
    if slower >= SCALES_SHARE * faster:
        return Finding(
            State.RULED_OUT, *evidence, "several at once gain as much on the slower side"
        )
    quotas = [cpu_quota(view.limits) for view in case.slower if view.limits is not None]
    if any(quota is not None and quota < one.subject.threads for quota in quotas):
        return Finding(
            State.RULED_OUT,
            *evidence,
            "its cgroup gives the slower side fewer CPUs than work at once",
        )
    if not decided(one):
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            "several at once gain less on the slower side, which may be chance: more workers would "
            "tell",
        )
    more = slower_by(case, one) / known_to_be_slower(case, case.sibling(threads=1))
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"several at once hold each other up on the slower side: a lock in its {_driver(case.slower)}",
        # One alone waits for no other: where that is what is explained, the lock is no part of it.
        predicted_ratio=part_of(case, more) if one.subject == case.subject else None,
        is_part=True,
    )


def _driver(views: Sequence[View]) -> str:
    mounts = [view.place.mount for view in views if view.place is not None]
    found = sorted({plain(mount.filesystem, 20) for mount in mounts if mount is not None})
    return "file system or storage driver" + (f" ({', '.join(found)})" if found else "")


def _layers(view: View) -> Reading | None:
    place = view.place
    if place is None or place.kind is None:
        return None
    if place.overlay is None:
        # AUFS and others hide their layers.
        return None if place.kind == "overlay" else Reading(f"no overlay ({place.kind})", 0.0)
    count = place.overlay.lower_layers
    return Reading(f"overlay over {count} layers", float(count))


def overlay_layers(case: Case) -> Finding:
    finding = by_rank(
        case,
        _layers,
        Words(
            supported="a name is looked for in one layer after another: the slower side has more",
            missing="the place's layers could not be seen",
            same="as many layers on both sides",
        ),
    )
    missing = [one for variant in MISSING for one in case.measured(NAME, variant)]
    if finding.state is not State.SUPPORTED or not missing:
        return finding
    told = missing[0]
    ratio = slower_by(case, told)
    baseline, candidate = texts([told])
    evidence = (
        f"{finding.baseline_evidence}; {baseline}",
        f"{finding.candidate_evidence}; {candidate}",
    )
    if ratio < AS_FAST_RATIO:
        return Finding(
            State.RULED_OUT,
            *evidence,
            "the slower side has more layers, but a name that is in none of them is looked up as fast",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        f"{finding.explanation}, and takes {ratio:.2f}× as long for a name that is in none of them",
    )


def files_not_visible(case: Case) -> Finding:
    found = case.measured(NAME, VISIBILITY)
    counts = detail(case, found[0], workload_figures.NOT_VISIBLE) if found else None
    if counts is None:
        return Finding(
            State.NOT_OBSERVABLE,
            NOT_MEASURED,
            NOT_MEASURED,
            "needs the variant visibility on both sides",
            workload=NAME,
        )
    values = [
        workload_figures.value(side, workload_figures.NOT_VISIBLE)
        for side in (found[0].baseline, found[0].candidate)
    ]
    baseline, candidate = (f"{value:,.0f} files not visible at once" for value in values)
    slower, faster = counts
    if not slower and not faster:
        return Finding(
            State.RULED_OUT, baseline, candidate, "every file was visible to another thread at once"
        )
    if not case.differs:
        return Finding(State.RULED_OUT, baseline, candidate, NOTHING_TO_EXPLAIN)
    if slower <= faster:
        return Finding(
            State.RULED_OUT,
            baseline,
            candidate,
            "it lies the other way, or is the same on both sides",
        )
    return Finding(
        State.SUPPORTED,
        baseline,
        candidate,
        "files that one thread has created are not there yet for another on the slower side: its "
        "storage driver breaks what POSIX promises, and whoever waits for them loses time",
    )


RULES = (
    Rule(
        "metadata-lock",
        "A lock keeps the slower side from looking at several files at the same time.",
        lock,
        frozenset((NAME,)),
    ),
    Rule(
        "overlay-layers",
        "The slower side's place is an overlay of more layers.",
        overlay_layers,
        frozenset((NAME,)),
    ),
    Rule(
        "files-not-visible",
        "Files appear late to other threads on the slower side.",
        files_not_visible,
        frozenset((NAME,)),
    ),
)
