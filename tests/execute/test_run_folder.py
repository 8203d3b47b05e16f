# SPDX-License-Identifier: MPL-2.0
"""Artifacts: what a worker would upload, and what it would not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from io_benchmark.errors import ExecutionError
from io_benchmark.execute.local_run import Artifact
from io_benchmark.execute.run_folder import RunOutput

DIRECTORY = Artifact("public/io-benchmark", "/artifacts/io-benchmark", is_directory=True)
FILE = Artifact("public/x.json", "/artifacts/x.json", is_directory=False)


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., tuple[tuple[str, ...], list[str]]]:
    """Collects from `source` into `output`: what is missing, and what the log says of it."""
    (tmp_path / "output").mkdir()

    def collected(*artifacts: Artifact) -> tuple[tuple[str, ...], list[str]]:
        lines: list[str] = []
        with RunOutput.in_folder(tmp_path / "output", lines.append) as output:
            missing = output.collect(
                artifacts, lambda artifact: tmp_path / "source" / Path(artifact.path).name
            )
        (tmp_path / "output" / "live.log").unlink()
        return missing, lines

    return collected


def names(folder: Path) -> list[str]:
    """Every file below."""
    files = [path for path in folder.rglob("*") if not path.is_dir()]
    return sorted(path.relative_to(folder).as_posix() for path in files)


def test_a_folder_is_flattened_into_the_output(tmp_path: Path, take: Callable[..., object]) -> None:
    """Files keep their place below the folder; the folder's own name is gone."""
    folder = tmp_path / "source" / "io-benchmark"
    (folder / "more").mkdir(parents=True)
    (folder / "io-benchmark.json").write_text("{}")
    (folder / "more" / "y.json").write_text("[]")
    assert take(DIRECTORY) == ((), [])
    assert names(tmp_path / "output") == ["io-benchmark.json", "more/y.json"]
    assert (tmp_path / "output" / "io-benchmark.json").read_text() == "{}"


def plant_link(folder: Path) -> None:
    """A link to a file outside."""
    (folder / "link.json").symlink_to("/etc/passwd")


def plant_pipe(folder: Path) -> None:
    """A pipe that nobody writes to: opening it the plain way would wait for ever."""
    os.mkfifo(folder / "link.json")


@pytest.mark.parametrize(
    ("plant", "reason"),
    [
        pytest.param(plant_link, "it is not a regular file", id="symlink to a file"),
        pytest.param(plant_pipe, "it is not a regular file", id="pipe"),
    ],
)
def test_only_regular_files_are_taken(
    tmp_path: Path,
    take: Callable[..., object],
    plant: Callable[[Path], None],
    reason: str,
) -> None:
    """Anything else in a folder is an error artifact under its own name and is never followed."""
    folder = tmp_path / "source" / "io-benchmark"
    folder.mkdir(parents=True)
    (folder / "io-benchmark.json").write_text("{}")
    plant(folder)
    name = "public/io-benchmark/link.json"
    line = f"[taskcluster:error] Could not upload artifact {name}: {reason}"
    assert take(DIRECTORY) == ((name,), [line])
    assert names(tmp_path / "output") == ["io-benchmark.json"]


def make_nothing(_source: Path) -> None:
    """Neither artifact."""


def make_swapped(source: Path) -> None:
    """A file where a folder is expected, and the other way round."""
    (source / "io-benchmark").write_text("{}")
    (source / "x.json").mkdir()


def make_links(source: Path) -> None:
    """Both are links."""
    (source / "elsewhere").mkdir()
    (source / "elsewhere" / "y.json").write_text("{}")
    (source / "io-benchmark").symlink_to("elsewhere")
    (source / "x.json").symlink_to("elsewhere/y.json")


@pytest.mark.parametrize("make", [make_nothing, make_swapped, make_links])
def test_what_is_not_there_is_named(
    tmp_path: Path, take: Callable[..., object], make: Callable[[Path], None]
) -> None:
    """An artifact that is absent, of the other type or a symlink is missing, and nothing is copied."""
    (tmp_path / "source").mkdir()
    make(tmp_path / "source")
    result = take(DIRECTORY, FILE)
    assert isinstance(result, tuple)
    missing, lines = result
    assert missing == ("public/io-benchmark", "public/x.json")
    assert len(lines) == 2
    assert names(tmp_path / "output") == []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("public/live.log", id="the log"),
        pytest.param("public/task.json", id="what the caller writes"),
        pytest.param("public/..", id="no name"),
        pytest.param("public/there.json", id="there already"),
    ],
)
def test_a_name_that_is_taken_is_an_error(
    tmp_path: Path, take: Callable[..., object], name: str
) -> None:
    """Two artifacts must not become one file silently."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "x.json").write_text("{}")
    (tmp_path / "output" / "there.json").write_text("first")
    message = f"artifact {name}: a file .* already exists; give the artifact another name"
    with pytest.raises(ExecutionError, match=message):
        take(Artifact(name, "/artifacts/x.json", is_directory=False))
    assert (tmp_path / "output" / "there.json").read_text() == "first"
