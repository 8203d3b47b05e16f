# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command: its text, and what bash makes of it."""

import json
import subprocess

import pytest

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.command import MAX_ARGUMENT_BYTES, build
from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script import Module

SMALLEST = {"script": "scripts/io-benchmark", "workloads": ["cache-retrieve"], "retrieves": 2000}
PRINTS_ARGUMENTS = Module("__main__.py", "import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
CONTAINER = {"name": "con-tainer", "path": "/builds/worker/io-benchmark"}


def test_whole_text():
    """Modules by heredoc, in order, then one command that takes the shell's place."""
    benchmark = stanza.parse({**SMALLEST, "places": ["workspace", CONTAINER], "precision": "2%"})
    modules = [Module("__main__.py", "import a.b\n"), Module("a/b.py", "x = '$HOME'\n")]
    assert build(benchmark, modules, pool="amd-16", time_budget_s=3300) == (
        "set -e\n"
        'script_dir="${IO_BENCHMARK_SCRIPT_DIR:-/tmp/io-benchmark}"\n'
        'mkdir -p "$script_dir" "$script_dir/a"\n'
        "cat > \"$script_dir/__main__.py\" << 'IO_BENCHMARK_EOF'\n"
        "import a.b\n"
        "IO_BENCHMARK_EOF\n"
        "cat > \"$script_dir/a/b.py\" << 'IO_BENCHMARK_EOF'\n"
        "x = '$HOME'\n"
        "IO_BENCHMARK_EOF\n"
        'exec python3 -u -B "$script_dir" \\\n'
        "  --pool amd-16 --workload cache-retrieve --retrieves 2000 --seed 1 "
        "--destination overwrite --fidelity seed --precision 2% --time-budget 3300 \\\n"
        '  --place workspace="${IO_BENCHMARK_WORKSPACE:-/builds/worker/workspace}" \\\n'
        "  --place con-tainer="
        '"${IO_BENCHMARK_PLACE_CON_TAINER:-/builds/worker/io-benchmark}" \\\n'
        '  --artifacts "${IO_BENCHMARK_ARTIFACTS:-/builds/worker/artifacts}" '
        '--profile "${IO_BENCHMARK_PROFILE:-full}" '
        '--perfherder "${IO_BENCHMARK_PERFHERDER:-pool}"\n'
    )


def run(command, tmp_path, **environment):
    folder = {"IO_BENCHMARK_SCRIPT_DIR": str(tmp_path / "the script's")}
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-cx", command],
        env={**path, **folder, **environment},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_arguments_on_a_worker(tmp_path):
    """Without anything in the environment, the paths are a worker's."""
    benchmark = stanza.parse(
        {**SMALLEST, "destination": ["unlink", "fresh"], "perfherder": "neutral"}
    )
    command = build(benchmark, [PRINTS_ARGUMENTS], pool="amd-16", time_budget_s=3300)
    expected = (
        "--pool amd-16 --workload cache-retrieve --retrieves 2000 --seed 1 --destination unlink "
        "--destination fresh --fidelity seed --time-budget 3300 "
        "--place workspace=/builds/worker/workspace --artifacts /builds/worker/artifacts "
        "--profile full --perfherder neutral"
    )
    assert run(command, tmp_path) == expected.split()


def test_arguments_in_a_rehearsal(tmp_path):
    """A path from the environment is one argument, whatever characters it has."""
    benchmark = stanza.parse({**SMALLEST, "places": ["workspace", CONTAINER]})
    command = build(benchmark, [PRINTS_ARGUMENTS], pool="amd-16", time_budget_s=3300)
    arguments = run(
        command,
        tmp_path,
        IO_BENCHMARK_WORKSPACE="/a b/$(x)",
        IO_BENCHMARK_PLACE_CON_TAINER="/*",
        IO_BENCHMARK_ARTIFACTS="/c'd",
        IO_BENCHMARK_PROFILE="quick",
        IO_BENCHMARK_PERFHERDER="neutral",
    )
    assert arguments[-10:] == [
        "--place",
        "workspace=/a b/$(x)",
        "--place",
        "con-tainer=/*",
        "--artifacts",
        "/c'd",
        "--profile",
        "quick",
        "--perfherder",
        "neutral",
    ]


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("a b; touch c", id="spaces"),
        pytest.param("$(touch c)", id="substitution"),
        pytest.param("it's", id="quote"),
    ],
)
def test_odd_names_stay_arguments(tmp_path, odd):
    """A pool's or workload's name is one argument, never shell."""
    benchmark = stanza.parse({**SMALLEST, "workloads": [odd]})
    command = build(benchmark, [PRINTS_ARGUMENTS], pool=odd, time_budget_s=3300)
    assert run(command, tmp_path)[:4] == ["--pool", odd, "--workload", odd]


def test_modules_arrive_byte_for_byte(tmp_path):
    """What bash writes is what the folder had: dollars, backslashes, backticks, tabs, ä."""
    text = "# $HOME ${x} `id` \\n \\\\ \"'\n\tä\n#  trailing \r\n\n"
    modules = [PRINTS_ARGUMENTS, Module("observe/host.py", text)]
    command = build(stanza.parse(SMALLEST), modules, pool="amd-16", time_budget_s=3300)
    run(command, tmp_path)
    written = tmp_path / "the script's" / "observe" / "host.py"
    assert written.read_bytes() == text.encode()


def test_an_argument_of_the_largest_size_runs(tmp_path):
    """One byte under the limit of the kernel's is started, as the limit promises."""
    benchmark = stanza.parse(SMALLEST)
    bare = build(benchmark, [PRINTS_ARGUMENTS], pool="amd-16", time_budget_s=3300)
    filling = "#" * (MAX_ARGUMENT_BYTES - len(bare.encode()) - 1) + "\n"
    largest = Module("__main__.py", PRINTS_ARGUMENTS.text + filling)
    command = build(benchmark, [largest], pool="amd-16", time_budget_s=3300)
    assert len(command.encode()) == MAX_ARGUMENT_BYTES
    assert run(command, tmp_path)[:2] == ["--pool", "amd-16"]
    with pytest.raises(OSError, match="Argument list too long"):
        subprocess.run(["bash", "-c", command + "\n"], check=False)


def test_too_large():
    """The size, the limit and the largest modules with their sizes are named."""
    modules = [
        Module("__main__.py", "#\n"),
        Module("large.py", "ä" * 60_000),
        Module("middle.py", "#" * 20_000),
        Module("small.py", "#" * 1_000),
    ]
    with pytest.raises(BadKeyError) as caught:
        build(stanza.parse(SMALLEST), modules, pool="amd-16", time_budget_s=3300)
    assert caught.value.key == "benchmark.script"
    assert caught.value.text == (
        "the command would hold 141,765 bytes and one argument may hold 131,071; shorten the "
        "largest modules (bytes: scripts/io-benchmark/large.py 120,000, "
        "scripts/io-benchmark/middle.py 20,000, scripts/io-benchmark/small.py 1,000) or name fewer "
        "workloads"
    )
