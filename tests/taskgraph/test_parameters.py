# SPDX-License-Identifier: MPL-2.0
"""How a decision task comes to its selection: a commit's message, and the tasks that names mean.

The last test is taskgraph's own decision, in a checkout, up to where it would create tasks.
"""

import functools
import json
import logging
import os
import subprocess
from types import SimpleNamespace

import pytest
import yaml
from checkout import ROOT
from embedding import shell_text
from pytest_taskgraph import make_graph, make_task
from user_mistakes import mistake

from io_benchmark_taskgraph import actions
from io_benchmark_taskgraph import parameters as module
from io_benchmark_taskgraph.parameters import (
    _requested,
    _select,
    _select_targets,
    decision_parameters,
)
from io_benchmark_taskgraph.versions import MISTAKES_NEED_LOGGING

from .events import FROM_FORK
from .whole_graph import ALLOW_PARAMETERS, IMAGE, REPORT, REPORT_IMAGE, created, taskgraph

FORM = (
    "write try: -j NAME[,NAME] [--rebuild N] [--capacities] without spaces between the names, "
    "N at most 100"
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("try: -j amd-16,intel", (["amd-16", "intel"], 0, False)),
        ("Faster\n\n  try:  -j  amd-16  \n\nmore", (["amd-16"], 0, False)),
        ("Faster\r\n\r\ntry: -j amd-16\r\n", (["amd-16"], 0, False)),
        ("try: -j amd-16 --rebuild 1", (["amd-16"], 1, False)),
        ("try: -j a,b --rebuild 100", (["a", "b"], 100, False)),
        ("try: -j a --capacities", (["a"], 0, True)),
        ("try: -j a --rebuild 2 --capacities", (["a"], 2, True)),
        *(
            (prose, None)
            for prose in (
                "try: another approach",
                "try: re-join the halves",
                "try: a --rebuild-all of it",
                "retry: -j amd-16",
                "Please write try: -j amd-16",
                "",
            )
        ),
    ],
)
def test_messages(message, expected):
    """Only a separate line requests tasks, and only with -j."""
    assert _requested(message) == expected


@pytest.mark.parametrize(
    "line",
    [
        "try: -j amd-16, intel",
        "try: -j amd-16,,intel",
        "try: -j amd-16,",
        "try: -j",
        "try: -b do -p linux64 -j amd-16",
        "try: -j amd-16 -j intel",
        "try: -j --all",
        "try: --rebuild 3",
        "try: -j amd-16 --rebuild",
        "try: --rebuild -j amd-16",
        "try: -j a --capacities --rebuild 2",
        "try: -j a --capacities=yes",
        "try: --rebuild 6 -j amd-16",
        "try: -j=amd-16",
        "try: -j a --rebuild=3",
        *(f"try: -j amd-16 --rebuild {number}" for number in ("0", "101", "3.0", "six")),
    ],
)
def test_lines_of_another_form(line):
    """A line that asks in another way is not guessed at."""
    text = f"the commit message's line {line!r} is not understood; {FORM}"
    assert mistake(_requested, f"Faster\n\n{line}\n") == text


@pytest.fixture
def decide(monkeypatch):
    """Fill the parameters of a decision task whose commit has this message."""

    def get_message(message, revision):
        assert revision == "abc"
        return message.decode()

    def run(message, **changes):
        repository = SimpleNamespace(get_commit_message=functools.partial(get_message, message))
        monkeypatch.setattr(module, "get_repository", lambda _folder: repository)
        values = {"tasks_for": "github-push", "target_tasks_method": "default", "head_rev": "abc"}
        values |= changes
        decision_parameters(None, values)
        assert values["io_benchmark_perfherder"] == ""  # what a message cannot ask for
        names = ("target_tasks_method", "io_benchmark_jobs", "io_benchmark_replicates")
        return *(values[name] for name in names), values["io_benchmark_capacities"]

    return run


