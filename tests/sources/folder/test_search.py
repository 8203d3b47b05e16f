# SPDX-License-Identifier: MPL-2.0
"""Folders as the downloads of CI systems leave them."""

import io
import json
import os
import re
import shutil
import zipfile
from pathlib import Path

import pytest
import seed_case

from io_benchmark.errors import UsageError
from io_benchmark.sources.folder import source
from io_benchmark.sources.gather import Gathered, gather
from io_benchmark.sources.run_results import RunResult

POOLS = ("amd-16", "intel")
GOOD = (Path(__file__).parents[2] / "fixtures" / "result-v2.json").read_bytes()


def read(*paths: Path) -> Gathered[RunResult]:
    return gather([str(path) for path in paths], {}, lambda _progress: None, lambda result: result)


def documents(workers: int = 2) -> list[bytes]:
    """Results of machines that no queue names, each started in the same second."""
    made = seed_case.documents(workers, pools=POOLS, between=0.03)
    for number, document in enumerate(made):
        document["task"] |= {"task_id": None, "run_id": None, "task_group_id": None}
        document["task"] |= {"instance_type": None, "location": {}}
        document["duration_ns"] += number
        document["host"]["boot_id"] = f"6f1e2a3b-4c5d-4e6f-8a9b-{number:012d}"
    return [json.dumps(document).encode() for document in made]


# What each system's download leaves, as paths of files; {n} is the number of a result.
LAYOUTS = {
    "github-download-artifact": "io-benchmark-amd-{n}/io-benchmark/io-benchmark.json",
    # Of the form TASKID.RUNID.
    "github-unlucky-name": "io-benchmark-amd-16-v2.{n}/io-benchmark/io-benchmark.json",
    "github-unlucky-file": "run/io-benchmark-amd-16-v2.{n}/io-benchmark.json",
    "github-one-file": "io-benchmark-amd-{n}/io-benchmark.json",
    "github-rest": "io-benchmark-amd-{n}.zip/io-benchmark/io-benchmark.json",
    "gitlab-job": "results/amd-{n}/io-benchmark/io-benchmark.json",
    "gitlab-archive": "artifacts.zip/results/amd-{n}/io-benchmark/io-benchmark.json",
    "gitlab-archives": "{n}/artifacts.zip/io-benchmark/io-benchmark.json",
    "buildkite": "results/0192f0c4-{n}/io-benchmark/io-benchmark.json",
    "jenkins-archive": "archive.zip/archive/results/amd-{n}/io-benchmark/io-benchmark.json",
    "jenkins-folder": "archive/results/amd-{n}/io-benchmark/io-benchmark.json",
    "azure": "drop_amd_{n}/s/results/io-benchmark/io-benchmark.json",
    "azure-archive": "drop_amd_{n}.zip/drop_amd_{n}/io-benchmark/io-benchmark.json",
    "circleci": "{n}/home/circleci/project/results/io-benchmark/io-benchmark.json",
}


def lay_out(folder: Path, layout: str, files: list[bytes]) -> None:
    archives: dict[Path, io.BytesIO] = {}
    for number, data in enumerate(files):
        path = layout.format(n=number)
        name, is_archived, inner = path.partition(".zip/")
        if is_archived:
            archive = archives.setdefault(folder / f"{name}.zip", io.BytesIO())
            with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as made:
                made.writestr(inner, data)
        else:
            (folder / path).parent.mkdir(parents=True)
            (folder / path).write_bytes(data)
    for archive_path, content in archives.items():
        archive_path.parent.mkdir(parents=True, exist_ok=True)
        archive_path.write_bytes(content.getvalue())


@pytest.mark.parametrize("layout", [pytest.param(LAYOUTS[name], id=name) for name in LAYOUTS])
def test_downloads_are_read_unchanged(tmp_path: Path, layout: str) -> None:
    """All results are read, whatever is in the folder as well."""
    files = documents()
    lay_out(tmp_path, layout, files)
    (tmp_path / "README.txt").write_text("x")
    (tmp_path / "logs.zip").write_bytes(_zip({"log.txt": b"x"}))
    (tmp_path / "report" / "assets").mkdir(parents=True)
    gathered = read(tmp_path)
    assert sorted(run.result.duration_ns for run in gathered.results) == sorted(
        json.loads(data)["duration_ns"] for data in files
    )
    assert (gathered.unreadable, gathered.remarks) == ((), ())


