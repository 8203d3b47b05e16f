# SPDX-License-Identifier: MPL-2.0
"""How long the program's commands take, from the shell, next to a Python that does nothing.

All commands of a part are run in turn, so that whatever else the machine does meets all alike.

Numbers to read, not a test: run by `tox -e bench`. `--rounds N`.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELPERS = ROOT / "tests/helpers"
sys.path.insert(0, str(HELPERS))

import seed_case  # noqa: E402

PROGRAM = str(Path(sys.executable).with_name("io-benchmark"))
TASKGRAPH = str(Path(sys.executable).with_name("taskgraph"))
# As users have it: a process that keeps no byte code compiles everything each time.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compare_speeds(rounds: int, commands: Mapping[str, tuple[Sequence[str], str]]) -> None:
    """Run the commands in turn.

    Print the time on the clock and the CPU time of each beside its bar.
    """
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, _) in commands.items():
            cpu_before_s, started = cpu_s(), os.times().elapsed
            done = subprocess.run(
                command, capture_output=True, env=ENVIRONMENT, cwd=ROOT, check=False
            )
            if done.returncode:
                raise SystemExit(done.stderr.decode())
            seconds[name].append((os.times().elapsed - started, cpu_s() - cpu_before_s))
    for name, (_, bar) in commands.items():
        for clock, times in zip(("", ", CPU"), zip(*seconds[name], strict=True), strict=True):
            print(
                f"{name + clock:50} median {statistics.median(times):6.2f} s "
                f"({min(times):.2f} to {max(times):.2f}; bar {bar if not clock else '-'})",
                flush=True,
            )


def start_and_compare(folder: Path, rounds: int) -> None:
    """3 pools with 2,000 retrieves each, as most pushes have them."""
    seed_case.write(folder)
    commands = {
        "python3 -c pass": ([sys.executable, "-c", "pass"], "-"),
        "import numpy": ([sys.executable, "-c", "import numpy"], "-"),
        "help": ([PROGRAM, "--help"], "0.1 s"),
        "compare 3 x 2,000 as text": ([PROGRAM, "compare", str(folder)], "0.25 s"),
        "compare 3 x 2,000 as JSON": ([PROGRAM, "compare", str(folder), "--json"], "0.25 s"),
    }
    compare_speeds(rounds, commands)


def thousand_results(folder: Path, rounds: int) -> None:
    # By another process: the kernel counts the memory of this one as that of what it starts.
    writing = "import pathlib, sys, seed_case; seed_case.write(pathlib.Path(sys.argv[1]), 333)"
    subprocess.run([sys.executable, "-c", writing, folder], cwd=HELPERS, check=True)
    command = [PROGRAM, "compare", str(folder)]
    compare_speeds(max(1, rounds // 3), {"compare 999 x 2,000": (command, "5 s")})
    compared = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, _, usage = os.wait4(compared.pid, 0)
    print(f"compare 999 x 2,000, peak memory: {usage.ru_maxrss / 1024:.0f} MiB (bar 400 MiB)")


def generate(folder: Path, rounds: int) -> None:
    """What a decision task does, and a rehearsal of all pools."""
    parameters = ROOT / "taskcluster/test/params/comment.yml"
    output = folder / "rehearsal"
    rehearsal = f"rm -rf '{output}'; '{PROGRAM}' rehearse --root '{ROOT}' --output '{output}'"
    commands = {
        "taskgraph full": ([TASKGRAPH, "full", "-J", "-p", str(parameters)], "-"),
        "rehearse, 3 pools and the report": (["sh", "-c", rehearsal], "5 s"),
    }
    compare_speeds(rounds, commands)
    shutil.rmtree(output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    for part in (start_and_compare, thousand_results, generate):
        with tempfile.TemporaryDirectory(prefix="io-benchmark-bench-") as name:
            part(Path(name), chosen.rounds)
