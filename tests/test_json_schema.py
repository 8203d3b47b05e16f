# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""Published schemas do not depend on the Python that writes them."""

import msgspec

from io_benchmark.results.schema import schema_of


class Part(msgspec.Struct):
    description: str


class Whole(msgspec.Struct):
    parts: list[Part]


# As Python before 3.13 keeps it, whichever one runs this test.
Part.__doc__ = "The first line.\n\n    A second one, below it."


def test_docstrings_lose_their_indentation():
    """A key with the name `description` is a key; a description has no indentation."""
    schema = schema_of("a format, version 1", Whole)
    assert schema["title"] == "a format, version 1"
    part = schema["$defs"]["Part"]
    assert part["description"] == "The first line.\n\nA second one, below it."
    assert part["properties"] == {"description": {"type": "string"}}
