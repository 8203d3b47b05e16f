# SPDX-License-Identifier: MPL-2.0
"""The command compare, as a user types it, on folders of results."""

import json
import shutil
from pathlib import Path

import program
import pytest
import sample_gates
import seed_case
from loopback import Loopback
from loopback_deployment import Deployment, add_group
from msgspec.structs import replace

from io_benchmark.report.formats import FORMATS


def compare(*arguments: str, folder: Path, expected: int = 0) -> program.Finished:
    return program.run("compare", *arguments, folder=folder, expected=expected)


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seed")
    seed_case.write(folder / "results")
    (folder / "prices.yml").write_text(
        "{currency: USD, prices: {amd-30: 0.5, c2-standard-16: 0.6}}"
    )
    return folder


@pytest.mark.parametrize(
    ("expectation", "code", "message"),
    [
        ("amd-16/intel<1.05", 3, "not met"),
        ("amd-16/intel>1.3", 0, "met"),
        ("amd-16/intel>1.4", 3, "not decided"),
    ],
)
def test_an_expectation_is_the_exit_code(
    seed: Path, expectation: str, code: int, message: str
) -> None:
    """A gate for scripts: 0 only when the interval says so."""
    done = compare("results", "--expect", expectation, folder=seed, expected=code)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("name", "options", "code", "line"),
    [
        ("equal", ("--gate", "amd-16/intel<1.10"), 0, "Gate passed: amd-16 against intel"),
        ("mixed", ("--gate", "amd-16/intel"), 3, "Gate failed: amd-16 against intel"),
        ("few", ("--gate", "amd-16/intel"), 3, "Gate not decided: amd-16 against intel"),
        (
            "equal",
            ("--gate", "amd-16/intel", "--gate", "amd-30/intel<1.2"),
            3,
            "2 gates: 1 passed, 1 not decided",
        ),
    ],
)
def test_gates_are_the_exit_code(
    tmp_path: Path, name: str, options: tuple[str, ...], code: int, line: str
) -> None:
    """0 only if all have passed; the first line of each format for people is the answer."""
    seed_case.store(tmp_path / "results", sample_gates.documents(name))
    write = ("--write", "json=a.json", "--write", "markdown=a.md", "--write", "perfherder=p.json")
    done = compare("results", *options, *write, folder=tmp_path, expected=code)
    assert done.stdout.splitlines()[0] == line
    assert (tmp_path / "a.md").read_text().splitlines()[0] == f"## {line}"
    gates = json.loads((tmp_path / "a.json").read_text())["gates"]
    assert [gate["baseline"] for gate in gates] == ["intel"] * (len(options) // 2)
    assert len(json.loads((tmp_path / "p.json").read_text())["suites"]) == 1


@pytest.mark.parametrize(
    ("pool", "code", "reason"),
    [
        ("intel", 3, "Why: Not all results of intel are there"),
        (None, 3, "Why: A result could not be read, and its pool is not known"),
        ("other", 0, "Passed: amd-16"),
    ],
)
def test_a_result_that_cannot_be_read(
    tmp_path: Path, pool: str | None, code: int, reason: str
) -> None:
    """It keeps the gates of its pool from passing, and all gates where its pool is not known."""
    results = seed_case.store(tmp_path / "results", sample_gates.documents("equal"))
    whole = min(path for path in results.iterdir() if path.is_dir())
    cut = shutil.copytree(whole, results / f"{'A' * 22}.0")
    (cut / "io-benchmark.json").write_text("{")
    record = json.loads((cut / "task.json").read_text())
    (cut / "task.json").unlink()
    if pool is not None:
        record |= {"pool": pool, "task_id": "A" * 22}
        (cut / "task.json").write_text(json.dumps(record))
    done = compare("results", "--gate", "amd-16/intel", folder=tmp_path, expected=code)
    assert reason in done.stdout
    assert done.stderr.startswith("missing: ")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--gate", "a/a"), "compares a pool with itself"),
        (("--gate", "a/b", "--baseline", "b"), "a gate names both pools; omit one"),
        (("--gate", "a/b", "--margin", "3%"), "a gate has its own; omit one"),
        (("--gate", "a/b", "--expect", "a/b<2"), "a gate is the whole question; omit one"),
    ],
)
def test_mistakes_in_gates(seed: Path, options: tuple[str, ...], problem: str) -> None:
    """One line says what cannot be asked."""
    done = compare("results", *options, folder=seed, expected=2)
    assert problem in done.stderr
    assert done.stderr.count("\n") <= 2


