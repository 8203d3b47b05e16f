# SPDX-License-Identifier: MPL-2.0
"""The facts of a comparison, with links to what was read."""

import many_measurements
import sample_report
from msgspec.structs import replace
from seed_workers import workers

from io_benchmark import __version__
from io_benchmark.analysis.comparing.remarks import days_of
from io_benchmark.report.blocks import Words, plain
from io_benchmark.report.facts import VERSION, addresses_of, facts_of

GROUP, ROOT = "Fqm6GL_zRPurCmd1rRuTR", "https://tc.example"
SOURCE = f"{ROOT}/tasks/PJUgN8IKTxC2TCrqoehGLA/runs/0"


def test_facts() -> None:
    """What was measured, when, by how many workers and tasks, and the program's version."""
    report = replace(sample_report.seed_case(), days=("2026-11-02", "2026-11-05"))
    assert [*facts_of(report)] == [
        "cache-retrieve, place workspace, destination overwrite",
        "measured 2026-11-02 to 2026-11-05",
        "3 workers, 3 tasks",
        f"io-benchmark {__version__}",
    ]
    assert [*facts_of(sample_report.empty())] == [VERSION]
    several, *_ = facts_of(many_measurements.few_measurements())
    assert several == "6 measurements of 3 workloads"


def test_task_groups() -> None:
    """Groups on a deployment are links; of more than four, the others are counted."""
    (line, *_) = sample_report.seed_case().workers
    lines = [replace(line, source=SOURCE, group_id=f"{GROUP}{end}") for end in "AQgw"]
    report = replace(sample_report.seed_case(), workers=(*lines, *lines))
    links = [fact for fact in facts_of(report) if isinstance(fact, Words)]
    assert [(fact.text, fact.link) for fact in links] == [
        (f"task group {line.group_id}", f"{ROOT}/tasks/groups/{line.group_id}") for line in lines
    ]
    more = replace(line, source=SOURCE.replace("tc.", "two."), group_id=f"{GROUP}A")
    written = [*map(plain, facts_of(replace(report, workers=(*lines, more))))]
    assert "and 1 more task group" in written
    assert "task group" not in " ".join(map(plain, facts_of(sample_report.seed_case())))


def test_days() -> None:
    """The first and the last day on which a run started; what is not a time is left out."""
    first, second, third = workers()
    starts = ("2026-11-05T23:59:59Z", "2026-11-02T00:00:00.000Z", "<b>")
    runs = [
        replace(run, started=started)
        for run, started in zip((first, second, third), starts, strict=True)
    ]
    assert days_of(runs) == ("2026-11-02", "2026-11-05")
    assert days_of(runs[:1]) == ("2026-11-05",)
    assert days_of(runs[2:]) == ()


def test_addresses() -> None:
    """Only an address of a browser is a link: a folder's name may begin as one does."""
    addresses = ("https://tc.example/tasks/x", "http://tc.example", "httpd-results", "task:x")
    links = [fact.link for fact in addresses_of(addresses) if isinstance(fact, Words)]
    assert links == ["https://tc.example/tasks/x", "http://tc.example", "", ""]
