# SPDX-License-Identifier: MPL-2.0
"""Places side by side."""

import sample_report
import several_places
from msgspec.structs import replace
from written import folds, lines, rows, section, tables

from io_benchmark.analysis.report_model import Report
from io_benchmark.number_text import NOTHING
from io_benchmark.report.blocks import plain


def test_a_row_per_place_and_a_column_per_pool() -> None:
    """The seed's table of five configurations, with what each place is and the pools' ratio."""
    found = section(several_places.five(), "Places")
    means, ratios = tables(found)
    assert means.heads == ("intel", "amd-16", "amd-16/intel")
    assert rows(means) == {
        "workspace": ("75.8", "149", "1.96× slower"),
        "container": ("83.2", "84.4", "1.01× inconclusive"),
        "boot-disk": ("175", "180", "1.03× inconclusive"),
        "bind-mount": ("75.7", "78.1", "1.03× inconclusive"),
        "memory": ("8.32", NOTHING, NOTHING),
    }
    assert plain(ratios.title) == "Ratio of times to workspace, each worker compared with itself"
    assert [(plain(row.label), tuple(row.cells)) for row in ratios.rows[2:4]] == [
        ("boot-disk", ("2.31×", "1.21×")),
        ("95 % interval", ("2.261 to 2.359", "1.179 to 1.241")),
    ]
    texts = lines(found)
    assert texts[:5] == [
        "- workspace: volume, ext4",
        "- container: container overlay",
        "- boot-disk: volume, ext4",
        "- bind-mount: volume, xfs",
        "- memory: memory, tmpfs",
    ]
    assert "- memory, intel: warm cache here, cold cache at workspace" in texts
    assert ("- memory, amd-16: not measured: no space: needs 7100 MiB, 4100 MiB are free") in texts
    assert texts[-1] == (
        "- intel, amd-16: one worker compared with itself, in blocks of its samples; the interval "
        "holds for that worker alone, because others may differ"
    )


def changed(**changes: object) -> Report:
    """The five places, with the first side of each changed."""
    report = several_places.five()
    (places,) = report.places
    found = tuple(
        replace(row, sides=(replace(row.sides[0], **changes), *row.sides[1:]))
        for row in places.rows
    )
    return replace(report, places=(replace(places, rows=found),))


def test_several_workers() -> None:
    """Each is compared with itself; how much their ratios differ gives the interval."""
    found = lines(section(changed(method="workers", workers=3), "Places"))
    assert (
        "- intel: 3 workers, each compared with itself; the interval follows from how much their "
        "ratios differ"
    ) in found


def test_pools_that_differ_in_what_the_place_is() -> None:
    """Each kind is named with the pools that have it."""
    found = lines(section(changed(kind="volume, xfs"), "Places"))
    assert found[0] == "- workspace: volume, xfs on intel; volume, ext4 on amd-16"


def test_what_is_folded() -> None:
    """Each destination of cache-retrieve has tables, of other workloads what differs."""
    report = several_places.everything()
    (summary,) = [fold for fold in folds(report) if "places" in fold]
    titles = [plain(table.title) for table in tables(section(report, "Places"))]
    means = [title for title in titles if not title.startswith("Ratio")]
    assert len(means) == len(report.places) == 28
    assert means[:3] == [
        f"cache-retrieve, destination {name}, fidelity seed (ms, lower is better)"
        for name in ("overwrite", "unlink", "fresh")
    ]
    folded = int(summary.split(" in ")[1].split()[0])
    assert all("random-io" in title for title in means[3 : 28 - folded])
    assert summary == f"No proven difference between places in {folded} measurements"


def test_one_place_has_no_section() -> None:
    """There is nothing to compare it with."""
    assert section(sample_report.seed_case(10), "Places") == []
