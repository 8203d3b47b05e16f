# SPDX-License-Identifier: MPL-2.0
"""The command line of a run, and the settings that follow from it."""

import argparse
import os
import re
from argparse import ArgumentTypeError
from typing import Any, Dict, NamedTuple

import addresses
from log import MIB
from system import folders

DESTINATIONS = ("overwrite", "unlink", "fresh")
# The part of the full files' sizes that a profile has: the larger first.
PROFILES = {"full": 1, "quarter": 4, "twentieth": 20, "quick": 80}
PLACE = "workspace"  # as the kind names it
HELP_COLUMNS = 79
PLACES_AT_MOST = 10
FULL_BYTES = 6 * 1024 * MIB  # with copies; the workload itself checks the exact space
SHORT_PROFILES = {"twentieth": 200, "quick": 100}  # retrieves, at most
TIME_BUDGET_S = 600.0  # for each workload, place and destination
CAPACITIES_S = 300.0  # for all of --capacities in a place; the transforms use the same
RETRIEVES_AT_MOST = 100_000  # in all places and destinations together
FILES_AT_MOST = 100_000
PACE_AT_MOST = 10**12
# What --capacities measures: all that predictions use. The transforms embed the same workloads.
CAPACITIES = ("cache-retrieve", "sync-write", "random-io", "metadata", "spawn")
# What --capacities itself decides.
CHOSEN_BY_CAPACITIES = (
    "--workload",
    "--profile",
    "--trials",
    "--pace",
    "--destination",
    "--retrieves",
    "--sizes",
)


def is_task():
    """Return whether this is a task of Taskcluster, or a rehearsal of one."""
    return bool(os.environ.get("TASK_ID"))


class WrongArgumentsError(Exception):
    """The command line cannot be used; the message is for people."""


class Place(NamedTuple):
    name: str
    path: str


class _Settings(argparse.Namespace):
    retrieves_asked = None  # by --retrieves, where the profile takes fewer

    def as_config(self):
        names = sorted(name for name in os.environ if name.startswith("IO_BENCHMARK_"))
        config = {
            **vars(self),
            "places": [place._asdict() for place in self.places],
            "upload_url": self.upload_origin,
            "download_url": self.download_origin,
            "environment": {name: os.environ[name] for name in names},
        }
        del config["pool"], config["job"]
        config.pop("retrieves_asked", None)
        return config

    @property
    def is_job(self):
        """Return whether this is a job of any CI system, which is not somebody's own machine."""
        return self.job is not None or is_task()

    @property
    def upload_origin(self):
        return addresses.origin_of(self.upload_url)

    @property
    def download_origin(self):
        """Return the host only; None where the script itself is the server, or there is none."""
        return addresses.origin_of(self.download_url)


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


def _positive(kind, most=10**9):
    def convert(word):
        number = kind(word)
        if not 0 < number <= most:
            raise ValueError
        return number

    return matching(".*", convert, "a number above 0, at most %d" % most)


def _file_sizes(word):
    sizes = []
    for part in word.split(","):
        count, _, mib = part.partition("x")
        if not int(count) * float(mib):
            raise ValueError
        sizes += [int(float(mib) * MIB)] * int(count)
        if len(sizes) > FILES_AT_MOST:
            raise ArgumentTypeError("more than %d files" % FILES_AT_MOST)
    return sizes


# The names that a reader of results accepts.
POOL = "[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
pool_name = matching(POOL, str, "1 to 100 letters, digits and _.-")
new_place = matching("[a-z][a-z0-9-]{0,39}=" + folders.PLACE_PATTERN, _place, folders.PLACE_TEXT)
_FILES = r"[0-9]{1,4}x[0-9]{1,5}(?:\.[0-9]{1,3})?"
_sizes = matching("%s(?:,%s)*" % (_FILES, _FILES), _file_sizes, "COUNTxMIB[,COUNTxMIB]")
# A lone dash is stdout for other programs; a file or folder of this name would surprise.
_folder = matching(r"(?!-$)[^\0]+", os.path.abspath, "a folder")
_download_address = matching(addresses.PRINTABLE, addresses.parse_download, addresses.DOWNLOAD)
_seed = matching("-?[0-9]{1,18}", int, "a number of 18 digits or less")
# The options of a run but --workload, whose choices depend on the program.
_OPTIONS: Dict[str, Any] = {
    "--pool": {"type": pool_name},
    "--place": {"action": "append", "dest": "places", "type": new_place},
    "--destination": {"action": "append", "dest": "destinations", "choices": DESTINATIONS},
    "--retrieves": {"default": 2000, "type": _positive(int, RETRIEVES_AT_MOST)},
    "--sizes": {"dest": "sizes_bytes", "type": _sizes},  # None: by the profile
    "--seed": {"default": 1, "type": _seed},
    # None: the script's server on loopback.
    "--upload-url": {"type": matching(addresses.PRINTABLE, addresses.parse_url, addresses.URL)},
    "--download-url": {"type": _download_address},
    "--time-budget": {"dest": "time_budget_s", "type": _positive(float)},
    "--output": {"dest": "artifacts", "default": os.curdir, "type": _folder},
    "--profile": {"choices": PROFILES},
    "--perfherder": {"default": "never", "choices": ("pool", "neutral", "never")},
    "--trials": {"choices": ("auto", "always", "never")},
    "--pace": {"dest": "pace_bytes_per_s", "type": _positive(int, PACE_AT_MOST)},
    "--capacities": {"action": "store_true"},
}


