# SPDX-License-Identifier: MPL-2.0
"""What an operation that creates or runs tasks needs of the person who started it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from io_benchmark.sources.protocol import ReadProgress


class User(Protocol):
    """Gets messages and results, and may be asked."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    @property
    def is_interactive(self) -> bool:
        """Return whether a person can answer a question."""

    def tell(self, text: str, /) -> None:
        """Show a message."""

    def print(self, text: str, /) -> None:
        """Show a result, which a program may read."""

    def confirm(self, question: str, /) -> bool:
        """Ask; only a yes is a yes."""

    def progress(self) -> AbstractContextManager[Callable[[ReadProgress], None]]:
        """Show the progress of reading in this block."""
