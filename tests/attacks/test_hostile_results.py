# SPDX-License-Identifier: MPL-2.0
"""Result files that are as large as they may be: what `compare` takes for them, as a process."""

import zipfile

import pytest
from hostile_files import ATTACKS, FILE_BYTES, honest
from measured_process import measure

from io_benchmark.errors import ResultError
from io_benchmark.sources.folder.zip_archive import ZipArchive

PEAK_MB = 500
HONEST = 4
# A few files of each kind by default, all of them under --long.
SHORT = {"samples": 3, "pools": 10, "places": 1}


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_files_in_a_comparison(name, tmp_path, request):
    """At most 500 MB, one line for each result or for all left out, and the others are compared."""
    make, count = ATTACKS[name]
    if not request.config.getoption("--long"):
        count = min(count, SHORT.get(name, 2))
    results = tmp_path / "results"
    results.mkdir()
    files = [results / f"hostile-{number}.json" for number in range(count)]
    for number, file in enumerate(files):
        file.write_bytes(make(number))
    for number in range(HONEST):
        files.append(results / f"honest-{number}.json")
        files[-1].write_bytes(honest(number))
    taken = measure(["compare", *map(str, files), "--partial"], tmp_path)
    print(f"{name}: {taken.peak_mb:.0f} MB, {taken.cpu_s:.1f} s of CPU")
    assert taken.peak_mb < PEAK_MB
    assert "Traceback" not in taken.stderr
    assert taken.status == 0
    assert "honest" not in taken.stderr
    assert len(taken.stderr) < 400 * (count + 2)


def test_hostile_archives_in_a_comparison(tmp_path):
    """Bombs and long lists take no more than files do, and the results next to them are compared."""
    results = tmp_path / "results"
    results.mkdir()
    with zipfile.ZipFile(results / "bombs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(30):
            archive.writestr(f"{number}/io-benchmark.json", bytes(FILE_BYTES))
    with zipfile.ZipFile(results / "many.zip", "w") as archive:
        for number in range(40_000):
            archive.writestr(f"{number}/task.json", b"")
    with zipfile.ZipFile(results / "long.zip", "w") as archive:
        for number in range(70):
            archive.writestr(f"{number}{'x' * 60_000}/io-benchmark.json", b"")
    for number in range(HONEST):
        with zipfile.ZipFile(results / f"honest-{number}.zip", "w") as archive:
            archive.writestr("io-benchmark/io-benchmark.json", honest(number))
    taken = measure(["compare", str(results), "--partial"], tmp_path)
    print(f"archives: {taken.peak_mb:.0f} MB, {taken.cpu_s:.1f} s of CPU")
    assert taken.peak_mb < PEAK_MB
    assert "Traceback" not in taken.stderr
    assert taken.status == 0
    assert "honest" not in taken.stderr
    assert "long.zip: its list of entries has 4," in taken.stderr
    assert len(taken.stderr) < 400 * 33


def test_an_archive_that_vanishes(tmp_path):
    """It is read after it was listed, and may not be there any more."""
    with pytest.raises(ResultError, match=r"a\.zip: No such file or directory"):
        ZipArchive(tmp_path / "a.zip")
