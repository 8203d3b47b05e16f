# SPDX-License-Identifier: MPL-2.0
"""Arguments that several commands take, and what is said of wrong ones."""

import argparse
import os
import re
from argparse import ArgumentTypeError
from typing import Any, NamedTuple

from system import folders

PLACE = "workspace"  # as the kind names it
HELP_COLUMNS = 79
PLACES_AT_MOST = 10


class WrongArgumentsError(Exception):
    """The command line cannot be used; the message is for people."""


class Place(NamedTuple):
    name: str
    path: str


class Parser(argparse.ArgumentParser):
    def __init__(self, **keywords):
        # With its width, since argparse imports much where it must ask for it.
        formatter: Any = lambda prog: argparse.HelpFormatter(prog, width=HELP_COLUMNS)  # noqa: E731
        super().__init__(formatter_class=formatter, **keywords)

    def error(self, message):
        raise WrongArgumentsError(message)


def matching(pattern, convert, description):
    """Return a type of argparse; `convert` raises ValueError for what is not as described."""

    def parse(word):
        try:
            if re.fullmatch(pattern, word):
                return convert(word)
        except ValueError:
            pass
        raise ArgumentTypeError("%r is not %s" % (word, description))

    return parse


def _place(word):
    name, _, path = word.partition("=")
    return Place(name, os.path.abspath(path))


# The names that a reader of results accepts.
POOL = "[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
pool_name = matching(POOL, str, "1 to 100 letters, digits and _.-")
new_place = matching("[a-z][a-z0-9-]{0,39}=" + folders.PLACE_PATTERN, _place, folders.PLACE_TEXT)


def check_once(parser, option, values):
    for value in values:
        if values.count(value) > 1:
            parser.error("argument %s: %r given twice; use it once" % (option, value))


def check_places(parser, places):
    for column in zip(*places):
        check_once(parser, "--place", column)
    if len(places) > PLACES_AT_MOST:
        parser.error("argument --place: given more than %d times" % PLACES_AT_MOST)
