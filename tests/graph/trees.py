# SPDX-License-Identifier: MPL-2.0
"""Copies of the tree that tasks are generated from."""

import shutil
from pathlib import Path

from io_benchmark.graph.root import PARTS, PROGRAM

REPOSITORY = Path(__file__).resolve().parents[2]

KIND = "taskcluster/kinds/io-benchmark/kind.yml"


def copy_tree(target, parts=(*PARTS, PROGRAM)):
    for part in parts:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / part, target / part, ignore=ignored)
    return target
