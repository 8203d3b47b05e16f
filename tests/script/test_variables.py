# SPDX-License-Identifier: MPL-2.0
"""Variables in arguments, which a shell replaces where there is one."""

import pytest
import settings
import variables


@pytest.mark.parametrize(
    ("argument", "values", "expected"),
    [
        ("--profile", {}, ["--profile"]),
        ("${IO_BENCHMARK_PROFILE:-full}", {}, ["full"]),
        ("${IO_BENCHMARK_PROFILE:-full}", {"PROFILE": "quick"}, ["quick"]),
        ("${IO_BENCHMARK_PROFILE:-full}", {"PROFILE": ""}, ["full"]),
        ("workspace=${IO_BENCHMARK_WORKSPACE:-D:/x}", {}, ["workspace=D:/x"]),
        ("--pace=${IO_BENCHMARK_PACE:-}", {}, []),
        ("--pace=${IO_BENCHMARK_PACE:-}", {"PACE": "5"}, ["--pace=5"]),
        ("https://host/?name=", {}, ["https://host/?name="]),
        ("${HOME:-x}", {}, ["${HOME:-x}"]),
    ],
)
def test_replace(monkeypatch, argument, values, expected):
    """As a shell does; an option without a value is left out, and other text stays."""
    for name, value in values.items():
        monkeypatch.setenv(f"IO_BENCHMARK_{name}", value)
    assert variables.replace([argument]) == expected


def test_a_run(monkeypatch):
    """Its settings are those of the variables."""
    arguments = ["run", "--pool", "p", "--place", "a=/a", "--output", "/x"]
    arguments += ["--profile", "${IO_BENCHMARK_PROFILE:-full}", "--pace=${IO_BENCHMARK_PACE:-}"]
    parsed = settings.parse(arguments, ["w"])
    assert (parsed.profile, parsed.pace_bytes_per_s) == ("full", None)
    monkeypatch.setenv("IO_BENCHMARK_PROFILE", "quick")
    monkeypatch.setenv("IO_BENCHMARK_PACE", "5")
    parsed = settings.parse(arguments, ["w"])
    assert (parsed.profile, parsed.pace_bytes_per_s) == ("quick", 5)
