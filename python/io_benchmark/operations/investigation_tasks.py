# SPDX-License-Identifier: MPL-2.0
"""The tasks that an investigation creates, and its journal, a folder that remembers their groups.

Results are read again by each call. Anybody may have written the journal, so it is bounded and
strictly typed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
import slugid
from msgspec import Meta, Struct
from msgspec.structs import replace

from io_benchmark.context import Context
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import ResultError, UsageError
from io_benchmark.files import write_below
from io_benchmark.operations import submit as submission
from io_benchmark.paths import DEFAULT_FOLDER, resolve_path
from io_benchmark.results import load
from io_benchmark.results.reader import DECODE_ERRORS, decode_problem
from io_benchmark.sources.run_results import NATIVE
from io_benchmark.sources.taskcluster.access import Access
from io_benchmark.sources.taskcluster.addresses import TaskAddress
from io_benchmark.submit.definitions import SubmissionOptions
from io_benchmark.submit.values import Image
from io_benchmark.text import clean_name

_FILE = "investigation.json"
_MOST_BYTES = 256 * 1024  # of a journal, which has less than 1 kB. Chosen.
_ADVICE = "name another folder by --journal"
# What tasks measure
POOLS = "pools"  # the usual workloads, until the pools are decided
CAPACITIES = "capacities"  # what predictions use, once
_Group = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{22}$")]


class InvestigationOptions(Struct, frozen=True, kw_only=True):
    """What is known of the task, and how further tasks are created."""

    runs: Sequence[str]  # addresses of further runs: tables, groups
    on: Sequence[str]  # addresses of results of the pools
    profiles: Sequence[str]  # addresses of profiles of the task
    project: str  # in the index
    pools_file: Path | None
    journal: Path | None
    dry_run: bool
    yes: bool
    budget_hours: float  # for the tasks of a step
    image: Image | None  # None: that of the task
    owner: str | None
    root: Path | None
    prices: Mapping[str, Price]


class _Journal(Struct, forbid_unknown_fields=True):
    version: Annotated[int, Meta(ge=1, le=1)]
    task: str  # its address in a browser
    # By what they measure, from before their first task was created.
    groups: dict[str, _Group] = {}
    measured: list[str] = []  # what the tasks that ended measured


class InvestigationTasks(Struct):
    task: TaskAddress
    image: Any  # of the task's payload, which anybody may have written
    engine: str | None  # what ran the task
    options: InvestigationOptions
    context: Context
    folder: Path
    journal: _Journal

    @classmethod
    def open(
        cls,
        task: TaskAddress,
        image: Any,
        engine: str | None,
        options: InvestigationOptions,
        context: Context,
    ) -> Self:
        """Read the journal of this task, or begin one; refuse that of another task or version."""
        path = options.journal or Path(DEFAULT_FOLDER) / f"investigation-{task.task_id}"
        name = f"--journal {clean_name(str(path))}"
        url = replace(task, run_id=None).url
        folder = resolve_path(path, name)
        journal = _Journal(version=1, task=url)
        if (folder / _FILE).exists():
            journal = _read(folder / _FILE, name)
        if journal.task != url:
            raise UsageError(f"{name}: is of another task, {clean_name(journal.task)}; {_ADVICE}")
        opened = cls(task, image, engine, options, context, folder, journal)
        # Before anything is measured that could not be kept.
        opened._save()
        return opened

    def write(self, name: str, data: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_below(self.folder, name, data)
        except OSError as error:
            raise UsageError(
                f"--journal {clean_name(str(self.folder))}: cannot be written ({error.strerror}); "
                f"{_ADVICE}"
            ) from None

    def _save(self) -> None:
        self.write(_FILE, msgspec.json.format(msgspec.json.encode(self.journal), indent=2) + b"\n")

    @property
    def obstacle(self) -> str:
        """Return why no tasks may be created; nothing where they may."""
        if Access.of(self.task.root_url, self.context.environment).who == "anonymously":
            return "no credentials; sign in (taskcluster signin)"
        if self.options.yes or self.context.is_interactive:
            return ""
        return "creating tasks needs --yes where nobody can be asked; give it"

    @property
    def how_to_resume(self) -> str:
        return f"the same command resumes; its journal is {clean_name(str(self.folder))}"

    def confirm(self, group: str, baseline: str) -> None:
        """Create the tasks that confirm the causes of a group, and wait for them."""
        submission.confirm(group, self._submission(baseline), self.context)

    def measure(self, queues: Mapping[str, str], what: str = POOLS) -> str:
        """Measure these worker pools, the last as the baseline; return the group.

        Tasks that compare the pools are created until they decide, those that measure capacities
        once. Tasks that exist are not created again.
        """
        if what in self.journal.measured:
            return self.journal.groups[what]
        jobs = tuple(queues)
        is_once = what == CAPACITIES
        option = "--capacities" if is_once else "--rebuild 3"
        push = f"git commit --allow-empty --message 'try: -j {','.join(jobs)} {option}'"
        if self.obstacle:
            raise ResultError(f"{self.obstacle}, or push it and give the push by --on: {push}")
        options = replace(
            self._submission(jobs[-1]),
            jobs=jobs,
            # A table may name a pool without its provisioner: then the kind's own is used.
            queues={pool: queue for pool, queue in queues.items() if "/" in queue},
            capacities=is_once,
            replicates=1 if is_once else None,
            until_decided=not is_once,
        )
        if options.image is None and self.engine != NATIVE:
            raise ResultError("the task has no image for the benchmark; give --image")
        # Before the first task is there: what was stopped has the same group.
        group = self.journal.groups.setdefault(what, slugid.nice())
        self._save()
        try:
            submission.submit(options, self.context, group)
        except ResultError as error:
            raise ResultError(
                f"{error}; {self.how_to_resume}; or push it and give the push by --on: {push}"
            ) from None
        self.journal.measured.append(what)
        self._save()
        return group

    def _submission(self, baseline: str) -> SubmissionOptions:
        """Return the options that all new tasks have."""
        return SubmissionOptions(
            root=self.options.root,
            image=self.options.image or self._image_of_task(),
            owner=self.options.owner,
            dry_run=self.options.dry_run,
            yes=self.options.yes,
            budget_hours=self.options.budget_hours,
            baseline=baseline,
            prices=self.options.prices,
        )

    def _image_of_task(self) -> Image | None:
        """Return the slow task's image, if it is one that other tasks can have."""
        if isinstance(self.image, dict) and isinstance(self.image.get("taskId"), str):
            return {name: word for name, word in self.image.items() if isinstance(word, str)}
        if isinstance(self.image, str) and self.image:
            return self.image
        return None


def _read(path: Path, option: str) -> _Journal:
    data = b""
    try:
        data = load(path, _MOST_BYTES)
        return msgspec.json.decode(data, type=_Journal)
    except DECODE_ERRORS as error:
        problem = clean_name(decode_problem(error, data))
        raise UsageError(f"{option}: cannot be read ({problem}); {_ADVICE}") from None
    except ResultError as error:
        raise UsageError(f"{option}: {error}; {_ADVICE}") from None
