# SPDX-License-Identifier: MPL-2.0
"""`measure -- COMMAND`: the command runs as if alone, whatever happens to its profile."""

import os
import pty
import signal
import subprocess
import sys
from typing import Any

import pytest
from system.linux import commands
from worker import SCRIPT, at_import

SIGNALS = ("SIGALRM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
# Writes a line per signal, for a second. print() cannot be interrupted by its own handler.
COUNTER = """
import os, signal, sys, time
for name in sys.argv[1:]:
    number = signal.Signals[name]
    line = name.encode() + b"\\n"
    signal.signal(number, lambda _number, _frame, line=line: os.write(1, line))
os.write(1, b"ready\\n")
end = time.monotonic() + 1
while time.monotonic() < end:
    time.sleep(0.05)
sys.exit(7)
"""
COUNT = (sys.executable, "-c", COUNTER)


def run(*command: str, **options: Any) -> "subprocess.CompletedProcess[Any]":
    return subprocess.run(command, capture_output=True, check=False, **options)


def test_a_command_that_succeeds(profiled):
    """Its streams are its own, nothing is added to them, and all that is known is in the profile.

    That is its CPU time and that of its children, and what the machine did meanwhile.
    """
    spend = "import time\nwhile time.process_time() < 0.3: pass"
    command = f"cat; echo problem >&2; {sys.executable} -c '{spend}'"
    done = profiled.run("sh", "-c", command, stdin=b"given")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"given", b"problem\n")
    profile = profiled.profile()
    assert 0.3e9 <= profile.usage.user_ns + profile.usage.kernel_ns < profile.wall_ns * 1.1
    columns = profile.timeline.columns
    times = [value for value in columns["time_ns"] if value is not None]
    assert times == sorted(times)
    assert times[0] < 0.1e9
    assert times[-1] >= profile.wall_ns - times[0]
    assert {len(column) for column in columns.values()} == {len(times)}
    assert len(times) >= 3
    assert (profile.ending.code, profile.ending.signal, profile.ending.error) == (0, None, None)
    assert (profile.command.program, profile.command.arguments) == ("sh", 2)
    assert profile.task.pool is None
    assert profile.host.tools == {}
    (place,) = profile.storage.places
    assert place.name == "workspace"
    assert list(profile.syncs) == ["workspace"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGPIPE"])
def test_a_command_that_a_signal_ends(profiled, name):
    """This process ends by the same signal."""
    number = signal.Signals[name]
    command = ("sh", "-c", f"kill -{int(number)} $$")
    done = profiled.run(*command)
    assert (done.returncode, done.stderr) == (-number, b"")
    assert profiled.profile().ending.signal == number


@pytest.mark.parametrize(
    "word",
    ["", "absent", "found", "./missing", "./file", "./folder", "./file/x", "./loop"],
)
def test_a_command_that_cannot_be_run(profiled, tmp_path, word):
    """One line, and the exit code that bash has for it; the profile says why it knows little."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "found").touch()
    (tmp_path / "loop").symlink_to("loop")
    path = f"{tmp_path}/folder:{os.environ['PATH']}"
    options: dict[str, Any] = {"cwd": tmp_path, "env": {"PATH": path}}
    done = profiled.run(word, **options)
    bash = run("bash", "-c", '"$0"', word, **options)
    assert (done.returncode, done.stdout) == (bash.returncode, b"")
    profile = profiled.profile()
    assert (profile.ending.code, profile.ending.signal) == (done.returncode, None)
    assert done.stderr.decode() == f"io-benchmark: {word}: {profile.ending.error}\n"
    assert (profile.usage, profile.other_cpu_ms) == (None, None)
    reasons = {profile.unknown[name] for name in ("usage", "other_cpu_ms")}
    assert reasons == {"the command was not started"}


@pytest.mark.parametrize(("module", "command"), [("measure", "measure"), ("early_end", "run")])
def test_ctrl_c_while_it_starts(profiled, module, command):
    """It ends by the signal, without a traceback."""
    words = profiled.command("true", prelude=at_import(module, signal.SIGINT))
    words[words.index("measure")] = command
    done = run(*words)
    assert (done.returncode, done.stderr, done.stdout) == (-signal.SIGINT, b"", b"")


def test_signals_are_forwarded(profiled):
    """Once each; the command decides what follows, and its code is the outcome."""
    with profiled.start(*COUNT, *SIGNALS) as process:
        assert process.stdout.readline() == b"ready\n"
        for name in SIGNALS:
            os.kill(process.pid, signal.Signals[name])
        output, errors = process.communicate(timeout=60)
    assert (sorted(output.decode().split()), errors, process.returncode) == ([*SIGNALS], b"", 7)
    assert profiled.profile().ending.code == 7


def test_ctrl_c_arrives_once(profiled):
    """A terminal sends it to both processes: it is not forwarded as well."""
    pid, terminal = pty.fork()
    if pid == 0:
        command = profiled.command(*COUNT, "SIGINT")
        os.execv(command[0], command)  # noqa: S606
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    try:
        while True:
            seen += os.read(terminal, 1000)
    except OSError:  # the terminal's other end is closed
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.WEXITSTATUS(status) == 7
    assert seen.count(b"SIGINT") == 1


# Blocked, ignored and caught signals, and the environment; open descriptors.
PROBES = (
    ("grep", "-aE", "^Sig[BIC]|=", "/proc/self/status", "/proc/self/environ"),
    ("ls", "/proc/self/fd"),
)


@pytest.mark.parametrize(
    ("ignored", "blocked", "environment"),
    [
        ("USR2", set(), {"A": "1"}),
        ("USR2", {signal.SIGUSR1, signal.SIGCHLD}, {"LC_ALL": "C", "A": "1"}),
        ("CHLD INT HUP", set(), {"LC_CTYPE": "C"}),
        ("INT", {signal.SIGUSR1}, {"B": os.fsdecode(b"d\xe9p\xf4t"), "LANG": "C.UTF-8"}),
    ],
)
def test_a_command_is_as_without_it(profiled, ignored, blocked, environment):
    """What it is started with stays: Python ignores signals, and adds a locale to its variables.

    Inherited descriptors stay open, such as make's; one that was closed stays closed.
    """
    # dash does not keep that children are ignored.
    ignoring = ("bash", "-c", f"trap '' {ignored}; exec \"$@\"", "bash")
    reading, writing = os.pipe()
    options = {"pass_fds": (writing,), "preexec_fn": lambda: os.close(0)}
    options["env"] = {**environment, "PATH": os.environ["PATH"]}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        for probe in PROBES:
            alone = run(*ignoring, *probe, **options)
            measured = run(*ignoring, *profiled.command(*probe), **options)
            assert (measured.returncode, measured.stdout) == (0, alone.stdout)
        assert f"\n{writing}\n".encode() in measured.stdout
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("step", "error", "problem"),
    [
        *(
            (step, "MemoryError('no more')", "MemoryError: no more")
            for step in ("__init__", "take")
        ),
        ("as_timeline", "OSError(28, 'No space', '/a')", "/a: No space"),
    ],
)
def test_a_profile_that_fails(profiled, step, error, problem):
    """Whatever fails, and whenever: the command runs, and its outcome is the same."""
    prelude = (
        "from task_profile import _CommandTimeline\n"
        f"def fail(*_): raise {error}\n"
        f"_CommandTimeline.{step} = fail\n"
    )
    done = profiled.run("sh", "-c", "sleep 0.3; echo done; exit 5", prelude=prelude)
    assert (done.returncode, done.stdout) == (5, b"done\n")
    assert done.stderr.decode() == f"io-benchmark: the command has no profile: {problem}\n"
    assert not profiled.path.exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "the command is missing; give it after --"),
        (["--"], "the command is missing; give it after --"),
        (["ls"], "unrecognized arguments: ls"),
        (["--place", "x", "--", "ls"], "'x' is not NAME=/absolute/path"),
        (["--place", "a=/x", "--place", "a=/y", "--", "ls"], "'a' given twice"),
        (["--label", "", "--", "ls"], "'' is not 1 to 100 characters without line breaks"),
        (["--label", "x" * 101, "--", "ls"], "is not 1 to 100 characters without line breaks"),
        (["--label", "a\nb", "--", "ls"], "'a\\nb' is not 1 to 100 characters"),
        (["--output", "-", "--", "ls"], "'-' is not a file's name"),
        (["--output", "/dev/stdout", "--", "ls"], "'/dev/stdout' is not a file's name"),
        (["--output", "/proc/self/fd/1", "--", "ls"], "'/proc/self/fd/1' is not a file's name"),
    ],
)
def test_wrong_arguments(profiled, arguments, problem):
    """The command does not run."""
    start = profiled.command("true")[: -len(["--output", "", "--", "true"])]
    done = run(*start, *arguments, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert done.stderr.endswith("; measure --help lists the arguments\n")


@pytest.mark.parametrize("command", [["--help"], ["--", "true"]], ids=["help", "command"])
def test_few_modules_are_loaded(command, tmp_path):
    """Each of them delays the command, and so does a profiled task's check by --help."""
    start = [sys.executable, "-X", "importtime", "-ISB", str(SCRIPT), "measure", *command]
    seen = run(*start, env={"TASK_ID": "x", "PATH": os.environ["PATH"]}, cwd=tmp_path)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in seen.stderr.splitlines()}
    needless = {"ci", "pathlib", "platform", "shutil", "subprocess", "tempfile"}
    assert not loaded & {*needless, "urllib.parse"}
    assert ("task_profile" in loaded) == (command != ["--help"])


