# SPDX-License-Identifier: MPL-2.0
"""A slow task, its profile, and the results of three pools: what the page about a decision describes.

The task is as the seed's: 39 minutes on intel, of which copies take 18 %. Deterministic.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from predicted_tasks import profile_document, result_documents

# As the page names them.
TASK, GROUP = "cQ4kTnR7QTq1p2L0dJ8wXg", "Kb3vW0hXRf-8sD5tYq2mZA"
PROFILE = "public/io-benchmark/task-profile.json"
# MiB per second that idle disks write: two striped disks, and one.
CEILINGS = {"intel": (690, 700, 710), "amd-30": (695, 702, 706), "amd-16": (359, 365, 370)}
MEASURED = ("sync-write/append-fsync", "spawn", "random-io")
HALF_SECONDS, COPYING_SHARE = 39 * 60 * 2, 0.18


@cache
def profile() -> bytes:
    """Return the profile: half seconds in which the task copies among others in which it computes."""
    copying = [
        int((at + 1) * COPYING_SHARE) > int(at * COPYING_SHARE) for at in range(HALF_SECONDS)
    ]
    written = [CEILINGS["intel"][1] / 2 if copies else 2.0 for copies in copying]
    document = profile_document(written, cpu_s=1500, kernel_s=300)
    document["command"]["program"] = "update-verify.sh"
    # A task of the graph knows the worker type of its pool, and not what a benchmark calls it.
    document["task"]["pool"] = "type-intel"
    return json.dumps(document).encode()


def documents() -> Iterator[dict[str, Any]]:
    """Return the result of each worker, pool by pool."""
    for pool, ceilings in CEILINGS.items():
        yield from result_documents(pool, ceilings, between=0.03, only=MEASURED)
