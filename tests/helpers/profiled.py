# SPDX-License-Identifier: MPL-2.0
"""Runs a command below the worker's script, and reads its profile."""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from worker import script

from io_benchmark.results.format import TaskProfile


@dataclass
class Profiled:
    """Where the profile goes, and the options before the command."""

    path: Path
    options: list[str] = field(default_factory=list)
    python: str = sys.executable

    def command(self, *command: str, prelude: str = "") -> list[str]:
        given = ("measure", *self.options, "--output", str(self.path), "--", *command)
        return script(*given, python=self.python, prelude=prelude)

    def run(
        self, *command: str, prelude: str = "", stdin: bytes = b"", **options: Any
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            self.command(*command, prelude=prelude),
            input=stdin,
            capture_output=True,
            check=False,
            timeout=120,
            **options,
        )

    def start(self, *command: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            self.command(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def measure(self, *command: str, **options: Any) -> TaskProfile:
        """Return the profile of a command that succeeds and prints no errors."""
        done = self.run(*command, **options)
        assert (done.returncode, done.stderr) == (0, b"")
        return self.profile()

    def profile(self) -> TaskProfile:
        """The profile, in which every null of a part has a reason."""
        profile = msgspec.json.decode(self.path.read_bytes(), type=TaskProfile)
        document: Any = msgspec.json.decode(self.path.read_bytes())
        parts = {name: document[name] for name in ("usage", "other_cpu_ms")}
        for owner, counts in document["syncs"].items():
            parts |= {f"syncs.{owner}.{name}": count for name, count in counts.items()}
        missing = {name for name, part in parts.items() if part is None}
        assert missing == {name for name in profile.unknown if not name.startswith("storage.")}
        assert all(profile.unknown.values())
        return profile
