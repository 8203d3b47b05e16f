# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command line, and the settings that follow from it."""

import argparse
import os
import re
from argparse import ArgumentTypeError
from typing import Any, NamedTuple

from log import MIB

DESTINATIONS = ("overwrite", "unlink", "fresh")
PERFHERDER = ("pool", "neutral", "never")
TRIALS = ("auto", "always", "never")
# The part of the full files' sizes that a profile has: the larger first.
PROFILES = {"full": 1, "quarter": 4, "twentieth": 20, "quick": 80}
FULL_BYTES = 6 * 1024 * MIB  # with copies; the workload itself checks the exact space
SHORT_PROFILES = {"twentieth": 200, "quick": 100}  # retrieves, at most
PLACE = "workspace"  # as the kind names it
HELP_COLUMNS, HELP_INDENT = 79, 24
TIME_BUDGET_S = 600.0  # for each workload, place and destination
URL = "http://host/path or https://host/path, without a user or password"
RETRIEVES_AT_MOST = 100_000  # in all places and destinations together
FILES_AT_MOST = 100_000
PACE_AT_MOST = 10**12
PLACES_AT_MOST = 10
# One screen for people; %s stands for the workloads.
HELP = """\
usage: python3 io-benchmark.pyz run [OPTION ...]
       python3 io-benchmark.pyz measure [OPTION ...] -- COMMAND

`run` measures the storage of this machine and writes one result file. First it
prints where it works, how much it writes and about how long that takes. At the
end it removes its files. `io-benchmark compare` compares result files.
`measure` runs a command, and writes what it asked of this machine.

  --pool NAME           one name for all machines of this kind (default: by the
                        CI system's variables, else the host's name)
  --place NAME=/PATH    measure this folder; repeatable (default: workspace=,
                        the CI job's folder, else the current one)
  --output FOLDER       write FOLDER/io-benchmark/io-benchmark.json (default: .)
  --profile PROFILE     full: 6 GB of files, 2000 copies; quarter: files of a
                        quarter; twentieth: 200 copies; quick: an eightieth,
                        100 copies
                        (default: the first that leaves half of the space free)
  --time-budget SECONDS end after this time, with what was measured until then
                        (default: 600, times workloads, places, destinations)
  --workload NAME       repeatable (default: cache-retrieve); one of
%s
  --retrieves N         number of copies (default: 2000)
  --sizes COUNTxMIB,... sizes of the files, instead of the profile's
  --destination WHICH   overwrite, unlink or fresh; repeatable
                        (default: overwrite)
  --fidelity WHICH      seed: one grep and one copy in this process; real: the
                        steps of cached_download.sh in bash (default: seed)
  --precision PERCENT   end when the mean is known this precisely, as in 2%%
  --trials WHEN         auto, always or never try what makes a difference
                        (default: auto)
  --pace BYTES_PER_S    one of the trials copies at this speed
  --seed N              another order of the copies (default: 1)
  --perfherder WHOSE    also write Perfherder's file: pool or neutral
  --upload-url URL      where `upload` uploads to (default: this machine)

Exit code: 0 measured, 1 failed, 2 wrong arguments, 128+N ended by signal N.
"""


class WrongArgumentsError(Exception):
    """The command line cannot be used; the message is for people."""


class _Place(NamedTuple):
    name: str
    path: str


class _Parser(argparse.ArgumentParser):
    text = ""  # of --help, where argparse's own is not wanted

    def __init__(self, **keywords):
        # With its width, since argparse imports much where it must ask for it.
        formatter: Any = lambda prog: argparse.HelpFormatter(prog, width=HELP_COLUMNS)  # noqa: E731
        super().__init__(formatter_class=formatter, **keywords)

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


# The names that a reader of results accepts.
POOL = "[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
_parse_pool = _matching(POOL, str, "1 to 100 letters, digits and _.-")


def _parse_place(text):
    match = re.fullmatch(r"([a-z][a-z0-9-]{0,39})=(/[^\x00-\x1f\x7f]*)", text)
    if not match:
        raise ArgumentTypeError("%r is not NAME=/absolute/path" % text)
    return _Place(match.group(1), os.path.normpath(match.group(2)))


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


def parse_measure(arguments):
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
    settings = parser.parse_args(arguments[:at])
    settings.command = arguments[at + 1 :]
    if not settings.command:
        parser.error("the command is missing; give it after --")
    settings.places = settings.places or [_Place(PLACE, os.curdir)]
    _check_places(parser, settings.places)
    return settings


