# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The disks under a place: how many at once, which, and how fast each of them writes."""

from collections.abc import Sequence

from io_benchmark.analysis.diagnosis.case import Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.disk_waits import (
    caps_of,
    caps_text,
    decreed_write_cap,
    do_not_wait,
    rates,
    waits_for_disks,
    write_cap,
)
from io_benchmark.analysis.diagnosis.evidence import gib, plain, span
from io_benchmark.analysis.diagnosis.judging import (
    NOTHING_TO_EXPLAIN,
    Reading,
    Words,
    by_rank,
    note,
    sides,
)
from io_benchmark.analysis.model import State
from io_benchmark.analysis.observed import published_caps
from io_benchmark.analysis.observed.device_stack import Medium, medium_of, stack_of

AS_FAST_RATIO = 0.9
UNSEEN = "the devices under the place could not be seen"


# --- device-count ---


def _count(view: View) -> Reading | None:
    stack = stack_of(view)
    if stack is None:
        return None
    disks = ", ".join(
        sorted(
            {
                " ".join(filter(None, (disk.model, gib(disk.size_bytes or 0))))
                for disk in stack.disks
            }
        )
    )
    machine = published_caps.machine_name(view.instance_type) if view.instance_type else None
    return Reading(
        f"{stack.text} ({plain(disks, 60)}), machine type {plain(machine or 'unknown', 40)}",
        -stack.width,
    )


def device_count(case: Case) -> Finding:
    predicted = _predicted(case)
    found = by_rank(case, _widths, _count_words(case, predicted), predicted)
    baseline, candidate = sides(case, _count)
    evidence = _with_rate(baseline, case.baseline), _with_rate(candidate, case.candidate)
    if found.state is State.SUPPORTED and do_not_wait(case.slower):
        return Finding(
            State.RULED_OUT,
            *evidence,
            "the sides differ in it, but the slower side did not wait for its disks",
        )
    return Finding(found.state, *evidence, found.explanation, found.predicted_ratio)


def _widths(view: View) -> Reading | None:
    stack = stack_of(view)
    return None if stack is None else Reading(str(stack.width), -stack.width)


def _with_rate(evidence: str, views: Sequence[View]) -> str:
    return f"{evidence}; write rate {rates(views)}, {caps_text(views)}"


def _predicted(case: Case) -> float | None:
    """The baseline's write cap over the candidate's: how much longer writing takes."""
    baseline, candidate = mean_of(case.baseline, write_cap), mean_of(case.candidate, write_cap)
    return baseline / candidate if baseline and candidate else None


def _count_words(case: Case, predicted: float | None) -> Words:
    text = "the slower side spreads its writes over fewer disks"
    if predicted is None:
        text += "; no cap is known for one of them, so nothing is predicted"
    elif any(map(decreed_write_cap, (*case.baseline, *case.candidate))):
        text += ", predicted from the cgroups' write caps"
    else:
        text += ", predicted from the published write caps"
        if any(view.instance_type is None for view in (*case.baseline, *case.candidate)):
            text += " (machine type unknown: those of Google's standard local SSDs)"
    text += _more_disks(case)
    if any(_above_cap(view) for view in (*case.baseline, *case.candidate)):
        text += "; a rate above its cap is what the page cache took"
    return Words(supported=text, missing=UNSEEN, same="as many disks work at once on both sides")


def _more_disks(case: Case) -> str:
    """Where the slower side's machine type fixes the number, the next one that has more."""
    machines = {published_caps.machine_name(view.instance_type or "") for view in case.slower}
    machine = machines.pop() if machines else ""
    disks = published_caps.disks_of_machine(machine)
    if machines or disks is None:
        return ""
    larger = published_caps.machine_with_disks(machine, disks + 1)
    given = f"; {machine} comes with {disks}"
    if larger is None:
        return given
    return f"{given}, {larger} with {published_caps.disks_of_machine(larger)}"


def _above_cap(view: View) -> bool:
    rate, cap = view.written_mib_per_s, write_cap(view)
    return rate is not None and cap is not None and rate > cap


# --- linear-volume ---


def _linear(view: View) -> Reading | None:
    stack = stack_of(view)
    if stack is None:
        return None
    return Reading(stack.text, float(stack.linear))


