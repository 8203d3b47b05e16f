# SPDX-License-Identifier: MPL-2.0
"""What logs say of set-up, in sentences."""

import json

import pytest
import sample_tasks
from msgspec.structs import replace

from io_benchmark.analysis.phases.phase_model import PhaseName, Waits
from io_benchmark.analysis.tasks.both_sides import BothSides
from io_benchmark.analysis.tasks.difference_model import (
    PhaseDifference,
    PhasesOfPair,
    PhaseTimes,
    Reason,
)
from io_benchmark.analysis.tasks.task_model import CostComparison
from io_benchmark.report.formats import Layout, rendered
from io_benchmark.report.sections.real_tasks.phase_differences import sentence

LOAD = PhaseDifference(
    phase=PhaseName.IMAGE_LOAD,
    reason=Reason.PACE,
    difference_s=15.2,
    interval_s=(13.1, 17.3),
    ratio=1.5,
    p_value=0.001,
    is_decided=True,
    waits=Waits.DISKS,
)
BASIS = "by 24 logs of 6 workers each"


def pair_of(*rows, workers=(6, 6), set_up_s=(40.0, 58.0), rate=0.0):
    times = PhaseTimes(
        PhaseName.IMAGE_LOAD, BothSides(30.0, 45.2), BothSides(0.25, 1.0), BothSides(2 * rate, rate)
    )
    return PhasesOfPair(
        baseline="b",
        candidate="a",
        runs=BothSides(12, 12),
        workers=BothSides(*workers),
        set_up_s=BothSides(*set_up_s),
        phases=(times,),
        differences=rows,
    )


def test_what_is_slower_and_what_it_waits_for():
    """The phases that differ, in seconds with intervals, and that nothing else does."""
    assert sentence(pair_of(LOAD)) == (
        "it takes 18 s longer than on b: image load +15 s (+13 to +17), which usually waits for "
        f"disks; nothing else differs by more than chance, {BASIS}."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"waits": Waits.NETWORK}, ", which usually waits for the network"),
        ({"waits": Waits.UNKNOWN}, ""),
        ({"waits": Waits.CPUS}, ", for CPUs: by the benchmark these are slower, and not the disks"),
        ({"reason": Reason.TIME}, ", for what may be other work"),
        ({"reason": Reason.SIZE}, ", because it moves 1.50× the bytes"),
        ({"reason": Reason.SHARE}, ", because it is done more often (100 % against 25 %)"),
    ],
)
def test_why_a_phase_takes_longer(changes, words):
    """Only the same work that takes longer may wait for a machine's part."""
    made = sentence(pair_of(replace(LOAD, **changes)))
    assert made.partition("(+13 to +17)")[2].partition("; nothing")[0] == words


def test_rates_where_logs_have_bytes():
    """Bytes per second are those of both pools."""
    made = sentence(pair_of(LOAD, rate=50 * 1024**2))
    assert "(+13 to +17) at 50.0 against 100 MiB/s, which usually waits for disks" in made


def test_shorter_and_equal_set_up():
    """Differences may go both ways."""
    faster = replace(LOAD, difference_s=-150.0, interval_s=(-170.0, -130.0))
    made = sentence(pair_of(faster, set_up_s=(200.0, 50.0)))
    assert made.startswith("it takes 2.5 min less than on b: image load −2.5 min (−2.8 to −2.2)")
    assert sentence(pair_of(LOAD, set_up_s=(40.0, 40.4))).startswith("it takes 40.4 s on both: ")


def test_nothing_is_proven():
    """The evidence is named as what it is, and one worker decides nothing."""
    row = replace(LOAD, is_decided=False, interval_s=(-2.0, 32.4))
    nothing = "no phase is proven to take another time"
    evidence = "most evidence has image load, +15 s (−2.0 to +32)"
    assert sentence(pair_of(row)) == f"{nothing}; {evidence}, {BASIS}."
    single = sentence(pair_of(row, workers=(6, 1)))
    assert single.startswith(f"{nothing}, because one worker decides nothing; {evidence}, by 24")
    assert sentence(pair_of()) == f"{nothing}, {BASIS}."


def test_more_than_has_room():
    """Three are named, and the money is that of all."""
    cost = sample_tasks.only_pair(sample_tasks.phased()).cost
    assert isinstance(cost, CostComparison)
    made = sentence(pair_of(*[LOAD] * 5), cost)
    assert made.count("image load") == 3
    assert made.endswith(f"; and 2 more differences, {BASIS}. That is 8.23 USD per 1,000 tasks.")
    assert "USD" not in sentence(pair_of(replace(LOAD, difference_s=-15.0)), cost)


def test_it_is_on_the_first_screen():
    """What logs were read for stays, whatever else has no room."""
    written = rendered(sample_tasks.phased(), "text", Layout(columns=80))
    assert "Set-up by logs: it takes 52.4 s longer than on intel" in written
    assert len(written.splitlines()) <= 24


def test_nothing_of_it_without_logs():
    """A report for which no log was read has the keys and the words that it had before."""
    report = sample_tasks.seed()
    for form in ("text", "markdown", "html"):
        assert "by logs" not in rendered(report, form, Layout(details=True))
    document = json.loads(rendered(report, "json"))
    assert (document["version"], "phases" in document) == (4, False)
    assert "phases" in json.loads(rendered(sample_tasks.phased(), "json"))


def test_a_pair_without_logs():
    """Logs of other labels or of one pool alone compare nothing."""
    report = sample_tasks.phased()
    assert report.phases
    without = replace(report, phases=replace(report.phases, pairs=()))
    written = rendered(without, "text", Layout(details=True))
    assert "Set-up by logs: no log of a label that both pools have could be used." in written
