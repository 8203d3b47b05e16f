# SPDX-License-Identifier: MPL-2.0
"""Prices of a worker's hour, from a file of YAML or JSON that a user gives.

    currency: USD
    kind: spot          # optional: spot or on-demand
    date: 2026-11-01    # optional: when the prices were read
    prices:
        amd-16: 0.31    # by pool
        releng-1/b-linux: 0.42    # by worker pool of the deployment, or b-linux alone
        c2-standard-16: {price: 0.55, kind: on-demand}    # by the provider's type of machine

Nothing is built in, because prices change.
"""

import datetime as dt
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from io_benchmark.costs.worker_time import LEAST_AMOUNT, MOST_AMOUNT, Price
from io_benchmark.errors import UsageError
from io_benchmark.files import FileTooLargeError, read_file
from io_benchmark.text import NAME_LENGTH, clean, clean_name, problem_in_words
from io_benchmark.yaml_reader import YamlError, parse_yaml

# Some thousand prices, which take a second to read.
_MOST_BYTES = 64 * 1024
_VALUE_LENGTH = 80  # characters of a price's name in a message
_ADVICE = "write a price as 0.31, or as {price: 0.31, currency: USD, kind: spot, date: 2026-11-01}"

_Name = Annotated[str, Meta(min_length=1, max_length=NAME_LENGTH)]


class _About(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The keys at the top of the file, which each entry may have as well."""

    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")] | None = None
    kind: Literal["spot", "on-demand"] | None = None
    date: dt.date | None = None


class _File(_About, frozen=True, kw_only=True):
    prices: Annotated[dict[_Name, Any], Meta(min_length=1)]


class _Entry(_About, frozen=True, kw_only=True):
    price: Annotated[float, Meta(ge=LEAST_AMOUNT, le=MOST_AMOUNT)]


def read_prices(path: Path) -> dict[str, Price]:
    """Read prices by name; a UsageError says in one line what is wrong in the file, and where."""
    option = f"--prices {clean_name(str(path))}"
    try:
        content = read_file(path, _MOST_BYTES)
    except FileTooLargeError as error:
        raise UsageError(f"{option}: {error.strerror}; keep only the prices needed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{option}: {reason}; name a file with prices") from None
    place = ""
    try:
        # JSON is read as YAML, too.
        file_keys = msgspec.convert(parse_yaml(content.decode("utf-8")), _File)
        prices = {}
        for name, entry in file_keys.prices.items():
            place = f"prices.{clean(name, _VALUE_LENGTH)}: "
            prices[name] = _price(entry, file_keys)
    except (msgspec.ValidationError, YamlError, ValueError) as error:
        words = problem_in_words(" ".join(str(error).split()))
        problem = clean_name(words.removeprefix("$."))
        raise UsageError(f"{option}: {place}{problem}; {_ADVICE}") from None
    return prices


def _price(value: object, file_keys: _About) -> Price:
    entry = msgspec.convert(value if isinstance(value, dict) else {"price": value}, _Entry)
    currency, date = entry.currency or file_keys.currency, entry.date or file_keys.date
    if currency is None:
        raise ValueError("has no currency")
    day = date.isoformat() if date else None
    return Price(entry.price, currency, entry.kind or file_keys.kind, day)
