# SPDX-License-Identifier: MPL-2.0
"""Processes of the worker's program on Windows, under Wine with each version of Python."""

import json
import os
import signal
import time

import pytest
import windows_python
import wine
from system.windows import accounts
from wine_programs import answers, in_a_console, program

VERSIONS = pytest.mark.parametrize("version", windows_python.VERSIONS)
UNDER_WINE = pytest.mark.windows

ALL_READY = """
import crew_members
from system import crews
with crews.Crew(3, crew_members.stamp, "ü") as crew:
    for message in crew.messages():
        if message is not None:
            print(json.dumps(message))
with crews.Crew(1, crew_members.send_much) as crew:
    print(sum(len(message[1]) for message in crew.messages() if message))
"""


@UNDER_WINE
@VERSIONS
def test_all_begin_when_all_are_ready(windows, version, tmp_path):
    """None starts before the last one is ready; arguments and long messages arrive whole."""
    *stamps, length = answers(windows, version, ALL_READY, tmp_path)
    assert sorted(number for number, _ in stamps) == [0, 1, 2]
    assert max(begun for _, (begun, _, _) in stamps) <= min(ran for _, (_, ran, _) in stamps)
    assert {text for _, (_, _, text) in stamps} == {"ü"}
    assert length == 3_000_000


FAILING = """
import crew_members
from system import crews, interruption
interruption.catch(lambda *_: None)
try:
    with crews.Crew(2, crew_members.fail, {how!r}) as crew:
        list(crew.messages())
except OSError as error:
    print(json.dumps([error.errno, error.strerror, error.filename]), flush=True)
print(json.dumps(interruption.children_have_ended()))
"""
ENDED = "a process of the run ended with status "


@UNDER_WINE
@pytest.mark.parametrize(
    ("how", "error", "bug"),
    [
        pytest.param("named", [2, "File not found", "missing-ü"], "", id="named"),
        pytest.param("own words", [None, "said so", None], "", id="own words"),
        pytest.param("memory", [None, "out of memory", None], "", id="memory"),
        pytest.param("ended", [None, ENDED + "0xc0000005", None], "", id="ended"),
        pytest.param("bug", [None, ENDED + "0x00000046", None], "KeyError: 'a bug'", id="bug"),
    ],
)
def test_a_failing_member_fails_the_crew(windows, tmp_path, how, error, bug):
    """Its error is the crew's, and the others are ended; a bug is a traceback as well."""
    text = program(FAILING.format(how=how))
    code, output = windows.run_python("-c", text, folder=tmp_path)
    *traceback, failure, have_ended = output.splitlines()
    assert (code, json.loads(failure), json.loads(have_ended)) == (0, error, True)
    assert (traceback[-1] if traceback else "") == bug


WAITING = """
import crew_members
from system import crews
with crews.Crew(2, crew_members.wait_forever) as crew:
    for message in crew.messages():
        if message is not None:
            print(message[1], flush=True)
"""


@UNDER_WINE
def test_members_end_with_a_killed_parent(windows, tmp_path):
    """Also where nothing counts a job: each sees the end of its standard input."""
    command = (*wine.python_command(), "-c", program(WAITING))
    process = windows.start(*command, folder=tmp_path)
    assert [process.stdout.readline() for _ in range(2)] == ["waiting\n"] * 2
    (parent,) = windows.processes("crew_members.wait_forever")
    assert len(windows.processes("be_member")) == 2
    os.kill(parent, signal.SIGKILL)
    until_s = time.monotonic() + 30
    while windows.processes("be_member") and time.monotonic() < until_s:
        time.sleep(0.1)
    assert windows.processes("be_member") == []
    process.communicate()


STARTED = """
from system import accounts, processes, programs
printing = "import sys; print(sys.argv[1:])"
with accounts.Account() as account, processes.Answers() as pipe:
    before, silence = account.read(), pipe.read()
    words = (sys.executable, "-c", printing, 'a "b', "ü\\\\", "")
    child = processes.start(sys.executable, words, pipe.output)
    processes.wait_for(child)
    print(json.dumps([silence.decode(), pipe.read().decode("latin-1").strip()]))
    print(json.dumps(processes.reap(child, processes.waiting_ns_of(child))))
    print(json.dumps(account.since(before)[2]))
child = processes.start(*programs.does_nothing())
processes.wait_for(child)
print(json.dumps(processes.reap(child, None)[0]))
print(json.dumps(processes.output_of([sys.executable, "-c", "print('ü')"])))
print(json.dumps(processes.output_of(["missing ü.exe"])))
"""


