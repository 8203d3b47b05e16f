# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The seed's figures, by its own definitions."""

import msgspec
import pytest

from io_benchmark.analysis import figures
from io_benchmark.results import CacheRetrieve

MS = 1_000_000


def entry(times_ms: list[int], **changes: object) -> CacheRetrieve:
    """An entry whose lookups take 1 ms and whose copies take the rest."""
    filled: dict[str, object] = {
        name: None for name in CacheRetrieve.__struct_fields__ if name != "samples"
    }
    filled |= {
        "name": "cache-retrieve",
        "place": "workspace",
        "destination": "overwrite",
        "fidelity": "seed",
        "retrieves_planned": len(times_ms),
        "file_sizes_bytes": [1],
        "sequence_sha256": "",
        "completed": True,
        "samples": {
            "file_index": [0] * len(times_ms),
            "start_ns": list(range(len(times_ms))),
            "lookup_ns": [MS] * len(times_ms),
            "copy_ns": [(time_ms - 1) * MS for time_ms in times_ms],
        },
    }
    return msgspec.convert(filled | changes, CacheRetrieve)


def test_one_workers_figures_are_the_seeds() -> None:
    """Average, percentiles by the seed's rank, total; lookup and copy apart."""
    assert figures.of_worker(entry(list(range(1, 201)))) == figures.Figures(
        workers=1,
        retrieves=200,
        mean_ns=100.5 * MS,
        p50_ns=101 * MS,
        p95_ns=191 * MS,
        p99_ns=199 * MS,
        total_ns=20100 * MS,
        lookup_mean_ns=1 * MS,
        copy_mean_ns=99.5 * MS,
    )


@pytest.mark.parametrize(
    ("count", "percent", "expected"),
    [
        pytest.param(1, 99, 1, id="one"),
        pytest.param(2, 50, 2, id="two"),
        pytest.param(100, 99, 100, id="hundred"),
        pytest.param(10, 100, 10, id="all"),
    ],
)
def test_percentiles_stay_within_the_samples(count: int, percent: int, expected: int) -> None:
    """The seed's data[n * p // 100], also at the edges."""
    assert figures.percentile(list(range(1, count + 1)), percent) == expected


def test_a_pool_is_the_mean_of_its_workers_and_not_of_its_retrieves() -> None:
    """A worker that measured longer does not count more."""
    (table,) = figures.tables(
        [("a", [entry([10] * 4)]), ("a", [entry([20])]), ("b", [entry([30])])], baseline="a"
    )
    assert (table.pools["a"].workers, table.pools["a"].retrieves) == (2, 5)
    assert table.pools["a"].mean_ns == 15 * MS
    assert table.ratio("b") == 2.0
    assert table.ratio("a") == 1.0


def test_only_like_is_laid_beside_like() -> None:
    """Another destination, place or fidelity is a table of its own; empty entries are left out."""
    tables = figures.tables(
        [
            ("a", [entry([10]), entry([5], destination="unlink"), entry([1], place="other")]),
            ("b", [entry([20]), entry([], destination="unlink"), entry([2], fidelity="real")]),
        ],
        baseline="a",
    )
    subjects = {
        (table.subject.place, table.subject.destination, table.subject.fidelity): list(table.pools)
        for table in tables
    }
    assert subjects == {
        ("other", "overwrite", "seed"): ["a"],
        ("workspace", "overwrite", "real"): ["b"],
        ("workspace", "overwrite", "seed"): ["a", "b"],
        ("workspace", "unlink", "seed"): ["a"],
    }
