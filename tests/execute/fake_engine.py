# SPDX-License-Identifier: MPL-2.0
"""Stands in for podman and docker: notes its arguments and does what FAKE_ENGINE names.

    version, image inspect, build, create, start, inspect, kill, cp, rm

A container is a folder below FAKE_ENGINE_STATE; its command is not run, `start` says what it was.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

STATE = Path(os.environ["FAKE_ENGINE_STATE"])
FAILS = os.environ.get("FAKE_ENGINE_FAILS", "").split(",")


def option(arguments: list[str], name: str) -> str:
    """The value after `name`."""
    return arguments[arguments.index(name) + 1]


def build(arguments: list[str]) -> int:
    """Keeps the names of the context's files."""
    context = Path(arguments[-1])
    files = [path.relative_to(context).as_posix() for path in context.rglob("*") if path.is_file()]
    (STATE / "image").write_text(option(arguments, "--tag"))
    (STATE / "context").write_text(json.dumps(sorted(files)))
    print("STEP 1/1: FROM nothing")
    return 0


def create(arguments: list[str]) -> int:
    """A container is a file."""
    (STATE / f"container-{option(arguments, '--name')}").write_text("created")
    return 0


def start(arguments: list[str]) -> int:
    """Says its line as a terminal would, and waits where the test says so."""
    container = STATE / f"container-{arguments[-1]}"
    if "run" in FAILS:
        print("OCI runtime error: no such executable")
        return 127
    container.write_text("running")
    print("[task TIME] started\r")
    while "hang" in FAILS and container.read_text() == "running":
        time.sleep(0.02)
    container.write_text("exited")
    return 9


def copy(arguments: list[str]) -> int:
    """Every folder has a result, no file is there."""
    source, target = arguments[-2:]
    if not source.endswith("/io-benchmark"):
        print(f"Error: {source}: no such file or directory")
        return 125
    Path(target).mkdir()
    (Path(target) / "io-benchmark.json").write_text("{}")
    return 0


def remove(arguments: list[str]) -> int:
    """Gone, or an error as podman's."""
    try:
        (STATE / f"container-{arguments[-1]}").unlink()
    except FileNotFoundError:
        return 1
    return 0


def kill(arguments: list[str]) -> int:
    """Only a running one can be killed."""
    container = STATE / f"container-{arguments[-1]}"
    if container.exists() and container.read_text() == "running":
        container.write_text("killed")
        return 0
    return 125


def inspect(arguments: list[str]) -> int:
    """A warning first, as podman likes to give, then the format, filled in."""
    state = (STATE / f"container-{arguments[-1]}").read_text()
    print('level=warning msg="Error validating CNI config file"')
    form = option(arguments, "--format")
    print(form.replace("{{.State.Status}}", state).replace("{{.State.ExitCode}}", "3"))
    return 0


def main(arguments: list[str]) -> int:
    """One call."""
    with (STATE / "calls").open("a") as calls:
        calls.write(json.dumps(arguments) + "\n")
    verb = arguments[0]
    if verb in FAILS:
        print("some words before", file=sys.stderr)
        print(f"Cannot {verb}: not today", file=sys.stderr)
        print()
        return 1
    if f"interrupt-{verb}" in FAILS:
        # As a Ctrl-C does, that comes while this call is under way.
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.2)
    if verb == "image":
        return 0 if (STATE / "image").exists() else 1
    verbs = {"build": build, "create": create, "start": start, "cp": copy, "rm": remove}
    return {**verbs, "kill": kill, "inspect": inspect}.get(verb, lambda _: 0)(arguments)


sys.exit(main(sys.argv[1:]))
