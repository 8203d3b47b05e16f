# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The sources of results, and which of them reads an address."""

import re
from collections.abc import Mapping, Sequence

from io_benchmark.errors import UsageError
from io_benchmark.sources.folder.source import FolderSource
from io_benchmark.sources.protocol import Source, SourceAddress
from io_benchmark.sources.taskcluster.source import TaskclusterSource
from io_benchmark.text import clean

# The first that knows an address reads it. A folder may have any name, so it comes last.
SOURCES: tuple[Source, ...] = (TaskclusterSource(), FolderSource())

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def parse_addresses(texts: Sequence[str], environment: Mapping[str, str]) -> list[SourceAddress]:
    """Find the source of each address; raise a UsageError that says what would be right."""
    return [_parse(number, text, environment) for number, text in enumerate(texts)]


def address_forms(*, local: bool = True) -> str:
    """List the forms of address that exist, for messages."""
    sources = [source for source in reversed(SOURCES) if local or not source.is_local]
    *forms, last = [form for source in sources for form in source.forms]
    return f"{', '.join(forms)} or {last}"


def _parse(number: int, text: str, environment: Mapping[str, str]) -> SourceAddress:
    if not text.strip():
        raise UsageError(f"an address is empty; give {address_forms()}")
    shown = clean(text, 200)
    if _CONTROL.search(text.strip()):
        raise UsageError(f"{shown}: contains control characters; type the address again")
    for source in SOURCES:
        meaning = source.parse(text, environment)
        if meaning is not None:
            return SourceAddress(number, text, source, meaning)
    scheme = _SCHEME.match(text.strip())
    kind = f"{scheme[1]}:// is" if scheme else "this form of address is"
    raise UsageError(f"{shown}: {kind} not supported; give {address_forms()}")
