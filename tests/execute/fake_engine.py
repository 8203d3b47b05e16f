# SPDX-License-Identifier: MPL-2.0
"""Stands in for podman and docker: notes its arguments and does what FAKE_ENGINE_FAILS names.

A container is a file in FAKE_ENGINE_STATE; its command is not run, `start` says what it was.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

STATE = Path(os.environ["FAKE_ENGINE_STATE"])
FAILS = os.environ.get("FAKE_ENGINE_FAILS", "").split(",")


def main(verb: str, *arguments: str) -> int:
    last = arguments[-1] if arguments else ""
    container = STATE / f"container-{last}"
    with (STATE / "calls").open("a") as calls:
        calls.write(json.dumps([verb, *arguments]) + "\n")
    if verb in FAILS:
        print(f"some words before\nCannot {verb}: not today\n", file=sys.stderr)
        return 125
    if f"interrupt-{verb}" in FAILS:
        # As a Ctrl-C does, that comes while this call is under way.
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(0.2)
    if verb == "image":
        return 0 if (STATE / "image").exists() else 1
    if verb == "build":
        files = [path for path in Path(last).rglob("*") if path.is_file()]
        names = sorted(path.relative_to(last).as_posix() for path in files)
        (STATE / "image").write_text(json.dumps(names))
        print("STEP 1/1: FROM nothing")
    elif verb == "create":
        (STATE / f"container-{arguments[arguments.index('--name') + 1]}").write_text("created")
    elif verb == "start":
        container.write_text("running")
        print("[task TIME] started\r")
        while "hang" in FAILS and container.read_text() == "running":
            time.sleep(0.02)
        return 3
    elif verb == "cp":
        # Every folder has a result, no file is there.
        if not arguments[0].endswith("/io-benchmark"):
            print(f"Error: {arguments[0]}: no such file or directory")
            return 125
        Path(last).mkdir()
        (Path(last) / "io-benchmark.json").write_text("{}")
    elif verb == "kill":
        container.write_text("killed")
    elif verb == "rm":
        container.unlink()
    return 0


sys.exit(main(*sys.argv[1:]))
