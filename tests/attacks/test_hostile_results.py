# SPDX-License-Identifier: MPL-2.0
"""Result files that are as large as they may be: what `compare` takes for them, as a process."""

import pytest
from hostile_files import ATTACKS, honest
from measured_process import measure

PEAK_MB = 500
HONEST = 4
# A few files of each kind by default, all of them under --long.
SHORT = {"samples": 3, "pools": 10}


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
