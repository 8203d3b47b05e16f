# SPDX-License-Identifier: MPL-2.0
"""The description on PyPI: the README, with links that lead somewhere from there as well."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    """Links to files of the repository become addresses of this release's tag."""

    def update(self, metadata: dict[str, Any]) -> None:
        tree = f"{metadata['urls']['Source']}/{{}}/v{metadata['version']}/"
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        for mark, view in ((r"!\[[^]]*\]\(", "raw"), (r"(?<!!)\[[^]]*\]\(", "blob")):
            text = re.sub(rf"({mark})(?!https?:)", rf"\g<1>{tree.format(view)}", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
