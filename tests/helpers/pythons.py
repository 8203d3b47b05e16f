# SPDX-License-Identifier: MPL-2.0
"""The Python interpreters of this machine that a worker might have: 3.8 and later."""

import os
import shutil
import sys
from pathlib import Path

import pytest

_VERSIONS = range(8, 15)


def interpreters(oldest: int = _VERSIONS.start) -> dict[str, str]:
    """Return the path of each by its version, from this minor version of Python 3 on."""
    found = {f"3.{sys.version_info[1]}": sys.executable}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in range(oldest, _VERSIONS.stop):
        name = f"3.{minor}"
        installed = sorted(str(path) for path in pyenv.glob(f"{name}.*/bin/python3"))
        path = installed[-1] if installed else shutil.which(f"python{name}")
        if path and "shims" not in Path(path).parts:
            found.setdefault(name, path)
    return found


every_python = pytest.mark.parametrize(
    "python", [pytest.param(path, id=name) for name, path in interpreters().items()]
)


def oldest_python() -> str:
    """Return the oldest of them, 3.8 where it is installed."""
    return min(interpreters().items(), key=lambda item: int(item[0].partition(".")[2]))[1]