def test_without_proc_and_sys(profiled, tmp_path):
    """Nothing is known of the machine, and the profile says so."""
    done = profiled.run(
        "sh", "-c", "exit 6", prelude=f"from system.linux import kernel; kernel.ROOT = '{tmp_path}'"
    )
    assert (done.returncode, done.stderr) == (6, b"")
    profile = profiled.profile()
    assert set(profile.unknown) == {
        "other_cpu_ms",
        "syncs.workspace.flushes",
        "syncs.workspace.commits",
        "storage.places.workspace.devices",
    }


def test_label(profiled):
    """A name for the task, which tells two jobs of one script apart; none unless it is given."""
    profiled.run("true")
    assert profiled.profile().command.label is None
    profiled.options += ["--label", "build: Linux, debug"]
    profiled.run("true")
    assert profiled.profile().command.label == "build: Linux, debug"


# A container, or a chroot, that has none mounted.
NO_PROC = """
import builtins
plain = builtins.open
def open_without_proc(path, *more, **named):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", path)
    return plain(path, *more, **named)
builtins.open = open_without_proc
"""


def test_without_proc_the_command_runs(profiled):
    """With the environment that Python has, and its own exit code."""
    done = profiled.run("sh", "-c", 'echo "$GIVEN"; exit 6', prelude=NO_PROC, env={"GIVEN": "a b"})
    assert (done.returncode, done.stdout, done.stderr) == (6, b"a b\n", b"")
    assert profiled.profile().ending.code == 6


def test_the_output_that_was_given(profiled, tmp_path):
    """A link stays one, a file keeps its mode; a pipe that nobody reads is named, and stays."""
    target = tmp_path / "target.json"
    target.touch(mode=0o600)
    profiled.path = tmp_path / "link"
    profiled.path.symlink_to(target)
    profiled.measure("true")
    assert profiled.path.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    profiled.path = tmp_path / "pipe"
    os.mkfifo(profiled.path)
    done = profiled.run("sh", "-c", "exit 3")
    problem = f"the command has no profile: {profiled.path}: {commands.NO_READER}"
    assert (done.returncode, done.stderr.decode()) == (3, f"io-benchmark: {problem}\n")
    assert profiled.path.is_fifo()


def test_arguments_are_not_in_the_profile(profiled):
    """They may hold a secret, and profiles are public; the same words have the same sha256."""
    identities = []
    for words in (("sh", "-c", ": s3cret"), ("sh", "-c", ": s3cret"), ("sh", "-c", ": else")):
        profiled.run(*words)
        assert b"s3cret" not in profiled.path.read_bytes()
        identities.append(profiled.profile().command.sha256)
    assert identities[0] == identities[1] != identities[2]
