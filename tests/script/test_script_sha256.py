# SPDX-License-Identifier: MPL-2.0
"""What a result says that it was measured with."""

import hashlib
import subprocess
import sys
from pathlib import Path

from io_benchmark_taskgraph.worker_program import WorkerProgram

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/io-benchmark"
MAIN = "from result import result_file\nprint(result_file._script_sha256())\n"


def with_main() -> dict[str, str]:
    """The script's modules by path, with a main module that only tells the sha256."""
    files = {path.relative_to(SCRIPT).as_posix(): path for path in SCRIPT.rglob("*.py")}
    return {name: file.read_text() for name, file in files.items()} | {"__main__.py": MAIN}


def printed(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", path], stdout=subprocess.PIPE, check=True, text=True
    )
    return done.stdout.strip()


def test_the_same_in_each_form(tmp_path: Path) -> None:
    """It is one over name, length and text of each module, sorted by name: of a folder, a file and a task."""
    texts = with_main() | {"observe/x.py": "y = 'ä'\n"}
    digest = hashlib.sha256()
    for name, text in sorted(texts.items()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        data = text.encode()
        digest.update(b"%s %d\n" % (name.encode(), len(data)) + data)
    assert printed(tmp_path) == digest.hexdigest()
    program, file = WorkerProgram(texts), tmp_path / "any name"
    for form in (program.file(), program.embedded("bench").data):
        file.write_bytes(form)
        assert printed(file) == digest.hexdigest()
