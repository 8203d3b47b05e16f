# SPDX-License-Identifier: MPL-2.0
"""Make the archive of the libraries that the report's task in Firefox's tree needs.

The contents of the wheels that are locked in python/requirements-report.txt, for CPython 3.11 on
Linux. The same lock gives the same bytes on every machine. `tox -e lock` records their sha256 in
the program, and the release workflow attaches the file if it is still the same.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from io_benchmark.adopt.firefox_kind import archive  # noqa: E402

LOCK = ROOT / "python/requirements-report.txt"
RECORD = ROOT / "python/io_benchmark/adopt/firefox_kind.py"
FOLDER = "libraries"
# Of Debian 12, in which Firefox's tasks run.
TARGET = ("--python-version", "3.11", "--implementation", "cp")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
LINES = re.compile("LIBRARIES_SHA256 = .*\nLIBRARIES_BYTES = .*\n")


def download(folder: Path) -> None:
    """Download the wheels; pip checks their hashes."""
    platforms = [option for name in PLATFORMS for option in ("--platform", name)]
    command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", *TARGET, *platforms]
    subprocess.run([*command, "--requirement", LOCK, "--dest", folder], check=True)


def installed(wheels: list[Path]) -> dict[str, bytes]:
    """Return the files that the wheels install."""
    contents: dict[str, bytes] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as files:
            for name in files.namelist():
                # Programs of a wheel are not run.
                if not name.endswith("/") and ".data/scripts/" not in name:
                    is_elsewhere = ".data/" in name
                    assert not is_elsewhere, f"{wheel.name}: {name}"  # noqa: S101
                    contents[f"{FOLDER}/{name}"] = files.read(name)
    return contents


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--record", action="store_true", help="record its sha256 in the program")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        download(Path(folder))
        data = archive(installed(sorted(Path(folder).glob("*.whl"))))
    digest = hashlib.sha256(data).hexdigest()
    lines = f'LIBRARIES_SHA256 = "{digest}"\nLIBRARIES_BYTES = {len(data):_}\n'
    module = RECORD.read_text(encoding="utf-8")
    if given.record:
        RECORD.write_text(LINES.sub(lines, module), encoding="utf-8")
    elif lines not in module:
        sys.exit(
            f"{given.output}: is not what {RECORD.name} records; run `tox -e lock` and commit it"
        )
    given.output.write_bytes(data)


if __name__ == "__main__":
    main()
