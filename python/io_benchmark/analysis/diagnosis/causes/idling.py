# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Idling between groups: a writer and ext4's journal wait for each other, and the disk for neither.

Seed 001: four things must come together, and with one of them absent it does not happen. ext4's
journal is a thread of the kernel's (jbd2), so it is always in the root group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.evidence import plain, tally
from io_benchmark.analysis.diagnosis.io_schedulers import (
    SYNC_WRITE,
    disks_of,
    fair_disks,
    held_against_sync_writes,
    idle_settings,
    sync_writes,
    worst_sync_write,
)
from io_benchmark.analysis.diagnosis.judging import NOTHING_TO_EXPLAIN
from io_benchmark.analysis.model import State
from io_benchmark.results.format import Limits

NAME = "scheduler-idling"
JOURNALLING = ("ext3", "ext4")
# Folders in which a hierarchy is mounted whole: its root group.
ROOT_GROUPS = ("cgroup", "blkio", "unified")
EXPLAINS = frozenset(("cache-retrieve", SYNC_WRITE))


@dataclass(frozen=True)
class Precondition:
    name: str
    met: bool | None  # None: could not be seen
    seen: str

    @property
    def text(self) -> str:
        state = {True: "met", False: "not met", None: "unknown"}[self.met]
        return f"{self.name}: {state} ({self.seen})"


def preconditions(view: View) -> tuple[Precondition, ...]:
    return (_own_group(view), _journal(view), *_scheduler(view))


def _own_group(view: View) -> Precondition:
    name = "own cgroup"
    if view.host is not None and view.host.container is not None:
        # Inside, its own group looks like the root: a container is a group of its own.
        return Precondition(name, True, "a container")
    group = _group(view.limits)
    if group is None:
        return Precondition(name, None, "no hierarchy seen")
    last = group.rstrip("/").rsplit("/", 1)[-1]
    if last in ROOT_GROUPS:
        return Precondition(name, False, "the root group")
    return Precondition(name, True, plain(last, 30))


def _group(limits: Limits | None) -> str | None:
    """The one that its I/O counts for: where blkio is mounted, the unified hierarchy has no say."""
    groups = limits.groups if limits is not None else {}
    return groups.get("blkio", groups.get("unified"))


def _journal(view: View) -> Precondition:
    name = "ext3 or ext4, its journal in the root group"
    details = view.place.filesystem if view.place is not None else None
    if details is None:
        return Precondition(name, None, "no file system seen")
    shown = plain(details.type, 20)
    if details.type in ("overlay", "aufs"):
        return Precondition(name, None, f"below {shown}")
    return Precondition(name, details.type in JOURNALLING, shown)


def _scheduler(view: View) -> tuple[Precondition, Precondition]:
    scheduler, settings = "bfq or cfq", "idle settings above 0"
    disks = disks_of(view)
    if disks is None:
        unseen = "no scheduler seen"
        return Precondition(scheduler, None, unseen), Precondition(settings, None, unseen)
    fair = fair_disks(disks)
    names = sorted({disk.scheduler or "" for disk in fair or disks})
    shown = plain(", ".join(names) or "no disk", 30)
    told = [setting for disk in fair for setting in idle_settings(disk).items()]
    above = {name: value for name, value in told if value > 0}
    text = " ".join(f"{name}={value}" for name, value in sorted((above or dict(told)).items()))
    return (
        Precondition(scheduler, bool(fair), shown),
        # A scheduler that has none of them idles for nobody.
        Precondition(settings, bool(above) if told or not fair else None, text or "none"),
    )


def _all_met(view: View) -> float | None:
    """1 where each is met; one that is known not to be decides, whatever else is unknown."""
    states = [one.met for one in preconditions(view)]
    if False in states:
        return 0.0
    return None if None in states else 1.0


def _evidence(views: Sequence[View]) -> str:
    """Each by itself, so that none is cut where several workers are told of."""

    def text(at: int) -> Callable[[View], str]:
        return lambda view: preconditions(view)[at].text

    count = len(preconditions(views[0])) if views else 0
    return "; ".join(tally(views, text(at)) for at in range(count))


def scheduler_idling(case: Case) -> Finding:
    baseline, candidate = _evidence(case.baseline), _evidence(case.candidate)
    slower, faster = mean_of(case.slower, _all_met), mean_of(case.faster, _all_met)
    if case.differs and slower == 0:
        return Finding(State.RULED_OUT, baseline, candidate, _absent(case))
    if slower is None or faster is None:
        side = "slower" if slower is None else "faster"
        return Finding(
            State.NOT_OBSERVABLE,
            baseline,
            candidate,
            f"on the {side} side not each of the four preconditions could be seen",
        )
    if not case.differs:
        return Finding(State.RULED_OUT, baseline, candidate, NOTHING_TO_EXPLAIN)
    if slower <= faster:
        how = "by as many" if slower == faster else "by more"
        return Finding(
            State.RULED_OUT,
            baseline,
            candidate,
            f"all four preconditions are met {how} workers of the other side",
        )
    where = "by more workers of the slower side" if faster else "on the slower side alone"
    text = (
        f"all four preconditions are met {where}: a synchronous write waits for the journal's "
        "thread, and the scheduler leaves the disk idle between the two"
    )
    worst = worst_sync_write(case)
    proof = (
        "workload sync-write would be the timed proof"
        if worst is None
        else f"the timed proof is {sync_writes(case, worst)}"
    )
    finding = Finding(State.SUPPORTED, baseline, candidate, f"{text}; {proof}")
    return held_against_sync_writes(case, finding)


def _absent(case: Case) -> str:
    by_worker = [preconditions(view) for view in case.slower]
    absent = [
        columns[0].name
        for columns in zip(*by_worker, strict=True)
        if not any(c.met for c in columns) and any(c.met is False for c in columns)
    ]
    if not absent:
        return "no worker of the slower side meets all four preconditions"
    return f"on the slower side absent: {'; '.join(absent)}"


RULES = (
    Rule(
        NAME,
        "The slower side's I/O scheduler idles between the task's cgroup and ext4's journal.",
        scheduler_idling,
        EXPLAINS,
    ),
)
