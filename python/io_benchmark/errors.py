# SPDX-License-Identifier: MPL-2.0
"""All errors that a user can meet. A message is one line: what failed, the value, what to do."""

from io_benchmark.text import clean_lines


class IoBenchmarkError(Exception):
    """The base of all errors; `cli` alone catches it and prints `error: …`."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(clean_lines(message))


class UsageError(IoBenchmarkError):
    """The command line names something that does not exist, or cannot be combined."""

    exit_code = 2


class ResultError(IoBenchmarkError):
    """A result cannot be read."""


class GaveUpError(ResultError):
    """A request failed every time that it was repeated."""


class TooLargeError(ResultError):
    """An answer is larger than its limit."""


class NoArtifactError(ResultError):
    """A run left no result; an older run may have one."""


class MissingError(ResultError):
    """There is no such task, group, route or file, or no such object in a storage."""


class RequestRefusedError(ResultError):
    """A deployment refuses a request; the message explains why."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)
