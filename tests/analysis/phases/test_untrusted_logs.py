# SPDX-License-Identifier: MPL-2.0
"""Whatever a log says, phases are not negative, add up to the run, and cost little."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some
from simulated_logs import D2G, NATIVE, SimulatedRun

from io_benchmark.analysis.phases import log_head
from io_benchmark.analysis.phases.log_end import TAIL_BYTES
from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases
from io_benchmark.analysis.phases.read_log import LogReader, RunFacts

SIMULATED = SimulatedRun()
LINES = SIMULATED.log().splitlines(keepends=True)
END = next(number for number, line in enumerate(LINES) if b"Task Finished" in line)
OWN = next(number for number, line in enumerate(LINES) if line.startswith(b"[task "))
CONTRADICTS = (
    "its log says that the task has finished, and contradicts itself about when: the end of its "
    "own work is not known"
)
UNPROVEN = "the end of its own work is not sure: no duration confirms it"
NO_END = "its log does not have the end of its command: the last phase includes artifacts"
MISPLACED = "stamps that go back or are outside of the run: {}; phases next to them may be wrong"


def read(log: bytes, facts: RunFacts | None = None) -> RunPhases:
    reader = LogReader(SIMULATED.facts() if facts is None else facts)
    reader.take(log)
    return reader.finish()


def seconds(run: RunPhases, phase: PhaseName) -> float:
    return round(run.duration_ns(phase) / 10**9, 2)


def check(run: RunPhases) -> None:
    """No span is negative, and those within the run follow each other and add up to it."""
    inside = [span for span in run.spans if not span.phase.is_before_run]
    assert all(span.duration_ns >= 0 for span in run.spans)
    assert sum(span.duration_ns for span in inside) == run.run_ns
    for first, second in pairwise(inside):
        assert first.start_ns + first.duration_ns == second.start_ns


STAMPS = some.sampled_from(
    [
        "2026-11-28T16:33:52.500Z",
        "2026-11-28T16:34:02.000+00:00",
        "2026-11-28 16:33:59.123Z",
        "2036-01-01T00:00:00Z",
        "1970-01-01T00:00:00.1Z",
        "9999-12-31T23:59:59+00:00",
        "0001-01-01T00:00:00+23:59",
        "2026-13-45T99:99:99Z",
    ]
)
MESSAGES = some.sampled_from(
    [line.partition(b"] ")[2].decode().strip() for line in LINES]
    + [
        "=== Task Starting ===",
        "Wall Time: 3s",
        "Executing command 1: x",
        "Task Duration: 9999999h",
        "transferred 99999999 GB in 0.0 seconds",
        "https://x resolved to 999999999999999 bytes with sha256 ab in 9999999.9s",
    ]
)
WRITERS = some.sampled_from(
    ["taskcluster", "taskcluster:warn", "setup", "vcs", "fetches", "task", "volume", "x"]
)
STAMPED = some.builds(
    lambda writer, stamp, message: f"[{writer} {stamp}] {message}".encode(),
    WRITERS,
    STAMPS,
    MESSAGES,
)
ANY_LINES = some.lists(some.one_of(STAMPED, some.sampled_from(LINES), some.binary(max_size=40)))


@given(lines=ANY_LINES, has_facts=some.booleans(), part_bytes=some.integers(1, 200))
def test_any_lines(lines: list[bytes], has_facts: bool, part_bytes: int) -> None:
    """In any order, with any stamps, in parts of any size."""
    log = b"\n".join(lines)
    reader = LogReader(SIMULATED.facts() if has_facts else RunFacts())
    for start in range(0, len(log), part_bytes):
        reader.take(log[start : start + part_bytes])
    run = reader.finish()
    check(run)
    assert run == read(log, SIMULATED.facts() if has_facts else RunFacts())


def test_stamps_that_jump() -> None:
    """One stamp of another year, or before the start, moves no phase; a message counts them."""
    for stamp in (b"2036-11-28T16:34:30.000+00:00", b"2016-11-28T16:34:30.000+00:00"):
        number = next(index for index, line in enumerate(LINES) if line.startswith(b"[vcs "))
        line = b"[vcs " + stamp + b"] executing git\n"
        run = read(b"".join([*LINES[:number], line, *LINES[number + 1 :]]))
        check(run)
        assert seconds(run, PhaseName.OWN_WORK) == 60
        assert any(message.startswith("stamps that go back") for message in run.messages)


@pytest.mark.parametrize(("lead_s", "is_said"), [(-3.0, True), (-0.4, False), (3.0, True)])
def test_clocks_that_differ(lead_s: float, is_said: bool) -> None:
    """A worker whose clock is ahead or behind has the same phases, as far as these can be told."""
    facts = SIMULATED.facts()
    assert facts.started_ns is not None
    assert facts.resolved_ns is not None
    shift_ns = round(lead_s * 10**9)
    moved = RunFacts(
        started_ns=facts.started_ns - shift_ns, resolved_ns=facts.resolved_ns - shift_ns
    )
    run = read(SIMULATED.log(), moved)
    check(run)
    assert seconds(run, PhaseName.OWN_WORK) == 60
    # Nothing is before the first line, nor behind the last one.
    assert seconds(run, PhaseName.ARTIFACTS) == 3
    said = [message for message in run.messages if message.startswith("the clocks of worker")]
    assert bool(said) == is_said


def test_an_end_that_a_task_prints() -> None:
    """A log that goes on, or ends, after a false end: only a duration that agrees is believed."""
    false = [
        LINES[END],
        LINES[END + 1].replace(b"Task Duration: ", b"Task Duration: 1h"),
    ]
    begun = [*LINES[: OWN + 1], *false]
    unresolved = RunFacts(started_ns=SIMULATED.facts().started_ns)
    run = read(b"".join(begun), unresolved)
    assert (run.is_complete, run.messages) == (False, (CONTRADICTS,))
    assert seconds(run, PhaseName.ARTIFACTS) == 0
    # The true end follows.
    run = read(b"".join([*begun, *LINES[END:]]))
    assert (run.is_complete, run.messages, seconds(run, PhaseName.OWN_WORK)) == (True, (), 60)


@pytest.mark.parametrize(("late", "is_end"), [(20, True), (21, False)])
def test_an_end_without_a_duration(late: int, is_end: bool) -> None:
    """It is taken, and not for sure, if few lines of the task follow it."""
    lines = [*LINES[: END + 1], *[b"[task 2026-11-28T16:35:50.000+00:00] x\n"] * late]
    run = read(b"".join(lines))
    assert (UNPROVEN in run.messages) == is_end
    assert run.is_complete == is_end


def test_what_a_task_prints_before_run_task_starts() -> None:
    """200 lines may come between: a shell's, or docker's; then run-task would not be the first."""
    number = next(index for index, line in enumerate(LINES) if line.startswith(b"[setup "))
    for count, phase in ((200, PhaseName.CONTAINER_START), (201, PhaseName.OWN_WORK)):
        run = read(b"".join([*LINES[:number], *[b"x\n"] * count, *LINES[number:]]))
        assert any(span.phase is phase for span in run.spans)
        assert (seconds(run, PhaseName.CHECKOUT) == 20) == (phase is PhaseName.CONTAINER_START)


def several_commands(wall: bytes) -> bytes:
    """Return a native log with a command before that of run-task, which says it took so long."""
    lines = SIMULATED.log(NATIVE).splitlines(keepends=True)
    number = next(index for index, line in enumerate(lines) if b"Executing command 0" in line)
    command, stamp = lines[number], lines[number][:39]
    before = stamp.replace(b":52.7", b":52.6")
    return b"".join(
        [
            *lines[: number - 1],
            command.replace(stamp, before).replace(b"python3 run-task", b"run-task set-up"),
            before + b" Wall Time: " + wall + b"\n",
            command.replace(b"command 0", b"command 1"),
            *lines[number + 1 :],
        ]
    )


def test_a_run_that_has_not_ended() -> None:
    """The queue has not resolved it, whatever its log says."""
    run = read(SIMULATED.log(), RunFacts(started_ns=SIMULATED.facts().started_ns))
    check(run)
    assert not run.is_complete
    assert seconds(run, PhaseName.ARTIFACTS) == 3


def test_several_commands() -> None:
    """A command before run-task's is own work; run-task's phases follow."""
    run = read(several_commands(b"0.5s"))
    check(run)
    assert (run.messages, seconds(run, PhaseName.CHECKOUT)) == ((), 20)
    assert seconds(run, PhaseName.OWN_WORK) == pytest.approx(60.1, abs=0.11)


def test_a_command_that_a_task_prints() -> None:
    """A next command whose predecessor took another time than the stamps say is not believed."""
    run = read(several_commands(b"20s"))
    assert seconds(run, PhaseName.CHECKOUT) == 20  # run-task is the first program of command 0
    lines = several_commands(b"20s").replace(b"[setup ", b"[other ").splitlines(keepends=True)
    run = read(b"".join(lines))
    assert seconds(run, PhaseName.CHECKOUT) == 0


def test_a_task_that_fails_before_its_command() -> None:
    """Its last phase lasts until it was resolved; nothing says that it finished."""
    number = next(index for index, line in enumerate(LINES) if b"Downloaded" in line)
    run = read(b"".join([*LINES[:number], b"[taskcluster:error] cannot download\n"]))
    check(run)
    assert (run.is_complete, run.messages) == (True, ())
    assert [span.phase for span in run.spans][-1] is PhaseName.IMAGE_DOWNLOAD


def test_a_task_that_is_aborted_without_an_end() -> None:
    """Artifacts are then in its own work, and a message says so."""
    run = read(b"".join([*LINES[: OWN + 2], b"[taskcluster:error] Aborting task...\n"]))
    check(run)
    assert (run.is_complete, run.messages) == (True, (NO_END,))
    assert seconds(run, PhaseName.OWN_WORK) == 64


def test_a_log_that_is_cut() -> None:
    """What follows its last line is not known, and is not counted as own work."""
    reader = LogReader(SIMULATED.facts())
    reader.take(b"".join(LINES[: OWN + 2]))
    run = reader.finish(is_cut=True, message="its log has more than 32 MiB")
    check(run)
    assert (run.is_complete, run.messages) == (False, ("its log has more than 32 MiB",))
    assert seconds(run, PhaseName.OWN_WORK) == 30
    assert run.spans[-1].phase is PhaseName.OTHER


MIB = 1024 * 1024
BEGIN = b"".join(LINES[:OWN])
HOSTILE = {
    "no newline": b"x" * MIB,
    "escapes": b"\x1b[1;31m" * (MIB // 7),
    "escapes in lines": b"\x1b[1m\n" * (MIB // 5),
    "short lines": b"hello short line 01\n" * (MIB // 20),
    "stamps that go back": b"".join(
        b"[vcs 2026-11-28T16:34:%02dZ] a\n" % (59 - second % 60) for second in range(MIB // 31)
    ),
    "carriage returns": b"1%\r" * (MIB // 3),
}


@pytest.mark.parametrize("begin", [b"", BEGIN], ids=["alone", "after set-up"])
@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_of_a_large_log(name: str, begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 MiB at most 100,000 lines or 16 MiB are looked at line by line, and the last MiB."""
    parsed = 0

    def count(line: bytes) -> None:
        nonlocal parsed
        parsed += 1
        assert len(line) <= 64 * 1024

    monkeypatch.setattr(log_head, "parse_line", count)
    reader = LogReader(SIMULATED.facts())
    reader.take(begin)
    monkeypatch.setattr(log_head, "parse_line", count)
    for _ in range(40):
        reader.take(HOSTILE[name])
    assert parsed <= 100_000
    assert len(reader._tail.after(0)) <= TAIL_BYTES + MIB
    assert reader.needs_only_end


def test_the_longest_command_that_a_worker_repeats() -> None:
    """What is too much of a line is left out, and the next line is read as it is."""
    number = next(index for index, line in enumerate(LINES) if b"Executing command" in line)
    long = LINES[number].rstrip() + b" x" * 500_000 + b"\n"
    run = read(b"".join([*LINES[:number], long, *LINES[number + 1 :]]))
    assert (run.messages, seconds(run, PhaseName.CONTAINER_START)) == ((), 0.5)
    assert run.spans == SIMULATED.phases(D2G).spans
