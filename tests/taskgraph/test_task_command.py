# SPDX-License-Identifier: MPL-2.0
"""The command: its arguments, and what bash makes of them."""

import base64
import hashlib
import json
import shutil
import stat
import subprocess

import embedding
import pytest

from io_benchmark_taskgraph import stanza, worker_program
from io_benchmark_taskgraph.mistakes import BadKeyError
from io_benchmark_taskgraph.task_command import (
    MAX_COMMAND_BYTES,
    check_sizes,
    make_command,
)
from io_benchmark_taskgraph.worker_program import MAX_ARGUMENT_BYTES, WorkerProgram

SMALLEST = {"script": "scripts/io-benchmark", "workloads": ["cache-retrieve"], "retrieves": 2000}
VERSION = 'SCRIPT_VERSION = "1.2"\n'
PRINTS_ARGUMENTS = {"__main__.py": f"import json, sys\n{VERSION}print(json.dumps(sys.argv[1:]))\n"}
CONTAINER = {"name": "con-tainer", "path": "/builds/worker/io-benchmark"}

TEXT = """\
# io-benchmark 1.2 measures this worker's I/O: https://github.com/mozilla-releng/io-benchmark
# Source: scripts/io-benchmark at the revision that made this task. The arguments after
# this one are these modules as one file, compressed, in base64; the same file:
# io-benchmark script -o io-benchmark.pyz
sha256=SHA256
# In a new folder that only this user can change: what is compared is what is started.
application=$(mktemp -d)/io-benchmark.pyz
printf %s "$@" | python3 -I -c '
import base64, sys, zlib
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.stdin.read())))
' > "$application" || true
if [ "$(sha256sum < "$application")" != "$sha256  -" ]; then
  printf 'TEST-%s | %s: cannot unpack %s; see the lines above\\n' \\
    UNEXPECTED-FAIL amd-16 "$application"
  exit 1
fi
set -x
exec python3 -u -B "$application" run \\
  --pool amd-16 --workload cache-retrieve \\
  --retrieves 2000 --seed 1 --destination overwrite --fidelity seed --precision 2% --time-budget 3300 \\
  --place workspace="${IO_BENCHMARK_WORKSPACE:-/builds/worker/workspace}" \\
  --place con-tainer="${IO_BENCHMARK_PLACE_CON_TAINER:-/builds/worker/io-benchmark}" \\
  --output "${IO_BENCHMARK_ARTIFACTS:-/builds/worker/artifacts}" \\
  --profile "${IO_BENCHMARK_PROFILE:-full}" --perfherder "${IO_BENCHMARK_PERFHERDER:-pool}" \\
  --trials never
"""


def build(benchmark, modules, pool="amd-16", time_budget_s=3300):
    built = WorkerProgram(modules)
    command = make_command(benchmark, built, pool, time_budget_s)
    check_sizes(command, benchmark.script)
    return command


def test_whole_text():
    """What it is, its version, source and sha256; unpack; check; start. Then the application."""
    benchmark = stanza.Benchmark.parse(
        {**SMALLEST, "places": ["workspace", CONTAINER], "precision": "2%"}
    )
    modules = {**PRINTS_ARGUMENTS, "a/b.py": "x = '$HOME'\n"}
    built = WorkerProgram(modules)
    command = build(benchmark, modules)
    assert command == [
        "bash",
        "-ec",
        TEXT.replace("SHA256", hashlib.sha256(built.data).hexdigest()),
        "io-benchmark",
        *built.arguments(),
    ]
    assert embedding.application(command) == built.data


def run(command, tmp_path, **environment):
    folder = tmp_path / "the script's"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        command,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_arguments_on_a_worker(tmp_path):
    """Without anything in the environment, the paths are a worker's."""
    benchmark = stanza.Benchmark.parse(
        {**SMALLEST, "destination": ["unlink", "fresh"], "perfherder": "neutral"}
    )
    command = build(benchmark, PRINTS_ARGUMENTS)
    expected = (
        "run --pool amd-16 --workload cache-retrieve --retrieves 2000 --seed 1 --destination unlink "
        "--destination fresh --fidelity seed --time-budget 3300 "
        "--place workspace=/builds/worker/workspace --output /builds/worker/artifacts "
        "--profile full --perfherder neutral --trials never"
    )
    assert run(command, tmp_path) == expected.split()


