# SPDX-License-Identifier: MPL-2.0
"""scripts/environment.sh through the scripts that share it, without any network."""

import os
import signal
import time
from dataclasses import replace

import pytest

# What a first run of scripts/rehearse installs.
INSTALLED = ["started", "finished", "project"]


def wait_for(checkout, line):
    """Until the log has that line: the script is then known to be in the middle of installing."""
    deadline = time.monotonic() + 30
    while line not in checkout.logged():
        assert time.monotonic() < deadline, f"no {line!r} within 30 s"
        time.sleep(0.01)


REHEARSE = ["rehearse", "--root", "{path}"]
TOX_OF_CHECKOUT = ["run", "--root", "{path}", "--conf", "{path}/tox.ini"]
TOX = [*TOX_OF_CHECKOUT, "-e", "py"]


@pytest.mark.parametrize(
    ("script", "arguments", "started"),
    [
        ("scripts/bin/io-benchmark", ["compare", "two words", ""], ["compare", "two words", ""]),
        ("scripts/rehearse", ["-j", "two words", ""], [*REHEARSE, "-j", "two words", ""]),
        ("scripts/test", [], TOX),
        ("scripts/tox", ["-e", "site"], [*TOX_OF_CHECKOUT, "-e", "site"]),
        ("scripts/test", ["-k", "one or two"], [*TOX, "--", "-k", "one or two"]),
    ],
)
def test_command(checkout, script, arguments, started):
    """The program gets the checkout and every argument as it was given."""
    checkout.interpreter("python3")
    assert checkout.run(script, *arguments)[1] == [
        f"<{argument.format(path=checkout.path)}>" for argument in started
    ]


def test_the_command_and_a_rehearsal_share_an_environment(checkout):
    """What one of them made the other uses; a link to the command, on the PATH, is the command."""
    checkout.interpreter("python3")
    assert checkout.run("scripts/rehearse")[0] == 0
    (checkout.path / "link").symlink_to(checkout.path / "scripts/bin/io-benchmark")
    for script in ("scripts/bin/io-benchmark", "link"):
        code, started, errors = checkout.run(script, "--version")
        assert (code, started, errors) == (0, ["<--version>"], "")
    assert checkout.logged()[1:] == INSTALLED


def test_the_command_makes_its_environment(checkout):
    """It needs no rehearsal before, and names itself in what it says."""
    python = checkout.interpreter("python3")
    code, started, errors = checkout.run("scripts/bin/io-benchmark", "--version")
    assert (code, started) == (0, ["<--version>"])
    assert errors.startswith(
        f"scripts/bin/io-benchmark: making {checkout.path}/.venv with {python}\n"
    )
    assert checkout.logged()[1:] == INSTALLED


OLD, BROKEN = {"old": True}, {"refusal": "no ensurepip"}


@pytest.mark.parametrize(
    ("interpreters", "chosen"),
    [
        ({"python3.13": {}, "python3.11": {}, "python3": {}}, "python3.13"),
        ({"python3.11": {}, "python3": {}}, "python3.11"),
        ({"python3": {}}, "python3"),
        ({"python3.15": {}}, "python3.15"),  # newer than any known one
        ({"python3": OLD, "python3.14": {}}, "python3.14"),
        ({"python3.13": BROKEN, "python3.12": {}}, "python3.12"),
    ],
)
def test_interpreter(checkout, interpreters, chosen):
    """The environment is made by the first interpreter that is new enough and really can."""
    for name, options in interpreters.items():
        checkout.interpreter(name, **options)
    assert checkout.run("scripts/rehearse")[0] == 0
    assert checkout.logged() == [f"venv with {checkout.bin / chosen}", *INSTALLED]


NONE = "needs Python >= 3.11 and found none among: "
NO_VENV = "no Python >= 3.11 here can make virtual environments (on Debian: apt-get install"


