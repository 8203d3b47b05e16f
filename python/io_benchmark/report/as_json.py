# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Figures for programs."""

import dataclasses

import msgspec

from io_benchmark.analysis.figures import Table

VERSION = 1


def of_tables(tables: tuple[Table, ...]) -> str:
    """One document; times in nanoseconds, ratios as plain numbers."""
    document = {
        "version": VERSION,
        "subjects": [
            {
                "workload": table.subject.workload,
                "place": table.subject.place,
                "destination": table.subject.destination,
                "fidelity": table.subject.fidelity,
                "baseline": table.baseline,
                "pools": {
                    pool: {
                        **dataclasses.asdict(figures),
                        "ratio": table.ratio(pool) if table.baseline in table.pools else None,
                    }
                    for pool, figures in table.pools.items()
                },
            }
            for table in tables
        ],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
