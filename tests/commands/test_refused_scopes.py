# SPDX-License-Identifier: MPL-2.0
"""A person who lacks a scope reads the whole of its name, which they have to ask for."""

import re

import program
import pytest
from loopback import Loopback
from loopback_auth import ANONYMOUS
from loopback_deployment import ARTIFACT, GROUP


@pytest.mark.parametrize("on_terminal", [False, True])
@pytest.mark.parametrize(
    ("command", "scope"),
    [("compare", f"queue:get-artifact:{ARTIFACT}"), ("tasks", f"queue:list-task-group:{GROUP}")],
)
def test_the_whole_name(
    monkeypatch: pytest.MonkeyPatch, command: str, scope: str, on_terminal: bool
) -> None:
    """Reports do not cut what could not be read, and why."""
    monkeypatch.setenv("COLUMNS", "80")
    anonymous = () if command == "tasks" else ANONYMOUS
    with Loopback(anonymous=anonymous, private=True) as loopback:
        done = program.run(
            command,
            f"group:{GROUP}",
            environment=loopback.environment,
            expected=1,
            on_terminal=on_terminal,
        )
    shown = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).split())
    assert re.search(f"needs (the scope )?{re.escape(scope)} and was made anonymously", shown)
    assert "…" not in shown
