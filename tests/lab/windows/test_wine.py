# SPDX-License-Identifier: MPL-2.0
"""The tests' own Windows: what every test of this folder takes for granted."""

import subprocess
from pathlib import Path

import pytest
import windows_python
import wine

pytestmark = pytest.mark.windows

_FACTS = """
import os, sys
print(sys.platform, "%d.%d" % sys.version_info[:2], sys.getwindowsversion().major)
print(os.getcwd(), sorted(os.listdir("D:/")), os.environ["NAME"], sys.argv[1])
sys.exit(7)
"""


@pytest.mark.parametrize("version", windows_python.VERSIONS)
def test_each_python(windows, tmp_path, version):
    """Each version runs a script on Windows 10 or later, in a folder, with a drive's files."""
    script = tmp_path / "facts.py"
    script.write_text(_FACTS)
    disk = tmp_path / "disk"
    (disk / "ä b").mkdir(parents=True)
    with windows.drive("d", disk) as root:
        code, output = windows.run_python(
            wine.path_of(script), root, version=version, folder=tmp_path, environment={"NAME": "x"}
        )
    assert (code, output.splitlines()) == (
        7,
        [f"win32 {version} 10", f"{wine.path_of(tmp_path)} ['ä b'] x D:\\"],
    )
    assert not windows.local("D:/").exists()
    assert windows.run_python("-c", "import os; print(os.path.exists('D:/'))") == (0, "False\n")


@pytest.mark.parametrize(("text", "code", "answer"), [("b", 0, "2:b\n"), ("a b", 1, "")])
def test_grep(windows, tmp_path, text, code, answer):
    """MozillaBuild's Python starts the grep of its PATH, which gives the number of a line."""
    (tmp_path / "urls").write_text("a\nb\nab\n")
    command = f"import subprocess; sys.exit(subprocess.call(['grep', '-Fnx', {text!r}, 'urls']))"
    got = windows.run(wine.PYTHON, "-c", f"import sys; {command}", folder=tmp_path)
    assert got == (code, answer)


def test_only_the_prefix_ends(windows):
    """What takes too long is ended; a process of Linux with the same command goes on."""
    sleeping = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(pytest.fail.Exception, match="not finished within 3 s:\nstarted"):
            windows.run(
                wine.PYTHON,
                "-c",
                "import time; print('started', flush=True); time.sleep(60)",
                limit_s=3,
            )
        assert windows.processes("sleep(60)") == []
        assert sleeping.poll() is None
    finally:
        sleeping.kill()
        sleeping.wait()
    assert windows.run("cmd.exe", "/d", "/c", "exit 3") == (3, "")


def test_a_missing_python(monkeypatch):
    """A test skips and says how to get a version that is not there."""
    monkeypatch.setattr(windows_python, "FOLDER", Path("/nowhere"))
    with pytest.raises(pytest.skip.Exception, match=r"Windows' Python 3\.8: python tests/helpers"):
        wine.python_command("3.8")