def _linear_prediction(case: Case) -> float | None:
    """What the slower side's own disks would reach as a stripe, over what they reach."""

    def gain(view: View) -> float | None:
        stack = stack_of(view)
        caps = caps_of(view, len(stack.disks)) if stack is not None else None
        cap = write_cap(view)
        return caps.write_mib_per_s / cap if caps is not None and cap else None

    found = mean_of(case.slower, gain)
    if found is None or case.ratio is None:
        return None
    return found if case.ratio > 1 else 1 / found


def linear_volume(case: Case) -> Finding:
    evidence = sides(case, _linear)
    readings = [reading for view in (*case.baseline, *case.candidate) if (reading := _linear(view))]
    known = all(any(map(_linear, views)) for views in (case.baseline, case.candidate))
    if known and not any(reading.rank for reading in readings):
        # One disk against two striped ones is another cause.
        return Finding(
            State.RULED_OUT, *evidence, "no volume joins several disks one after another"
        )
    words = Words(
        supported="the slower side's volume joins its disks one after another, so a copy has the "
        "bandwidth of one",
        missing=UNSEEN,
        same="linear on both sides",
    )
    return by_rank(case, _linear, words, _linear_prediction(case))


# --- boot-disk-fallback ---


def _medium(view: View) -> Reading | None:
    medium = medium_of(view)
    if medium is None:
        return None
    # LVM may even span both: then the slow part decides.
    return Reading(f"on {medium}", float(Medium.PERSISTENT.value in medium))


def boot_disk_fallback(case: Case) -> Finding:
    expected = {
        published_caps.disks_of_machine(view.instance_type)
        for view in case.slower
        if published_caps.disks_of_machine(view.instance_type)
    }
    given = f"; local SSDs of its machine type: {max(filter(None, expected))}" if expected else ""
    return by_rank(
        case,
        _medium,
        Words(
            supported="the slower side's place lies on a persistent disk, as when the workers' "
            f"start script finds no local SSD and goes on silently on the boot disk{given}",
            missing="the disks do not say what they are",
            same="the same kind of disk holds the place on both sides, so no side fell back on its "
            "boot disk alone",
            undecided=None,
        ),
    )


# --- disk-speed ---


def _each_disk(view: View) -> float | None:
    stack = stack_of(view)
    rate = view.written_mib_per_s
    return None if stack is None or rate is None else rate / stack.width


def _writing(views: Sequence[View]) -> str:
    rate = span(views, _each_disk, "MiB/s")
    waiting = span(views, lambda view: _percent(view.io_wait_share), "% of the time")
    return f"write rate of each disk {rate}; waiting for I/O {waiting}"


def disk_speed(case: Case) -> Finding:
    slower, faster = mean_of(case.slower, _each_disk), mean_of(case.faster, _each_disk)
    evidence = _writing(case.baseline), _writing(case.candidate)
    if slower is None or faster is None:
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            "what the disks wrote was not recorded",
            workload="random-io",
        )
    if not case.differs:
        return Finding(State.RULED_OUT, *evidence, NOTHING_TO_EXPLAIN)
    if slower >= AS_FAST_RATIO * faster:
        return Finding(State.RULED_OUT, *evidence, "each disk of the slower side wrote as fast")
    waits = [waits_for_disks(view) for view in case.slower]
    if do_not_wait(case.slower):
        return Finding(
            State.RULED_OUT, *evidence, "the slower side's disks were not what it waited for"
        )
    if all(value is None for value in waits):
        return Finding(
            State.NOT_OBSERVABLE,
            *evidence,
            "each disk of the slower side wrote more slowly, but not whether it had more to write "
            "is known: no pressure was recorded and no cap is published",
            workload="random-io",
        )
    return Finding(
        State.SUPPORTED,
        *evidence,
        note(
            f"each disk of the slower side wrote at {slower / faster:.2f}× the other's rate while "
            "the copies waited for it"
        ),
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


RULES = (
    Rule(
        "device-count",
        "The slower side's writes are spread over fewer disks.",
        device_count,
    ),
    Rule(
        "linear-volume",
        "The slower side's volume is linear: several disks with the bandwidth of one.",
        linear_volume,
    ),
    Rule(
        "boot-disk-fallback",
        "The slower side works on its boot disk, the other one on local SSDs.",
        boot_disk_fallback,
        frozenset(("cache-retrieve", "random-io", "sync-write")),
    ),
    Rule("disk-speed", "Each disk of the slower side is slower by itself.", disk_speed),
)
