# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What the golden files of reports hold; run as a program, it writes them anew."""

from collections.abc import Callable
from pathlib import Path

import every_workload
import several_places
from checkout import ROOT
from sample_report import (
    FEW_RETRIEVES,
    before_after,
    empty,
    hostile,
    many_pools,
    on_terminal,
    refused,
    seed_case,
    several_subjects,
)

from io_benchmark.analysis.report_model import Report
from io_benchmark.report import load

GOLDEN = ROOT / "tests" / "report" / "golden"


def _rendered(name: str, make: Callable[..., Report]) -> Callable[[], str]:
    return lambda: load(name)(make(FEW_RETRIEVES) if make is not empty else make())


def golden_outputs() -> dict[str, Callable[[], str]]:
    """Each golden file's name and what makes it."""
    few = FEW_RETRIEVES
    return {
        "seed-case-80-columns.txt": lambda: on_terminal(seed_case(few), 80),
        "seed-case-40-columns.txt": lambda: on_terminal(seed_case(few), 40),
        "seed-case-140-columns.txt": lambda: on_terminal(seed_case(few), 140),
        "seed-case-in-colour.txt": lambda: on_terminal(seed_case(few), 80, colour=True),
        "twelve-pools-80-columns.txt": lambda: on_terminal(many_pools(few), 80),
        "hostile-names-on-a-terminal.txt": lambda: on_terminal(hostile(few), 80),
        "refused-on-a-terminal.txt": lambda: on_terminal(refused(few), 80),
        "nothing-readable-on-a-terminal.txt": lambda: on_terminal(empty(), 80),
        "before-and-after-on-a-terminal.txt": lambda: on_terminal(before_after(few), 80),
        "two-destinations-on-a-terminal.txt": lambda: on_terminal(several_subjects(), 80),
        "every-workload-80-columns.txt": lambda: on_terminal(every_workload.report(), 80),
        "every-workload-50-columns.txt": lambda: on_terminal(every_workload.report(), 50),
        "every-workload.md": lambda: load("markdown")(every_workload.report()),
        "every-workload-perfherder.json": lambda: load("perfherder")(every_workload.report()),
        "five-places-80-columns.txt": lambda: on_terminal(several_places.five(), 80),
        "five-places-40-columns.txt": lambda: on_terminal(several_places.five(), 40),
        "five-places.md": lambda: load("markdown")(several_places.five()),
        "five-places.html": lambda: load("html")(several_places.five()),
        "five-places.json": lambda: load("json")(several_places.five()),
        "everything-80-columns.txt": lambda: on_terminal(several_places.everything(), 80),
        "everything.md": lambda: load("markdown")(several_places.everything()),
        "seed-case.md": _rendered("markdown", seed_case),
        "twelve-pools.md": _rendered("markdown", many_pools),
        "hostile-names.md": _rendered("markdown", hostile),
        "refused.md": _rendered("markdown", refused),
        "nothing-readable.md": _rendered("markdown", empty),
        "before-and-after.md": _rendered("markdown", before_after),
        "seed-case.html": _rendered("html", seed_case),
        "hostile-names.html": _rendered("html", hostile),
        "nothing-readable.html": _rendered("html", empty),
        "seed-case.json": _rendered("json", seed_case),
        "hostile-names.json": _rendered("json", hostile),
        "before-and-after.json": _rendered("json", before_after),
        "before-and-after-perfherder.json": _rendered("perfherder", before_after),
    }


def main() -> None:
    folder: Path = GOLDEN
    folder.mkdir(exist_ok=True)
    outputs = golden_outputs()
    for old in folder.iterdir():
        if old.name not in outputs and old.name != "perfherder-series.json":
            old.unlink()
    for name, make in outputs.items():
        (folder / name).write_bytes(make().encode())


if __name__ == "__main__":
    main()
