# SPDX-License-Identifier: MPL-2.0
"""Investigate a slow task by operations that exist, until there is a conclusion."""

from functools import partial

from msgspec.structs import replace

from io_benchmark.adopt.pools.definitions import NoPatchError, PoolDefinitions
from io_benchmark.analysis.investigation.conclusion import conclude
from io_benchmark.analysis.investigation.investigation_model import (
    Conclusion,
    Findings,
    Fix,
    Investigation,
    Outcome,
)
from io_benchmark.analysis.model.cause import Target
from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import statement
from io_benchmark.context import Context
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.number_text import count, listed
from io_benchmark.operations.investigation_steps import Steps
from io_benchmark.operations.investigation_tasks import InvestigationOptions, InvestigationTasks
from io_benchmark.report.content import text_of
from io_benchmark.sources.taskcluster.addresses import TaskAddress, default_root_url, parse
from io_benchmark.sources.taskcluster.queue_runs import read_task
from io_benchmark.submit.task_creation import TaskQueue
from io_benchmark.text import clean, clean_name

_POOLS_NAMED = 10


def investigate(address: str, options: InvestigationOptions, context: Context) -> Investigation:
    """Do the steps until there is a conclusion."""
    task = parse(address, context.environment)
    if not isinstance(task, TaskAddress):
        raise UsageError(f"{clean_name(address)}: is not a task; give task:ID or its web address")
    # Before the first step: a mistake in it must not end hours of measuring.
    pools_file = PoolDefinitions.read(options.pools_file) if options.pools_file else None
    if task.root_url != default_root_url(context.environment):
        raise UsageError(f"{task}: set TASKCLUSTER_ROOT_URL to {task.root_url}")
    queue_task, image = TaskQueue.connect(context.environment, partial(read_task, task))
    new_tasks = InvestigationTasks.open(task, image, queue_task.engine, options, context)
    steps = Steps(task, queue_task, options, context, new_tasks)
    findings = Findings()
    conclusion: Conclusion | None = None
    try:
        for findings in steps.findings():
            conclusion = conclude(findings)
            if conclusion is not None:
                break
    except ResultError as error:
        conclusion = _open(f"{steps.title} is not known", str(error))
    except KeyboardInterrupt:
        context.tell(f"The investigation was stopped; {new_tasks.how_to_resume}")
        raise
    if conclusion is None:
        conclusion = _open("this was a dry run", "omit --dry-run")
    report = Investigation(
        address,
        findings,
        conclusion,
        remarks=tuple(dict.fromkeys(steps.remarks)),
        sources=tuple(dict.fromkeys(steps.sources)),
    )
    fix, slowness = conclusion.fix, findings.slowness
    if fix is not None and slowness is not None and fix.target is Target.POOL:
        report = _propose_change(report, fix, slowness.queue, pools_file)
        if report.patch:
            new_tasks.write("pools.patch", report.patch.encode())
    return report


def _open(answer: str, todo: str) -> Conclusion:
    certainty = statement("nothing is concluded yet")
    next_step = statement("{todo}", todo=todo)
    return Conclusion(Outcome.OPEN, statement(answer), certainty, next_steps=(next_step,))


def _propose_change(
    report: Investigation, fix: Fix, queue: str, pools_file: PoolDefinitions | None
) -> Investigation:
    """Add the patch of a file of pools' definitions, else what to write there and why."""
    if pools_file is None:
        note = "--pools-file FILE makes a patch of it"
        return replace(report, fragment=_fragment(fix, queue), note=note)
    try:
        patch, pools = pools_file.change_machines(queue, fix)
    except NoPatchError as error:
        note = f"{clean_name(pools_file.file)}: no patch: {clean(str(error))}"
        return replace(report, fragment=_fragment(fix, queue), note=note)
    note = ""
    if len(pools) > 1:
        note = f"All of these pools get it: {clean(listed(pools, _POOLS_NAMED))}"
    return replace(report, patch=patch, note=note)


def _fragment(fix: Fix, queue: str) -> str:
    """Return what to write into a file of pools' definitions."""
    # Anybody may have written the machine types: none of them ends a line.
    present_type, new_type = clean(fix.machine_type), clean(fix.new_machine_type)
    if new_type:
        line = f"machine_type: {new_type}  # now {present_type}"
    elif fix.new_network_disk is not None:
        line = f"disk: {_named(fix.new_network_disk)}"
        if fix.network_disk is not None:
            line += f"  # now {_named(fix.network_disk)}"
    elif fix.local_ssds_to_add:
        line = f"disks: {fix.local_ssds_to_add} more local SSD, of type SCRATCH"
    elif present_type:
        line = f"instance_types: without {present_type}"
    else:
        line = f"# {clean(text_of(fix.remedy.action))}"
    return f"# worker-pools.yml, pool_id {clean_name(queue)}\n{line}"


def _named(disk: NetworkDisk) -> str:
    """Return 'pd-balanced, 200 GB', as far as it is named."""
    size = "" if disk.size_gib is None else f"{count(disk.size_gib)} GB"
    return ", ".join(filter(None, (clean(disk.kind), size)))
