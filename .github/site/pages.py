# SPDX-License-Identifier: MPL-2.0
"""Changes a page of the documentation for its site; the repository's pages stay as they are."""

import re
from collections.abc import Mapping
from typing import Any

# "sh skip" tells the tests how to run a block. Markdown wants the language alone.
_FENCE = re.compile(r"^( *```[a-z]+) .*$", re.MULTILINE)
# From taskcluster/docs to a file of the repository that is no page.
_OUTSIDE = "](../../"


def on_page_markdown(markdown: str, config: Mapping[str, Any], **_page: object) -> str:
    """Return the text of a page as Markdown of the site."""
    repository = config["extra"]["repository"]
    return _FENCE.sub(r"\1", markdown).replace(_OUTSIDE, f"]({repository}/blob/main/")
