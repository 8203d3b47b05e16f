# SPDX-License-Identifier: MPL-2.0
"""Results of tasks in a Taskcluster deployment, as a source."""

from functools import partial

from io_benchmark.sources import protocol
from io_benchmark.sources.taskcluster import addresses as forms
from io_benchmark.sources.taskcluster.addresses import TaskAddress, TaskclusterAddress
from io_benchmark.text import clean_name

# Imports within methods: the client takes 0.2 s to load, and --help and folders do not need it.
# ruff: noqa: PLC0415


class TaskclusterSource(protocol.Source):
    forms = ("task:ID", "group:ID", "index:ROUTE", "a Taskcluster or Treeherder address")

    def parse(self, address: str, environment: protocol.Environment) -> TaskclusterAddress | None:
        return forms.parse(address, environment)

    def read(self, addresses: protocol.Addresses, request: protocol.Reading) -> None:
        from io_benchmark.sources.taskcluster.task_results import ResultReader

        ResultReader(request).read_all(_meanings(addresses, request))

    def read_runs(self, addresses: protocol.Addresses, query: protocol.RunQuery) -> None:
        from io_benchmark.sources.taskcluster.listing import read_listed
        from io_benchmark.sources.taskcluster.queue_runs import read_queue_runs

        read = partial(read_queue_runs, query)
        read_listed(_meanings(addresses, query), query, read, every_kind=True)

    def read_profiles(self, addresses: protocol.Addresses, query: protocol.Reading) -> None:
        from io_benchmark.sources.taskcluster.listing import read_listed
        from io_benchmark.sources.taskcluster.task_results import ProfileReader

        meanings = _meanings(addresses, query)
        read_listed(meanings, query, ProfileReader(meanings, query).read, every_kind=True)

    def read_logs(self, addresses: protocol.Addresses, query: protocol.LogQuery) -> None:
        from io_benchmark.sources.taskcluster.listing import read_listed
        from io_benchmark.sources.taskcluster.task_logs import TaskLogs

        meanings = _meanings(addresses, query)
        logs = TaskLogs(query)
        try:
            read_listed(meanings, query, logs.read_tasks, every_kind=True, alone=True)
        except TimeoutError:
            logs.remark_on_time()

    def wait(
        self,
        addresses: protocol.Addresses,
        environment: protocol.Environment,
        limit_s: float,
        tell: protocol.Tell,
    ) -> None:
        from io_benchmark.sources.taskcluster.task_watch import wait_for_tasks

        meanings = _meanings(addresses, protocol.Reading(environment))
        wait_for_tasks(meanings, environment, limit_s, tell)


def _meanings(
    addresses: protocol.Addresses, reading: protocol.Reading
) -> dict[int, TaskclusterAddress]:
    """Return what the addresses mean; say which deployment is meant, and what one leaves out."""
    for address in addresses:
        if isinstance(address.meaning, TaskAddress) and address.meaning.selected_of_push:
            reading.remark(
                protocol.Position(address.number),
                f"{clean_name(address.text)}: the address selects one job of a push, and only that "
                "job is read; remove selectedTaskRun from it to read the whole push",
            )
    if not reading.environment.get(forms.ROOT_VARIABLE):
        unnamed = [
            address
            for address in addresses
            if not address.text.strip().startswith(address.meaning.root_url)
        ]
        for address in unnamed[:1]:
            remark = forms.default_remark(address.meaning.root_url)
            reading.remark(protocol.Position(address.number), remark)
        reading.on_default |= {address.number for address in unnamed}
    return {address.number: address.meaning for address in addresses}
