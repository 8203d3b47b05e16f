# SPDX-License-Identifier: MPL-2.0
"""The decision task's shell command, run by bash as a worker would."""

import json
import os
import subprocess
import sys

import pytest

from .events import BASE, EVENTS, FORK, GROUP_ID, HEAD, MAIN, context, render, render_all


@pytest.fixture
def run(tmp_path):
    """Run a rendered task's shell command with a taskgraph that notes its arguments."""
    base = tmp_path / "user base"
    (base / "bin").mkdir(parents=True)
    stub = base / "bin" / "taskgraph"
    stub.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "asked = {k: v for k, v in os.environ.items() if k.startswith('ACTION_')}\n"
        "json.dump([sys.argv[1:], asked], open(os.environ['NOTE'], 'w'))\n"
    )
    stub.chmod(0o755)
    work = tmp_path / "src"
    work.mkdir()
    note = tmp_path / "note.json"

    def run_task(task):
        environment = {
            "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin",  # noqa: PTH120
            "PYTHONUSERBASE": str(base),
            "NOTE": str(note),
            **task["payload"]["env"],
        }
        *_, bash, options, command = task["payload"]["command"]
        assert (bash, options) == ("bash", "-cx")
        subprocess.run(
            [bash, options, command], cwd=work, env=environment, check=True, capture_output=True
        )
        assert [path.name for path in work.iterdir()] == ["artifacts"]
        return json.loads(note.read_text())

    return run_task


def options(arguments):
    return dict(argument.split("=", 1) for argument in arguments if "=" in argument)


FROM_FORK = {
    "--pushlog-id": "0",
    "--pushdate": "0",
    "--repository-type": "git",
    "--project": "io-benchmark",
    "--owner": "contributor@users.noreply.github.com",
    "--level": "1",
    "--base-repository": MAIN,
    "--base-ref": "main",
    "--base-rev": BASE,
    "--head-repository": FORK,
    "--head-ref": "faster-disks",
    "--head-rev": HEAD,
}
MERGED = {**FROM_FORK, "--level": "3", "--head-repository": MAIN}
METHOD = {"--target-tasks-method": "io-benchmark"}
PUSH_REF = {"--base-ref": "refs/heads/main", "--head-ref": "refs/heads/main"}


@pytest.mark.parametrize(
    ("tasks_for", "expected", "flags"),
    [
        ("github-push", {**MERGED, "--owner": "engineer@example.com", **PUSH_REF}, []),
        ("github-pull-request", FROM_FORK, ["--allow-parameter-override"]),
        ("github-pull-request-untrusted", FROM_FORK, []),
        ("github-issue-comment", {**FROM_FORK, "--project": "io-benchmark-pr", **METHOD}, []),
        (
            "cron",
            {
                **MERGED,
                "--owner": "cron@noreply.mozilla.org",
                "--base-rev": HEAD,
                "--head-ref": "main",
                **METHOD,
            },
            [],
        ),
    ],
)
def test_decision_command(run, tasks_for, expected, flags):
    """taskgraph is called with the event's own values, and takes them."""
    arguments, _ = run(render(context(tasks_for)))
    assert arguments[0] == "decision"
    assert options(arguments) == {**expected, "--tasks-for": tasks_for}
    assert [argument for argument in arguments[1:] if "=" not in argument] == flags


@pytest.mark.parametrize("tasks_for", ["action", "pr-action"])
def test_action_command(run, tasks_for):
    """An action calls back with what it acts on."""
    assert run(render(context(tasks_for))) == [
        ["action-callback"],
        {
            "ACTION_TASK_GROUP_ID": GROUP_ID,
            "ACTION_TASK_ID": '"Yx4AjHXCRfyptBUIPTPtEg"',
            "ACTION_INPUT": '{"times":3}',
            "ACTION_CALLBACK": "retrigger",
        },
    ]


HOSTILE = "x'; touch hacked; $(touch hacked) `touch hacked` \"\\ &&|<>*"


def strings_replaced(value, old, new):
    if isinstance(value, dict):
        return {key: strings_replaced(item, old, new) for key, item in value.items()}
    return value.replace(old, new) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("tasks_for", "chosen", "option"),
    [
        ("github-pull-request", "faster-disks", "--head-ref"),
        ("github-pull-request-untrusted", "faster-disks", "--head-ref"),
        ("github-issue-comment", "faster-disks", "--head-ref"),
        ("github-push", "engineer@example.com", "--owner"),
    ],
)
def test_nothing_that_others_choose_is_shell(run, tasks_for, chosen, option):
    """A branch's name or an address that is a shell command stays an argument."""
    given = context(tasks_for)
    given["event"] = strings_replaced(given["event"], chosen, HOSTILE)
    task = render(given)
    assert HOSTILE not in task["payload"]["command"][-1]
    arguments, _ = run(task)
    assert options(arguments)[option] == HOSTILE


def test_every_command_is_the_same_text():
    """Nothing of an event is in the shell's text, apart from what marks its kind."""
    texts: dict[str, list[str]] = {}
    for tasks_for in EVENTS:
        given = context(tasks_for)
        plain = render(given)["payload"]["command"][-1]
        for key in ("event", "repository", "push", "action"):
            for old in ("main", "engineer", "contributor", HEAD, BASE, GROUP_ID):
                if key in given:
                    changed = {**given, key: strings_replaced(given[key], old, f"{old}-other")}
                    for task in render_all(changed):
                        assert task["payload"]["command"][-1] == plain
        texts.setdefault(plain, []).append(tasks_for)
    assert sorted(sorted(names) for names in texts.values()) == [
        ["action", "pr-action"],
        ["cron", "github-issue-comment"],
        ["github-pull-request"],
        ["github-pull-request-untrusted", "github-push"],
    ]
