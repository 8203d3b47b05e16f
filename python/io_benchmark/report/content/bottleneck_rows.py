# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What held each side's copies up, and where their bytes went, in words."""

from io_benchmark.analysis.report_model import SideRegime, SubjectReport
from io_benchmark.report.content.units import seconds, size
from io_benchmark.text import clean

STEADY_MEDIAN = "by the median, which is steadier where nothing waits for a disk"


def in_words(part: SubjectReport) -> list[tuple[str, str]]:
    """Each side and what is said of it."""
    return [(side, _side(regime)) for side, regime in part.regimes.items()]


def _side(side: SideRegime) -> str:
    words = f"{side.regime.value} ({clean(side.why)})"
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
    if not part.median_is_steady or not part.figures[baseline].p50_ns:
        return None
    return part.figures[candidate].p50_ns / part.figures[baseline].p50_ns
