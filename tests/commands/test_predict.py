# SPDX-License-Identifier: MPL-2.0
"""`io-benchmark predict`: profiles and results in, a time per pool out."""

import json
import re
from pathlib import Path

import program
import pytest
from predicted_tasks import profile_document, result_documents, write_profile, write_results
from published_profiles import Sample, resource_profile

from io_benchmark import __version__

ANSWER = """\
How long tasks take on other pools
  1 task, 1 profile · results of 2 other pools · task-profile.json · results ·
  io-benchmark {version}

Answer
  - tar, command 00000000: 2.00 s on intel, by 1 profile.
  - Fastest: intel.
  - On amd-16 it takes 2.97 s (2.35 to 3.76 s for 90 % of single tasks), 1.49×
    as long as on intel, by results of one worker.
  - Not predicted on amd-30: intel has no random-io at workspace (requests per
    second); amd-30 has no write ceiling of the place workspace, no random-io at
    workspace (requests per second); measure all that predictions use, in about
    a minute per pool: `python3 io-benchmark.pyz run --pool NAME --capacities`,
    or on Taskcluster: `io-benchmark submit --capacities -j intel,amd-30`.

tar, command 00000000
  On intel: 0.500 CPUs used, 100 MiB written to its disks, 0 B read.

  pool      time   90 % of tasks  ratio    writes  at ceiling
  ───────────────────────────────────────────────────────────
  intel   2.00 s        profiled                         50 %
  amd-16  2.97 s  2.35 to 3.76 s  1.49×  +0.971 s        50 %
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three pools: one as fast as the profile's, one half as fast, one without trials."""
    without = result_documents("amd-30")
    for document in without:
        document["workloads"][0]["trials"] = None
    return write_results(
        tmp_path / "results", result_documents("intel"), result_documents("amd-16", (50,)), without
    )


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return write_profile(tmp_path / "task-profile.json", profile_document((0, 50, 50, 0), cpu_s=1))


def test_text(profile: Path, results: Path) -> None:
    """A sentence and a row per pool that is predicted, and the reasons for the others."""
    command, folder = ("predict", profile.name, "--on", results.name), results.parent
    whole = program.run(*command, "--details", folder=folder).stdout
    assert whole == ANSWER.format(version=__version__)
    # The first screen has the same sentences and rows.
    shown = program.run(*command, folder=folder).stdout.splitlines()
    assert [line for line in ANSWER.splitlines()[5:] if line and line not in shown] == [
        "tar, command 00000000",
        "  On intel: 0.500 CPUs used, 100 MiB written to its disks, 0 B read.",
    ]


def test_label(results: Path, tmp_path: Path) -> None:
    """What --label of measure gave comes first."""
    document = profile_document((0, 50, 50, 0), cpu_s=1)
    document["command"]["label"] = "nightly"
    named = write_profile(tmp_path / "named.json", document)
    done = program.run("predict", named, "--on", results)
    assert "  - nightly: tar, command 00000000: 2.00 s on intel, by 1 profile." in done.stdout
    (task,) = json.loads(program.run("predict", named, "--on", results, "--json").stdout)["tasks"]
    assert task["label"] == "nightly"


def test_prices(profile: Path, results: Path, tmp_path: Path) -> None:
    """What 1,000 tasks cost: 2 and 3 s of an hour that costs 0.36 and 0.18."""
    prices = tmp_path / "prices.yml"
    prices.write_text("{currency: EUR, prices: {intel: 0.36, amd-16: 0.18}}")
    done = program.run("predict", profile, "--on", results, "--prices", prices)
    rows = re.findall(r"^  (\S+) .* ([0-9.]+ EUR)$", done.stdout, re.MULTILINE)
    assert rows[-2:] == [("intel", "0.20 EUR"), ("amd-16", "0.15 EUR")]
    written = " ".join(done.stdout.split())
    assert "Fastest: intel. Cheapest: amd-16, by this command's time alone." in written
    assert "1,000 tasks cost 0.15 EUR (−26 %)." in written