def _zip(entries: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return made.getvalue()


def test_an_archive_is_the_same_as_its_folder(tmp_path: Path) -> None:
    """In any order of addresses, with the task records; names sort differently with `.zip`."""
    for name in ("before", "before-"):
        seed_case.write(tmp_path / "folders" / name, pools=POOLS)
        shutil.make_archive(str(tmp_path / "folders" / name), "zip", tmp_path / "folders", name)
    (archives := tmp_path / "archives").mkdir()
    for path in (tmp_path / "folders").glob("*.zip"):
        path.rename(archives / path.name)
    made = [
        [(run.source.partition("/before")[2], run.task) for run in read(*addresses).results]
        for addresses in (
            [tmp_path / "folders" / name for name in ("before", "before-")],
            [archives / "before.zip", archives / "before-.zip"],
        )
    ]
    assert made[0] == made[1] != []


def test_an_archive_next_to_its_folder(tmp_path: Path) -> None:
    """The same result, unpacked as well, counts once, with a note that names the archive."""
    (data,) = documents(1)[:1]
    (tmp_path / "amd" / "io-benchmark").mkdir(parents=True)
    (tmp_path / "amd/io-benchmark/io-benchmark.json").write_bytes(data)
    archive = tmp_path / "amd.zip"
    archive.write_bytes(_zip({"io-benchmark/io-benchmark.json": data}))
    gathered = read(tmp_path)
    folder = tmp_path / "amd/io-benchmark"
    assert [run.source for run in gathered.results] == [str(folder)]
    assert gathered.remarks == (f"{archive}: the same run as {folder}, and counted once",)


def test_links(tmp_path: Path) -> None:
    """A link to a run's folder is read; links are not searched, as they may lead in circles."""
    run = tmp_path / "elsewhere"
    run.mkdir()
    (run / "io-benchmark.json").write_bytes(GOOD)
    results = tmp_path / "results"
    (results / "a").mkdir(parents=True)
    (results / "a" / "run").symlink_to(run)
    (results / "a" / "up").symlink_to(results)
    (results / "all").symlink_to(tmp_path)
    (results / "loop").symlink_to("loop")
    (results / "loop.zip").symlink_to("loop.zip")
    (results / "gone.zip").symlink_to("nowhere")
    gathered = read(results)
    assert [found.source for found in gathered.results] == [str(results / "a" / "run")]
    assert (gathered.unreadable, gathered.remarks) == ((), ())


def test_depth(tmp_path: Path) -> None:
    """Ten folders are searched; what is deeper is named and no error."""
    tenth = tmp_path.joinpath(*"abcdefghij")
    (tenth / "k").mkdir(parents=True)
    (tenth / "l").mkdir()
    (tenth / "io-benchmark.json").write_bytes(GOOD)
    (tenth / "k/io-benchmark.json").write_bytes(GOOD)
    gathered = read(tmp_path)
    assert [found.source for found in gathered.results] == [str(tenth)]
    remark = f"{tenth}/k: is more than 10 folders deep and was not searched, like 1 more"
    assert gathered.remarks == (remark,)


def test_a_folder_with_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search ends, and says what to do."""
    monkeypatch.setattr(source, "_MAXIMUM_FILES", 20)
    for number in range(21):
        (tmp_path / str(number)).touch()
    with pytest.raises(UsageError, match="has more than 20 files and folders; name a folder that"):
        read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may search every folder")
def test_a_folder_that_may_not_be_searched(tmp_path: Path) -> None:
    """It may hold a result, so it is a problem, and the others are read."""
    lay_out(tmp_path, "a-{n}/io-benchmark.json", [GOOD])
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    gathered = read(tmp_path)
    assert len(gathered.results) == 1
    assert gathered.unreadable == (f"{closed}: cannot be searched (Permission denied)",)


def test_folders_from_fetch_are_not_mixed(tmp_path: Path) -> None:
    """A folder of fetched folders is several pushes, also where there are artifacts next to them."""
    seed_case.write(tmp_path / "before", pools=("intel",))
    seed_case.write(tmp_path / "after", pools=("intel",))
    newest = re.escape(f"has several folders of results; name one, such as {tmp_path / 'before'}")
    with pytest.raises(UsageError, match=newest):
        read(tmp_path)
    (tmp_path / "artifact").mkdir()
    (tmp_path / "artifact/io-benchmark.json").write_bytes(GOOD)
    with pytest.raises(UsageError, match=newest):
        read(tmp_path)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_file_next_to_its_record(tmp_path: Path, order: tuple[int, int]) -> None:
    """In either order a run counts once, with its record."""
    seed_case.write(tmp_path / "fetched", pools=("intel",))
    (run,) = (tmp_path / "fetched").iterdir()
    bare = tmp_path / "bare.json"
    shutil.copy(run / "io-benchmark.json", bare)
    addresses = [run, bare]
    gathered = read(*(addresses[at] for at in order))
    assert [found.source for found in gathered.results] == [str(run)]
    assert gathered.remarks == (f"{bare}: the same run as {run}, and counted once",)
