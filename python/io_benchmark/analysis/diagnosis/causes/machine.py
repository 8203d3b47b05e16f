# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The machine and the software: CPU, kernel, image and tools."""

import re

from io_benchmark.analysis.diagnosis.case import EVERY_WORKLOAD, Case, Finding, Rule, View, mean_of
from io_benchmark.analysis.diagnosis.causes.lookups import lookup_share
from io_benchmark.analysis.diagnosis.evidence import plain, span
from io_benchmark.analysis.diagnosis.judging import (
    Reading,
    Words,
    by_rank,
    explained_share,
    explains,
    percent,
    sides,
)
from io_benchmark.analysis.model import State
from io_benchmark.results import workloads

STOLEN_SHARE = 0.05
MS = 1_000_000
CPU_TIMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
TOOLS = ("python3", "bash", "cp", "grep", "sed")
COPY_FILE_RANGE_SINCE = 9  # coreutils


def _own_cpu_ms(view: View) -> float | None:
    """CPU time of a retrieve or operation: the measuring process's and its children's."""
    if view.entry is None or view.entry.subject.fidelity == "real":
        return None  # bash's own children are counted only when bash itself has ended
    return view.per_operation_ms("own_user_ms", "own_system_ms")


def _own_cpu_ns(view: View) -> float | None:
    value = _own_cpu_ms(view)
    return None if value is None else value * MS


def _own_system_ns(view: View) -> float | None:
    if view.entry is None or view.entry.subject.fidelity == "real":
        return None
    value = view.per_operation_ms("own_system_ms")
    return None if value is None else value * MS


def _stolen(view: View) -> float | None:
    stolen = view.growth("cpu_steal_ms")
    total = view.growth(*(f"cpu_{name}_ms" for name in CPU_TIMES))
    return None if stolen is None or not total else stolen / total


def _processor(view: View) -> Reading | None:
    host = view.host
    if host is None or host.cpu_model is None:
        return None
    return Reading(f"{plain(host.cpu_model, 60)}, {host.cpu_count} CPUs")


def cpu(case: Case) -> Finding:
    digits = 1 if case.subject.workload == "cache-retrieve" else 3
    operation = workloads.of(case.subject.workload).operation
    what = f"{'an' if operation[0] in 'aeiou' else 'a'} {operation}"
    evidence = [
        f"{text}; CPU time of {what} {span(views, _own_cpu_ms, 'ms', digits)}"
        for text, views in zip(
            sides(case, _processor), (case.baseline, case.candidate), strict=True
        )
    ]
    baseline, candidate = evidence
    slower, faster = mean_of(case.slower, _stolen), mean_of(case.faster, _stolen)
    if case.differs and slower is not None and slower >= STOLEN_SHARE and slower > (faster or 0.0):
        return Finding(
            State.SUPPORTED,
            baseline,
            candidate,
            f"other guests took {percent(slower)} of the slower side's CPU time "
            f"(the other's: {percent(faster or 0.0)})",
        )
    share = explained_share(case, _own_cpu_ns)
    finding = by_rank(
        case,
        _processor,
        Words(supported="", missing="the CPU's model could not be seen", undecided=""),
    )
    if finding.explanation:
        return Finding(
            finding.state, baseline, candidate, finding.explanation, None, _tells(finding, case)
        )
    if share is None:
        return Finding(
            State.NOT_OBSERVABLE,
            baseline,
            candidate,
            f"the CPUs differ, and what CPU time {what} took was not recorded",
            workload=None if case.subject.workload == "spawn" else "spawn",
        )
    if explains(share):
        return Finding(
            State.SUPPORTED,
            baseline,
            candidate,
            f"the CPUs differ, and CPU time makes up {percent(share)} of the difference",
        )
    return Finding(
        State.RULED_OUT,
        baseline,
        candidate,
        f"the CPUs differ, but CPU time makes up {percent(share)} of the difference",
    )


