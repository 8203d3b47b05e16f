# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Every error that a user can meet. A message is one line: what, where, what to do."""

from io_benchmark.text import clean_lines


class IoBenchmarkError(Exception):
    """The base of them all; `cli.main` alone catches it and prints `error: …`."""

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(clean_lines(message))


class UsageError(IoBenchmarkError):
    """The command line asks for something that does not exist or does not fit together."""

    exit_code = 2


class RootError(UsageError):
    """No folder with the kinds and the script was found where one was named."""


class GraphError(IoBenchmarkError):
    """The kinds do not generate: a mistake in a YAML file or in the selection."""


class ExecutionError(IoBenchmarkError):
    """A task's command could not be started on this machine."""


class ContainerError(ExecutionError):
    """The container engine or the image is missing or refuses."""


class ResultError(IoBenchmarkError):
    """A result file cannot be read: what it is, the key, and what was expected."""


def explained(error: OSError) -> str:
    """The operating system's reason, with the path that it is about where that is known."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if isinstance(error.filename, str) else reason
