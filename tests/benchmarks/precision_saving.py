# SPDX-License-Identifier: MPL-2.0
"""What `--precision` saves: the verdict of 2,000 retrieves from as few as it takes.

On real storage of the lab: one capped disk against two striped, which is slower, and two stripes that
are alike, which are not. Each is measured once with 2,000 retrieves, then twenty times with
`--precision`; a repetition is wrong where its verdict is another one.

Numbers to read, not a test: run by `tox -e bench`, as root on a machine with loop devices.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from storage_lab import WRITE_CAP, opened
from worker import Worker

REPETITIONS = 20
RETRIEVES = 2000
PRECISION = "10%"
SIZES = "20x4"
DISK_MIB = 800
CAP_MIB_PER_S = 160
RETRIEVES_BAR = RETRIEVES // 5
WRONG_BAR = 1
CASES = {"one disk against two": ("one", "two"), "two stripes alike": ("other", "two")}


def measure(folder: Path, pool: str, where: Path, *extra: str) -> tuple[Path, int]:
    """The result, and how many retrieves it took."""
    worker = Worker(where, folder / pool)
    process = worker.start(
        *("--pool", pool, "--sizes", SIZES, "--retrieves", str(RETRIEVES)), *extra
    )
    output, _ = process.communicate()
    if process.returncode:
        sys.exit(output)
    (entry,) = json.loads(worker.result_path.read_text())["workloads"]
    return worker.result_path, len(entry["samples"]["copy_ns"])


def verdict(candidate: Path, baseline: Path) -> tuple[str, float]:
    program = [sys.executable, "-m", "io_benchmark.cli"]
    done = subprocess.run(
        [*program, "compare", str(candidate), str(baseline), "--baseline", "b", "--json"],
        stdout=subprocess.PIPE,
        check=True,
    )
    (found,) = json.loads(done.stdout)["subjects"][0]["comparisons"]
    return found["verdict"], found["ratio"]


def compared(
    folder: Path, places: dict[str, Path], case: str, *extra: str
) -> tuple[str, float, int]:
    candidate, baseline = CASES[case]
    first, count = measure(folder, "a", places[candidate], *extra)
    second, other = measure(folder, "b", places[baseline], *extra)
    return (*verdict(first, second), max(count, other))


def main() -> int:
    if not WRITE_CAP.exists():
        print("needs root, loop devices and cgroup v1 blkio, whose root group can limit a device")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder / "lab") as lab:
            places = {
                name: lab.stripe(name, 1 if name == "one" else 2, DISK_MIB, CAP_MIB_PER_S)
                for name in ("one", "two", "other")
            }
            for case in CASES:
                wanted, ratio, _ = compared(folder, places, case)
                print(f"{case}: with {RETRIEVES:,} retrieves {wanted} at {ratio:.2f}x", flush=True)
                report(
                    case,
                    wanted,
                    [
                        compared(folder, places, case, "--precision", PRECISION)
                        for _ in range(REPETITIONS)
                    ],
                )
    return 0


def report(case: str, wanted: str, found: list[tuple[str, float, int]]) -> None:
    wrong = [one for one, _, _ in found if one != wanted]
    ratios = sorted(ratio for _, ratio, _ in found)
    counts = sorted(count for _, _, count in found)
    over = sum(count > RETRIEVES_BAR for count in counts)
    print(
        f"{case}: --precision {PRECISION}, {len(found)} repetitions: wrong {len(wrong)} {wrong} "
        f"(bar {WRONG_BAR}); retrieves {counts[0]} to {counts[-1]}, median "
        f"{counts[len(counts) // 2]} (bar {RETRIEVES_BAR}, {over} over it); ratio "
        f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
