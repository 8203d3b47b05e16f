# SPDX-License-Identifier: MPL-2.0
"""What README and the five "first" pages tell a new user to type, on a system with nothing else.

The home is empty, the PATH is the system's without sbin, and the Python is the system's. Only the
package index is needed from outside; without it these tests are skipped.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from checkout import ROOT, copy_checkout, copy_firefox
from documentation import blocks, example
from loopback import Loopback

from .test_adopting import FILES

DOCS = ROOT / "taskcluster/docs"
README = ROOT / "README.md"
PYTHON = Path("/usr/bin/python3")
SYSTEM = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
# Which of the package index's mirrors is used, and what is trusted, is the machine's business.
INDEX = re.compile(
    "PIP_(CERT|INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|PROXY|FIND_LINKS)|.*_(?i:proxy)"
)
FIRST_RUN = ("sh", "sh bare", "sh taskcluster")

pytestmark = pytest.mark.container  # waits for downloads, beside the tests that run in parallel


@pytest.fixture(scope="module")
def system() -> dict[str, str]:
    """The variables of a new user's shell, without HOME."""
    asked = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
    if subprocess.run([PYTHON, "-I", "-c", asked], capture_output=True, check=False).returncode:
        pytest.skip(f"needs {PYTHON} >= 3.11 with venv")
    variables = {name: value for name, value in os.environ.items() if INDEX.fullmatch(name)}
    variables |= {
        **SYSTEM,
        # Downloads are kept between runs of the tests; all else is made anew.
        "PIP_CACHE_DIR": str(Path.home() / ".cache/io-benchmark-tests/pip"),
    }
    return variables


def run(folder: Path, home: Path, variables: dict[str, str], lines: Sequence[str]) -> None:
    """Run lines in one shell of a new user; each has to succeed."""
    done = subprocess.run(
        ["/bin/bash", "-exc", "\n".join(lines)],
        cwd=folder,
        env={**variables, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if "No matching distribution found" in done.stdout and "Retrying" in done.stdout:
        pytest.skip("needs the package index")
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout


def texts(page: Path, *kinds: str) -> list[str]:
    return [block.text for block in blocks(page, *kinds)]


def new_clone(folder: Path) -> Path:
    """A fresh clone, as git leaves it."""
    return commit(copy_checkout(folder / "io-benchmark"))


def new_project(folder: Path) -> Path:
    """A project that `taskgraph init` wrote."""
    for name, content in FILES.items():
        path = folder / "taskcluster" / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
    return commit(folder)


def commit(folder: Path) -> Path:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder))
    for command in (
        ("init", "--quiet"),
        ("remote", "add", "origin", "https://github.com/me/my-proj"),
        ("add", "."),
        ("commit", "--quiet", "--message", "Begin"),
    ):
        subprocess.run([*git, *command], check=True)
    return folder


def test_a_checkout(system: dict[str, str], tmp_path: Path) -> None:
    """README's lines work in their order in one shell, and then those about a rehearsal."""
    clone = new_clone(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    lines = texts(README, *FIRST_RUN) + texts(DOCS / "first-rehearsal.md", *FIRST_RUN)
    with Loopback(example()) as taskcluster:
        run(clone, home, {**system, "TASKCLUSTER_ROOT_URL": taskcluster.url}, lines)
    assert (clone / "report.html").is_file()
    assert [path.name for path in home.iterdir()] == []


def test_an_installation(system: dict[str, str], distributions: Path, tmp_path: Path) -> None:
    """The lines that install the command are enough for every other page.

    The wheels are this version's.
    """
    home = tmp_path / "home"
    copy_firefox(home / "firefox")
    links = f"{system.get('PIP_FIND_LINKS', '')} {distributions}".strip()
    variables = {**system, "PIP_FIND_LINKS": links}
    (install,) = (text for text in texts(DOCS / "index.md", "sh skip") if "venv" in text)
    work = tmp_path / "work"
    work.mkdir()
    with Loopback(example()) as taskcluster:
        variables["TASKCLUSTER_ROOT_URL"] = taskcluster.url
        run(work, home, variables, [install])
        *_, path_line = install.strip().splitlines()
        for name in ("comparison", "machine", "firefox"):
            lines = [path_line, *texts(DOCS / f"first-{name}.md", *FIRST_RUN)]
            run(work, home, variables, lines)
    project = new_project(tmp_path / "my-proj")
    lines = [path_line, *texts(DOCS / "first-project.md", "sh skip")]
    run(project, home, variables, lines)
