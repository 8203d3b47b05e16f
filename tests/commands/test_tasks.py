# SPDX-License-Identifier: MPL-2.0
"""The command tasks: the seed's tasks, and what they cost."""

import io
import json
import re
from pathlib import Path

import program
import pytest
import real_tasks
import sample_machines
import sample_ranking
import seed_case
from msgspec.structs import replace

from io_benchmark.context import Context
from io_benchmark.operations import tasks
from io_benchmark.operations.investigation_steps import read_completed_runs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the tasks' runs."""
    (tmp_path / "runs.csv").write_text(real_tasks.table())
    return tmp_path


@pytest.mark.parametrize(
    ("others", "names"),
    [
        ([], ("b-linux-docker-amd", "b-linux")),
        (["releng-1/b-linux"], ("b-linux-docker-amd", "gecko-t/b-linux")),
    ],
    ids=["by name", "two of one name"],
)
def test_pools_are_named_without_their_provisioner(folder, others, names):
    """Unless two pools would have the same name; the baseline can be named either way."""
    queues = {"intel": "gecko-t/b-linux", "amd-16": "gecko-t/b-linux-docker-amd"}
    rows = [row | {"pool": queues[row["pool"]]} for row in real_tasks.rows()]
    rows += [row | {"pool": pool, "task_id": ""} for pool in others for row in rows]
    (folder / "queues.csv").write_text(real_tasks.table(rows))
    command = ("tasks", "queues.csv", "--baseline", "gecko-t/b-linux")
    pairs = program.document(*command, folder=folder)["comparisons"]
    assert names in [(pair["candidate"], pair["baseline"]) for pair in pairs]


@pytest.mark.parametrize(
    ("order", "options", "names"),
    [
        (["amd-16", "intel"], (), ("intel", "amd-16")),
        (["intel", "amd-16"], (), ("amd-16", "intel")),
        (["amd-16", "intel"], ("--baseline", "intel"), ("amd-16", "intel")),
        (["both", "amd-16"], (), ("amd-16", "intel")),
    ],
    ids=["first", "last by name is first", "option", "first has two pools"],
)
def test_the_first_of_several_addresses_is_the_baseline(tmp_path, order, options, names):
    """As for compare; not where it has several pools, or an option names another one."""
    tables = {"both": list(real_tasks.rows())}
    for row in tables["both"]:
        tables.setdefault(row["pool"], []).append(row)
    for name, rows in tables.items():
        (tmp_path / f"{name}.csv").write_text(real_tasks.table(rows))
    files = [f"{name}.csv" for name in order]
    document = program.document("tasks", *files, *options, folder=tmp_path)
    (pair,) = document["comparisons"]
    assert (pair["candidate"], pair["baseline"]) == names


def test_a_bad_row_is_named_and_fails(folder):
    """The comparison is shown all the same; the exit code says that not all was read."""
    table = real_tasks.table() + "x,intel,w,,0,completed,completed,,yesterday,,,\n"
    (folder / "bad.csv").write_text(table)
    done = program.run("tasks", "bad.csv", folder=folder, expected=1)
    assert "amd-16 takes 1.15× as long as intel" in done.stdout
    assert "bad.csv: line 28: started: 'yesterday' is not a time" in done.stderr


@pytest.mark.parametrize("option", ["--details", "--rank"])
@pytest.mark.parametrize("provisioner", ["", "gecko-t/"])
def test_a_pool_that_no_task_is_on(folder, option, provisioner):
    """It is named with the pool that was probably meant; the pools that are there are not."""
    rows = [row | {"pool": provisioner + row["pool"]} for row in real_tasks.rows()]
    (folder / "queues.csv").write_text(real_tasks.table(rows))
    command = ("tasks", "queues.csv", "--pool", "amd-16", option)
    printed = [
        " ".join(program.run(*command, *more, folder=folder, expected=None).stdout.split())
        for more in ((), ("--pool", "intle"))
    ]
    remark = "--pool intle: no task is on this pool; did you mean intel?"
    assert [remark in text for text in printed] == [False, True]
    assert "--pool amd-16:" not in "".join(printed)


LEAST, MOST = "1e-9", "1e6"


@pytest.mark.parametrize("option", ["--details", "--rank", "--json", "--format=html"])
@pytest.mark.parametrize("costs", [(LEAST, MOST), (MOST, LEAST), (LEAST, LEAST), (MOST, MOST)])
@pytest.mark.parametrize("source", ["costs", "prices"])
def test_the_most_extreme_costs(tmp_path, option, costs, source):
    """The least and the most that a table or prices may have give finite figures."""
    by_pool = dict(zip(("intel", "amd-16"), costs, strict=True))
    prices = "".join(f"    {pool}: {float(cost):.10f}\n" for pool, cost in by_pool.items())
    (tmp_path / "prices.yml").write_text(f"currency: USD\nprices:\n{prices}")
    rows = list(real_tasks.rows())
    if source == "costs":
        rows = [row | {"cost": by_pool[row["pool"]]} for row in rows]
    (tmp_path / "runs.csv").write_text(real_tasks.table(rows, (*real_tasks.COLUMNS, "cost")))
    given = ["--prices", "prices.yml"] if source == "prices" else []
    done = program.run("tasks", "runs.csv", option, *given, folder=tmp_path)
    assert "USD" in done.stdout
    assert not re.search(r"\b(nan|inf|infinity)\b|∞", done.stdout, re.IGNORECASE)


