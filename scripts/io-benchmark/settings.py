# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command line, and the settings that follow from it."""

import argparse
import os
import re
from argparse import ArgumentTypeError
from typing import Any, List, NamedTuple, Optional

from log import MIB
from usage import HELP

DESTINATIONS = ("overwrite", "unlink", "fresh")
PERFHERDER = ("pool", "neutral", "never")
TRIALS = ("auto", "always", "never")
# The part of the full files' sizes that a profile has: the larger first.
PROFILES = {"full": 1, "quarter": 4, "twentieth": 20, "quick": 80}
FULL_BYTES = 6 * 1024 * MIB  # with copies; the workload itself checks the exact space
SHORT_PROFILES = {"twentieth": 200, "quick": 100}  # retrieves, at most
WORKLOAD = "cache-retrieve"
PLACE = "workspace"  # as the kind names it
HELP_COLUMNS, HELP_INDENT = 79, 24
TIME_BUDGET_S = 600.0  # for each workload, place and destination
# The names that a reader of results accepts.
POOL = "[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
URL = "http://host/path or https://host/path, without a user or password"
RETRIEVES_AT_MOST = 100_000  # in all places and destinations together
FILES_AT_MOST = 100_000
PACE_AT_MOST = 10**12
PLACES_AT_MOST = 10


class WrongArgumentsError(Exception):
    """The command line cannot be used; the message is for people."""


class _Place(NamedTuple):
    name: str
    path: str


class _RunSettings(NamedTuple):
    pool: str
    pool_origin: Optional[str]  # what the name comes from; None: it was given
    workloads: List[str]
    places: List[_Place]
    destinations: List[str]
    fidelity: str
    retrieves: int
    sizes_bytes: Optional[List[int]]  # None: the workload's own, by profile
    seed: int
    precision: Optional[float]
    upload_url: Optional[str]  # None: the script's server on loopback
    time_budget_s: float
    artifacts: str
    profile: str
    perfherder: str  # which series: the pool's, or one that all pools share; or none
    trials: str
    pace_bytes_per_s: Optional[int]  # of copies in trials; None: no such trial

    def as_config(self):
        """Return the settings for the result file."""
        names = sorted(name for name in os.environ if name.startswith("IO_BENCHMARK_"))
        config = self._asdict()
        del config["pool"], config["pool_origin"]
        config.update(
            places=[place._asdict() for place in self.places],
            precision_ratio=config.pop("precision"),
            upload_url=self.upload_origin(),
            environment={name: os.environ[name] for name in names},
        )
        return config

    def upload_origin(self):
        """Return the host only: the rest may hold a signature, and results are public."""
        if self.upload_url is None:
            return None
        from urllib.parse import urlsplit  # noqa: PLC0415 - as in reading.py

        parts = urlsplit(self.upload_url)
        return "%s://%s" % (parts.scheme, parts.netloc)


class _MeasureSettings(NamedTuple):
    command: List[str]
    places: List[_Place]
    pool: Optional[str]
    output: Optional[str]


def _formatter(prog):
    """Return argparse's formatter, which imports much where it must ask for the width."""
    return argparse.HelpFormatter(prog, width=HELP_COLUMNS)


class _Parser(argparse.ArgumentParser):
    text = ""  # of --help, where argparse's own is not wanted

    def __init__(self, **keywords):
        super().__init__(formatter_class=_formatter, **keywords)

    def error(self, message):
        raise WrongArgumentsError(message)

    def format_help(self):
        return self.text or super().format_help()


def _matching(pattern, kind, description):
    def parse(text):
        if not re.fullmatch(pattern, text):
            raise ArgumentTypeError("%r is not %s" % (text, description))
        return kind(text)

    return parse


def _parse_place(text):
    match = re.fullmatch(r"([a-z][a-z0-9-]{0,39})=(/[^\x00-\x1f\x7f]*)", text)
    if not match:
        raise ArgumentTypeError("%r is not NAME=/absolute/path" % text)
    return _Place(match.group(1), os.path.normpath(match.group(2)))


_parse_pool = _matching(POOL, str, "1 to 100 letters, digits and _.-")


def _parse_sizes(text):
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,5}(?:\.[0-9]{1,3})?)", part)
        if not match or int(match.group(1)) == 0 or float(match.group(2)) == 0:
            raise ArgumentTypeError("%r is not COUNTxMIB[,COUNTxMIB]" % text)
        sizes += [int(float(match.group(2)) * MIB)] * int(match.group(1))
        if len(sizes) > FILES_AT_MOST:
            raise ArgumentTypeError("more than %d files" % FILES_AT_MOST)
    return sizes


def _percentage(text):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%", text)
    if not match or not 0 < float(match.group(1)) < 100:
        raise ArgumentTypeError("%r is not a percentage such as 2%%" % text)
    return float(match.group(1)) / 100


def _parse_url(text):
    from urllib.parse import urlsplit  # noqa: PLC0415 - as in reading.py

    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - raises if it is not a number
    except ValueError:
        parts = urlsplit("")
    is_server = parts.scheme in ("http", "https") and parts.hostname
    if not is_server or "@" in parts.netloc or not re.fullmatch(r"[\x21-\x7e]+", text):
        raise ArgumentTypeError("%r is not %s" % (text, URL))
    return text


def _positive(kind, most=10**9):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value <= most:
            reason = "is not a number above 0, at most %d" % most
            raise ArgumentTypeError("%r %s" % (text, reason))
        return value

    return parse


def _parse_folder(text):
    if not text or "\0" in text:
        raise ArgumentTypeError("%r is not a folder" % text)
    return os.path.abspath(text)


def _check_each_once(parser, option, values):
    for value in values:
        if values.count(value) > 1:
            parser.error("argument %s: %r given twice; use it once" % (option, value))


