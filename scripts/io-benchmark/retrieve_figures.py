# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""How people are shown cache-retrieve: which times, under which names."""

from progress import MIB

NS_PER_MS = 1_000_000
# Fewer retrieves have more of a file's first among them, which read the disk: another series.
USUAL_RETRIEVES = 2000


class RetrieveFigures:
    @staticmethod
    def details(entry):
        return ["%s %s" % (key, entry[key]) for key in ("destination", "fidelity")]

    @staticmethod
    def parts(entry):
        """All retrieves, then each size, lookup and copy apart."""
        samples = entry["samples"]
        lookups, copies = samples["lookup_ns"], samples["copy_ns"]
        totals = [lookup + copy for lookup, copy in zip(lookups, copies)]
        by_size = {}
        for index, total in zip(samples["file_index"], totals):
            by_size.setdefault(entry["file_sizes_bytes"][index], []).append(total)
        return [
            ("All retrieves", totals, None),
            *(
                ("%g MiB files" % (s / MIB), by_size[s], None)
                for s in sorted(by_size, reverse=True)
            ),
            ("Lookup alone", lookups, None),
            ("Copy alone", copies, None),
        ]

    @staticmethod
    def remarks(entry):
        if entry["final_sync_ns"] is None:
            return []
        return ["Final sync: %.0f ms" % (entry["final_sync_ns"] / NS_PER_MS)]

    @staticmethod
    def remarks_on_all(_entries):
        return []

    @staticmethod
    def options(entry):
        fidelity, retrieves = entry["fidelity"], entry["retrieves_planned"]
        options = [entry["destination"]]
        options += [] if fidelity == "seed" else ["fidelity-" + fidelity]
        options += [] if retrieves == USUAL_RETRIEVES else ["retrieves-%d" % retrieves]
        return options

    @staticmethod
    def subtests(entry):
        samples = entry["samples"]
        lookups, copies = samples["lookup_ns"], samples["copy_ns"]
        return [
            ("lookup-mean", sum(lookups) / len(lookups)),
            ("copy-mean", sum(copies) / len(copies)),
            ("final-sync", entry["final_sync_ns"] or 0),
        ]