def test_facts(folder: Path) -> None:
    """People read which tables were compared, and when the runs were; JSON has neither."""
    command = ("tasks", "runs.csv")
    shown = " ".join(program.run(*command, "--details", folder=folder).stdout.split())
    assert re.search(r" · from 20[0-9-]{8}( to 20[0-9-]{8})? · runs.csv · io-benchmark ", shown)
    published = json.loads(program.run(*command, "--format", "json", folder=folder).stdout)
    assert not {"addresses", "days"} & published.keys()


def test_machines(folder: Path) -> None:
    """The documentation's table has two slow machines; JSON has all, text the addresses."""
    (folder / "runs.csv").write_text(sample_machines.example())
    arguments = ("tasks", "runs.csv", "--machines")
    report = program.document(*arguments, folder=folder)
    (pool,) = report["pools"]
    slow = [each["machine"] for each in pool["machines"] if each["state"] == "slow"]
    assert (report["version"], slow) == (1, ["mdc1/linux-hw-07", "mdc1/linux-hw-03"])
    text = program.run(*arguments, "--details", folder=folder).stdout
    assert "280 runs on 1 pool · from 2026-03-20 to 2026-04-02 · runs.csv" in text
    wide = ("--margin", "35")
    report = program.document(*arguments, *wide, folder=folder)
    states = [each["state"] for each in report["pools"][0]["machines"]]
    assert (report["margin_ratio"], states.count("slow")) == (0.35, 1)


def test_machines_with_results(folder: Path) -> None:
    """Results of the benchmark on the same workers show what differs on the slow one."""
    change = {"amd-16": {"host.firmware": "2.0"}, "amd-16/0": {"host.firmware": "1.2"}}
    documents = seed_case.documents(6, 0, 0.02, pools=("amd-16",), change=change)
    seed_case.store(folder / "seed", documents)
    records = [seed_case.record(document) for document in documents]
    names = [f"{record.worker_group}/{record.worker_id}" for record in records]
    factors = dict.fromkeys(names, 1.0) | {names[0]: 1.3}
    runs = sample_machines.month(factors, pool=records[0].task_queue)
    (folder / "runs.csv").write_text(sample_machines.table(runs))
    arguments = ("tasks", "runs.csv", "--machines", "--on", "seed")
    text = " ".join(program.run(*arguments, folder=folder).stdout.split())
    assert f"Pull first: {names[0]} (1.30×" in text
    assert "Benchmark: as usual in 1 measurement (5 other machines)." in text
    assert "Differs: firmware: 1.2 (usual: 2.0, on 5 of 5)." in text
    machines = program.document(*arguments, folder=folder)["pools"][0]["machines"]
    assert [each["machine"] for each in machines if each["measured"]] == [names[0]]


def test_machines_without_runs(folder: Path) -> None:
    """No run is a failure, as are rows that cannot be read; what is there is shown."""
    arguments = ("tasks", "runs.csv", "--machines")
    done = program.run(*arguments, "--pool", "none", folder=folder, expected=1)
    assert "error: no run on a named worker was found; check --label, --pool" in done.stderr
    (folder / "runs.csv").write_text(sample_machines.example() + "x,hw/linux-hw,w,completed,1,2\n")
    done = program.run(*arguments, folder=folder, expected=1)
    assert "runs.csv: line 282: started: '1' is not a time" in done.stderr
    assert "Pull first: mdc1/linux-hw-07" in done.stdout


@pytest.mark.parametrize(
    "option", ["--rank", "--against=runs.csv", "--baseline=intel", "--allow=os"]
)
def test_machines_cannot_be_combined(folder: Path, option: str) -> None:
    """Each machine is compared with those of its pool."""
    done = program.run("tasks", "runs.csv", "--machines", option, folder=folder, expected=2)
    assert "--machines" in done.stderr


def test_pools_of_different_systems(folder: Path) -> None:
    """A table may name the systems; --allow os compares the pools, with a note."""
    systems = {"intel": "linux", "amd-16": "windows"}
    rows = [row | {"os": systems[row["pool"]]} for row in real_tasks.rows()]
    (folder / "runs.csv").write_text(real_tasks.table(rows, (*real_tasks.COLUMNS, "os")))
    done = program.run("tasks", "runs.csv", folder=folder, expected=1)
    assert "error: nothing was compared: the pools are of different systems; see" in done.stderr
    assert "amd-16 (Windows, " in done.stdout
    allowed = program.run("tasks", "runs.csv", "--allow", "os", folder=folder).stdout
    assert "amd-16 takes 1.15× as long as intel" in allowed
    assert "the pools are of different systems" in " ".join(allowed.split())
    refused = program.run("tasks", "runs.csv", "--allow", "cpu", folder=folder, expected=2)
    assert "argument --allow: 'cpu' is not a rule of tasks; choose os" in refused.stderr