def parse(arguments, known_workloads):
    """Return the settings of a run; `pool_origin` is what the pool's name comes from, None if given."""
    import textwrap  # noqa: PLC0415 - as in reading.py

    # No abbreviations: a new option must not change what an old command means.
    parser = _Parser(prog="io-benchmark run", allow_abbrev=False)
    indent, names = " " * HELP_INDENT, ", ".join(known_workloads)
    wrapper = textwrap.TextWrapper(HELP_COLUMNS, indent, indent, break_on_hyphens=False)
    parser.text = HELP % wrapper.fill(names)
    add = parser.add_argument
    add("--pool", type=_parse_pool)
    several: Any = {"action": "append"}
    add("--workload", dest="workloads", choices=known_workloads, **several)
    add("--place", dest="places", type=_parse_place, **several)
    add("--destination", dest="destinations", choices=DESTINATIONS, **several)
    add("--fidelity", default="seed", choices=("seed", "real"))
    add("--retrieves", default=2000, type=_positive(int, RETRIEVES_AT_MOST))
    add("--sizes", dest="sizes_bytes", type=_parse_sizes)  # None: by the profile
    add("--seed", default=1, type=_matching("-?[0-9]{1,18}", int, "a number of 18 digits or less"))
    add("--precision", type=_percentage)
    add("--upload-url", type=_parse_url)  # None: the script's server on loopback
    add("--time-budget", dest="time_budget_s", type=_positive(float))
    folder: Any = {"dest": "artifacts", "default": os.curdir}
    add("--output", **folder, type=_parse_folder)
    add("--profile", choices=PROFILES)
    add("--perfherder", default="never", choices=PERFHERDER)
    add("--trials", choices=TRIALS)
    add("--pace", dest="pace_bytes_per_s", type=_positive(int, PACE_AT_MOST))
    try:
        settings = parser.parse_args(_without_command(arguments))
        _add_defaults(settings)
    except FileNotFoundError:
        parser.error("the current folder was removed; change to another one")
    _check_places(parser, settings.places)
    _check_each_once(parser, "--workload", settings.workloads)
    _check_each_once(parser, "--destination", settings.destinations)
    most = SHORT_PROFILES.get(settings.profile, RETRIEVES_AT_MOST)
    settings.retrieves = min(settings.retrieves, most)
    if settings.retrieves * len(settings.places) * len(settings.destinations) > RETRIEVES_AT_MOST:
        text = "more than %d in all places and destinations together"
        parser.error("argument --retrieves: " + text % RETRIEVES_AT_MOST)
    return settings


def _without_command(arguments):
    """Return the options without the command; options without a command mean `run`."""
    if not arguments:
        raise WrongArgumentsError("no command; use run or measure")
    if arguments[0] != "run" and not arguments[0].startswith("-"):
        raise WrongArgumentsError("%r is not a command; use run or measure" % arguments[0])
    return arguments[1:] if arguments[0] == "run" else arguments


def _add_defaults(settings):
    """Add what this machine and its CI system decide."""
    import ci  # noqa: PLC0415 - as in reading.py

    settings.pool_origin = None
    if settings.pool is None:
        settings.pool, settings.pool_origin = ci.guess_pool()
    if settings.pace_bytes_per_s and settings.trials in (None, "never"):
        settings.trials = "always"
    settings.trials = settings.trials or "auto"
    settings.workloads = settings.workloads or ["cache-retrieve"]
    settings.destinations = settings.destinations or ["overwrite"]
    if not settings.places:
        folder = ci.work_folder() or ""
        settings.places = [_Place(PLACE, folder if os.path.isdir(folder) else os.getcwd())]
    if settings.time_budget_s is None:
        measurements = len(settings.workloads) * len(settings.places) * len(settings.destinations)
        settings.time_budget_s = measurements * TIME_BUDGET_S
    if settings.profile is None:
        has_sizes = settings.sizes_bytes is not None
        settings.profile = "full" if has_sizes else _profile_that_fits(settings.places)


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


def config_of(settings):
    """Return the settings for the result file."""
    names = sorted(name for name in os.environ if name.startswith("IO_BENCHMARK_"))
    config = dict(vars(settings))
    del config["pool"], config["pool_origin"]
    config.update(
        places=[place._asdict() for place in settings.places],
        precision_ratio=config.pop("precision"),
        upload_url=upload_origin(settings),
        environment={name: os.environ[name] for name in names},
    )
    return config


def upload_origin(settings):
    """Return the host only: the rest may hold a signature, and results are public."""
    if settings.upload_url is None:
        return None
    from urllib.parse import urlsplit  # noqa: PLC0415 - as in reading.py

    parts = urlsplit(settings.upload_url)
    return "%s://%s" % (parts.scheme, parts.netloc)
