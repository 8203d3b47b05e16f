# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Prices of a worker's hour, from a file that a user gives: YAML, or JSON where its name ends in .json.

    currency: USD
    kind: spot          # optional: spot or on-demand
    date: 2026-11-01    # optional: when the prices were read
    prices:
        amd-16: 0.31    # by pool
        releng-1/b-linux: 0.42    # by worker pool of the deployment, or b-linux alone
        c2-standard-16: {price: 0.55, kind: on-demand}    # by the provider's type of machine
        amd-30: {spot: 0.6, on-demand: 1.4}    # both: the kind above chooses

Nothing is built in, because prices change. The file is untrusted. Its size is limited, aliases, tags and
repeated keys are refused, and only a plain decimal number is a price.
"""

import json
import math
import re
from collections.abc import Hashable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import voluptuous
import yaml

from io_benchmark.costs.worker_time import Price
from io_benchmark.errors import UsageError
from io_benchmark.text import clean

# Some thousand prices, which take a second to read.
_MOST_BYTES = 64 * 1024
_MOST_PER_HOUR = 1_000_000
_KINDS = ("spot", "on-demand")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_SHOWN_LENGTH, _NAME_LENGTH = 80, 200


class _Mistake(Exception):  # noqa: N818 - a mistake of the user, not a failure
    """What is wrong in the file, and where."""


def read_prices(path: Path) -> dict[str, Price]:
    """Read prices by name; a UsageError says in one line what is wrong in the file, and where."""
    shown = f"--prices {clean(str(path), _NAME_LENGTH)}"
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{shown}: {reason}; name a file with prices") from None
    try:
        return _parsed(content, is_json=path.suffix == ".json")
    except _Mistake as error:
        raise UsageError(f"{shown}: {error}") from None


def _parsed(content: bytes, *, is_json: bool) -> dict[str, Price]:
    """Return the prices in a file; raise a _Mistake with what is wrong, and where."""
    if len(content) > _MOST_BYTES:
        raise _Mistake(f"is larger than {_MOST_BYTES // 1024} KiB; keep only the prices needed")
    try:
        text = content.decode("utf-8-sig")
        loaded = _load_json(text) if is_json else _load_yaml(text)
    except UnicodeDecodeError:
        raise _Mistake("is not text in UTF-8; save it as such") from None
    except RecursionError:
        raise _Mistake("is nested too deep; write a price per name") from None
    if not isinstance(loaded, dict):
        raise _Mistake("is not a mapping; write currency: and prices:")
    try:
        checked = _FILE(loaded)
    except voluptuous.MultipleInvalid as error:
        raise _Mistake(_first_problem(error)) from None
    return {name: _price(name, entry, checked) for name, entry in checked["prices"].items()}


def _price(name: str, entry: Mapping[str, Any], file: Mapping[str, Any]) -> Price:
    both = {**file, **entry}
    if "currency" not in both:
        shown = clean(name, _SHOWN_LENGTH)
        raise _Mistake(f"prices.{shown}: has no currency; write one such as currency: USD")
    if "price" in entry:
        return Price(entry["price"], both["currency"], both.get("kind"), both.get("date"))
    kinds = [kind for kind in _KINDS if kind in entry]
    wanted = kinds[0] if len(kinds) == 1 else both.get("kind")
    if wanted is None:
        shown = clean(name, _SHOWN_LENGTH)
        raise _Mistake(f"prices.{shown}: has two prices; write kind: spot or kind: on-demand")
    return Price(entry[wanted], both["currency"], wanted, both.get("date"))


class _Loader(yaml.SafeLoader):
    """Loads numbers as JSON has them, and everything else as text, such as .inf and 1:30."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as PyYAML declares it

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.get_event()  # type: ignore[no-untyped-call]
            line = event.start_mark.line + 1
            raise _Mistake(f"line {line}: aliases are not supported; write the value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = True) -> dict[Hashable, Any]:
        pairs = []
        for key, value in node.value:
            name = self.construct_object(key, deep)
            if not isinstance(name, str | float):
                line = key.start_mark.line + 1
                raise _Mistake(f"line {line}: {_shown(name)} is not a name; write it in quotes")
            pairs.append((name, self.construct_object(value, deep)))
        return _without_repetition(pairs)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(rf"(?:{_NUMBER.pattern})\Z"), list("-+0123456789")
)