MESSAGE = b"Faster\n\ntry: -j amd-16,intel --rebuild 6 --capacities\n"
CHOSEN = ("io-benchmark", ["amd-16", "intel"], 6, True)
USUAL: tuple[str, list[str], int, bool] = ("default", [], 0, False)


@pytest.mark.parametrize(
    ("message", "changes", "expected"),
    [
        (MESSAGE, {}, CHOSEN),
        (MESSAGE, {"tasks_for": "github-pull-request"}, CHOSEN),
        (b"Faster", {}, USUAL),
        (b"\xff", {}, USUAL),
        # Who chose otherwise, or may not choose, gets the default list.
        *(
            (MESSAGE, {"tasks_for": event}, USUAL)
            for event in ("github-pull-request-untrusted", "cron", "action")
        ),
        *(
            (MESSAGE, {"target_tasks_method": method}, (method, [], 0, False))
            for method in ("nothing", "io-benchmark")
        ),
    ],
)
def test_commit_messages(decide, message, changes, expected):
    """A push and a collaborator's pull request select tasks, and how many."""
    assert decide(message, **changes) == expected


def task(kind, pool, number=""):
    attributes = {"job_try_name": kind, "io_benchmark_pool": pool}
    return make_task(f"{kind}-{pool}{number}", attributes=attributes)


FIRST, SECOND, INTEL = "io-benchmark-amd-16-1", "io-benchmark-amd-16-2", "io-benchmark-intel"
REPLICATES = [
    make_task(IMAGE),
    task("io-benchmark", "amd-16", "-1"),
    task("io-benchmark", "amd-16", "-2"),
    task("io-benchmark", "intel"),
]
BOTH = ["io-benchmark", "io-benchmark-all"]
BOTH_KINDS = [
    *(task(kind, pool) for kind in BOTH for pool in ("amd-16", "intel")),
    make_task(REPORT, attributes={"job_try_name": BOTH}),
]


@pytest.mark.parametrize(
    ("tasks", "names", "labels"),
    [
        (REPLICATES, ["io-benchmark"], [FIRST, SECOND, INTEL]),
        (REPLICATES, ["amd-16"], [FIRST, SECOND]),
        (REPLICATES, [SECOND], [SECOND]),
        (REPLICATES, ["intel", FIRST, "intel", IMAGE], [IMAGE, FIRST, INTEL]),
        # The label that the task has without replicates.
        (REPLICATES, ["io-benchmark-amd-16"], [FIRST, SECOND]),
        # A pool's name is that of its first task; the report comes with either job.
        (BOTH_KINDS, ["io-benchmark"], ["io-benchmark-amd-16", INTEL, REPORT]),
        (BOTH_KINDS, ["amd-16"], ["io-benchmark-amd-16"]),
        (BOTH_KINDS, ["io-benchmark-all-amd-16"], ["io-benchmark-all-amd-16"]),
    ],
)
def test_names(tasks, names, labels):
    """A name is a job's, a pool's or a label; the tasks keep their order."""
    assert _select(tasks, names) == labels


def test_unknown_names():
    """A name that means nothing is a mistake, even next to good ones.

    All names are listed once, but for the numbers of replicates.
    """
    known = f"intel, amd-16, io-benchmark, {INTEL}, io-benchmark-amd-16, {IMAGE}"
    text = f"no task is called 'io-b'; there are: {known}"
    assert mistake(_select, REPLICATES, ["intel", "io-b"]) == text
    assert mistake(_select, [], ["x"]) == "no task is called 'x'; there are: none"


def targets(**parameters):
    return _select_targets(make_graph(*REPLICATES), parameters, None)


def test_targets():
    """Every pool where the parameter has no names.

    The replicates of one pool may be in one series.
    """
    assert targets(io_benchmark_jobs=[], io_benchmark_perfherder="pool") == [FIRST, SECOND, INTEL]
    one_series = {"io_benchmark_perfherder": "neutral", "io_benchmark_jobs": ["amd-16", IMAGE]}
    assert targets(**one_series) == [IMAGE, FIRST, SECOND]


