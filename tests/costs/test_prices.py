# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
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
JSON = '{"currency": "USD", "prices": {"amd-16": 0.31, "intel": {"price": 1, "kind": "spot"}}}'


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


def test_json(read):
    """By the end of the file's name."""
    assert read(JSON, "prices.json") == {
        "amd-16": Price(0.31, "USD"),
        "intel": Price(1.0, "USD", "spot"),
    }


def test_both_kinds(read):
    """The kind at the top chooses; a name with one of them has that one."""
    both = "{spot: 1, on-demand: 2}"
    prices = read(f"currency: USD\nkind: on-demand\nprices: {{a: {both}, b: {{spot: 3}}}}")
    assert prices == {"a": Price(2.0, "USD", "on-demand"), "b": Price(3.0, "USD", "spot")}


def entry(text):
    return f"currency: USD\nprices: {{a: {text}}}"


NOT_A_PRICE = "is not a price per hour; write a number above 0, such as 0.31"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(entry("-1"), f"prices.a: -1 {NOT_A_PRICE}", id="negative"),
        pytest.param(entry("0"), f"prices.a: 0 {NOT_A_PRICE}", id="zero"),
        pytest.param(entry(".nan"), f"prices.a: '.nan' {NOT_A_PRICE}", id="nan"),
        pytest.param(entry("!!float .nan"), f"prices.a: nan {NOT_A_PRICE}", id="nan by a tag"),
        pytest.param(entry("1e999"), f"prices.a: inf {NOT_A_PRICE}", id="infinity"),
        pytest.param(entry("9" * 5000), f"prices.a: inf {NOT_A_PRICE}", id="long number"),
        pytest.param(entry("'0.3'"), f"prices.a: '0.3' {NOT_A_PRICE}", id="text"),
        pytest.param(entry("true"), f"prices.a: 'true' {NOT_A_PRICE}", id="boolean"),
        pytest.param(entry("1:30"), f"prices.a: '1:30' {NOT_A_PRICE}", id="base 60"),
        pytest.param(entry("{price: 1, kind: x}"), "prices.a.kind: 'x' is not a kind", id="kind"),
        pytest.param(entry("{prce: 1}"), "prices.a.prce: unknown key; there are price, ", id="key"),
        pytest.param(
            entry("{spot: 1, on-demand: 2}"),
            "prices.a: has two prices; write kind: spot or",
            id="two",
        ),
        pytest.param(entry("{spot: -1}"), f"prices.a.spot: -1 {NOT_A_PRICE}", id="spot"),
        pytest.param(
            entry("{spot: 1, price: 2}"),
            "prices.a.spot: unknown key; there are price, ",
            id="mixed",
        ),
        pytest.param(entry("1, a: 2"), "'a' is given twice; keep one of them", id="twice"),
        pytest.param(entry("1, 2: 3"), "prices: 2 is not a name; write it in quotes", id="name"),
        pytest.param(
            "prices: {a: 1}", "prices.a: has no currency; write one such as", id="no currency"
        ),
        pytest.param("currency: USD", "prices: is missing; add it", id="no prices"),
        pytest.param("currency: $\nprices: {a: 1}", "currency: '$' is not a currency's", id="$"),
        pytest.param("date: 2026-13-01\nprices: {a: 1}", "date: '2026-13-01' is not", id="date"),
        pytest.param("a: &a 1\nb: *a", "line 2: aliases are not supported", id="alias"),
        pytest.param("", "is not a mapping; write currency: and prices:", id="empty"),
        pytest.param("[" * 50_000, "is nested too deep", id="deep"),
        pytest.param("[" + 2**15 * "a," + "]", "is larger than 64 KiB", id="huge"),
        pytest.param(b"\xff", "is not text in UTF-8", id="encoding"),
        pytest.param("a: b: c", "line 1: is not YAML: mapping values", id="not YAML"),
        pytest.param("a: !!int x", "is not YAML: invalid literal", id="wrong tag"),
        pytest.param("a: !!python/object:x y", "line 1: is not YAML: could not", id="object"),
    ],
)
def test_mistakes(read, tmp_path, content, message):
    """One line says what, where, and what to do."""
    with pytest.raises(UsageError) as caught:
        read(content)
    text = str(caught.value)
    assert text.startswith(f"--prices {tmp_path}/prices.yml: {message}")
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param('{"prices": {"a": NaN}}', "NaN is not a price", id="nan"),
        pytest.param('{"prices": {"a": 1, "a": 2}}', "'a' is given twice", id="twice"),
        pytest.param("[" * 50_000, "is nested too deep", id="deep"),
        pytest.param("{", "line 1: is not JSON: Expecting property name", id="not JSON"),
    ],
)
def test_mistakes_in_json(read, content, message):
    """JSON is read as strictly."""
    with pytest.raises(UsageError, match=message):
        read(content, "prices.json")


def test_no_file(tmp_path):
    """Its name and the system's reason."""
    with pytest.raises(UsageError, match="No such file or directory; name a file with prices"):
        read_prices(tmp_path / "prices.yml")