def _load_yaml(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - derived from SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _Mistake(f"line {line}: is not YAML: {clean(str(error.problem))}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise _Mistake(f"is not YAML: {clean(str(error))}") from None


def _load_json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise _Mistake(f"{name} is not a price; write a number above 0")

    try:
        return json.loads(
            text,
            object_pairs_hook=_without_repetition,
            parse_constant=refuse,
            parse_int=float,
        )
    except json.JSONDecodeError as error:
        raise _Mistake(f"line {error.lineno}: is not JSON: {error.msg}") from None


def _without_repetition(pairs: list[tuple[Any, Any]]) -> dict[Hashable, Any]:
    made: dict[Hashable, Any] = {}
    for name, value in pairs:
        if name in made:
            raise _Mistake(f"{_shown(name)} is given twice; keep one of them")
        made[name] = value
    return made


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return clean(repr(value)[: 2 * _SHOWN_LENGTH], _SHOWN_LENGTH)


def _amount(value: object) -> float:
    if type(value) is float and math.isfinite(value) and 0 < value <= _MOST_PER_HOUR:
        return value
    raise voluptuous.Invalid(
        f"{_shown(value)} is not a price per hour; write a number above 0, such as 0.31"
    )


def _currency(value: object) -> str:
    if isinstance(value, str) and re.fullmatch("[A-Z]{3}", value):
        return value
    raise voluptuous.Invalid(f"{_shown(value)} is not a currency's code; write one such as USD")


def _kind(value: object) -> str:
    if isinstance(value, str) and value in _KINDS:
        return value
    raise voluptuous.Invalid(f"{_shown(value)} is not a kind; write {' or '.join(_KINDS)}")


def _date(value: object) -> str:
    try:
        if isinstance(value, str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return date.fromisoformat(value).isoformat()
    except ValueError:
        pass
    raise voluptuous.Invalid(f"{_shown(value)} is not a date; write one such as 2026-11-01")


_ABOUT: dict[Any, Any] = {
    voluptuous.Optional("currency"): _currency,
    voluptuous.Optional("kind"): _kind,
    voluptuous.Optional("date"): _date,
}
_ENTRY = voluptuous.Schema({voluptuous.Required("price"): _amount, **_ABOUT})
_BY_KIND = voluptuous.Schema({**{voluptuous.Optional(kind): _amount for kind in _KINDS}, **_ABOUT})


def _entry(value: object) -> Any:
    if not isinstance(value, dict):
        return {"price": _amount(value)}
    has_kinds = "price" not in value and any(kind in value for kind in _KINDS)
    return (_BY_KIND if has_kinds else _ENTRY)(value)


def _entries(value: object) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise voluptuous.Invalid("is not a mapping of names to prices; write one, as amd-16: 0.31")
    made = {}
    for name, entry in value.items():
        if not isinstance(name, str) or not 0 < len(name) <= _NAME_LENGTH:
            raise voluptuous.Invalid(f"{_shown(name)} is not a name; write it in quotes")
        try:
            made[name] = _entry(entry)
        except voluptuous.Invalid as error:
            error.prepend([name])
            raise
    return made


_FILE = voluptuous.Schema({voluptuous.Required("prices"): _entries, **_ABOUT})


def _first_problem(error: voluptuous.MultipleInvalid) -> str:
    """Return the first problem, with the key that it is about."""
    first = min(error.errors, key=lambda each: isinstance(each, voluptuous.RequiredFieldInvalid))
    keys = (key.schema if isinstance(key, voluptuous.Marker) else key for key in first.path)
    where = ".".join(clean(str(key), _SHOWN_LENGTH) for key in keys)
    if isinstance(first, voluptuous.RequiredFieldInvalid):
        return f"{where}: is missing; add it"
    if first.msg == "extra keys not allowed":
        holder = "price" if "." in where else "prices"
        return f"{where}: unknown key; there are {', '.join((holder, *map(str, _ABOUT)))}"
    return f"{where}: {first.msg}"
