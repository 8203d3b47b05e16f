# This Source Code Form is subject to the terms of the Mozilla Public
# License, v. 2.0. If a copy of the MPL was not distributed with this
# file, You can obtain one at http://mozilla.org/MPL/2.0/.
"""The command: its arguments, and what bash makes of them."""

import json
import subprocess

import pytest

from io_benchmark_taskgraph import stanza
from io_benchmark_taskgraph.command import MAX_ARGUMENT_BYTES, MAX_COMMAND_BYTES, build
from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.script import Module

SMALLEST = {"script": "scripts/io-benchmark", "workloads": ["cache-retrieve"], "retrieves": 2000}
PRINTS_ARGUMENTS = Module("__main__.py", "import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
CONTAINER = {"name": "con-tainer", "path": "/builds/worker/io-benchmark"}


WRITING = """\
script_dir="${IO_BENCHMARK_SCRIPT_DIR:-/tmp/io-benchmark}"
mkdir -p "$script_dir" "$script_dir/a"
"""
MAIN_MODULE = """\
cat > "$script_dir/__main__.py" << 'IO_BENCHMARK_EOF'
import a.b
IO_BENCHMARK_EOF
"""
OTHER_MODULE = """\
cat > "$script_dir/a/b.py" << 'IO_BENCHMARK_EOF'
x = '$HOME'
IO_BENCHMARK_EOF
"""
STARTING = """\
set -x
exec python3 -u -B "$script_dir" \\
  --pool amd-16 --workload cache-retrieve --retrieves 2000 --seed 1 --destination overwrite \
--fidelity seed --precision 2% --time-budget 3300 \\
  --place workspace="${IO_BENCHMARK_WORKSPACE:-/builds/worker/workspace}" \\
  --place con-tainer="${IO_BENCHMARK_PLACE_CON_TAINER:-/builds/worker/io-benchmark}" \\
  --artifacts "${IO_BENCHMARK_ARTIFACTS:-/builds/worker/artifacts}" \
--profile "${IO_BENCHMARK_PROFILE:-full}" --perfherder "${IO_BENCHMARK_PERFHERDER:-pool}"
"""


def test_whole_text():
    """bash, then the folders, each module by heredoc in an argument of its own, and the start."""
    benchmark = stanza.parse({**SMALLEST, "places": ["workspace", CONTAINER], "precision": "2%"})
    modules = [Module("__main__.py", "import a.b\n"), Module("a/b.py", "x = '$HOME'\n")]
    assert build(benchmark, modules, pool="amd-16", time_budget_s=3300) == [
        "bash",
        "-ec",
        'for part do eval "$part"; done',
        "io-benchmark",
        WRITING,
        MAIN_MODULE,
        OTHER_MODULE,
        STARTING,
    ]


def run(command, tmp_path, **environment):
    folder = {"IO_BENCHMARK_SCRIPT_DIR": str(tmp_path / "the script's")}
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        command,
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


def test_an_address_stays_one_argument(tmp_path):
    """Quotes, dollars and braces of --upload-url are no shell's."""
    url = "https://host.example/o?name={name}&a='$(touch${IFS}c)`id`"
    benchmark = stanza.parse({**SMALLEST, "upload-url": url})
    command = build(benchmark, [PRINTS_ARGUMENTS], pool="amd-16", time_budget_s=3300)
    arguments = run(command, tmp_path)
    assert arguments[arguments.index("--upload-url") + 1] == url


def test_modules_arrive_byte_for_byte(tmp_path):
    """What bash writes is what the folder had: dollars, backslashes, backticks, tabs, ä."""
    text = "# $HOME ${x} `id` \\n \\\\ \"'\n\tä\n#  trailing \r\n\n"
    modules = [PRINTS_ARGUMENTS, Module("observe/host.py", text)]
    command = build(stanza.parse(SMALLEST), modules, pool="amd-16", time_budget_s=3300)
    run(command, tmp_path)
    written = tmp_path / "the script's" / "observe" / "host.py"
    assert written.read_bytes() == text.encode()


def test_the_log_has_the_start_alone(tmp_path):
    """bash traces how the script is started, and none of the modules' text."""
    command = build(stanza.parse(SMALLEST), [PRINTS_ARGUMENTS], pool="amd-16", time_budget_s=3300)
    folder = tmp_path / "script"
    done = subprocess.run(
        command,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "IO_BENCHMARK_SCRIPT_DIR": str(folder)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stderr == (
        f"++ exec python3 -u -B {folder} --pool amd-16 --workload cache-retrieve --retrieves 2000 "
        "--seed 1 --destination overwrite --fidelity seed --time-budget 3300 "
        "--place workspace=/builds/worker/workspace --artifacts /builds/worker/artifacts "
        "--profile full --perfherder pool\n"
    )


def test_a_failing_part_ends_the_command(tmp_path):
    """Where a module cannot be written, nothing is started."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    command = build(stanza.parse(SMALLEST), [PRINTS_ARGUMENTS], pool="amd-16", time_budget_s=3300)
    done = subprocess.run(
        command,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "IO_BENCHMARK_SCRIPT_DIR": str(in_the_way)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"mkdir: cannot create directory '{in_the_way}': File exists\n"


def filled(module, argument_bytes):
    """The module, lengthened so that its argument has so many bytes."""
    [_, part, _] = build(stanza.parse(SMALLEST), [module], pool="x", time_budget_s=1)[4:]
    filling = "#" * (argument_bytes - len(part.encode()) - 1) + "\n"
    return Module(module.path, module.text + filling)


def test_an_argument_of_the_largest_size_runs(tmp_path):
    """A module that makes an argument of the very limit is started, as the limit promises."""
    largest = filled(PRINTS_ARGUMENTS, MAX_ARGUMENT_BYTES)
    command = build(stanza.parse(SMALLEST), [largest], pool="amd-16", time_budget_s=3300)
    assert max(len(argument.encode()) for argument in command) == MAX_ARGUMENT_BYTES
    assert run(command, tmp_path)[:2] == ["--pool", "amd-16"]
    with pytest.raises(OSError, match="Argument list too long"):
        subprocess.run([*command[:5], command[5] + "\n", *command[6:]], check=False)


def test_a_module_too_large():
    """The module, its argument's size and the limit are named."""
    large = filled(Module("a/large.py", "#\n"), MAX_ARGUMENT_BYTES + 1)
    with pytest.raises(BadKeyError) as caught:
        build(stanza.parse(SMALLEST), [PRINTS_ARGUMENTS, large], pool="x", time_budget_s=1)
    assert caught.value.key == "benchmark.script"
    assert caught.value.text == (
        "scripts/io-benchmark/a/large.py makes an argument of 131,072 bytes and one may hold "
        "131,071; split it into smaller modules"
    )


def many(count):
    return [Module(f"module_{at:02}.py", "#" * (100_000 + at) + "\n") for at in range(count)]


def test_a_command_of_the_largest_size_runs(tmp_path):
    """All arguments together, just under their limit, are started."""
    command = build(
        stanza.parse(SMALLEST), [PRINTS_ARGUMENTS, *many(18)], pool="amd-16", time_budget_s=3300
    )
    assert sum(len(argument) + 1 for argument in command) > MAX_COMMAND_BYTES - 100_000
    assert run(command, tmp_path)[:2] == ["--pool", "amd-16"]


def test_too_large():
    """The size, the limit and the largest modules with their sizes are named."""
    with pytest.raises(BadKeyError) as caught:
        build(stanza.parse(SMALLEST), many(19), pool="x", time_budget_s=1)
    assert caught.value.key == "benchmark.script"
    assert caught.value.text == (
        "the command would hold 1,902,058 bytes and all arguments together may hold 1,900,000; "
        "shorten the largest modules (bytes: scripts/io-benchmark/module_18.py 100,019, "
        "scripts/io-benchmark/module_17.py 100,018, scripts/io-benchmark/module_16.py 100,017) or "
        "name fewer workloads"
    )
