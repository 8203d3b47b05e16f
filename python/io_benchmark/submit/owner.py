# SPDX-License-Identifier: MPL-2.0
"""The owner of the tasks: the e-mail address that the queue requires.

It comes from --owner, else from git's user.email.
"""

import re
import subprocess
from collections.abc import Mapping

# What the queue takes: at most 255 characters in the form of an address.
_ADDRESS = re.compile(
    r"(?=.{3,255}$)[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*"
)
_GIT_S = 5

ADVICE = "give your e-mail address with --owner, or set it with: git config user.email ADDRESS"


def is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None


def known_owner(environment: Mapping[str, str]) -> str | None:
    """Return git's user.email, if it is an address."""
    try:
        done = subprocess.run(
            ["git", "config", "user.email"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    address = done.stdout.decode("utf-8", "replace").strip()
    return address if is_address(address) else None
