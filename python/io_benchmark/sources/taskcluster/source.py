# SPDX-License-Identifier: MPL-2.0
"""Results of tasks in a Taskcluster deployment, as a source."""

from io_benchmark.sources.protocol import (
    Addresses,
    Environment,
    Position,
    ProfileQuery,
    ReadLog,
    ReadRequest,
    RunQuery,
    Source,
    Tell,
)
from io_benchmark.sources.taskcluster import addresses as forms
from io_benchmark.sources.taskcluster.addresses import TaskAddress, TaskclusterAddress
from io_benchmark.text import clean

# Imports within methods: the client takes 0.2 s to load, which --help and folders need not wait for.
# ruff: noqa: PLC0415


class TaskclusterSource(Source):
    """Reads tasks, groups and pushes of any deployment."""

    forms = ("task:ID", "group:ID", "index:ROUTE", "a Taskcluster or Treeherder address")

    def parse(self, address: str, environment: Environment) -> TaskclusterAddress | None:
        return forms.parse(address, environment)

    def read(self, addresses: Addresses, request: ReadRequest) -> ReadLog:
        from io_benchmark.sources.taskcluster.task_results import read_results

        log = _remarks(addresses, request.environment)
        log.extend(read_results(_meanings(addresses), request))
        return log

    def read_runs(self, addresses: Addresses, query: RunQuery) -> ReadLog:
        from io_benchmark.sources.taskcluster.queue_runs import read_queue_runs

        log = _remarks(addresses, query.environment)
        log.extend(read_queue_runs(_meanings(addresses), query))
        return log

    def read_profiles(self, addresses: Addresses, query: ProfileQuery) -> ReadLog:
        from io_benchmark.sources.taskcluster.task_profiles import read_task_profiles

        log = _remarks(addresses, query.environment)
        log.extend(read_task_profiles(_meanings(addresses), query))
        return log

    def wait(
        self, addresses: Addresses, environment: Environment, limit_s: float, tell: Tell
    ) -> None:
        from io_benchmark.sources.taskcluster.task_watch import wait_for_tasks

        wait_for_tasks(_meanings(addresses), environment, limit_s, tell)


def _meanings(addresses: Addresses) -> dict[int, TaskclusterAddress]:
    return {address.number: address.meaning for address in addresses}


def _remarks(addresses: Addresses, environment: Environment) -> ReadLog:
    """Say which deployment was used by default, and what an address leaves out."""
    log = ReadLog()
    for address in addresses:
        if isinstance(address.meaning, TaskAddress) and address.meaning.selected_of_push:
            log.remark(
                Position(address.number),
                f"{clean(address.text, 200)}: the address selects one job of a push, and only that "
                "job is read; remove selectedTaskRun from it to read the whole push",
            )
    if not environment.get(forms.ROOT_VARIABLE):
        for address in addresses:
            root_url = address.meaning.root_url
            if not address.text.strip().startswith(root_url):
                log.remark(Position(address.number), forms.default_remark(root_url))
                break
    return log
