# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What held the copies up, and the figure that leads because of it."""

import pytest
import sample_report
from msgspec.structs import replace
from sample_report import ABSORBED, SUBJECT, text

from io_benchmark.analysis.report_model import Bottleneck, SideBottleneck
from io_benchmark.report.content.document import build


def absorbed(**changes):
    """The part of a report whose copies all ended in memory, with one side's bottleneck changed."""
    part = sample_report.several_subjects().subjects[1]
    bottlenecks = {**part.bottlenecks, "amd-16": replace(ABSORBED, **changes)}
    return replace(part, bottlenecks=bottlenecks)


@pytest.mark.parametrize(
    ("bottleneck", "words"),
    [
        pytest.param(
            ABSORBED,
            "absorbed by the page cache (waiting for I/O 1 % of the time); of 110 GiB copied, 3 MiB "
            "reached the disks; after the last copy 80 MiB were still to be written; the final sync "
            "took 240 ms",
            id="all",
        ),
        pytest.param(
            replace(ABSORBED, left_dirty_bytes=None, drain_ns=None),
            "absorbed by the page cache (waiting for I/O 1 % of the time); of 110 GiB copied, 3 MiB "
            "reached the disks",
            id="no sync",
        ),
        pytest.param(
            SideBottleneck(
                Bottleneck.UNKNOWN, text("nothing\x1b[31m was recorded"), None, None, None, None
            ),
            "unknown (nothing�[31m was recorded)",
            id="nothing",
        ),
    ],
)
def test_bottlenecks(bottleneck, words):
    """The bottleneck, what told it, and where the bytes went, as far as that is known."""
    part = replace(absorbed(), bottlenecks={"amd-16": bottleneck})
    (section,) = build(replace(sample_report.seed_case(5), subjects=(part,))).sections
    assert section.bottlenecks == (("amd-16", words),)


def labels(part):
    """The table's rows from the top."""
    report = replace(sample_report.seed_case(100), subjects=(part,))
    (section,) = build(report).sections
    return [row.label for row in section.table.rows]


def test_the_median_leads_where_it_is_steady():
    """P50 first, its ratio above the mean's, and both in the answer."""
    assert labels(absorbed())[:2] == ["P50", "Avg"]
    assert labels(absorbed())[-4:-2] == ["P50 vs intel", "Ratio vs intel"]
    report = replace(sample_report.seed_case(100), subjects=(absorbed(),))
    (section,) = build(report).sections
    (answer,) = section.answers
    assert "1.96× by the median, which varies less where nothing waits" in answer.rest


def test_the_mean_leads_where_one_side_waits():
    """Medians of a side that waits for its disk are not laid beside others."""
    part = absorbed(bottleneck=Bottleneck.WRITEBACK)
    assert labels(part)[:2] == ["Avg", "P50"]
    assert "P50 vs intel" not in labels(part)
    assert part.subject == replace(SUBJECT, destination="unlink")
