# SPDX-License-Identifier: MPL-2.0
"""A cause's evidence and explanation as reports write them."""

from collections.abc import Sequence

from io_benchmark.analysis.model import Cause
from io_benchmark.analysis.statements import Statement
from io_benchmark.report.content.statement_text import evidence_text, text_of


def baseline_text(cause: Cause) -> str:
    return evidence_text(cause.baseline_evidence)


def candidate_text(cause: Cause) -> str:
    return evidence_text(cause.candidate_evidence)


def explanation_text(cause: Cause) -> str:
    return " ".join(map(text_of, cause.explanation))


def texts(cause: Cause) -> tuple[str, str, str]:
    """Everything that a report writes about the cause: each template has all its values."""
    return baseline_text(cause), candidate_text(cause), explanation_text(cause)


def remedy_text(evidence: Sequence[Statement]) -> str:
    return " ".join(map(text_of, evidence))
