# shellcheck shell=sh disable=SC2154  # $script and $root come from who sources this
# SPDX-License-Identifier: MPL-2.0
# What scripts/bin/io-benchmark, scripts/rehearse, scripts/test and scripts/tox share: an
# environment inside the checkout, made from a lock file if it is missing, and made again if the
# lock file has changed. Needs Python >= 3.11 with venv; IO_BENCHMARK_PYTHON=PATH chooses the
# interpreter.

# A pinned environment must not use the caller's own modules.
unset PYTHONHOME PYTHONPATH

name=${script#"$root/"}

say() {
    printf '%s: %s\n' "$name" "$*" >&2
}

fail() {
    say "error: $*"
    exit 1
}

# What an environment is made from: it is ready only while all of this is still the same.
description() {
    printf 'made for %s\n' "$root"
    cat -- "$lock"
    [ -z "$with_project" ] || cat -- "$root/pyproject.toml"
}

# The stamp is written last, so that an interrupted installation never looks complete.
# pip is imported because an upgraded system Python leaves environments that start but are empty.
is_ready() {
    description | cmp -s - "$environment/stamp" &&
        "$environment/bin/python" -I -c 'import pip' 2>/dev/null &&
        is_made_with_the_named_one
}

# Without IO_BENCHMARK_PYTHON, an environment of any interpreter is accepted.
is_made_with_the_named_one() {
    [ -z "${IO_BENCHMARK_PYTHON:-}" ] ||
        [ "$(identity "$environment/bin/python")" = "$(identity "$IO_BENCHMARK_PYTHON")" ]
}

# The same for an interpreter, for links to it, and for the environments made with it.
identity() {
    "$1" -I -c 'import sys; print(sys.base_prefix, sys.version)' 2>/dev/null </dev/null
}

is_suitable() {
    command -v "$1" >/dev/null 2>&1 &&
        "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' </dev/null >/dev/null 2>&1
}

# hold INTERPRETER MODE: lock file descriptor 9, which the program that is exec'd at the end keeps
# open. So a run that makes the environment again waits for runs that still use it.
hold() {
    "$1" -I -c '
import fcntl, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
mode = getattr(fcntl, sys.argv[1])
try:
    fcntl.flock(9, mode | fcntl.LOCK_NB)
except BlockingIOError:
    print(sys.argv[2], file=sys.stderr, flush=True)
    fcntl.flock(9, mode)
except OSError:
    pass  # a file system without locks: two first runs at once may disturb each other
' "$2" "$name: another run uses $environment, waiting for it to end"
}

# make_environment INTERPRETER...: use the first of them that can make one.
make_environment() {
    for interpreter in "$@"; do
        is_suitable "$interpreter" || continue
        say "making $environment with $(command -v "$interpreter")"
        # Debian splits venv from ensurepip, so that only trying tells.
        if message=$("$interpreter" -I -m venv --clear "$environment" 2>&1 </dev/null) &&
            message=$("$environment/bin/python" -I -c 'import pip' 2>&1); then
            return 0
        fi
        say "$interpreter cannot make an environment, trying the next one:" \
            "$(printf '%s' "$message" | tr -s '\n' ' ')"
    done
    return 1
}

pip_install() {
    "$environment/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input \
        --progress-bar off "$@" </dev/null >&2
}

# prepare_environment DIRECTORY LOCK MODE [--with-project]: sets $environment.
# MODE is LOCK_SH (others may run from it too) or LOCK_EX (this run wants it for itself).
prepare_environment() {
    environment=$1 lock=$2 mode=$3 with_project=${4:-}
    # Tried apart first: a redirection that fails under `exec` ends the shell.
    if ! (mkdir -p -- "$(dirname -- "$environment")" && : >>"$environment.lock") 2>/dev/null; then
        fail "cannot write to $environment.lock; the environment is made there"
    fi
    exec 9>>"$environment.lock"
    if is_ready && hold "$environment/bin/python" "$mode" && is_ready; then
        return 0
    fi

    set -- python3.13 python3.12 python3.11 python3 python3.14 python3.15 python3.16
    if [ -n "${IO_BENCHMARK_PYTHON:-}" ]; then
        set -- "$IO_BENCHMARK_PYTHON"
    fi
    for first in "$@" ''; do
        if [ -z "$first" ]; then
            fail "needs Python >= 3.11 and found none among: $*;" \
                "install one, or name one: IO_BENCHMARK_PYTHON=PATH"
        fi
        if is_suitable "$first"; then
            break
        fi
    done
    hold "$first" LOCK_EX
    if ! is_ready; then # another run may have made it meanwhile
        rm -f -- "$environment/stamp"
        make_environment "$@" ||
            fail "no Python >= 3.11 here can make virtual environments" \
                "(on Debian: apt-get install python3-venv)," \
                "or name one that can: IO_BENCHMARK_PYTHON=PATH"
        say "installing what ${lock#"$root/"} pins; this is done once and takes about half a minute"
        pip_install --require-hashes --only-binary :all: --requirement "$lock" ||
            fail "pip could not install what ${lock#"$root/"} pins; it says why above"
        if [ -n "$with_project" ]; then
            pip_install --no-deps --no-build-isolation --no-index --editable "$root" ||
                fail "pip could not install io-benchmark itself from $root; it says why above"
        fi
        description >"$environment/stamp.new"
        mv -f -- "$environment/stamp.new" "$environment/stamp"
    fi
    hold "$first" "$mode"
}

# prepare_program: sets $environment to one that has the program and all that its commands need.
prepare_program() {
    if [ -n "${IO_BENCHMARK_ENVIRONMENT:-}" ]; then
        environment=$IO_BENCHMARK_ENVIRONMENT
    else
        prepare_environment "$root/.venv" "$root/python/requirements.txt" LOCK_SH --with-project
    fi
}
