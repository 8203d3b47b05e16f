# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""What holds for every format."""

import subprocess
import sys
from io import StringIO

import every_workload
import pytest
import sample_report
import several_places
from rich.console import Console

from io_benchmark.report import FORMATS, load

REPORTS = {
    "seed-case": lambda: sample_report.seed_case(200),
    "hostile": lambda: sample_report.hostile(200),
    "refused": lambda: sample_report.refused(200),
    "empty": sample_report.empty,
    "before-and-after": lambda: sample_report.before_after(200),
    "many-pools": lambda: sample_report.many_pools(200),
    "several-subjects": sample_report.several_subjects,
    "every-workload": lambda: every_workload.report(),  # noqa: PLW0108 - typed as the others
    "five-places": lambda: several_places.five(),  # noqa: PLW0108 - typed as the others
}


def rendered(form: str, report: str) -> str:
    """The format's text of one of the reports, made from scratch."""
    made = REPORTS[report]()
    if form != "text":
        return str(load(form)(made))
    stream = StringIO()
    load(form)(Console(file=stream, width=80), made)
    return stream.getvalue()


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("form", FORMATS)
def test_deterministic(form, report):
    """The same report gives the same bytes, ends in a newline and can be written as UTF-8."""
    first = rendered(form, report)
    assert first == rendered(form, report)
    assert first.encode().endswith(b"\n")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_every_candidate_has_an_answer(form):
    """With twelve pools, each of the eleven candidates is named with its verdict."""
    text = rendered(form, "many-pools")
    assert [
        f"pool-{number:02d}" for number in range(2, 13) if f"pool-{number:02d}" not in text
    ] == []
    for words in ("1.30× slower than", "is faster than", "is equivalent to", "is inconclusive"):
        assert words in text


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_words_of_other_tools(form):
    """A report never says that sides are the same, nor talks of significance.

    Facts may be the same: real causes, at its end, say so of kernels and disks.
    """
    for report in REPORTS:
        text = rendered(form, report).lower().partition("why amd-16 is")[0]
        assert [
            word for word in ("the same", "significant", "identical", "p-value") if word in text
        ] == []


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_refusal_is_prominent(form):
    """A refused candidate has the rule's name before the figures, and neither ratio nor verdict."""
    text = rendered(form, "refused")
    first = text.index("copy-method")
    assert first < text.index("76.0 ms")
    assert "No verdict" in text[: text.index("76.0 ms")]
    assert "1.92×" not in text


def test_loaded_when_asked_for():
    """Naming the formats loads neither jinja2 nor rich."""
    code = (
        "import sys, io_benchmark.report as r; list(r.FORMATS); r.load('json');"
        "print([name for name in ('jinja2', 'rich', 'markupsafe') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
