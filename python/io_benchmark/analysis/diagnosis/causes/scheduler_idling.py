# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Idling between groups: a writer and ext4's journal wait for each other while the disk is idle.

It needs four preconditions, and does not happen where one is absent. ext4's journal is a kernel
thread (jbd2), so it is always in the root group.
"""

from dataclasses import dataclass

from io_benchmark.analysis.diagnosis.case import Case
from io_benchmark.analysis.diagnosis.cause_rule import CauseJudgement, CauseRule, Suggestion
from io_benchmark.analysis.diagnosis.evidence import Observe, of_sides, tally
from io_benchmark.analysis.diagnosis.measured_gains import as_other_pool
from io_benchmark.analysis.diagnosis.sync_writes import (
    SYNC_WRITE,
    proved_by_sync_writes,
    slowest_sync_write,
)
from io_benchmark.analysis.observed.cgroup_limits import io_group
from io_benchmark.analysis.observed.disk_schedulers import (
    fair_disks,
    idle_settings,
    scheduled_disks,
)
from io_benchmark.analysis.observed.mount_options import LAYERED
from io_benchmark.analysis.observed.worker_view import View, mean_of
from io_benchmark.analysis.statements import Statement, statement

ORDER = 60
_JOURNALLING = ("ext3", "ext4")
# Folders where a hierarchy is mounted whole: its root group.
_ROOT_GROUPS = ("cgroup", "blkio", "unified")
_STATES = {True: "met", False: "not met", None: "unknown"}


@dataclass(frozen=True)
class _Precondition:
    key: str
    name: str
    met: bool | None  # None: could not be seen
    seen: str

    @property
    def fact(self) -> Statement:
        return statement(f"{self.name}: {_STATES[self.met]} ({{seen}})", seen=self.seen)


def _preconditions(view: View) -> tuple[_Precondition, ...]:
    return (_separate_group(view), _journal(view), *_scheduler(view))


def _separate_group(view: View) -> _Precondition:
    def precondition(met: bool | None, seen: str) -> _Precondition:
        return _Precondition("cgroup", "a separate cgroup", met, seen)

    if view.host is not None and view.host.container is not None:
        # Inside a container its group looks like the root group.
        return precondition(True, "a container")
    group = io_group(view)
    if group is None:
        return precondition(None, "no hierarchy seen")
    last = group.rstrip("/").rsplit("/", 1)[-1]
    if last in _ROOT_GROUPS:
        return precondition(False, "the root group")
    return precondition(True, last)


def _journal(view: View) -> _Precondition:
    def precondition(met: bool | None, seen: str) -> _Precondition:
        return _Precondition("journal", "ext3 or ext4, its journal in the root group", met, seen)

    details = view.place.filesystem if view.place is not None else None
    if details is None:
        return precondition(None, "no file system seen")
    if details.type in LAYERED:
        return precondition(None, f"below {details.type}")
    return precondition(details.type in _JOURNALLING, details.type)


def _scheduler(view: View) -> tuple[_Precondition, _Precondition]:
    def preconditions(
        scheduler: tuple[bool | None, str], settings: tuple[bool | None, str]
    ) -> tuple[_Precondition, _Precondition]:
        return (
            _Precondition("scheduler", "bfq or cfq", *scheduler),
            _Precondition("idle-settings", "idle settings above 0", *settings),
        )

    disks = scheduled_disks(view)
    if disks is None:
        unseen = None, "no scheduler seen"
        return preconditions(unseen, unseen)
    fair = fair_disks(disks)
    names = sorted({disk.scheduler or "" for disk in fair or disks})
    known = [setting for disk in fair for setting in idle_settings(disk).items()]
    above = {name: value for name, value in known if value > 0}
    text = " ".join(f"{name}={value}" for name, value in sorted((above or dict(known)).items()))
    return preconditions(
        (bool(fair), ", ".join(names) or "no disk"),
        # A scheduler without these settings never idles.
        (bool(above) if known or not fair else None, text or "none"),
    )


def _all_met(view: View) -> float | None:
    """Return 1 where each is met; one that is known not to be met decides, others may be unknown."""
    states = [precondition.met for precondition in _preconditions(view)]
    if False in states:
        return 0.0
    return None if None in states else 1.0


def _observe(at: int, key: str) -> Observe:
    return tally(key, lambda view: _preconditions(view)[at].fact)


def _scheduler_idling(case: Case) -> CauseJudgement:
    keys = ("cgroup", "journal", "scheduler", "idle-settings")
    observe = [_observe(at, key) for at, key in enumerate(keys)]
    evidence = of_sides(case, *observe, has_summary=False)
    slower, faster = mean_of(case.slower, _all_met), mean_of(case.faster, _all_met)
    if case.differs and slower == 0:
        return evidence.ruled_out(_absent(case))
    if slower is None or faster is None:
        side = "slower" if slower is None else "faster"
        return evidence.not_observable(
            f"On the {side} side not all of the four preconditions could be seen."
        )
    if not case.differs:
        return evidence.nothing_to_explain()
    if slower <= faster:
        how = "as many" if slower == faster else "more"
        return evidence.ruled_out(
            f"The faster side meets all four preconditions on {how} of its workers."
        )
    where = "more workers of the slower side" if faster else "the slower side alone"
    judgement = evidence.supported(
        f"All four preconditions are met on {where}: a synchronous write waits for the journal's "
        "thread, and the scheduler leaves the disk idle between the two.",
    )
    slowest_write = slowest_sync_write(case)
    if slowest_write is None:
        return judgement.also(f"Times of the workload {SYNC_WRITE} would prove it.")
    return proved_by_sync_writes(case, judgement, slowest_write)


def _absent(case: Case) -> str:
    by_worker = [_preconditions(view) for view in case.slower]
    absent = [
        column[0].name
        for column in zip(*by_worker, strict=True)
        if not any(each.met for each in column) and any(each.met is False for each in column)
    ]
    if not absent:
        return "No worker of the slower side meets all four preconditions."
    return f"Absent on the slower side: {'; '.join(absent)}."


RULES = (
    CauseRule(
        "scheduler-idling",
        "The slower side's I/O scheduler idles between the task's cgroup and ext4's journal.",
        _scheduler_idling,
        frozenset(("cache-retrieve", SYNC_WRITE)),
        (
            Suggestion(
                "set the scheduler none or mq-deadline, or its slice_idle and group_idle to 0",
                as_other_pool,
            ),
        ),
    ),
)
