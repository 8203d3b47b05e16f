# SPDX-License-Identifier: MPL-2.0
"""The script that only the page of all pools has, and the policy that allows it by its hash."""

import base64
import hashlib
from importlib.resources import files

from markupsafe import Markup


def script() -> Markup:
    source = (files("io_benchmark.report.formats") / "fleet_page.js").read_text(encoding="utf-8")
    return Markup(source)  # noqa: S704 - the script is a part of the program


def policy() -> Markup:
    """Return the directive that allows this script alone."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return Markup(" script-src 'sha256-{}';").format(digest)
