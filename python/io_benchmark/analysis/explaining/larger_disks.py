# SPDX-License-Identifier: MPL-2.0
"""Which network disk would do what the faster side's disks do, what it gains, and what it costs."""

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.facts.disks import WRITES
from io_benchmark.analysis.explaining.facts.network_disks import SideDisk
from io_benchmark.analysis.explaining.measured_gains import Gain
from io_benchmark.analysis.model.cause import DiskChange
from io_benchmark.analysis.model.pool_machine import NetworkDisk
from io_benchmark.analysis.model.statements import Quantity, Statement, Unit, statement
from io_benchmark.analysis.reading.cap_ways import WRITING
from io_benchmark.analysis.reading.caps import disks_for, network_cap, price_per_month
from io_benchmark.analysis.reading.network_disks import PlaceDisk, name_of

_LEAST_FACTOR = 1.1  # a disk that does hardly more is not worth its price


def larger_network_disk(case: Case) -> Gain | None:
    """Return what a larger or faster disk gains; None where no usual one writes more.

    A cap that is not certain is no ground to change a definition.
    """
    if case.subject.workload == "random-io":
        return None
    slower, faster = SideDisk.of(case.slower, WRITING), SideDisk.of(case.faster, WRITING)
    if isinstance(slower, Statement) or len({place.name for place in slower.places}) > 1:
        return None
    place, now = slower.places[0], slower.rate
    wanted = faster.limits.least if isinstance(faster, SideDisk) else None
    wanted = wanted or case.faster.mean(WRITES.rate_of_all_disks)
    of_machine = place.caps[0].of_machine
    # Its machine lets no disk do more than this.
    most = of_machine.write_bytes_per_s if of_machine is not None else None
    if wanted is None:
        return None
    new_disk = _cheapest(place, min(wanted, most or wanted))
    cap = network_cap(place.machine, new_disk) if new_disk is not None else None
    rate = cap.write_bytes_per_s if cap is not None else None
    if new_disk is None or cap is None or rate is None or rate < _LEAST_FACTOR * now:
        return None
    template = "Predicted by what it may do: {rate} instead of {now}."
    if not cap.is_certain:
        template += " What is published of it is not certain."
    evidence = statement(
        template,
        rate=Quantity(rate, Unit.BYTES_PER_SECOND),
        now=Quantity(now, Unit.BYTES_PER_SECOND),
    )
    price = _price(place, new_disk)
    change = None
    if place.defined_disk is not None and cap.is_certain:
        change = DiskChange(place.defined_disk, new_disk)
    return Gain(
        case.times_by_bandwidth(rate / now),
        measured=False,
        evidence=(evidence,) if price is None else (evidence, price),
        such_as=name_of(new_disk),
        disk_change=change,
    )


def _cheapest(place: PlaceDisk, write_bytes_per_s: float) -> NetworkDisk | None:
    """Return the cheapest disk that may write as much; where a price is not known, the first."""
    disks = [*disks_for(place.machine, place.disk, write_bytes_per_s)]
    prices = [price_per_month(place.machine.cloud, disk) for disk in disks]
    known_prices = [price.amount_per_month for price in prices if price is not None]
    if not known_prices or len(known_prices) < len(disks):
        return disks[0] if disks else None
    return disks[known_prices.index(min(known_prices))]


def _price(place: PlaceDisk, new_disk: NetworkDisk) -> Statement | None:
    """Return what the disk costs more; None where one of the two prices is not known."""
    before = price_per_month(place.machine.cloud, place.disk)
    after = price_per_month(place.machine.cloud, new_disk)
    if before is None or after is None or before.region != after.region:
        return None
    more = after.amount_per_month - before.amount_per_month
    return statement(
        f"About {{currency}} {{amount}} {'more' if more >= 0 else 'less'} per month and worker "
        "(list price, {region}, {date}).",
        currency=after.currency,
        amount=Quantity(abs(more), Unit.NUMBER),
        region=after.region,
        date=after.source.date or "of an unknown date",
    )
