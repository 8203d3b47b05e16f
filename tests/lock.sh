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
# The libraries of the report in Firefox's tree, as one file with its sha256.
python .github/libraries.py --record "$(mktemp -d)/io-benchmark-libraries.tar.bz2"