def _tells(finding: Finding, case: Case) -> str | None:
    tells = finding.state is State.NOT_OBSERVABLE and case.subject.workload != "spawn"
    return "spawn" if tells else None


def _kernel(view: View) -> Reading | None:
    host = view.host
    return (
        None if host is None else Reading(f"{plain(host.kernel, 60)} {plain(host.kernel_version)}")
    )


def kernel(case: Case) -> Finding:
    finding = by_rank(
        case,
        _kernel,
        Words(
            supported="",
            missing="the kernel could not be seen",
            undecided="they differ; whether that changes how it writes back, only the same kernel on "
            "both would tell",
        ),
    )
    share = explained_share(case, _own_system_ns)
    if finding.state is not State.NOT_OBSERVABLE or share is None or not explains(share):
        return finding
    if None in (mean_of(case.baseline, _known), mean_of(case.candidate, _known)):
        return finding
    return Finding(
        State.SUPPORTED,
        finding.baseline_evidence,
        finding.candidate_evidence,
        f"they differ, and work in the kernel makes up {percent(share)} of the difference",
    )


def _known(view: View) -> float | None:
    return None if view.host is None else 1.0


def _tools(view: View) -> Reading | None:
    host = view.host
    if host is None:
        return None
    versions = []
    for name in TOOLS:
        tool = host.tools.get(name)
        versions.append(f"{name} {_number(tool.version) if tool is not None else 'absent'}")
    return Reading(f"{plain(host.distribution or 'unknown', 50)}: {', '.join(versions)}")


def _number(version: str | None) -> str:
    match = re.search(r"[0-9]+(\.[0-9]+)+", version or "")
    return plain(match.group(), 12) if match else "unknown"


def _coreutils(view: View) -> float | None:
    tool = view.host.tools.get("cp") if view.host is not None else None
    match = re.search(r"([0-9]{1,3})\.[0-9]", (tool.version if tool is not None else "") or "")
    return float(match.group(1)) if match else None


def image_and_tools(case: Case) -> Finding:
    real = case.subject.fidelity == "real"
    finding = by_rank(
        case,
        _tools,
        Words(
            supported="",
            missing="the versions of the tools are not in the file",
            undecided="they differ in what copies the files: only the same image on both would tell"
            if real
            else "they differ, and there are no times to hold that against",
        ),
    )
    if finding.state is not State.NOT_OBSERVABLE or not case.differs or not _seen_on_both(case):
        return finding
    evidence = finding.baseline_evidence, finding.candidate_evidence
    share = lookup_share(case)
    if share is not None and explains(share):
        return Finding(
            State.SUPPORTED,
            *evidence,
            f"they differ, and the lookups, which these tools do, make up {percent(share)} of the "
            "difference",
        )
    if real:
        slower, faster = mean_of(case.slower, _coreutils), mean_of(case.faster, _coreutils)
        if slower is None or faster is None or not slower < COPY_FILE_RANGE_SINCE <= faster:
            return finding
        return Finding(
            State.SUPPORTED,
            *evidence,
            "the slower side's cp reads and writes the bytes itself; from coreutils 9 on it leaves "
            "that to the kernel (FICLONE, copy_file_range)",
        )
    if share is None:
        return finding
    return Finding(
        State.RULED_OUT,
        *evidence,
        f"they differ, but the kernel copies here, and the lookups make up only {percent(share)} of "
        "the difference",
    )


def _seen_on_both(case: Case) -> bool:
    return (
        mean_of(case.baseline, _known) is not None and mean_of(case.candidate, _known) is not None
    )


RULES = (
    Rule("cpu", "The slower side's CPU is slower, or shared with others.", cpu, EVERY_WORKLOAD),
    Rule("kernel", "The slower side's kernel is slower.", kernel, EVERY_WORKLOAD),
    Rule("image-and-tools", "The slower side's image has slower tools.", image_and_tools),
)
