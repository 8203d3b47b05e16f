# SPDX-License-Identifier: MPL-2.0
"""Prices from a file that anybody may have written."""

import pytest

from io_benchmark.costs.prices import read_prices
from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError

YAML = """\
currency: USD
kind: spot
date: 2026-11-01
prices:
    amd-16: 0.31
    releng-1/b-linux: {price: 2, currency: EUR, kind: on-demand, date: 2026-10-01}
"""


@pytest.fixture
def read(tmp_path):
    def read_content(content, name="prices.yml"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_prices(path)

    return read_content


def test_yaml(read):
    """The keys at the top apply to each price without its own."""
    assert read(YAML) == {
        "amd-16": Price(0.31, "USD", "spot", "2026-11-01"),
        "releng-1/b-linux": Price(2.0, "EUR", "on-demand", "2026-10-01"),
    }


def entry(text):
    return f"currency: USD\nprices: {{a: {text}}}"


WHERE = "prices.a: "
TOO_LOW = f"{WHERE}Expected `float` >= 1e-09 - at `$.price`; write a price as 0.31, or as "


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(entry("0"), TOO_LOW, id="zero"),
        pytest.param(entry("9.9e-10"), TOO_LOW, id="too little"),
        pytest.param(entry("1.0e-320"), TOO_LOW, id="denormal"),
        pytest.param(entry("1000000.1"), f"{WHERE}Expected `float` <= 1000000.0", id="too much"),
        pytest.param(
            entry("9" * 5000), "line 2: a number has more than 100 characters", id="long number"
        ),
        pytest.param(entry("'0.3'"), f"{WHERE}Expected `float`, got `str`", id="text"),
        pytest.param(entry("{price: 1, kind: x}"), f"{WHERE}Invalid enum value 'x'", id="kind"),
        pytest.param(entry("{prce: 1}"), f"{WHERE}Object contains unknown field `prce`", id="key"),
        pytest.param(
            entry("{kind: spot}"), f"{WHERE}price: is missing; write a price as", id="none"
        ),
        pytest.param(entry("1, a: 2"), "line 2: 'a' is given twice", id="twice"),
        pytest.param("prices: {a: 1}", f"{WHERE}has no currency", id="no currency"),
        pytest.param("prices: {}", "Expected `object` of length >= 1", id="empty prices"),
        pytest.param("currency: $\nprices: {a: 1}", "Expected `str` matching regex", id="$"),
        pytest.param(
            "date: 2026-13-01\nprices: {a: 1}", "line 1: '2026-13-01' is not a timestamp", id="date"
        ),
        pytest.param("", "Expected `object`, got `null`", id="empty"),
        pytest.param("[" * 50_000, "line 1: is nested more than 50 levels deep", id="deep"),
        pytest.param("[" + 2**15 * "a," + "]", "is larger than 64 KiB", id="huge"),
        pytest.param(b"\xff", "'utf-8' codec can't decode byte 0xff", id="encoding"),
        pytest.param(
            "a: !!python/object:x y", "line 1: could not determine a constructor", id="object"
        ),
    ],
)
def test_mistakes(read, tmp_path, content, message):
    """One line says what, where, and what to do."""
    with pytest.raises(UsageError) as caught:
        read(content)
    text = str(caught.value)
    assert text.startswith(f"--prices {tmp_path}/prices.yml: {message}")
    assert len(text.splitlines()) == 1


def test_no_file(tmp_path):
    """Its name and the system's reason."""
    with pytest.raises(UsageError, match="No such file or directory; name a file with prices"):
        read_prices(tmp_path / "prices.yml")