def test_files_and_stdout(seed: Path, tmp_path: Path) -> None:
    """One comparison, several files, whole or not at all.

    One that cannot be written fails the command.
    """
    done = compare(
        str(seed / "results"),
        "--write",
        "html=a.html",
        "--write",
        "html=no/a.html",
        "--write",
        "markdown=b.md",
        "--prices",
        str(seed / "prices.yml"),
        folder=tmp_path,
        expected=1,
    )
    assert "error: --write no/a.html: No such file or directory" in done.stderr
    assert "1.92×" in done.stdout
    assert " USD at the given prices." in " ".join(done.stdout.split())
    assert (tmp_path / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert "1.92×" in (tmp_path / "b.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.md"]


@pytest.mark.parametrize(
    ("options", "word"), [([], "error"), (["--partial"], "missing")], ids=["whole", "partial"]
)
def test_nothing_to_compare_is_a_report_too(tmp_path: Path, options: list[str], word: str) -> None:
    """Every file is written and says what is missing; that is a failure, partial or not."""
    empty = tmp_path / "results" / "Prp_WjpGRx26VH-wA8fjTA.0"
    empty.mkdir(parents=True)
    (empty / "task.json").touch()
    missing = f"{empty}/io-benchmark.json: does not exist: the run left no result"
    files = [word for form in FORMATS for word in ("--write", f"{form}=report.{form}")]
    done = compare(
        str(empty.parent), *options, *files, "--baseline", "intel", folder=tmp_path, expected=1
    )
    assert done.stderr.splitlines() == [
        f"{word}: {missing}",
        "error: nothing could be compared; see the report for the reasons",
    ]
    reports = {form: (tmp_path / f"report.{form}").read_text() for form in FORMATS}
    assert json.loads(reports["json"])["unreadable"] == [missing]
    assert json.loads(reports.pop("perfherder"))["suites"] == []
    for report in reports.values():
        # Lines are broken where the folder's name has left room.
        assert "the run left no result" in " ".join(report.split())


@pytest.mark.parametrize(("options", "code"), [(["--baseline", "intel"], 1), (["--partial"], 0)])
def test_what_is_missing_fails_unless_partial(
    tmp_path: Path, options: list[str], code: int
) -> None:
    """The others are compared all the same.

    The first line says with what instead of the baseline.
    """
    seed_case.write(tmp_path / "results")
    runs = (tmp_path / "results").iterdir()
    (intel,) = (run for run in runs if '"pool": "intel"' in (run / "task.json").read_text())
    (intel / "io-benchmark.json").unlink()
    done = compare("results", *options, folder=tmp_path, expected=code)
    first = " ".join(done.stdout.split("\n\n")[0].split())
    shown = "amd-16 against amd-30 (baseline: instead of intel, which has no result)"
    assert first.startswith(shown)
    assert f"{intel.name}/io-benchmark.json: does not exist" in done.stderr
    assert intel.name in done.stdout


NAMED = "named by the tasks' kind"


@pytest.mark.parametrize(
    ("addresses", "named", "options", "first"),
    [
        (["all"], None, [], "amd-16, amd-30 against intel (baseline: the last by name)"),
        (["all"], "amd-30", [], f"amd-16, intel against amd-30 (baseline: {NAMED})"),
        # One folder per pool, as other systems' jobs leave them.
        (["amd-16", "intel"], "intel", [], "intel against amd-16 (baseline: the first address)"),
        (["intel", "amd-16"], "amd-16", [], "amd-16 against intel (baseline: the first address)"),
        (["all", "amd-16"], "amd-30", [], f"amd-16, intel against amd-30 (baseline: {NAMED})"),
        (
            ["amd-16", "intel"],
            "amd-16",
            ["--baseline", "intel"],
            "amd-16 against intel (baseline: given by --baseline)",
        ),
    ],
)
def test_the_first_line_has_the_baseline(
    tmp_path: Path, addresses: list[str], named: str | None, options: list[str], first: str
) -> None:
    """In each format for people, with the reason.

    The same order of addresses gives the same bytes.
    """
    for made in seed_case.documents():
        for folder in ("all", made["task"]["pool"]):
            seed_case.store(
                tmp_path / folder,
                [made],
                lambda document: replace(seed_case.record(document), baseline=named),
            )
    files = [word for form in FORMATS for word in ("--write", f"{form}=report.{form}")]
    done = compare(*addresses, *options, *files, folder=tmp_path)
    assert " ".join(done.stdout.split()).startswith(first)
    written = {form: (tmp_path / f"report.{form}").read_text() for form in FORMATS}
    assert first in written["markdown"].replace("`", "").splitlines()[0]
    assert f"<h1>{first}</h1>" in written["html"].replace("&#39;", "'")
    baseline = first.partition(" (")[0].rpartition(" ")[2]
    assert json.loads(written["json"])["baseline"] == baseline
    compare(*addresses, *options, *files, folder=tmp_path)
    assert written == {form: (tmp_path / f"report.{form}").read_text() for form in FORMATS}


def test_waiting_for_a_group(tmp_path: Path) -> None:
    """It looks at the group, names what still runs when the time is over, and compares the rest."""
    deployment = Deployment()
    group = add_group(deployment, 4)
    deployment.change_runs(deployment.groups[group][-1], "running")
    with Loopback(deployment) as loopback:
        words = ("compare", f"group:{group}", "--wait", "0", "--partial")
        done = program.run(*words, folder=tmp_path, environment=loopback.environment)
    waiting, ended, missing = done.stderr.splitlines()
    assert waiting == "[3/4] 3 completed, 1 running after 0 min"
    assert ended.startswith("not waiting any longer; not resolved: io-benchmark-amd-16-2 (")
    assert missing.startswith("missing: task ")
    assert done.stdout.startswith("amd-16, amd-30 against intel")


@pytest.mark.parametrize(("options", "expected"), [([], 1), (["--format", "markdown"], 2)])
def test_each_failure_is_shown_once(tmp_path: Path, options: list[str], expected: int) -> None:
    """On a terminal that shows the report, which names each, there is one line about them all.

    Markdown cuts its list.
    """
    seed_case.write(tmp_path / "results", 2)
    for path in sorted((tmp_path / "results").glob("*/io-benchmark.json"))[:2]:
        path.write_text("{")
    done = program.run(
        "compare", "results", *options, folder=tmp_path, expected=1, on_terminal=True
    )
    lines = [line for line in done.stderr.splitlines() if "nothing could be compared" not in line]
    assert len(lines) == expected
    whole = "error: 2 results could not be read; see the report for the reasons"
    assert (lines == [whole]) is (expected == 1)


POOLS = """\
pools:
  - pool_id: gecko-t/b-linux
    config: {instance_types: [{machine_type: c2-standard-16, disks: []}]}
"""


def test_pools_file(seed: Path) -> None:
    """A comparison and a gate name the pools that it does not define."""
    (seed / "pools.yml").write_text(POOLS)
    pools = "gecko-t/b-linux-docker-amd, gecko-t/b-linux-docker-large-amd"
    for options, code in ((), 0), (("--gate", "amd-16/intel"), 3):
        arguments = ("results", "--pools-file", "pools.yml", "--details", *options)
        done = compare(*arguments, folder=seed, expected=code)
        assert f"pools.yml: no definition: {pools}" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file or directory; name a file of pools"),
        ("a: [", "is not YAML (line 1: "),
        ("a: &a [*a]", "is not YAML (line 1: *a contains itself)"),
    ],
)
def test_pools_files_that_are_refused(tmp_path: Path, content: str | None, reason: str) -> None:
    """In one line, before any result is read."""
    if content is not None:
        (tmp_path / "pools.yml").write_text(content)
    done = compare("missing", "--pools-file", "pools.yml", folder=tmp_path, expected=2)
    assert done.stderr.startswith(f"error: --pools-file pools.yml: {reason}")
    assert done.stderr.count("\n") == 1
