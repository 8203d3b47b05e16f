# SPDX-License-Identifier: MPL-2.0
"""What run-task, hg and fetch-content measured: they write it into the log for Perfherder."""

import json
import math
import re

from io_benchmark.analysis.phases.phase_model import Part, PhaseName

_BEGIN = b"PERFHERDER_DATA: "
_NAME = re.compile(r"[a-z][a-z_]{0,39}")
_MOST_SECONDS = 10**6
_FETCHES = "fetch_content"


def parse_parts(message: bytes) -> list[Part]:
    """Return the parts that a line names; none of another line. What is about all is no part."""
    if not message.startswith(_BEGIN):
        return []
    try:
        document = json.loads(message.removeprefix(_BEGIN))
        is_checkout = document["framework"]["name"] == "vcs"
        suites = [(str(suite["name"]), float(suite["value"])) for suite in document["suites"]]
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return []
    return [
        Part(PhaseName.CHECKOUT if is_checkout else PhaseName.DOWNLOAD, name, round(value * 10**9))
        for name, value in suites
        if (_NAME.fullmatch(name) if is_checkout else name == _FETCHES)
        and not name.startswith("overall")
        and math.isfinite(value)
        and 0 <= value < _MOST_SECONDS
    ]
