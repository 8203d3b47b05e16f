# SPDX-License-Identifier: MPL-2.0
"""Published schemas depend neither on the Python that writes them nor on what a module keeps to itself."""

import msgspec

from io_benchmark.results.schema import schema_of


class Part(msgspec.Struct):
    description: str


class _Inner(msgspec.Struct):
    size: int


class Whole(msgspec.Struct):
    parts: list[Part]
    inner: _Inner


# As Python before 3.13 keeps it, whichever one runs this test.
Part.__doc__ = "The first line.\n\n    A second one, below it."


def test_docstrings_lose_their_indentation():
    """A key with the name `description` is a key; a description has no indentation."""
    schema = schema_of("a format, version 1", Whole)
    assert schema["title"] == "a format, version 1"
    part = schema["$defs"]["Part"]
    assert part["description"] == "The first line.\n\nA second one, below it."
    assert part["properties"] == {"description": {"type": "string"}}


def test_types_that_only_their_module_uses_are_published_without_underscore():
    """Neither the names of definitions, nor titles, nor references have it."""
    schema = schema_of("a format, version 1", Whole)
    assert set(schema["$defs"]) == {"Whole", "Part", "Inner"}
    assert schema["$defs"]["Inner"]["title"] == "Inner"
    assert schema["$defs"]["Whole"]["properties"]["inner"] == {"$ref": "#/$defs/Inner"}
