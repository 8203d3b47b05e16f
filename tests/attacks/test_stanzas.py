# SPDX-License-Identifier: MPL-2.0
"""Hostile stanzas and commit messages: one line each, in time linear in their size.

Time is not measured by a clock: each input is large enough that anything quadratic would take
minutes where a linear reader takes a moment, and a child process ends by its limit of CPU time.
"""

import json
import subprocess
import sys

from checkout import ROOT

SIZE = 200_000
CPU_LIMIT_S = 30
LONGEST_MESSAGE = 2_000


def limited(program, *arguments):
    """Run a program of this project with little CPU time; its output, after it succeeded."""
    command = ["sh", "-c", f'ulimit -t {CPU_LIMIT_S}; exec "$@"', "sh"]
    done = subprocess.run(
        [*command, sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "python"), "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def is_one_line(message):
    return "\n" not in message and message.isprintable() and 0 < len(message) <= LONGEST_MESSAGE


SPACES, LETTERS_A = " " * SIZE, ",".join(["a"] * SIZE)
MESSAGES = [
    f"try:{SPACES}",
    f"try:{SPACES}x",
    f"try:{SPACES}-j",
    f"try: -j{SPACES}",
    f"{SPACES}try:",
    "try: -j " + "\t " * SIZE,
    "try: -j " + "=" * SIZE,
    "try: " + "-j " * SIZE,
    f"try: -j a{SPACES}--rebuild{SPACES}x",
    f"try: --rebuild{SPACES}3 -j",
    f"try: -j {LETTERS_A}",
    "try: -x\n" * SIZE,
]
READ_MESSAGES = """
import json, sys
from io_benchmark_taskgraph.parameters import _requested
from io_benchmark_taskgraph.versions import UserMistake
for text in json.load(open(sys.argv[1])):
    try:
        request = _requested(text)
        assert request is None or all(request[0])
    except UserMistake as error:
        print(json.dumps(str(error)))
"""


def test_long_commit_messages(tmp_path):
    """Spaces, options, names and lines without end are read in a moment, or refused in a line."""
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(MESSAGES))
    lines = [json.loads(line) for line in limited(READ_MESSAGES, str(file)).splitlines()]
    assert len(lines) > 0
    assert [line for line in lines if not is_one_line(line)] == []


READ_STANZAS = """
import json, sys
from io_benchmark.graph.root import PARTS
from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.transforms import report
from io_benchmark_taskgraph.mistakes import BadKeyError
size = int(sys.argv[1])
bomb = "a"
for _ in range(40):
    bomb = [bomb] * 10
mapping = {"a": 1}
for _ in range(40):
    mapping = {str(number): mapping for number in range(10)}
endless = []
endless.append(endless)
looped = {}
looped["name"] = looped
words = [
    bomb, mapping, endless, looped, 16 ** size, -16 ** size, "a" * size, " " * size, "/a" * size,
    "a\\nb", "\\u202e", "\\0", b"bytes", float("nan"), float("inf"), None, (), set(),
    "a" + " " * size, "a/b<1" + " " * size + "x", "a /" + " " * size, "a b " * size,
    "http://h/" + "a" * size + " ", "http://" + "[" * size, "1" * size + "%", "a/b<" + "9" * size,
    "a/b<1 on " + "a " * size + "/", "a/b<1 on " + "a, " * size, "../" * size,
    ["a"] * size, [str(number) for number in range(size)], ["a" * size] * 2,
    [{"name": "a" * size, "path": "/" + "a" * size}], [{"name": "a", "path": "/a" * size}],
    [{"name": mapping, "path": bomb}], {str(number): number for number in range(size)},
]
good = {"script": "s", "workloads": ["cache-retrieve"], "retrieves": 1}
def told(parse, *arguments):
    try:
        parse(*arguments)
    except BadKeyError as error:
        print(json.dumps(str(error)))
for word in words:
    for listed in (word, [word], [[word]]):
        told(stanza.Benchmark.parse, listed)
        told(report.checked_stanza, listed, ["amd-16", "intel"])
        for key in map(str, stanza.SCHEMA.schema):
            told(stanza.Benchmark.parse, {**good, key: listed})
        for key in map(str, report.SCHEMA.schema):
            told(report.checked_stanza, {key: listed}, ["amd-16", "intel"])
for key in ["a" * size, "a\\nb", "\\u202e", 16 ** size, ("a",) * size, None]:
    told(stanza.Benchmark.parse, {**good, key: 1})
    told(report.checked_stanza, {key: 1}, ["amd-16"])
"""


def test_values_without_end():
    """Values that repeat, hold themselves or are long: each key refuses them in one short line."""
    lines = [json.loads(line) for line in limited(READ_STANZAS, str(SIZE // 10)).splitlines()]
    assert len(lines) > 1000
    assert [line for line in lines if not is_one_line(line)] == []
