# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the copies of each side waited for, and where their bytes went, in words."""

from io_benchmark.analysis.model import MEDIAN
from io_benchmark.analysis.report_model import SideBottleneck, SubjectReport
from io_benchmark.report.content.statement_text import text_of
from io_benchmark.report.content.units import seconds, size

STEADY_MEDIAN = "by the median, which is steadier where nothing waits for a disk"


def in_words(part: SubjectReport) -> list[tuple[str, str]]:
    """Each side and what is said of it."""
    return [(side, _side(bottleneck)) for side, bottleneck in part.bottlenecks.items()]


def _side(side: SideBottleneck) -> str:
    words = f"{side.bottleneck.value} ({text_of(side.reason)})"
    if side.copied_bytes is None or side.written_bytes is None:
        return words
    words += f"; of {size(side.copied_bytes)} copied {size(side.written_bytes)} reached the disks"
    if side.left_dirty_bytes is not None:
        words += f", {size(side.left_dirty_bytes)} left dirty"
    if side.drain_ns is not None:
        words += f", {seconds(side.drain_ns)} to drain"
    return words


def median_ratio(part: SubjectReport, candidate: str, baseline: str) -> float | None:
    """Candidate over baseline, where medians are what is steady on every side."""
    median_ns = part.figures[baseline].percentiles_ns[MEDIAN]
    if not part.median_is_steady or not median_ns:
        return None
    return part.figures[candidate].percentiles_ns[MEDIAN] / median_ns