def test_larger_machines(tmp_path: Path) -> None:
    """`--cpus` needs no results; a range is a prediction too, and JSON has its ends."""
    document = profile_document((0,) * 4, cpu_s=24.5, busy_cpus=(16, 16, 16, 1), waiting=0)
    path = write_profile(tmp_path / "task-profile.json", document)
    prices = tmp_path / "prices.yml"
    prices.write_text("{currency: EUR, prices: {intel: 0.36}}")
    command = ("predict", path, "--cpus", "8", "32")
    written = " ".join(program.run(*command, "--prices", prices).stdout.split())
    assert "Whether more CPUs pay is not known: 32 of them (intel with 32 CPUs) save" in written
    assert "On intel with 32 CPUs it takes 1.02 to 2.46 s; 1,000 tasks cost" in written
    assert "On intel with 8 CPUs it takes 3.50 s" in written
    (task,) = json.loads(program.run(*command, "--json").stdout)["tasks"]
    *_, larger = task["pools"]
    assert (larger["time_ns"], larger["low_ns"], larger["cpus"]) == (None, None, 32)
    assert larger["at_least_ns"] < larger["at_most_ns"]
    assert task["more_cpus"]["values"]["cpus"] == {"type": "quantity", "value": 32, "unit": "count"}
    program.run("predict", path, "--cpus", "32", expected=0)


def test_nowhere_to_predict(profile: Path) -> None:
    """One of both options is needed."""
    assert program.run("predict", profile, expected=2).stderr == (
        "error: where to predict is missing; give results of pools by --on ADDRESS, or numbers of "
        "CPUs by --cpus N\n"
    )
    assert "is not a number from 1 to 1,024" in (
        program.run("predict", profile, "--cpus", "0", expected=2).stderr
    )


def test_the_pool_of_a_profile(results: Path, tmp_path: Path) -> None:
    """`--pool` names it where the profile does not, without which nothing is predicted."""
    document = profile_document((0, 50, 50, 0), cpu_s=1, pool=None)
    unnamed = write_profile(tmp_path / "task-profile.json", document).name
    command = ("predict", unnamed, "--on", results.name)
    done = program.run(*command, folder=tmp_path, expected=1)
    assert "does not name its pool" in " ".join(done.stdout.split())
    assert done.stderr == "error: nothing could be predicted; see the report for the reasons\n"
    done = program.run(*command, "--pool", "intel", "--details", folder=tmp_path)
    assert done.stdout == ANSWER.format(version=__version__)


SAME_TIME = {"interval_s": 1.0, "columns": {"time_ns": [1, 1]}, "devices": {}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 2}, "$.version: 2, but this program reads profiles of version 1"),
        ({"timeline": SAME_TIME}, "$.timeline.columns.time_ns: does not increase"),
        ({"unknown": {"a": [0] * 3_000_000}}, "commas, more than 2,000,000"),
    ],
)
def test_profiles_that_cannot_be_read(content, message, results: Path, tmp_path: Path) -> None:
    """The message names the file, the key and the problem."""
    path = write_profile(tmp_path / "profile.json", profile_document(change=content))
    done = program.run("predict", path, "--on", results, expected=1)
    assert done.stderr.startswith(f"error: {path}: ")
    assert message in done.stderr


def test_profiles_in_a_folder(results: Path, tmp_path: Path) -> None:
    """Both kinds, at any depth; one that cannot be read is named and stops nothing."""
    folder = tmp_path / "profiles"
    (folder / "test" / "public").mkdir(parents=True)
    write_profile(folder / "task-profile.json", profile_document((0, 50, 50, 0), cpu_s=1))
    published = folder / "test" / "public" / "profile_resource-usage.json"
    published.write_bytes(resource_profile([Sample(user=0.5)] * 4))
    bad = folder / "test" / "profile.json"
    bad.write_text("{}")
    done = program.run("predict", folder, "--pool", "intel", "--on", results, expected=1)
    assert "tar, command 00000000: 2.00 s on intel, by 1 profile." in done.stdout
    assert "2.00 s on intel, by 1 resource profile." in done.stdout
    assert f"{bad}: is not a profile of a task: it has no `version`" in done.stderr
    # Where there is no other, the reason is the error.
    published.unlink()
    done = program.run("predict", bad.parent, "--on", results, expected=1)
    assert done.stderr.startswith(f"error: {bad}: is not a profile of a task: it has no `version`")
