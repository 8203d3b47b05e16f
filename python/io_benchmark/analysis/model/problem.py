# SPDX-License-Identifier: MPL-2.0
"""A validity rule that results break."""

from enum import StrEnum

from msgspec import Struct

from io_benchmark.analysis.model.statements import Statement
from io_benchmark.analysis.model.subject import Subject


class Severity(StrEnum):
    REFUSED = "refused"  # there is no verdict
    ALLOWED = "allowed"  # refused without --allow
    WARNING = "warning"  # there is a verdict, with a note


class Problem(Struct, frozen=True):
    """A validity rule that the results break."""

    rule: str
    severity: Severity
    subject: Subject | None  # None: everything from these sides
    sides: tuple[str, ...]
    message: Statement  # one line: what differs, with both sides' values
    explanation: Statement | None = None  # in sentences; the first screen leaves it out
    can_be_allowed: bool = False  # it is refused, and --allow compares nevertheless
