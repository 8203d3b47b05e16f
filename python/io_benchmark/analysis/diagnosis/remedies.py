# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What to try: each tied to a supported cause, with the gain that was measured or predicted.

Never without evidence: the supported cause is one, and where the same push measured the remedy
(another destination, another place, another pool), that decides whether it is named at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from io_benchmark.analysis.diagnosis.measured_gains import (
    MORE_DISKS,
    Measured,
    Push,
    Try,
    as_other_pool,
    follows,
    machine_action,
    more_disks,
    other_destination,
    other_place,
    other_variant,
    predicted,
    unless,
)
from io_benchmark.analysis.model import Cause, Remedy, State, Subject
from io_benchmark.analysis.statements import statement


@dataclass(frozen=True)
class Plan:
    cause: str
    action: str
    look: Try


def suggest(
    causes: Sequence[Cause],
    subject: Subject,
    measured: Measured,
    candidate: str,
    baseline: str,
    *,
    machines: Mapping[str, str | None] | None = None,
) -> tuple[Remedy, ...]:
    """Remedies for the slower side of a pair, in the causes' order.

    `measured` has each side's mean time of each subject; `machines` each side's machine type, so
    that another pool of the push can show what another machine type gains.
    """
    sides = (candidate, baseline)
    ours, theirs = (measured.get(side, {}).get(subject) for side in sides)
    if ours is not None and theirs is not None and ours < theirs:
        sides = (baseline, candidate)
    supported = [cause for cause in causes if cause.state is State.SUPPORTED]
    push = Push(
        subject, measured, machines or {}, *sides, frozenset(cause.name for cause in supported)
    )
    found = []
    for cause in supported:
        for plan in PLANS:
            gain = plan.look(push, cause) if plan.cause == cause.name else None
            if gain is not None:
                action = machine_action(push, plan.action)
                found.append(
                    Remedy(
                        cause.name,
                        statement("{text}", text=action),
                        gain.ratio,
                        gain.measured,
                        (statement("{text}", text=gain.evidence),),
                    )
                )
    return tuple(found)


PLANS: tuple[Plan, ...] = (
    Plan("device-count", MORE_DISKS, more_disks),
    Plan("linear-volume", "make the volume striped (lvcreate -i N) instead of linear", predicted),
    Plan(
        "boot-disk-fallback",
        "mend the fallback: the workers' start script must find the local SSDs, or fail",
        as_other_pool,
    ),
    Plan(
        "metadata-lock",
        "work on a volume, or with a storage driver that has no such lock (overlay2, not AUFS)",
        other_place,
    ),
    Plan(
        "files-not-visible",
        "work on a volume, or with another storage driver (overlay2, not AUFS)",
        other_place,
    ),
    Plan(
        "overlay-layers",
        "work on a volume, or build the image with fewer layers",
        other_place,
    ),
    Plan(
        "per-builder-copies",
        "hardlink the binaries of all builders to one file",
        other_variant("hardlinked", "executing hardlinks"),
    ),
    Plan(
        "expect-continue-stall",
        "send no Expect: 100-continue (curl -H 'Expect:')",
        follows("without that header nothing waits for the server's leave; not measured here"),
    ),
    Plan(
        "connection-each",
        "keep the connection for the next object",
        other_variant("keep-alive", "an object over a connection that is kept"),
    ),
    Plan(
        "connection-each",
        "upload many objects at once",
        other_variant("concurrent", "an object of many at once"),
    ),
    Plan("slow-flush", "use the faster side's disks, or make fewer writes wait", as_other_pool),
    Plan("slow-journal", "use the faster side's file system and its options", as_other_pool),
    Plan(
        "random-io",
        "use the faster side's kind and number of disks",
        unless("device-count", as_other_pool),
    ),
    Plan("cgroup-io-limit", "lift the cgroup's I/O limit", as_other_pool),
    Plan("cgroup-memory-limit", "lift the cgroup's memory limit", as_other_pool),
    Plan("cgroup-cpu-limit", "lift the cgroup's CPU quota", as_other_pool),
    Plan("storage-place", "work on a volume instead of the container's overlay", other_place),
    Plan("file-system", "format the place with the faster side's file system", as_other_pool),
    Plan(
        "ext4-flush",
        "remove the destination before copying (cp --remove-destination, or unlink it first)",
        other_destination("unlink"),
    ),
    Plan(
        "ext4-flush",
        "mount the place with noauto_da_alloc",
        follows(
            "ext4 then leaves a rewritten file in memory when it is closed, as it does any other; "
            "not measured here"
        ),
    ),
    Plan(
        "reflink",
        "use a file system that shares extents (xfs with reflink, btrfs) and cp --reflink=auto",
        as_other_pool,
    ),
    Plan("mount-options", "mount the place with the faster side's options", as_other_pool),
    Plan(
        "volatile-overlay",
        "measure both sides on the same kind of mount",
        follows(
            "what a volatile overlay has not written is lost with the machine: its speed is none to "
            "be had for files that must last"
        ),
    ),
    Plan(
        "scheduler-idling",
        "set the scheduler none or mq-deadline, or its slice_idle and group_idle to 0",
        as_other_pool,
    ),
    Plan(
        "scheduler-starvation",
        "set the scheduler none or mq-deadline, or its strict_guarantees to 0",
        as_other_pool,
    ),
    Plan("scheduler", "set the scheduler none or mq-deadline", as_other_pool),
    Plan("kernel", "run the faster side's kernel on both", as_other_pool),
    Plan("image-and-tools", "use the same image on both", as_other_pool),
)