def check_once(parser, option, values):
    for value in values:
        if values.count(value) > 1:
            parser.error("argument %s: %r given twice; use it once" % (option, value))


def check_places(parser, places):
    for column in zip(*places):
        check_once(parser, "--place", column)
    if len(places) > PLACES_AT_MOST:
        parser.error("argument --place: given more than %d times" % PLACES_AT_MOST)


def parse(arguments, workload_names, job=None):
    """Return the settings of a run, in a job of a CI system."""
    # No abbreviations: a new option must not change what an old command means.
    parser = Parser(prog="io-benchmark run", allow_abbrev=False, add_help=False)
    parser.add_argument("--workload", action="append", dest="workloads", choices=workload_names)
    for option, keywords in _OPTIONS.items():
        parser.add_argument(option, **keywords)
    if not arguments:
        parser.error("no command; use run or measure")
    # Options without a command mean `run`.
    if arguments[0] != "run" and not arguments[0].startswith("-"):
        parser.error("%r is not a command; use run or measure" % arguments[0])
    options = arguments[1:] if arguments[0] == "run" else arguments
    try:
        settings = parser.parse_args(options, _Settings())
        if settings.capacities:
            _choose_capacities(parser, settings, options)
        _add_defaults(parser, settings, job)
    except FileNotFoundError:
        parser.error("the current folder was removed; change to another one")
    check_places(parser, settings.places)
    check_once(parser, "--workload", settings.workloads)
    check_once(parser, "--destination", settings.destinations)
    most = SHORT_PROFILES.get(settings.profile, RETRIEVES_AT_MOST)
    if settings.retrieves > most and any(word.startswith("--retrieves") for word in options):
        settings.retrieves_asked = settings.retrieves
    settings.retrieves = min(settings.retrieves, most)
    if settings.retrieves * len(settings.places) * len(settings.destinations) > RETRIEVES_AT_MOST:
        problem = "argument --retrieves: more than %d in all places and destinations together"
        parser.error(problem % RETRIEVES_AT_MOST)
    return settings


def _choose_capacities(parser, settings, options):
    given = {word.partition("=")[0] for word in options}
    for option in CHOSEN_BY_CAPACITIES:
        if option in given:
            parser.error("argument --capacities: cannot be combined with %s; omit one" % option)
    settings.workloads, settings.profile = list(CAPACITIES), "quick"
    settings.trials = "always"  # which measure how fast the storage writes


def _add_defaults(parser, settings, job):
    """Add what this machine and its CI system decide."""
    settings.job = job
    if settings.pool is None:
        parser.error("argument --pool: missing; give one name to all machines of this kind")
    if settings.pace_bytes_per_s and settings.trials in (None, "never"):
        settings.trials = "always"
    settings.trials = settings.trials or "auto"
    settings.workloads = settings.workloads or ["cache-retrieve"]
    settings.destinations = settings.destinations or ["overwrite"]
    if not settings.places:
        folder = job.folder if job is not None else None
        if folder is None or not os.path.isdir(folder):
            folder = os.getcwd()
        settings.places = [Place(PLACE, folder)]
    if settings.time_budget_s is None:
        measurements = len(settings.workloads) * len(settings.places) * len(settings.destinations)
        settings.time_budget_s = measurements * TIME_BUDGET_S
        if settings.capacities:
            settings.time_budget_s = len(settings.places) * CAPACITIES_S
    if settings.profile is None and settings.sizes_bytes is None and not settings.is_job:
        settings.profile = "quick"  # somebody's own machine, perhaps
    elif settings.profile is None and settings.sizes_bytes is None:
        # The largest whose files take at most half of the free space.
        free_bytes = min(folders.free_space_bytes(place.path) for place in settings.places)
        fitting = [name for name, part in PROFILES.items() if 2 * FULL_BYTES // part <= free_bytes]
        settings.profile = fitting[0] if fitting else "quick"
    settings.profile = settings.profile or "full"


def check_folders(places):
    """Refuse what is not there: what is made instead may be on another disk.

    A task may have places in its container, where only the image's folders are.
    """
    for place in places:
        if not is_task() and not os.path.isdir(folders.long_path(place.path)):
            problem = "argument --place: %s=%s: no such folder; make it on the disk to be measured"
            raise WrongArgumentsError(problem % place)