@pytest.mark.parametrize(
    ("interpreters", "named", "message"),
    [
        ({}, "", f"{NONE}python3.13 "),
        ({"python3": OLD}, "", NONE),
        ({"python3.13": {}}, "/none", NONE),
        ({"python3": BROKEN}, "", NO_VENV),
    ],
    ids=["none", "too old", "a named one that is missing", "none with venv"],
)
def test_no_interpreter(checkout, interpreters, named, message):
    """Without a suitable interpreter the last line says what is needed; nothing is started."""
    for name, options in interpreters.items():
        checkout.interpreter(name, **options)
    code, started, stderr = checkout.run("scripts/rehearse", IO_BENCHMARK_PYTHON=named)
    assert (code, started) == (1, [])
    assert stderr.splitlines()[-1].startswith(f"scripts/rehearse: error: {message}")


def test_another_interpreter_is_named(checkout):
    """An environment that another one made is made again; the same one, by any name, is not."""
    checkout.interpreter("python3.13")
    checkout.run("scripts/rehearse")
    named = checkout.interpreter("named", version="3.11.2")
    (checkout.path / "link").symlink_to(named)
    for name in (str(named), str(named), str(checkout.path / "link"), ""):
        assert checkout.run("scripts/rehearse", IO_BENCHMARK_PYTHON=name)[0] == 0
    first, again = (f"venv with {checkout.bin / name}" for name in ("python3.13", "named"))
    assert checkout.logged() == [first, *INSTALLED, again, *INSTALLED]


CHANGES = {
    "nothing": lambda _path: None,
    "another lock": lambda path: (path / "python/requirements.txt").write_text("other\n"),
    "other data of the project": lambda path: (path / "pyproject.toml").write_text("other\n"),
    "no interpreter": lambda path: (path / ".venv/bin/python").unlink(),
    # So a copy of a checkout does not run the original's code.
    "moved checkout": lambda path: path.rename(path.with_name("moved")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_made_again(checkout, change):
    """What was made from something else, or does not start.

    Else it is used as it is, in silence.
    """
    checkout.interpreter("python3")
    checkout.run("scripts/rehearse")
    before = checkout.logged()
    CHANGES[change](checkout.path)
    (root,) = (path.parent for path in checkout.path.parent.glob("*/scripts"))
    code, started, errors = replace(checkout, path=root).run("scripts/rehearse", "x")
    assert (code, started) == (0, ["<rehearse>", "<--root>", f"<{root}>", "<x>"])
    assert checkout.logged() == before * (1 if change == "nothing" else 2)
    assert (errors == "") == (change == "nothing")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_installation(checkout, number):
    """A first run that was ended midway does not poison the second."""
    checkout.interpreter("python3")
    checkout.hold.touch()
    process = checkout.start("scripts/rehearse")
    wait_for(checkout, "started")
    os.killpg(process.pid, number)
    process.communicate(timeout=30)
    assert process.returncode != 0
    checkout.hold.unlink()
    assert checkout.run("scripts/rehearse")[0] == 0
    assert checkout.logged()[-3:] == INSTALLED


def test_two_first_runs_at_once(checkout):
    """The second waits for the first one's installation, says so, and installs nothing itself."""
    python = checkout.interpreter("python3")
    checkout.hold.touch()
    first = checkout.start("scripts/rehearse")
    wait_for(checkout, "started")
    second = checkout.start("scripts/rehearse")
    assert second.stderr.readline() == (
        f"scripts/rehearse: another run uses {checkout.path}/.venv, waiting for it to end\n"
    )
    checkout.hold.unlink()
    first.communicate(timeout=30)
    assert second.communicate(timeout=30)[1] == ""
    assert (first.returncode, second.returncode) == (0, 0)
    assert checkout.logged() == [f"venv with {python}", *INSTALLED]


def test_tests_run_one_after_the_other(checkout):
    """A second scripts/test waits: tox's environments, disks and clocks are the first one's.

    The script becomes the program (same process), so that signals and exit codes are its own.
    """
    checkout.interpreter("python3")
    checkout.run("scripts/test")
    running = checkout.start("scripts/test", PROGRAM_STAYS="yes")
    assert running.stdout.readline() == f"tox {running.pid}\n"
    waiting = checkout.start("scripts/test")
    assert waiting.stderr.readline() == (
        f"scripts/test: another run uses {checkout.path}/.tox/bootstrap, waiting for it to end\n"
    )
    os.killpg(running.pid, signal.SIGINT)
    running.communicate(timeout=30)
    waiting.communicate(timeout=30)
    assert (running.returncode, waiting.returncode) == (-signal.SIGINT, 0)