def _check_places(parser, places):
    for column in zip(*places):
        _check_each_once(parser, "--place", column)
    if len(places) > PLACES_AT_MOST:
        parser.error("argument --place: given more than %d times" % PLACES_AT_MOST)


def parse_measure(arguments) -> _MeasureSettings:
    parser = _Parser(
        prog="io-benchmark measure",
        description="Run a command, and write what it asked of this machine.",
        usage="%(prog)s [--place NAME=/path ...] [--pool NAME] [--output FILE] -- COMMAND ...",
        epilog="Exit code: the command's; 2 wrong arguments, 126 and 127 it cannot be run.",
    )
    add = parser.add_argument
    places: Any = {"dest": "places", "action": "append", "metavar": "NAME=/path"}
    add("--place", **places, type=_parse_place, help="where it works (default: here)")
    add("--pool", type=_parse_pool, metavar="NAME", help="the pool of this machine")
    text = "default: a new file, task-profile.json if there is none"
    add("--output", metavar="FILE", help=text)
    at = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[at + 1 :]
    given = parser.parse_args(arguments[:at])
    if not command:
        parser.error("the command is missing; give it after --")
    given.places = given.places or [_Place("workspace", os.curdir)]
    _check_places(parser, given.places)
    return _MeasureSettings(command=command, **vars(given))


def parse(arguments, known_workloads) -> _RunSettings:
    # No abbreviations: a new option must not change what an old command means.
    parser = _Parser(prog="io-benchmark run", allow_abbrev=False)
    parser.text = HELP % _listed(known_workloads)
    add = parser.add_argument
    add("--pool", type=_parse_pool)
    several: Any = {"action": "append"}
    add("--workload", dest="workloads", choices=known_workloads, **several)
    add("--place", dest="places", type=_parse_place, **several)
    add("--destination", dest="destinations", choices=DESTINATIONS, **several)
    add("--fidelity", default="seed", choices=("seed", "real"))
    add("--retrieves", default=2000, type=_positive(int, RETRIEVES_AT_MOST))
    add("--sizes", dest="sizes_bytes", type=_parse_sizes)
    seed = _matching("-?[0-9]{1,18}", int, "a number of 18 digits or less")
    add("--seed", default=1, type=seed)
    add("--precision", type=_percentage)
    add("--upload-url", type=_parse_url)
    add("--time-budget", dest="time_budget_s", type=_positive(float))
    folder: Any = {"dest": "artifacts", "default": os.curdir}
    add("--output", **folder, type=_parse_folder)
    add("--profile", choices=PROFILES)
    add("--perfherder", default="never", choices=PERFHERDER)
    add("--trials", choices=TRIALS)
    pace = {"dest": "pace_bytes_per_s", "type": _positive(int, PACE_AT_MOST)}
    add("--pace", **pace)
    try:
        given = parser.parse_args(_without_command(arguments))
        _add_defaults(given)
    except FileNotFoundError:
        parser.error("the current folder was removed; change to another one")
    _check_places(parser, given.places)
    _check_each_once(parser, "--workload", given.workloads)
    _check_each_once(parser, "--destination", given.destinations)
    if given.profile in SHORT_PROFILES:
        given.retrieves = min(given.retrieves, SHORT_PROFILES[given.profile])
    passes = len(given.places) * len(given.destinations)
    if given.retrieves * passes > RETRIEVES_AT_MOST:
        text = "more than %d in all places and destinations together"
        parser.error("argument --retrieves: " + text % RETRIEVES_AT_MOST)
    return _RunSettings(**vars(given))


def _listed(names):
    import textwrap  # noqa: PLC0415 - as in reading.py

    width = HELP_COLUMNS - HELP_INDENT
    lines = textwrap.wrap(", ".join(names), width, break_on_hyphens=False)
    return "\n".join(" " * HELP_INDENT + line for line in lines)


def _without_command(arguments):
    """Return the options without the command; options without a command mean `run`."""
    if not arguments:
        raise WrongArgumentsError("no command; use run or measure")
    if arguments[0] != "run" and not arguments[0].startswith("-"):
        raise WrongArgumentsError(
            "%r is not a command; use run or measure" % arguments[0]
        )
    return arguments[1:] if arguments[0] == "run" else arguments


def _add_defaults(given):
    """Add what this machine and its CI system decide."""
    import ci  # noqa: PLC0415 - as in reading.py

    given.pool_origin = None
    if given.pool is None:
        given.pool, given.pool_origin = ci.guess_pool()
    if given.pace_bytes_per_s and given.trials in (None, "never"):
        given.trials = "always"
    given.trials = given.trials or "auto"
    given.workloads = given.workloads or [WORKLOAD]
    given.destinations = given.destinations or ["overwrite"]
    if not given.places:
        folder = ci.work_folder() or ""
        given.places = [_Place(PLACE, folder if os.path.isdir(folder) else os.getcwd())]
    if given.time_budget_s is None:
        each = len(given.workloads) * len(given.places) * len(given.destinations)
        given.time_budget_s = each * TIME_BUDGET_S
    if given.profile is None:
        has_sizes = given.sizes_bytes is not None
        given.profile = "full" if has_sizes else _profile_that_fits(given.places)


def _profile_that_fits(places):
    """Return the largest profile whose files take at most half of the free space."""
    free_bytes = min(free_space_bytes(place.path) for place in places)
    for name, divisor in PROFILES.items():
        if 2 * FULL_BYTES // divisor <= free_bytes:
            return name
    return name


def free_space_bytes(path):
    """Return the free space where the path is, or will be made; 0 where it cannot be read."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    try:
        space = os.statvfs(path)
    except OSError:
        return 0
    return space.f_bavail * space.f_frsize
