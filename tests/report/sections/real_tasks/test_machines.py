# SPDX-License-Identifier: MPL-2.0
"""Slow machines in sentences: the one to pull first, what it loses, and who cannot be judged."""

import sample_machines
from msgspec.structs import replace
from written import folds, lines, screen, section

from io_benchmark.analysis.tasks.machines.find_machines import find_machines
from io_benchmark.analysis.tasks.machines.machine_model import MachineReport, MachineState
from io_benchmark.report.blocks import Items, Picture, Table
from io_benchmark.report.formats import document_of, rendered


def sentences(report: MachineReport) -> list[str]:
    answer = document_of(report).answer
    return lines([block for block in answer if isinstance(block, Items)])


def test_sentences() -> None:
    """First the machine that loses most, with its factor, since when, and what that costs."""
    first, second, pool, failing = sentences(sample_machines.hardware())
    assert first.startswith("- Pull first: mdc1/node-03 (1.41×, 1.3")
    assert "since 2026-04-04), loses 5.3" in first
    assert first.endswith(" h per week, 2.12 USD.")
    assert second.startswith("- Then: mdc1/node-07 (1.28×, 1.2")
    assert pool == (
        "- 2 of 20 machines of hw/linux are slow; no other is slower by 5 % and by more than "
        "chance. Usual machines vary by 1.5 %. 1 more machine: not enough runs."
    )
    assert failing == (
        "- mdc1/node-12 fails more: 24 runs did not complete, 2.6 expected of the same tasks."
    )


def test_no_slow_machine() -> None:
    """The answer says how many were judged."""
    factors = {f"g/{number}": 1 + number % 3 / 100 for number in range(9)}
    report = find_machines(sample_machines.added(sample_machines.month(factors)))
    (sentence,) = sentences(report)
    assert sentence == (
        "- No machine of hw/linux is slow: none of 9 is slower by 5 % and by more than chance. "
        "Usual machines vary by 1 %."
    )


def test_pools_that_cannot_be_judged() -> None:
    """Instances of a cloud have no names; two machines do not show which is usual."""
    report = sample_machines.many()
    cloud, two = (
        sentences(replace(report, pools=(pool,)))
        for name in ("cloud/linux", "hw/two")
        for pool in report.pools
        if pool.pool == name
    )
    (sentence,) = cloud
    assert sentence == (
        "- cloud/linux: no machine is named: half of its runs are on workers that were seen for at "
        "most 57 min, of 200."
    )
    (sentence,) = two
    assert sentence.startswith("- hw/two: no machine can be judged, of 2 machines: fewer than four")


def test_a_machine_that_is_gone_or_may_be_two() -> None:
    """Both are said; a name that may be that of several machines is not pulled first."""
    report = sample_machines.hardware()
    (pool,) = report.pools
    first, second, *rest = pool.machines
    doubtful = replace(first, may_be_several=True)
    gone = replace(second, last_day="2026-04-14")
    changed = replace(pool, machines=(doubtful, gone, *rest))
    written = sentences(replace(report, pools=(changed,)))
    assert written[0].startswith(f"- Pull first: {second.machine}")
    assert written[0].endswith("; last run on 2026-04-14.")
    assert written[1].endswith("; its name may be that of several machines.")
    recent = replace(pool, machines=(replace(second, last_day="2026-04-15"), *rest))
    assert "last run" not in sentences(replace(report, pools=(recent,)))[0]


def test_all_machines_are_in_the_table() -> None:
    """Slow ones first, those that are not judged last; a long table is folded."""
    report = sample_machines.hardware()
    assert folds(report) == ["21 machines"]
    rows = [line for line in lines(section(report, "hw/linux")) if line.startswith("mdc1/")]
    assert [row.split(" ")[0] for row in (rows[0], rows[1], rows[-1])] == [
        "mdc1/node-03",
        "mdc1/node-07",
        "mdc1/node-20",
    ]


def test_slow_machines_without_a_sentence_are_on_the_screen() -> None:
    """A table has them where there are more than three; what has no room is counted."""
    blocks = document_of(sample_machines.many()).screen
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert len(table.rows) + table.left_out == 8
    blocks = document_of(sample_machines.hardware()).screen
    assert not any(isinstance(block, Table) for block in blocks)


def test_remarks_are_on_the_screen() -> None:
    """Names that are not clear are warnings."""
    runs = sample_machines.month({f"g/{number}": 1.0 for number in range(9)})
    runs += [sample_machines.run("g/5", day + 0.001, 15, "test") for day in range(28)]
    report = find_machines(sample_machines.added(runs))
    assert screen(report)[-1] == (
        "! g/5 of hw/linux ran several tasks at the same time: that may be several machines with "
        "one name"
    )


def test_picture() -> None:
    """Each pool has a row with all its machines, each slow machine one with its interval."""
    report = sample_machines.hardware()
    (picture,) = (block for block in document_of(report).answer if isinstance(block, Picture))
    rows, _ = picture.arguments
    assert [(row.name, row.workers) for row in rows] == [
        ("hw/linux", 20),
        ("mdc1/node-03", 0),
        ("mdc1/node-07", 0),
    ]
    assert sample_machines.nothing().pools == ()
    assert not any(
        isinstance(block, Picture) for block in document_of(sample_machines.nothing()).answer
    )


def test_json() -> None:
    """It has every machine, and not what only people read."""
    report = sample_machines.hardware()
    written = rendered(report, "json")
    assert '"version": 1' in written
    assert "addresses" not in written
    assert written.count('"machine": ') == 21
    assert MachineState.UNKNOWN.value in written
