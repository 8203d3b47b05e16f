# SPDX-License-Identifier: MPL-2.0
"""The program submit in a separate process, killed at a chosen request, and its group afterwards."""

import os
import re
import signal
import subprocess
import time

import program
from checkout import ROOT
from loopback import Fault, Loopback, Request
from loopback_deployment import Deployment
from submitted_tasks import IDENTITY

SUBMIT = ("submit", "--every", "0.05")
NAMED = re.compile(r"^Creating group:(\S+); .* io-benchmark submit (--resume \1)$", re.MULTILINE)


class Killer:
    """As faults of a loopback: SIGKILL at the n-th PUT, once.

    `answered`: the queue does what the request asks, and the answer finds nobody.
    """

    def __init__(self, number: int, *, answered: bool) -> None:
        self.pid: int | None = None
        self.has_killed = False
        self._left = number
        self._answered = answered

    def __call__(self, request: Request, _number: int) -> Fault | None:
        if self.has_killed or self.pid is None or request.method != "PUT":
            return None
        if self._left:
            self._left -= 1
            return None
        os.kill(self.pid, signal.SIGKILL)
        self.has_killed = True
        return Fault(hang_up=True) if self._answered else Fault(status=500)


def environment(loopback: Loopback) -> dict[str, str]:
    """Return the variables of somebody with credentials."""
    return {
        **IDENTITY,
        "TASKCLUSTER_ROOT_URL": loopback.url,
        "TASKCLUSTER_CLIENT_ID": "me",
        "TASKCLUSTER_ACCESS_TOKEN": "secret-token",
    }


def submit(
    loopback: Loopback, *arguments: str, killer: Killer | None = None
) -> tuple[int, str, str]:
    """Return the exit code (negative: the signal), stdout and stderr.

    Only what is to be killed gets a process.
    """
    variables = environment(loopback)
    if killer is None:
        done = program.run(*SUBMIT, *arguments, folder=ROOT, expected=None, environment=variables)
        assert "secret-token" not in done.stderr + done.stdout
        return done.exit_code, done.stdout, done.stderr
    process = subprocess.Popen(
        [*program.PROGRAM, *SUBMIT, *arguments],
        cwd=ROOT,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    killer.pid = process.pid
    stdout, stderr = process.communicate()
    killer.pid = None
    while loopback.answering:
        time.sleep(0.001)
    assert "Traceback" not in stderr
    return process.returncode, stdout, stderr


def named_group(stderr: str) -> tuple[str, list[str]]:
    """The group's id, and the options that the program says to resume it with."""
    match = NAMED.search(stderr)
    assert match is not None, stderr
    return match[1], match[2].split()


def labels(deployment: Deployment) -> list[str]:
    """Of all tasks that there are, in the order of their creation."""
    return [task["metadata"]["name"] for task in deployment.definitions.values()]
