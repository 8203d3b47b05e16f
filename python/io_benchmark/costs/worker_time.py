# SPDX-License-Identifier: MPL-2.0
"""What worker time costs: hours, and money where there are prices."""

import math
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.number_text import duration_unit, listed, money, number_of, plural

MINUTES_PER_HOUR = 60
# The bounds of a price, and of what a run cost: products and ratios of such amounts are finite.
LEAST_AMOUNT, MOST_AMOUNT = 1e-9, 1e6
_WORDS = {"h": "hour", "min": "minute", "s": "second"}
# Fewer hours than this have a decimal.
_WHOLE_HOURS = 10
# Floating-point errors in a sum are not rounded up.
_NOISE = 1e-6
_NAMES_SHOWN = 6


class Price(Struct, frozen=True):
    """What an hour of a worker costs."""

    per_hour: float
    currency: str
    kind: str | None = None  # spot, on-demand
    date: str | None = None  # 2026-11-01

    @staticmethod
    def find(
        prices: Mapping[str, "Price"], pool: str, queue: str, machine: str = ""
    ) -> "Price | None":
        """Return the price of the pool, else of the worker pool, else of the type of machine."""
        names = (pool, queue, queue.partition("/")[2], machine, machine.rpartition("/")[2])
        return next((prices[name] for name in names if name in prices), None)


NO_PRICES: Mapping[str, Price] = {}


class CostShare(Struct, frozen=True):
    """The cost of one pool, or of one job of a pool with several jobs."""

    name: str
    tasks: int
    minutes: float  # per task
    is_limit: bool = False  # the longest time that it can take; otherwise what earlier tasks took
    price: Price | None = None
    queue: str = ""

    @property
    def all_minutes(self) -> float:
        return self.tasks * self.minutes

    @property
    def summary(self) -> str:
        """Return 'intel: about 3 worker hours (6 tasks of 30 minutes on releng-1/b-linux)'."""
        cost = Cost((self,))
        money = f", {cost.money}" if cost.money else ""
        duration = _duration(self.minutes, is_limit=self.is_limit)
        tasks = f"{number_of(self.tasks, 'task')} of {duration} on {self.queue}"
        return f"{self.name}: {cost.estimate}{money} ({tasks})"


class Cost(Struct, frozen=True):
    """The cost of tasks."""

    shares: tuple[CostShare, ...]
    with_prices: bool = False  # prices were given; a share without one is named
    runs: int = 0  # how many runs the time of a task is known from
    with_setup: bool = False  # the time of a task includes its set-up

    @property
    def tasks(self) -> int:
        return sum(share.tasks for share in self.shares)

    @property
    def minutes(self) -> float:
        return sum(share.all_minutes for share in self.shares)

    def repeated(self, times: int) -> "Cost":
        shares = (replace(share, tasks=times * share.tasks) for share in self.shares)
        return replace(self, shares=tuple(shares))

    @staticmethod
    def worker_time(minutes: float, *, is_limit: bool = False) -> str:
        """Write '22 worker hours', or '40 minutes of worker time'; a limit is rounded up."""
        number, unit = _duration(minutes, is_limit=is_limit).split(" ")
        is_hours = unit.startswith("hour")
        return f"{number} worker {unit}" if is_hours else f"{number} {unit} of worker time"

    @property
    def _is_limit(self) -> bool:
        return any(share.is_limit for share in self.shares)

    @property
    def time(self) -> str:
        return Cost.worker_time(self.minutes, is_limit=self._is_limit)

    @property
    def estimate(self) -> str:
        """Return 'about 22 worker hours', or 'at most 40 minutes of worker time'."""
        return f"{'at most' if self._is_limit else 'about'} {self.time}"

    @property
    def money(self) -> str:
        """Return '3.10 USD', a sum per currency; nothing without prices."""
        sums: dict[str, float] = {}
        for share in self.shares:
            if share.price is not None:
                amount = share.all_minutes / MINUTES_PER_HOUR * share.price.per_hour
                sums[share.price.currency] = sums.get(share.price.currency, 0.0) + amount
        return " and ".join(f"{money(amount)} {currency}" for currency, amount in sums.items())

    @property
    def summary(self) -> str:
        """Return '6 tasks, about 3 worker hours in all, 0.90 USD at the given prices'."""
        tasks = f"{number_of(self.tasks, 'task')}, {self.estimate} in all"
        return f"{tasks}, {self.at_prices}" if self.at_prices else tasks

    @property
    def at_prices(self) -> str:
        """Return '3.10 USD at the given prices (spot; none for amd-30)'; nothing without prices."""
        if not self.with_prices:
            return ""
        unpriced = [share.name for share in self.shares if share.price is None]
        names = listed(unpriced, _NAMES_SHOWN, " and {:,} others")
        prices = [share.price for share in self.shares if share.price is not None]
        if not prices:
            return f"no price for {names}"
        remarks = []
        # Kind and date are shown only where all prices have the same.
        kind, date = (
            _common(price.kind for price in prices),
            _common(price.date for price in prices),
        )
        if kind or date:
            remarks.append(", ".join(value for value in (kind, date) if value))
        if unpriced:
            remarks.append(f"none for {names}")
        remark = f" ({'; '.join(remarks)})" if remarks else ""
        return f"{self.money} at the given prices{remark}"


def _common(values: Iterable[str | None]) -> str:
    """Return the value that all of these are; nothing where they differ, or are None."""
    distinct = set(values)
    return distinct.pop() or "" if len(distinct) == 1 else ""


def _duration(minutes: float, *, is_limit: bool) -> str:
    """Write minutes as people write durations: '40 seconds', '55 minutes', '2.8 hours'."""
    seconds = minutes * 60
    size_s, unit = duration_unit(seconds)
    value = seconds / size_s
    parts = 10 if unit == "h" and value < _WHOLE_HOURS else 1
    rounded_parts = math.ceil(value * parts - _NOISE) if is_limit else round(value * parts)
    number = f"{rounded_parts / parts:,.1f}".removesuffix(".0")
    return f"{number} {plural(rounded_parts / parts, _WORDS[unit])}"
