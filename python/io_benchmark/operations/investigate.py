# SPDX-License-Identifier: MPL-2.0
"""Investigate a slow task: do the steps that its conclusion needs, and keep what each one found."""

from pathlib import Path

from msgspec.structs import replace

from io_benchmark.adopt.pool_definitions import NoPatchError, change_machines
from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Findings,
    Investigation,
    Outcome,
    Remedy,
    Target,
)
from io_benchmark.analysis.statements import statement
from io_benchmark.context import Context
from io_benchmark.errors import ResultError
from io_benchmark.operations.investigation_steps import InvestigationOptions, InvestigationWork
from io_benchmark.results import load
from io_benchmark.text import clean

_MOST_POOLS_BYTES = 2 * 1024 * 1024


def investigate(address: str, options: InvestigationOptions, context: Context) -> Investigation:
    """Do the steps that are missing until there is a conclusion."""
    work = InvestigationWork.begin(address, options, context)
    findings = _still_valid(work.folder.journal.findings, options)
    while (conclusion := conclude(findings)) is None:
        step = findings.next_step
        context.tell(f"{step.title}: {step.cost.format(budget=options.budget)}")
        if options.dry_run:
            conclusion = _open("this was a dry run", "omit --dry-run")
            break
        try:
            findings = work.find(findings)
        except ResultError as error:
            conclusion = _open(f"{step.title} is not known", str(error))
            break
        # What left the answer open is done again: a person may have added what it lacked.
        if (conclusion := conclude(findings)) is None or conclusion.outcome is not Outcome.OPEN:
            work.folder.save(replace(work.folder.journal, findings=findings))
    report = Investigation(
        address, findings, conclusion, remarks=tuple(dict.fromkeys(work.remarks))
    )
    if conclusion.remedy is None or conclusion.remedy.target is not Target.POOL:
        return report
    report = _with_change(report, conclusion.remedy, options.pools_file)
    if report.patch:
        work.folder.write("pools.patch", report.patch.encode())
    return report


def _still_valid(findings: Findings, options: InvestigationOptions) -> Findings:
    """Return the findings without those that other results or profiles are given for."""
    machines = findings.machines
    if options.on and machines is not None and machines.addresses != tuple(options.on):
        return Findings(slowness=findings.slowness)
    return replace(findings, forecast=None) if options.profile else findings


def _open(answer: str, todo: str) -> Conclusion:
    todo_first = (statement("{todo}", todo=todo),)
    certainty = statement("nothing is concluded yet")
    return Conclusion(
        Outcome.OPEN, statement("{answer}", answer=answer), certainty, next_steps=todo_first
    )


def _with_change(report: Investigation, remedy: Remedy, path: Path | None) -> Investigation:
    """Add the patch of a file of pools' definitions, else what to write there."""
    queue = report.findings.slowness.queue if report.findings.slowness else ""
    words = f"# {clean(remedy.reason.action)}"
    if remedy.new_machine_type:
        words = f"machine_type: {remedy.new_machine_type}  # now {remedy.machine_type}"
    elif remedy.local_ssds_to_add:
        words = f"disks: {remedy.local_ssds_to_add} more local SSD, of type SCRATCH"
    elif remedy.machine_type:
        words = f"instance_types: without {remedy.machine_type}"
    fragment = f"# worker-pools.yml, pool_id {clean(queue, 200)}\n{words}"
    if path is None:
        return replace(report, fragment=fragment, note="--pools-file FILE makes a patch of it")
    name = clean(path.name, 200)
    try:
        text = load(path, _MOST_POOLS_BYTES)[:_MOST_POOLS_BYTES].decode()
        patch, pools = change_machines(text, name, queue, remedy)
    except (NoPatchError, UnicodeDecodeError) as error:
        return replace(report, fragment=fragment, note=f"{name}: no patch: {error}")
    note = f"All {pools} pools of this entry get it" if pools > 1 else ""
    return replace(report, patch=patch, note=note)
