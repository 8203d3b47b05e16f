# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command line, and what it puts in force."""

import argparse
import os
import re
from typing import List, NamedTuple, Optional
from urllib.parse import urlsplit

from failures import WrongArgumentsError

MIB = 1024 * 1024
DESTINATIONS = ("overwrite", "unlink", "fresh")
PERFHERDER = ("pool", "neutral")
QUICK_RETRIEVES_AT_MOST = 200
# What a reader of results accepts.
POOL = "[A-Za-z0-9][A-Za-z0-9_.-]{0,99}"
RETRIEVES_AT_MOST = 1_000_000  # in all places and destinations together
FILES_AT_MOST = 100_000
PLACES_AT_MOST = 10


class Place(NamedTuple):
    name: str
    path: str


class Settings(NamedTuple):
    pool: str
    workloads: List[str]
    places: List[Place]
    destinations: List[str]
    fidelity: str
    retrieves: int
    sizes_bytes: Optional[List[int]]  # None: the workload's own, by profile
    seed: int
    precision: Optional[float]
    upload_url: Optional[str]  # None: a server of the script's own, on loopback
    time_budget_s: Optional[float]
    artifacts: str
    profile: str
    perfherder: str  # whose series: the pool's, or one for whatever pool it is

    def as_config(self):
        """What was in force, for the result file."""
        names = [name for name in os.environ if name.startswith("IO_BENCHMARK_")]
        return {
            "profile": self.profile,
            "workloads": self.workloads,
            "places": [
                {"name": place.name, "path": place.path} for place in self.places
            ],
            "destinations": self.destinations,
            "fidelity": self.fidelity,
            "retrieves": self.retrieves,
            "sizes_bytes": self.sizes_bytes,
            "seed": self.seed,
            "precision_ratio": self.precision,
            # Whose it is and no more: what follows may hold a signature, and results are public.
            "upload_url": None if self.upload_url is None else origin(self.upload_url),
            "time_budget_s": self.time_budget_s,
            "artifacts": self.artifacts,
            "perfherder": self.perfherder,
            "environment": {name: os.environ[name] for name in sorted(names)},
        }


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise WrongArgumentsError(message)


def parse_pool(text):
    if not re.fullmatch(POOL, text):
        raise argparse.ArgumentTypeError(
            "%r is not 1 to 100 letters, digits and _.-" % text
        )
    return text


def parse_place(text):
    match = re.fullmatch(r"([a-z][a-z0-9-]{0,39})=(/[^\x00-\x1f\x7f]*)", text)
    if not match:
        raise argparse.ArgumentTypeError("%r is not NAME=/absolute/path" % text)
    return Place(match.group(1), os.path.normpath(match.group(2)))


def parse_sizes(text):
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,5}(?:\.[0-9]{1,3})?)", part)
        if not match or int(match.group(1)) == 0 or float(match.group(2)) == 0:
            raise argparse.ArgumentTypeError("%r is not COUNTxMIB[,COUNTxMIB]" % text)
        sizes += [int(float(match.group(2)) * MIB)] * int(match.group(1))
        if len(sizes) > FILES_AT_MOST:
            raise argparse.ArgumentTypeError("more than %d files" % FILES_AT_MOST)
    return sizes


def parse_precision(text):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%", text)
    if not match or not 0 < float(match.group(1)) < 100:
        raise argparse.ArgumentTypeError("%r is not a percentage such as 2%%" % text)
    return float(match.group(1)) / 100


def parse_url(text):
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        parts = urlsplit("")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "@" in parts.netloc
        or not re.fullmatch(r"[\x21-\x7e]+", text)
    ):
        raise argparse.ArgumentTypeError(
            "%r is not http://host/path or https://host/path, without a user or password"
            % text
        )
    return text


def origin(url):
    parts = urlsplit(url)
    return "%s://%s" % (parts.scheme, parts.netloc)


def positive(kind, most=10**9):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value <= most:
            raise argparse.ArgumentTypeError(
                "%r is not a number above 0, at most %d" % (text, most)
            )
        return value

    return parse


def parse_seed(text):
    if not re.fullmatch("-?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(
            "%r is not a number of 18 digits or less" % text
        )
    return int(text)


def parse(arguments, known_workloads) -> Settings:
    parser = Parser(prog="io-benchmark", description="Measure a worker's I/O.")
    add = parser.add_argument
    add(
        "--pool",
        required=True,
        type=parse_pool,
        help="the pool's name, as the kind names its task",
    )
    add("--workload", action="append", required=True, choices=known_workloads)
    add(
        "--place",
        action="append",
        required=True,
        type=parse_place,
        help="NAME=/path to measure",
    )
    add(
        "--destination",
        action="append",
        choices=DESTINATIONS,
        help="default: overwrite",
    )
    add("--fidelity", default="seed", choices=("seed", "real"))
    add("--retrieves", default=2000, type=positive(int, RETRIEVES_AT_MOST))
    add(
        "--sizes",
        type=parse_sizes,
        help="cached files, COUNTxMIB[,...]; default by --profile",
    )
    add("--seed", default=1, type=parse_seed)
    add(
        "--precision",
        type=parse_precision,
        help="stop once the mean is known this well: 2%%",
    )
    add(
        "--upload-url",
        type=parse_url,
        help="where `upload` puts its objects; {name} is replaced",
    )
    add("--time-budget", type=positive(float), help="seconds from the start")
    add(
        "--artifacts", required=True, help="the directory that the result is written to"
    )
    add("--profile", default="full", choices=("full", "quick"))
    add(
        "--perfherder",
        default="pool",
        choices=PERFHERDER,
        help="whose series the figures are",
    )
    given = parser.parse_args(arguments)
    for what, values in (
        ("--place", [place.name for place in given.place]),
        ("--place", [place.path for place in given.place]),
        ("--workload", given.workload),
        ("--destination", given.destination or []),
    ):
        repeated = first_repeated(values)
        if repeated is not None:
            parser.error("argument %s: %r given twice; use it once" % (what, repeated))
    destinations = given.destination or ["overwrite"]
    if len(given.place) > PLACES_AT_MOST:
        parser.error("argument --place: given more than %d times" % PLACES_AT_MOST)
    quick = given.profile == "quick"
    retrieves = (
        min(given.retrieves, QUICK_RETRIEVES_AT_MOST) if quick else given.retrieves
    )
    if retrieves * len(given.place) * len(destinations) > RETRIEVES_AT_MOST:
        parser.error(
            "argument --retrieves: more than %d in all places and destinations together"
            % RETRIEVES_AT_MOST
        )
    return Settings(
        pool=given.pool,
        workloads=given.workload,
        places=given.place,
        destinations=destinations,
        fidelity=given.fidelity,
        retrieves=retrieves,
        sizes_bytes=given.sizes,
        seed=given.seed,
        precision=given.precision,
        upload_url=given.upload_url,
        time_budget_s=given.time_budget,
        artifacts=os.path.abspath(given.artifacts),
        profile=given.profile,
        perfherder=given.perfherder,
    )


def first_repeated(values):
    seen = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