@UNDER_WINE
@VERSIONS
def test_programs_that_are_started(windows, version, tmp_path):
    """Words arrive as they are, an answer is read without waiting, and a missing program is told.

    Wine does not know what a child spent, and nobody knows how long it waited.
    """
    assert answers(windows, version, STARTED, tmp_path) == [
        ["", "['a \"b', '\xfc\\\\', '']"],
        [0, [None, None, None]],
        None,
        0,
        "\ufffd\r\n",
        "",
    ]


FOUND = """
from system import processes
finder = processes.Finder()
with processes.Answers() as pipe:
    words = finder.words("https://b/?x=[1]&y=%41", os.path.abspath("a ü.list"))
    child = processes.start(finder.program, words, pipe.output)
    processes.wait_for(child)
    print(json.dumps([finder.method, pipe.read().decode().strip(), processes.reap(child, None)[0]]))
"""


@UNDER_WINE
def test_a_lookup(windows, tmp_path):
    """MozillaBuild's grep is called as on Linux, with a path of slashes."""
    (tmp_path / "a ü.list").write_text("https://b/\nhttps://b/?x=[1]&y=%41\n")
    (answer,) = answers(windows, windows_python.USUAL, FOUND, tmp_path)
    assert answer == ["grep -Fnx, CreateProcess", "2:https://b/?x=[1]&y=%41", 0]


INTERRUPTED = """
from system import interruption, processes
def handle(number, frame):
    raise KeyboardInterrupt(number, interruption.is_timer(number))
interruption.catch(handle)
words = ("python", "-c", "import time; time.sleep(30)")
child = processes.start(sys.executable, words)
for wait in (lambda: time.sleep(30), lambda: processes.wait_for(child)):
    interruption.end_after(0.1)
    interruption.end_after(0.6)
    begun_s = time.perf_counter()
    try:
        wait()
    except KeyboardInterrupt as error:
        print(json.dumps([*error.args, time.perf_counter() - begun_s]), flush=True)
interruption.CHILDREN_END_WITHIN_S = 0.2
print(json.dumps(interruption.children_have_ended()))
processes.end(child)
interruption.CHILDREN_END_WITHIN_S = 30
print(json.dumps(interruption.children_have_ended()))
"""


@UNDER_WINE
@VERSIONS
def test_the_timer(windows, version, tmp_path):
    """The latest alone runs the handler: in a sleep, and while the process waits for a child.

    A job says whether a child is left.
    """
    *waits, one_is_left, none_is_left = answers(windows, version, INTERRUPTED, tmp_path)
    assert [is_timer for _, is_timer, _ in waits] == [True, True]
    assert all(0.55 < waited_s < 5 for *_, waited_s in waits)
    assert (one_is_left, none_is_left) == (False, True)


WINDOWS = """
import ctypes
from system import processes
kernel = ctypes.WinDLL("kernel32")
for begin_or_end in (kernel.FreeConsole, kernel.AllocConsole):
    begin_or_end()
    processes._window.cache_clear()
    print(json.dumps(processes._window()))
"""


@UNDER_WINE
def test_consoles(windows, tmp_path):
    """A program uses the console of this process, which costs nothing; without one, no window."""
    flags = answers(windows, windows_python.USUAL, WINDOWS, tmp_path)
    assert flags == [0x08000000, 0]


BROKEN = """
import signal, threading
from system import interruption
names = []
interruption.catch(lambda number, frame: names.append(signal.Signals(number).name))
threading.Thread(target=signal.raise_signal, args=(signal.SIGBREAK,)).start()
while not names:
    time.sleep(0.01)
print(json.dumps(names))
"""


@UNDER_WINE
def test_ctrl_break(windows, tmp_path):
    """It reaches the handler by its name; Wine has no console that could send it."""
    assert answers(windows, windows_python.USUAL, BROKEN, tmp_path) == [["SIGBREAK"]]


CAUGHT = """
import crew_members
from system import crews, interruption
names = []
interruption.catch(lambda number, frame: names.append("SIGINT"))
after = 0
with crews.Crew(2, crew_members.wait_forever) as crew:
    print("begun", flush=True)
    for message in crew.messages():
        if message is None:
            continue
        if after == 20:
            break
        print(message[1], flush=True)
        after += len(names)
print(*names, after, interruption.children_have_ended())
"""


@UNDER_WINE
def test_ctrl_c(windows, tmp_path):
    """It reaches the handler alone, also while members start; they end with their crew."""
    words, code = in_a_console(windows, tmp_path, "-c", program(CAUGHT))
    assert (words[-3:], code) == (["SIGINT", "20", "True"], 0)


def test_times():
    """Windows counts in units of 100 ns, and not how long a thread waited."""
    assert accounts.growth((10, 200), (12, 500)) == (200, 30_000, None)
