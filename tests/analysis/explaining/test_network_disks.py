# SPDX-License-Identifier: MPL-2.0
"""Causes of network disks: by definitions, by what was measured, and what speaks against them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from msgspec import structs
from network_machines import AMAZON, AZURE, GOOGLE, Kind, defined, on_network
from seed_workers import SUBJECT, explanation_text, remedy_text, report_of, worker
from simulated_machine import MB, MIB, Disk, Machine
from simulated_results import Pool, measure_one
from situations import FAST, SLOW

from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.deciding import judge
from io_benchmark.analysis.model.cause import Cause, DiskChange, Remedy, State
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.model.run import Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.reading.cap_ways import WRITING
from io_benchmark.analysis.reading.network_disks import has_local_ssds, place_disk
from io_benchmark.report.content import text_of

GCP, EC2 = "n2-standard-8", "m5.4xlarge"
BALANCED_60, BALANCED_400 = NetworkDisk("pd-balanced", 60), NetworkDisk("pd-balanced", 400)
STEADY = Machine(memory_gib=32, copy_ns_per_mib=100e3, stalls_per_gib=0)
SMALL = Kind(on_network(STEADY, GOOGLE, GCP, BALANCED_60), defined(GOOGLE, GCP, BALANCED_60))
LARGE = Kind(on_network(STEADY, GOOGLE, GCP, BALANCED_400), defined(GOOGLE, GCP, BALANCED_400))
LOCAL = Kind(replace(STEADY, disks=(Disk(367, 690),), instance_type=GCP), None)


@cache
def _measured(pool: str, machine: Machine) -> Worker:
    return worker(measure_one(Pool(pool, machine), 0, 1, between=0.0, retrieves=100).document)


def measured(pool: str, kind: Kind) -> Worker:
    return structs.replace(_measured(pool, kind.machine), defined=kind.defined)


def causes_of(slow: Kind, fast: Kind) -> Mapping[str, Cause]:
    """The causes of one worker on each side."""
    workers = {SLOW: measured(SLOW, slow), FAST: measured(FAST, fast)}
    of_slow, of_fast = (Side.of_workers([workers[pool]], SUBJECT) for pool in (SLOW, FAST))
    times = of_slow.mean_ns / of_fast.mean_ns
    causes = judge(Case.of(SUBJECT, times, of_fast, of_slow), ())
    return {cause.name: cause for cause in causes}


def disk_size(slow: Kind, fast: Kind = LARGE) -> tuple[State, str]:
    cause = causes_of(slow, fast)["disk-size"]
    return cause.state, explanation_text(cause)


def with_disk(pool: Kind, **changes: Any) -> Kind:
    """Another disk in the definition alone."""
    machine = pool.defined
    assert machine is not None
    assert machine.boot_disk is not None
    disk = structs.replace(machine.boot_disk, **changes)
    return pool._replace(defined=structs.replace(machine, boot_disk=disk))


def test_sizes_of_one_kind():
    """140 MiB/s and 0.28 for each GiB: the sentence has both rates, and predicts their ratio."""
    cause = causes_of(SMALL, LARGE)["disk-size"]
    assert cause.state is State.SUPPORTED
    assert explanation_text(cause).startswith(
        "pd-balanced of 60 GiB may do 157 MiB/s, and pd-balanced of 400 GiB 252 MiB/s."
    )
    assert cause.predicted_ratio == pytest.approx(252 / 156.8, rel=0.05)


def test_a_cause_is_one_of_the_two():
    """The machine of 4 CPUs lets 240 MiB/s pass, of a disk of 420: a larger one does not help."""
    large = NetworkDisk("pd-balanced", 1000)
    slow = Kind(
        on_network(STEADY, GOOGLE, "n2-standard-4", large), defined(GOOGLE, "n2-standard-4", large)
    )
    fast = Kind(on_network(STEADY, GOOGLE, GCP, large), defined(GOOGLE, GCP, large))
    causes = causes_of(slow, fast)
    states = [causes[name].state for name in ("machine-limit", "disk-size", "disk-speed")]
    assert states == [State.SUPPORTED, State.RULED_OUT, State.RULED_OUT]
    assert explanation_text(causes["machine-limit"]).startswith(
        "pd-balanced of 1,000 GiB on n2-standard-4 may do 240 MiB/s, and pd-balanced of 1,000 GiB "
        "420 MiB/s."
    )
    assert causes["machine-limit"].predicted_ratio == pytest.approx(420 / 240, rel=0.05)


def provisioned(mib_per_s: float, definition_mib_per_s: float | None = None) -> Kind:
    """A disk of Amazon at a rate, with another one in its definition."""
    disk = NetworkDisk("gp3", 100, 4000, mib_per_s * MIB)
    kind = Kind(on_network(STEADY, AMAZON, EC2, disk), defined(AMAZON, EC2, disk))
    if definition_mib_per_s is None:
        return kind
    return with_disk(kind, provisioned_bytes_per_s=definition_mib_per_s * MIB)


def kept_up_mib(kind: Kind) -> float:
    rate = WRITING.measured(measured(SLOW, kind).run_of(SUBJECT))
    assert rate is not None
    return rate / MIB


@pytest.mark.parametrize(
    ("factor", "state", "reason"),
    [
        pytest.param(0.79, State.NOT_OBSERVABLE, "it is another one", id="far above"),
        pytest.param(0.81, State.SUPPORTED, "may do", id="above"),
        pytest.param(1.32, State.SUPPORTED, "may do", id="below"),
        pytest.param(1.35, State.RULED_OUT, "something else holds it back", id="far below"),
    ],
)
def test_a_cap_counts_where_the_disk_was_seen_at_it(factor: float, state: State, reason: str):
    """What was measured is between 0.75 and 1.25 of what the disk may do."""
    kind = provisioned(150)
    found = disk_size(provisioned(150, factor * kept_up_mib(kind)), provisioned(400))
    assert found[0] is state
    assert reason in found[1]


@pytest.mark.parametrize(("faster_mib", "state"), [(262, State.RULED_OUT), (268, State.SUPPORTED)])
def test_caps_that_are_alike(faster_mib: float, state: State):
    """They differ by 5 % or more; then they are the cause if that is enough of the difference."""
    found = disk_size(provisioned(250), provisioned(faster_mib))
    assert found[0] is state, found


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (with_disk(SMALL, kind="pd-turbo"), "disk type pd-turbo is not known."),
        (
            with_disk(SMALL, size_gib=120),
            "The pool's definition has no disk of 60 GiB, which the worker saw.",
        ),
        (
            SMALL._replace(defined=defined(GOOGLE, "c2-standard-4", BALANCED_60)),
            f"The pool's definition has the machine type c2-standard-4, but the worker was {GCP}.",
        ),
        (
            with_disk(SMALL, kind="pd-extreme"),
            "No single cap is published for pd-extreme of 60 GiB on n2-standard-8.",
        ),
    ],
    ids=["kind", "size", "machine", "unpublished"],
)
def test_what_is_not_known_is_said(kind: Kind, reason: str):
    """An unknown or contradictory definition predicts nothing; the disk's speed is named."""
    assert disk_size(kind) == (State.NOT_OBSERVABLE, reason)
    assert causes_of(kind, LARGE)["disk-speed"].state is State.SUPPORTED


