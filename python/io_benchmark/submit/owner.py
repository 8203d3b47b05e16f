# SPDX-License-Identifier: MPL-2.0
"""The owner of the tasks: the e-mail address that the queue requires.

It comes from --owner, else from git's user.email, else from the credentials' client id.
"""

import re
import subprocess
from collections.abc import Mapping

from io_benchmark.sources.taskcluster.access import CLIENT_ID

# What the queue takes: at most 255 characters in the form of an address.
_ADDRESS = re.compile(
    r"(?=.{3,255}$)[A-Za-z0-9._%+'-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*"
)
# Mozilla's login puts the kind of account before the name: mozilla-auth0/ad|Mozilla-LDAP|jane/laptop.
_LDAP_NAME = re.compile(r"(?:^|[|/])Mozilla-LDAP\|([A-Za-z0-9._-]{1,64})(?=/|$)")
_LDAP_DOMAIN = "mozilla.com"
_GIT_S = 5

ADVICE = "give your e-mail address with --owner, or set it with: git config user.email ADDRESS"


def is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None


def known_owner(environment: Mapping[str, str]) -> str | None:
    """Return the address from git or from the credentials, if any."""
    from_git = _git_address(environment)
    if is_address(from_git):
        return from_git
    return _of_client(environment.get(CLIENT_ID, ""))


def _of_client(client_id: str) -> str | None:
    for part in re.split(r"[|/]", client_id):
        if is_address(part):
            return part
    match = _LDAP_NAME.search(client_id)
    return f"{match[1]}@{_LDAP_DOMAIN}" if match else None


def _git_address(environment: Mapping[str, str]) -> str:
    """Return git's user.email; empty if git is missing or has none."""
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
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
