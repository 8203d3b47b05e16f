#!/bin/sh
# SPDX-License-Identifier: MPL-2.0
# Makes every lock anew (run by `tox -e lock`), from what is at least a week old: a package of today
# is not on every mirror yet, and nobody has looked at it. One version of a package for all Pythons,
# so that results do not depend on the interpreter (numpy), and no address of a package index
# inside.
set -eu
cd -- "$(dirname -- "$0")/.."

compile() { # compile OLDEST-PYTHON LOCK SOURCE...
    oldest=$1 output=$2
    shift 2
    echo "locking $output" >&2
    uv pip compile --quiet --upgrade --exclude-newer "7 days" --universal --fork-strategy fewest \
        --python-version "$oldest" --generate-hashes --no-emit-index-url \
        --output-file "$output" "$@" >/dev/null
}

program="pyproject.toml --extra taskcluster --extra completion \
    python/io_benchmark_taskgraph/pyproject.toml python/requirements.in"
# shellcheck disable=SC2086 # several words
compile 3.11 python/requirements.txt $program
# shellcheck disable=SC2086 # several words
compile 3.11 tests/requirements.txt --constraints python/requirements.txt $program \
    tests/requirements.in
compile 3.11 python/requirements-report.txt --constraints python/requirements.txt \
    pyproject.toml --extra taskcluster
compile 3.11 tests/requirements-tox.txt tests/requirements-tox.in
compile 3.11 tests/requirements-lock.txt tests/requirements-lock.in
compile 3.11 tests/requirements-site.txt tests/requirements-site.in
# What a decision task installs, in an image with an older Python.
compile 3.9 taskcluster/requirements.txt taskcluster/requirements.in
# Versions of taskgraph that the kind is run with (`tox -e taskgraphs`), each alone, and what all of
# a folder depend on.
taskgraphs() { # taskgraphs FOLDER VERSION...
    folder=tests/taskgraphs/$1
    shift
    for version in "$@"; do
        echo "taskcluster-taskgraph==$version" >"$source"
        compile 3.9 "$folder/requirements-$version.txt" --no-annotate --no-deps "$source"
    done
    compile 3.9 "$folder/requirements.txt" --no-annotate \
        --no-emit-package taskcluster-taskgraph "$source"
}
source=$(mktemp --suffix=.in)
taskgraphs before-19 8.1.0 11.2.4 15.1.3
taskgraphs from-19 19.2.1 20.0.0 22.0.0 23.0.0 24.0.0 24.5.1
rm "$source"
# The libraries of the report in Firefox's tree, as one file with its sha256.
python .github/libraries.py --record "$(mktemp -d)/io-benchmark-libraries.tar.bz2"