def test_the_size_of_an_image_is_what_the_worker_saw():
    """A definition without a size has that of the disk."""
    assert disk_size(with_disk(SMALL, size_gib=None))[0] is State.SUPPORTED


def test_candidates_without_a_definition():
    """The rates are those of one kind at the sizes that the workers saw."""
    state, text = disk_size(SMALL._replace(defined=None), LARGE._replace(defined=None))
    assert state is State.SUPPORTED
    assert "is what pd-balanced of 60 GiB has" in text
    unlike = replace(SMALL.machine, disks=(Disk(75, 75),))
    state, text = disk_size(Kind(unlike, None), LARGE)
    assert state is State.NOT_OBSERVABLE
    assert "give the pools' definition by --pools-file FILE" in text


def test_a_small_standard_disk():
    """The cloud's statements differ on it, so what was measured between them counts."""
    disk = NetworkDisk("pd-standard", 60)
    slow = Kind(on_network(STEADY, GOOGLE, GCP, disk), defined(GOOGLE, GCP, disk))
    for mb_per_s in (7.55, 12):
        machine = replace(slow.machine, disks=(Disk(mb_per_s, mb_per_s),))
        cause = causes_of(slow._replace(machine=machine), SMALL)["disk-size"]
        assert cause.state is State.SUPPORTED
        assert "is not certain" in explanation_text(cause)
        assert cause.predicted_ratio == pytest.approx(156.8 * MIB / MB / mb_per_s, rel=0.1)


def burst(mb_per_s: float, gib: float = 0.0) -> Kind:
    """A P10, which may do 170 MB/s and without credits 100, at a rate."""
    disk = NetworkDisk("Premium_LRS", 128)
    machine = on_network(STEADY, AZURE, "D32ads_v5", disk)
    machine = replace(
        machine,
        disks=(Disk(mb_per_s, mb_per_s),),
        slows_down_after_gib=gib,
        slows_down_factor=100 / mb_per_s,
    )
    return Kind(machine, defined(AZURE, "D32ads_v5", disk))


def test_credits():
    """A disk that spends them says what it does without them; two that are alike differ by them."""
    disk = NetworkDisk("Premium_LRS", 2048)
    fast = Kind(on_network(STEADY, AZURE, "D32ads_v5", disk), defined(AZURE, "D32ads_v5", disk))
    state, text = disk_size(burst(170), fast)
    assert state is State.SUPPORTED
    assert "Its credits were not spent: afterwards it may do 95.4 MiB/s" in text
    assert "credits" not in disk_size(burst(100), fast)[1]
    state, text = disk_size(burst(100), burst(170))
    assert state is State.RULED_OUT
    assert "as Premium_LRS of 128 GiB does once its credits are spent" in text


