# SPDX-License-Identifier: MPL-2.0
"""Properties of every format."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import every_workload
import pytest
import sample_history
import sample_report
import several_places
from checkout import ROOT

from io_benchmark.report.formats import FORMATS, HISTORY_FORMATS, output

HELPERS = ROOT / "tests/helpers"
REPORTS: dict[str, Any] = {
    "seed-case": lambda: sample_report.seed_case(50),
    "hostile": lambda: sample_report.hostile(50),
    "refused": lambda: sample_report.refused(50),
    "empty": sample_report.empty,
    "before-and-after": lambda: sample_report.before_after(50),
    "many-pools": lambda: sample_report.many_pools(50),
    "several-subjects": sample_report.several_subjects,
    "every-workload": every_workload.report,
    "five-places": several_places.five,
}

SMALL = ("seed-case", "hostile", "before-and-after", "several-subjects")


def rendered(form: str, report: str) -> str:
    """Return the format's text of a report."""
    return output.rendered(REPORTS[report](), form, details=True)


def digests(seed: str) -> dict[str, str]:
    """Render reports and histories in every format, in a process with this seed of its hashes."""
    code = "import json, test_formats; print(json.dumps(test_formats.own_digests()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{Path(__file__).parent}:{HELPERS}"},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def own_digests() -> dict[str, str]:
    """Return a hash of each output that this process writes."""
    shown: list[tuple[str, Any, Collection[str]]] = [
        *((name, REPORTS[name](), FORMATS) for name in SMALL),
        ("one-change", sample_history.one_change(), HISTORY_FORMATS),
    ]
    texts = {
        f"{name} {form}": output.rendered(made, form)
        for name, made, forms in shown
        for form in forms
    }
    assert [name for name, text in texts.items() if not text.endswith("\n")] == []
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def test_deterministic():
    """Another process, whose sets have another order, writes the same bytes."""
    expected = own_digests()
    assert digests("1") == expected
    assert len(expected) == len(SMALL) * len(FORMATS) + len(HISTORY_FORMATS)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_words_of_other_tools(form):
    """A report never calls sides the same, and never mentions significance.

    Facts may be the same: causes, at the end, say it about kernels and disks.
    """
    for report in REPORTS:
        text = rendered(form, report).lower()
        text = re.split(r"why .* is (?:slower|faster)|possible causes", text)[0]
        assert [
            word for word in ("the same", "significant", "identical", "p-value") if word in text
        ] == []


def test_loaded_on_use():
    """Listing the formats loads no library, and JSON needs no console."""
    code = (
        "import sys; from io_benchmark.report.formats import FORMATS, HISTORY_FORMATS;"
        "names = ('markupsafe', 'rich.console', 'msgspec', 'numpy');"
        "print([name for name in names if name in sys.modules]);"
        "import io_benchmark.report.formats.json_documents;"
        "print([name for name in names if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n['msgspec']\n"