def test_arguments_for_trials(tmp_path):
    """As the kind asks for them; a confirming task has variables for both options."""
    command = build(stanza.Benchmark.parse({**SMALLEST, "trials": "auto"}), PRINTS_ARGUMENTS)
    assert run(command, tmp_path)[-2:] == ["--trials", "auto"]
    confirming = {"IO_BENCHMARK_TRIALS": "always", "IO_BENCHMARK_PACE": "420000000"}
    assert run(command, tmp_path, **confirming)[-4:] == [
        *("--trials", "always"),
        *("--pace", "420000000"),
    ]


def test_arguments_in_a_rehearsal(tmp_path):
    """A path from the environment is one argument, whatever characters it has."""
    benchmark = stanza.Benchmark.parse({**SMALLEST, "places": ["workspace", CONTAINER]})
    command = build(benchmark, PRINTS_ARGUMENTS)
    arguments = run(
        command,
        tmp_path,
        IO_BENCHMARK_WORKSPACE="/a b/$(x)",
        IO_BENCHMARK_PLACE_CON_TAINER="/*",
        IO_BENCHMARK_ARTIFACTS="/c'd",
        IO_BENCHMARK_PROFILE="quick",
        IO_BENCHMARK_PERFHERDER="neutral",
    )
    assert arguments[-12:] == [
        "--place",
        "workspace=/a b/$(x)",
        "--place",
        "con-tainer=/*",
        "--output",
        "/c'd",
        "--profile",
        "quick",
        "--perfherder",
        "neutral",
        "--trials",
        "never",
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
    benchmark = stanza.Benchmark.parse({**SMALLEST, "workloads": [odd]})
    command = build(benchmark, PRINTS_ARGUMENTS, pool=odd)
    assert run(command, tmp_path)[:5] == ["run", "--pool", odd, "--workload", odd]


def test_an_address_stays_one_argument(tmp_path):
    """Quotes, dollars and braces of --upload-url are no shell's."""
    url = "https://host.example/o?name={name}&a='$(touch${IFS}c)`id`"
    benchmark = stanza.Benchmark.parse({**SMALLEST, "upload-url": url})
    command = build(benchmark, PRINTS_ARGUMENTS)
    arguments = run(command, tmp_path)
    assert arguments[arguments.index("--upload-url") + 1] == url


def test_the_application_arrives_byte_for_byte(tmp_path):
    """What the task unpacks is what was built, whatever characters the modules have."""
    text = "# $HOME ${x} `id` \\n \\\\ \"'\n\tä\n#  trailing \r\n\n"
    modules = {**PRINTS_ARGUMENTS, "observe/host.py": text}
    run(build(stanza.Benchmark.parse(SMALLEST), modules), tmp_path)
    (written,) = tmp_path.glob("the script's/*/io-benchmark.pyz")
    assert written.read_bytes() == worker_program._packed(modules)
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700  # no other user can replace it


def start(command, folder, path="/usr/local/bin:/usr/bin:/bin"):
    return subprocess.run(
        command,
        env={"PATH": path, "TMPDIR": str(folder)},
        capture_output=True,
        check=False,
        text=True,
    )


def test_the_log_has_the_start_alone(tmp_path):
    """bash traces how the script is started, and neither its text nor how it was unpacked."""
    done = start(build(stanza.Benchmark.parse(SMALLEST), PRINTS_ARGUMENTS), tmp_path)
    (folder,) = tmp_path.iterdir()
    assert done.stderr == (
        f"+ exec python3 -u -B {folder}/io-benchmark.pyz run --pool amd-16 --workload cache-retrieve "
        "--retrieves 2000 --seed 1 --destination overwrite --fidelity seed --time-budget 3300 "
        "--place workspace=/builds/worker/workspace --output /builds/worker/artifacts "
        "--profile full --perfherder pool --trials never\n"
    )


def test_the_text_is_no_failure():
    """run-task prints the command: none of its lines is one that Treeherder takes for a failure."""
    text = embedding.shell_text(build(stanza.Benchmark.parse(SMALLEST), PRINTS_ARGUMENTS))
    assert "TEST-UNEXPECTED" not in text
    assert len(text.splitlines()) <= 25


def cut(encoded):
    return encoded[: len(encoded) // 2]


def changed(encoded):  # noqa: ARG001 - one signature
    """Another application, well packed."""
    return WorkerProgram({"__main__.py": VERSION}).arguments()[0]


def garbled(encoded):
    return "*" + encoded[1:]


def missing(encoded):  # noqa: ARG001 - one signature
    return ""


@pytest.mark.parametrize("damage", [cut, changed, garbled, missing])
def test_a_damaged_application(tmp_path, damage):
    """What was not unpacked as it was built is not started; one line on stdout says so."""
    command = build(stanza.Benchmark.parse(SMALLEST), PRINTS_ARGUMENTS)
    done = start([*command[:-1], damage(command[-1])], tmp_path)
    (folder,) = tmp_path.iterdir()
    assert done.stdout == (
        f"TEST-UNEXPECTED-FAIL | amd-16: cannot unpack {folder}/io-benchmark.pyz; "
        "see the lines above\n"
    )
    assert done.returncode == 1


@pytest.mark.parametrize("tool", ["python3", "sha256sum"])
def test_a_tool_that_is_missing(tmp_path, tool):
    """The tool that the image lacks is named, and nothing is started."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in {"bash", "mktemp", "sha256sum", "python3"} - {tool}:
        (tools / name).symlink_to(str(shutil.which(name)))
    done = start(build(stanza.Benchmark.parse(SMALLEST), PRINTS_ARGUMENTS), tmp_path, str(tools))
    assert done.returncode == 1
    assert done.stdout.startswith("TEST-UNEXPECTED-FAIL | amd-16: cannot unpack ")
    assert f"{tool}: command not found" in done.stderr


def test_a_folder_that_cannot_be_made(tmp_path):
    """Where the application cannot be written, nothing is started."""
    done = start(build(stanza.Benchmark.parse(SMALLEST), PRINTS_ARGUMENTS), tmp_path / "missing")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mktemp: failed to create directory via template ")


def noise(count):
    """Text that gzip makes no smaller than three quarters."""
    digests = (hashlib.sha256(b"%d" % at).digest() for at in range(count // 43 + 1))
    return "".join("#" + base64.b64encode(one).decode()[:41] + "\n" for one in digests)


def test_arguments_of_the_largest_size_run(tmp_path):
    """What one argument cannot hold is split, at the limit that the kernel has."""
    modules = {**PRINTS_ARGUMENTS, "large.py": noise(300_000)}
    command = build(stanza.Benchmark.parse(SMALLEST), modules)
    sizes = [len(argument.encode()) for argument in command[4:]]
    assert (len(sizes) > 1, set(sizes[:-1])) == (True, {MAX_ARGUMENT_BYTES})
    assert run(command, tmp_path)[:3] == ["run", "--pool", "amd-16"]
    with pytest.raises(OSError, match="Argument list too long"):
        subprocess.run([*command[:4], command[4] + "A"], check=False)


def many(count):
    return {f"module_{at:02}.py": noise(100_000 + 43 * at) for at in range(count)}


def test_a_command_of_the_largest_size_runs(tmp_path):
    """All arguments together, just under their limit, are started."""
    modules = {**PRINTS_ARGUMENTS, "large.py": noise(1_850_000)}
    command = build(stanza.Benchmark.parse(SMALLEST), modules)
    size = sum(len(argument) + 1 for argument in command)
    assert MAX_COMMAND_BYTES - 100_000 < size <= MAX_COMMAND_BYTES
    assert run(command, tmp_path)[:3] == ["run", "--pool", "amd-16"]


def test_too_large():
    """The script's folder, the size and the limit are named."""
    with pytest.raises(BadKeyError) as caught:
        build(stanza.Benchmark.parse(SMALLEST), {**PRINTS_ARGUMENTS, **many(22)})
    assert caught.value.key == "benchmark.script"
    assert caught.value.text.partition(" bytes")[2] == (
        " and all arguments together may hold 1,900,000; shorten its modules or name fewer workloads"
    )


def test_too_many_places():
    """The readable part is one argument, too."""
    places = [{"name": f"p{at}", "path": f"/{'x' * 200}/{at}"} for at in range(600)]
    with pytest.raises(BadKeyError) as caught:
        build(stanza.Benchmark.parse({**SMALLEST, "places": places}), PRINTS_ARGUMENTS)
    assert caught.value.key == "benchmark.places"
    assert "one argument may hold 131,071; measure fewer places" in caught.value.text
