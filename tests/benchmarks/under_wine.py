# SPDX-License-Identifier: MPL-2.0
"""Run windows_harness_cost.py by Windows' Python under Wine, where both are installed."""

import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "helpers"))

import wine  # noqa: E402

LIMIT_S = 1800.0


def main() -> int:
    """Return the exit code; print why nothing was measured."""
    try:
        with wine.new_windows() as windows, tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            script = wine.path_of(HERE / "windows_harness_cost.py")
            code, output = windows.run_python(script, wine.path_of(Path(folder)), limit_s=LIMIT_S)
    except pytest.skip.Exception as skipped:
        print(f"The harness on Windows was not measured: {skipped}")
        return 0
    print(output)
    return code


if __name__ == "__main__":
    sys.exit(main())
