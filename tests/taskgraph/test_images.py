# SPDX-License-Identifier: MPL-2.0
"""The images' bases are named by their content, not only by a tag that moves."""

import re

import yaml

from .conftest import REPOSITORY

DOCKERFILES = sorted((REPOSITORY / "taskcluster" / "docker").glob("*/Dockerfile"))
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}")


def bases(dockerfile):
    """The images that a Dockerfile names: in FROM, and in COPY or RUN's `from=`; no own stages."""
    stages, named = set(), []
    for line in dockerfile.read_text().replace("\\\n", " ").splitlines():
        words = [word for word in line.split() if not word.startswith("--platform")]
        if words and words[0].upper() == "FROM":
            named.append(words[1])
            stages.update(words[3:4])
        elif words and words[0].upper() in ("COPY", "ADD", "RUN"):
            named += re.findall(r"\bfrom=([^\s,]+)", line)
    return [name for name in named if name not in stages and not name.isdecimal()]


def test_bases():
    """Each has a tag, for people, and a digest, which decides; both images have the same base."""
    named = [name for dockerfile in DOCKERFILES for name in bases(dockerfile)]
    assert len(named) >= len(DOCKERFILES) == 2
    assert len(set(named)) == 1
    (task,) = yaml.safe_load((REPOSITORY / ".taskcluster.yml").read_text())["tasks"]
    (image,) = re.findall(r"\bimage': '([^']+)'", str(task))
    assert [name for name in (*named, image) if not PINNED.fullmatch(name)] == []
