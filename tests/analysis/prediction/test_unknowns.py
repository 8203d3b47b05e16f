# SPDX-License-Identifier: MPL-2.0
"""What is not known has words."""

from io_benchmark.analysis.prediction.unknowns import MEANINGS, Unknowns


def test_every_unknown_has_a_meaning() -> None:
    """A refusal says each of them, in the order of their fields; of threads there is a range."""
    assert (*MEANINGS, "threads") == Unknowns.__struct_fields__
