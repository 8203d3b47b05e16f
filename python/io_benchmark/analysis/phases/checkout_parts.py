# SPDX-License-Identifier: MPL-2.0
"""What run-task or hg measured of a checkout: they write it into the log for Perfherder."""

import json
import math
import re

from io_benchmark.analysis.phases.phase_model import Part, PhaseName

_BEGIN = b"PERFHERDER_DATA: "
_NAME = re.compile(r"[a-z][a-z_]{0,39}")
_MOST_SECONDS = 10**6


def parse_parts(message: bytes) -> list[Part]:
    """Return the parts that a line names; none of another line. What is about all is no part."""
    if not message.startswith(_BEGIN):
        return []
    try:
        document = json.loads(message.removeprefix(_BEGIN))
        if document["framework"]["name"] != "vcs":
            return []
        suites = [(str(suite["name"]), float(suite["value"])) for suite in document["suites"]]
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return []
    return [
        Part(PhaseName.CHECKOUT, name, round(seconds * 10**9))
        for name, seconds in suites
        if _NAME.fullmatch(name)
        and not name.startswith("overall")
        and math.isfinite(seconds)
        and 0 <= seconds < _MOST_SECONDS
    ]