def test_nothing_in_common(folder):
    """A single pool is nothing to compare: exit code 1, with the pools that are there."""
    done = program.run("tasks", "runs.csv", "--pool", "intel", folder=folder, expected=1)
    assert "error: nothing could be compared" in done.stderr


def test_rank(folder: Path) -> None:
    """The seed's tasks cost more on amd-16; results of the pools show why.

    A run whose times contradict each other is named, and does not count in an investigation either.
    """
    first, *rows = real_tasks.rows()
    backwards = first | {"started": first["resolved"], "resolved": first["started"], "task_id": ""}
    (folder / "runs.csv").write_text(real_tasks.table([first, backwards, *rows]))
    seed_case.write(folder / "seed", 3, between=0.03)
    arguments = ("tasks", "runs.csv", "--rank", "--on", "seed")
    text = program.run(*arguments, "--details", folder=folder).stdout
    assert "2 pairs of a label and a pool were compared" in " ".join(text.split())
    assert "device-count (supported)" in text
    ranking = program.document(*arguments, folder=folder)
    assert {row["pool"] for row in ranking["labels"]} == {"amd-16"}
    assert all(row["hours_interval"][0] > 0 for row in ranking["labels"])
    assert [pool["pool"] for pool in ranking["pools"]] == ["amd-16", "intel"]
    assert ranking["remarks"] == ["runs whose times contradict each other: 1; they are left out"]
    streams = Context(None, io.StringIO(), io.StringIO(), {})
    table = str(folder / "runs.csv")
    read = read_completed_runs(streams, [table], [], re.compile("^no such label$"))
    assert (read.of_label, read.messages) == ({}, ())
    runs = [run for pool in read.of_all_labels.values() for run in pool]
    assert len(runs) == sum(row["state"] == "completed" for row in (first, *rows))


ID = "cQ4kTnR7QTq1p2L0dJ8wXg"
BUILD = "'^build-64/opt$'"


@pytest.mark.parametrize(
    ("label", "pool", "task_id", "addresses", "command"),
    [
        ("build-64/opt", "slow", ID, ["runs.csv"], f"io-benchmark investigate task:{ID}"),
        # An id of another deployment would not be found.
        (
            "build-64/opt",
            "slow",
            ID,
            ["https://tc.io/x"],
            f"io-benchmark tasks https://tc.io/x --label {BUILD} --pool fast --pool slow",
        ),
        (
            "build-64/opt",
            "slow",
            "7",
            ["runs.csv"],
            f"io-benchmark tasks runs.csv --label {BUILD} --pool fast --pool slow",
        ),
        # What a report would show in another way than it is typed.
        ("build\x1b", "slow", "", ["runs.csv"], ""),
        ("a|b", "slow", "", ["runs.csv"], ""),
        ("`a`", "slow", "", ["runs.csv"], ""),
        ("a\tb", "slow", "", ["runs.csv"], ""),
        ("build", "-slow", "", ["runs.csv"], ""),
        ("b" * 36, "slow", "", ["runs.csv"], None),
        ("b" * 37, "slow", "", ["runs.csv"], ""),
    ],
)
def test_the_next_command(
    label: str, pool: str, task_id: str, addresses: list[str], command: str | None
) -> None:
    """It looks into the newest task, else compares the label; none that could not be typed."""
    (row, *_) = sample_ranking.seven_labels().labels
    row = replace(row, label=label, pool=pool, reference="fast")
    found = tasks._next_command(row, task_id, addresses)
    if command is None:
        assert len(found) == 100
    else:
        assert found == command


def test_the_newest_task_is_looked_into(folder: Path) -> None:
    """Of a label on its slower pool the task that ended last, in whatever order the runs are."""
    rows = list(real_tasks.rows())
    for turn in (rows, rows[::-1]):
        (folder / "runs.csv").write_text(real_tasks.table(turn))
        printed = program.run("tasks", "runs.csv", "--rank", folder=folder).stdout
        newest = max(
            (row for row in rows if row["pool"] == "amd-16" and row["label"].endswith("-2/2")),
            key=lambda row: row["resolved"],
        )
        assert f"`io-benchmark investigate task:{newest['task_id']}`" in printed


def test_runs_of_a_label_beside_those_of_all(folder: Path) -> None:
    """A table that is read for every label is read once, and each of its runs counts once."""
    table = str(folder / "runs.csv")
    labels = {row["label"] for row in real_tasks.rows()}
    (label, *_) = sorted(labels)
    streams = Context(None, io.StringIO(), io.StringIO(), {})
    read = read_completed_runs(streams, [table], [table], re.compile(f"^{re.escape(label)}$"))
    of_label = [run for runs in read.of_label.values() for run in runs]
    of_all = [run for runs in read.of_all_labels.values() for run in runs]
    assert {run.label for run in of_label} == {label}
    assert {run.label for run in of_all} == labels
    assert sorted(of_label) == sorted(run for run in of_all if run.label == label)
