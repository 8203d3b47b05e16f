# SPDX-License-Identifier: MPL-2.0
"""Make the archive of the libraries that the report's task in Firefox's tree needs.

The contents of the wheels that are locked in python/requirements-report.txt, for CPython on Linux.
What is compiled is in it once per version of Python, under names of its own; the rest is the same
for all versions. The same lock gives the same bytes on every machine. `tox -e lock` records their
sha256 in the program, and the release workflow attaches the file if it is still the same.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from io_benchmark.adopt.firefox_release import PYTHONS, archive  # noqa: E402

LOCK = ROOT / "python/requirements-report.txt"
RECORD = ROOT / "python/io_benchmark/adopt/firefox_release.py"
FOLDER = "libraries"
# `compare` does without it unless looks are planned, and it is larger than all the others.
LEFT_OUT = "numpy"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
LINES = re.compile("LIBRARIES_SHA256 = .*\nLIBRARIES_BYTES = .*\n")
# One requirement of the lock, with its hashes: it begins at the start of a line.
REQUIREMENT = re.compile(r"^[a-z].*\n(?:[ ].*\n)*", re.MULTILINE)
# pip would compare it with the Python that runs it, not with the one that it downloads for.
MARKER = re.compile(r" ; [^\\\n]*(?= \\)")


def requirements() -> str:
    """Return what the lock has for all versions of Python, but what is left out."""
    entries = REQUIREMENT.findall(LOCK.read_text(encoding="utf-8"))
    return "".join(
        MARKER.sub("", entry) for entry in entries if not entry.startswith(f"{LEFT_OUT}==")
    )


def download(python: str, folder: Path) -> list[Path]:
    """Download the wheels for a version of Python; pip checks their hashes."""
    folder.mkdir()
    (folder / "requirements.txt").write_text(requirements(), encoding="utf-8")
    platforms = [option for name in PLATFORMS for option in ("--platform", name)]
    command = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--only-binary", ":all:", *platforms]
    command += ["--python-version", python, "--implementation", "cp", "--dest", str(folder)]
    subprocess.run([*command, "--requirement", folder / "requirements.txt"], check=True)
    return sorted(folder.glob("*.whl"))


def installed(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what a wheel installs, but its own lists of files, which name one Python."""
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            is_a_list = name.endswith((".dist-info/RECORD", ".dist-info/WHEEL"))
            # Programs of a wheel are not run.
            if name.endswith("/") or ".data/scripts/" in name or is_a_list:
                continue
            if ".data/" in name:
                sys.exit(f"{wheel.name}: installs {name} outside of its package; leave it out")
            yield f"{FOLDER}/{name}", files.read(name)


def union(wheels_by_python: Iterable[Iterable[Path]]) -> dict[str, bytes]:
    """Return the files of all versions of Python in one folder."""
    contents: dict[str, bytes] = {}
    for wheels in wheels_by_python:
        for wheel in wheels:
            for name, content in installed(wheel):
                if contents.setdefault(name, content) != content:
                    sys.exit(f"{wheel.name}: {name} differs from that of another wheel")
    return contents


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--record", action="store_true", help="record its sha256 in the program")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheels = [download(python, Path(folder, python)) for python in PYTHONS]
        data = archive(union(wheels))
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