@pytest.mark.parametrize(
    ("machine", "named"),
    [
        (None, "network-disk"),
        (defined(GOOGLE, GCP, BALANCED_60, 0), "network-disk"),
        (defined(GOOGLE, GCP, BALANCED_60, 1), "boot-disk-fallback"),
    ],
    ids=["unknown", "by design", "by fallback"],
)
def test_one_cause_of_a_disk_that_is_not_local(machine: PoolMachine | None, named: str):
    """By design or by fallback, as the definition says; without one none of the two is claimed."""
    causes = causes_of(SMALL._replace(defined=machine), LOCAL)
    names = ("network-disk", "boot-disk-fallback")
    assert [name for name in names if causes[name].state is State.SUPPORTED] == [named]
    assert causes["disk-size"].state is State.RULED_OUT
    says_it_is_unknown = "Nothing shows whether" in explanation_text(causes["network-disk"])
    assert says_it_is_unknown is (machine is None)


@pytest.mark.parametrize(
    ("machine_type", "expected"),
    [
        ("c3d-standard-16-lssd", True),
        ("c3d-standard-16", False),
        ("n2-standard-8", None),
        ("m5d.4xlarge", True),
        (None, None),
    ],
)
def test_local_ssds_by_the_machine_type(machine_type: str | None, expected: bool | None):
    """Some machine types have a fixed number of them."""
    machine = replace(SMALL.machine, instance_type=machine_type)
    run = measured(SLOW, Kind(machine, None)).run_of(SUBJECT)
    assert has_local_ssds(run) is expected


def test_a_disk_whose_model_says_nothing():
    """A definition with a disk of its size says that it is of the network."""
    silent = replace(SMALL.machine, network_model="Virtual Disk")
    for machine, is_known in ((SMALL.defined, True), (None, False)):
        run = measured(SLOW, Kind(silent, machine)).run_of(SUBJECT)
        assert (place_disk(run) is not None) is is_known


def remedies_of(slow: Kind, fast: Kind) -> list[Remedy]:
    """What to try for causes of network disks alone."""
    (diagnosis,) = report_of([measured(SLOW, slow), measured(FAST, fast)], FAST).diagnoses
    return [remedy for remedy in diagnosis.remedies if "network" in text_of(remedy.action)]


def test_a_remedy_has_a_size_and_a_price():
    """The cheapest disk that may do as much as the faster side's, with what that gains."""
    (remedy,) = remedies_of(SMALL, LARGE)
    assert text_of(remedy.action) == (
        "use a larger or faster network disk, such as pd-ssd of 60 GiB"
    )
    assert remedy_text(remedy.evidence) == (
        "Predicted by what it may do: 269 MiB/s instead of 157 MiB/s. About USD 4.20 more per "
        "month and worker (list price, us-central1, 2024-07-01)."
    )
    assert remedy.gain_ratio == pytest.approx(268.8 / 156.8, rel=0.03)
    assert remedy.disk_change == DiskChange(BALANCED_60, NetworkDisk("pd-ssd", 60))


def test_a_remedy_keeps_to_what_the_machine_lets_pass():
    """Local SSDs do 350 MiB/s, the machine's network disks 240 at most."""
    disk = NetworkDisk("pd-standard", 75)
    in_definition = defined(GOOGLE, "c2-standard-4", NetworkDisk("", 75))
    slow = Kind(on_network(STEADY, GOOGLE, "c2-standard-4", disk), in_definition)
    (remedy,) = remedies_of(slow, LOCAL)
    assert "such as pd-ssd of 75 GiB" in text_of(remedy.action)
    assert "240 MiB/s instead of 9.0" in remedy_text(remedy.evidence)
    assert remedy.disk_change is not None
    assert remedy.disk_change.disk == NetworkDisk("", 75)


def test_a_disk_of_unknown_definition_is_not_changed():
    """The remedy names a size, and no change of a definition."""
    (remedy,) = remedies_of(SMALL._replace(defined=None), LARGE._replace(defined=None))
    assert "such as pd-ssd of 60 GiB" in text_of(remedy.action)
    assert remedy.disk_change is None


def test_a_larger_disk_does_not_help_at_the_limit_of_a_machine():
    """The remedy is another machine type."""
    disk = NetworkDisk("pd-balanced", 1000)
    slow, fast = (
        Kind(on_network(STEADY, GOOGLE, name, disk), defined(GOOGLE, name, disk))
        for name in ("n2-standard-4", GCP)
    )
    (remedy,) = remedies_of(slow, fast)
    assert text_of(remedy.action) == (
        "use a machine type that lets network disks do more, such as n2-standard-8"
    )
    assert "A larger disk on the same machine does not help." in remedy_text(remedy.evidence)


def test_a_price_that_is_not_known():
    """Azure's price of this size has no source."""
    disk = NetworkDisk("Premium_LRS", 2048)
    fast = Kind(on_network(STEADY, AZURE, "D32ads_v5", disk), defined(AZURE, "D32ads_v5", disk))
    (remedy,) = remedies_of(burst(100), fast)
    assert "such as Premium_LRS of 2 TiB" in text_of(remedy.action)
    assert "price" not in remedy_text(remedy.evidence)