def test_mistakes_are_logged(caplog, decide):
    """taskgraph's command line prints nothing for such an error from 23.1 on, so it is logged."""
    caplog.set_level(logging.ERROR)
    messages = [
        mistake(decide, b"try: -j amd-16, intel"),
        mistake(targets, io_benchmark_jobs=["x"]),
        mistake(targets, io_benchmark_perfherder="neutral"),
    ]
    assert caplog.messages == (messages if MISTAKES_NEED_LOGGING else [])
    assert [record.exc_info for record in caplog.records if record.exc_info] == []
    assert messages[1].startswith("no task is called 'x'; there are: intel, amd-16")
    assert messages[2] == (
        "the parameter io_benchmark_perfherder: neutral puts every pool into one series, and "
        "amd-16, intel are selected; name one pool, and the other in another push"
    )


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout of a collaborator's pull request, which sets parameters by a file.

    And its revision.
    """
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    # Some versions of taskgraph look for notes at the contributor's repository.
    local = tmp_path.with_name("gitconfig")
    local.write_text(f'[url "{tmp_path}"]\n    insteadOf = {FROM_FORK["--head-repository"]}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(local))
    for part in (".taskcluster.yml", "taskcluster", "scripts/io-benchmark", "python"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / part).symlink_to(ROOT / part)
    parameters = {
        "io_benchmark_perfherder": "neutral",
        "io_benchmark_replicates": 2,
        # So that no network is asked for the images.
        "do_not_optimize": [IMAGE, REPORT_IMAGE],
    }
    config = {"version": 2, "parameters": parameters}
    (tmp_path / "try_task_config.json").write_text(json.dumps(config))
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    commit = ["commit", "--quiet", "-m", "Faster\n\ntry: -j amd-16 --rebuild 9"]
    for arguments in (["init", "--quiet"], ["add", "."], commit):
        subprocess.run([*git, *arguments], cwd=tmp_path, check=True)
    head = subprocess.check_output([*git, "rev-parse", "HEAD"], cwd=tmp_path, text=True)
    return tmp_path, head.strip()


def test_selection(checkout, monkeypatch):
    """The message chooses the pool, and the file how often and the series; the images come with it.

    Both actions are offered, the one about workers on reports alone.
    """
    folder, revision = checkout
    monkeypatch.setenv("TASK_ID", "Prp_WjpGRx26VH-wA8fjTA")
    monkeypatch.setenv("TASKCLUSTER_ROOT_URL", "https://tc.example.com")
    options = {
        **FROM_FORK,
        "--tasks-for": "github-pull-request",
        "--base-rev": revision,
        "--head-rev": revision,
    }
    arguments = [f"{name}={value}" for name, value in options.items()]
    arguments += ALLOW_PARAMETERS
    done = taskgraph("decision", *arguments, cwd=folder, timeout=60)
    assert done.returncode == 0, done.stderr
    labels = ["io-benchmark-amd-16-1", "io-benchmark-amd-16-2"]
    artifacts = folder / "artifacts"
    assert sorted(json.loads((artifacts / "target-tasks.json").read_text())) == labels
    nodes = json.loads((artifacts / "task-graph.json").read_text()).values()
    tasks = {node["label"]: node["task"] for node in nodes}
    assert sorted(tasks) == created(labels)
    values = yaml.safe_load((artifacts / "parameters.yml").read_text())
    assert values["target_tasks_method"] == "io-benchmark"
    for label in labels:
        command = shell_text(tasks[label]["payload"]["command"])
        assert '--perfherder "${IO_BENCHMARK_PERFHERDER:-neutral}"' in command
    offered = json.loads((artifacts / "actions.json").read_text())["actions"]
    by_name = {action["name"]: (action["context"], action["extra"]) for action in offered}
    report, generic = {"kind": "io-benchmark-report"}, {"actionPerm": "generic"}
    pools = [{"kind": "io-benchmark"}, {"kind": "io-benchmark-gate"}]
    assert by_name[actions.CONFIRM] == ([*pools, report], generic)
    assert by_name[actions.MORE_WORKERS] == ([report], generic)
