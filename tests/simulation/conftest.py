# SPDX-License-Identifier: MPL-2.0
"""How often each simulation is repeated: few times, with `--long` more often."""

import math
from collections.abc import Callable, Iterator

import pytest
from simulation import Rates

SHORT, LONG = 200, 10_000
# Whole pushes that go through `compare`.
SHORT_PUSHES, LONG_PUSHES = 12, 1000
_PROPERTY = "rates"


@pytest.fixture
def repetitions(request: pytest.FixtureRequest) -> int:
    return LONG if request.config.getoption("--long", default=False) else SHORT


@pytest.fixture
def tolerance(repetitions: int) -> float:
    """Three standard errors of a rate near 5 %: a rate at its bar passes 999 times of 1000."""
    return 3 * math.sqrt(0.05 * 0.95 / repetitions)


@pytest.fixture
def rates(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Iterator[Rates]:
    """Rates of one simulation of pushes; the long form prints them all at its end."""
    is_long = request.config.getoption("--long", default=False)
    made = Rates(LONG_PUSHES if is_long else SHORT_PUSHES)
    yield made
    record_property(_PROPERTY, f"{request.node.name}: {made}")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the rates of the long form."""
    if not config.getoption("--long", default=False):
        return
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    for report in reports:
        if getattr(report, "when", None) == "teardown":
            for name, text in report.user_properties:
                if name == _PROPERTY:
                    terminalreporter.write_line(text)
