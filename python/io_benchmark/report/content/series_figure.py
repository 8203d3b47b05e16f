# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""A series' means as its workload's figure: the time of one operation, or a rate."""

from collections.abc import Sequence

from io_benchmark.analysis.history.history_model import HistorySeries
from io_benchmark.number_text import digits, times
from io_benchmark.results import workloads
from io_benchmark.results.workload import Workload


def workload_of(series: HistorySeries) -> Workload:
    return workloads.of(series.subject.workload)


def mean_texts(series: HistorySeries, means_ns: Sequence[float]) -> list[str]:
    """Write the means, all in one unit."""
    workload = workload_of(series)
    if not workload.higher_is_better:
        return times(means_ns)
    return [f"{digits(workload.shown(mean_ns))} {workload.unit}" for mean_ns in means_ns]


def drawing_title(series: HistorySeries) -> str:
    """Return the title of pictures: `Mean time in ms`."""
    workload = workload_of(series)
    return f"Mean {'rate' if workload.higher_is_better else 'time'} in {workload.unit}"


def description(series: HistorySeries) -> str:
    """Return what each value is, and which direction is better."""
    workload = workload_of(series)
    if workload.higher_is_better:
        return (
            f"Each value is a rate, in {workload.unit}, where higher is better. Ratios are of the "
            f"times that one {workload.operation} takes: above 1 is slower"
        )
    return f"Each value is the mean time of one {workload.operation}, where lower is better"
