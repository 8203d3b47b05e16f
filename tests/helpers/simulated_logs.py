# SPDX-License-Identifier: MPL-2.0
"""Logs of simulated runs, whose phases are known, in the form of each worker.

The lines are those of `generic-worker` with d2g (`D2G`) or without docker, on Linux (`NATIVE`) or
on Windows (`WINDOWS`), and of docker-worker (`DOCKER_WORKER`); `run-task` and `fetch-content` write
the same in all of them. On Windows, cmd.exe repeats the command, lines of commands end in CR LF,
and fetch-content names an archive by the drive that Z: stands for when it unpacks it.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from io_benchmark.analysis.phases.phase_model import PhaseName, RunPhases
from io_benchmark.analysis.phases.read_log import LogReader, RunFacts

D2G, DOCKER_WORKER, NATIVE, WINDOWS = "d2g", "docker-worker", "native", "windows"
WRITERS = (D2G, DOCKER_WORKER, NATIVE, WINDOWS)
# What a log may have besides: lines that a task prints as if others had, and other forms.
FAKE_END, FAKE_FETCHES, CARRIAGE_RETURNS, COLORS, OLD_STAMPS, LATE_OUTPUT = (
    "fake end",
    "fake fetches",
    "carriage returns",
    "colors",
    "old stamps",
    "late output",
)
TRAPS = (FAKE_END, FAKE_FETCHES, CARRIAGE_RETURNS, COLORS, OLD_STAMPS, LATE_OUTPUT)
STARTED = datetime(2026, 11, 28, 16, 33, 52, tzinfo=UTC)
MIB = 1024 * 1024
TASK_ID = "ZRs_zVu8T1GsRTGMZCLaEw"
_HASH = "bdc6afbf9d815460" * 4
_EXECUTING = "executing ['bash', '-cx', 'make']"


@dataclass(frozen=True)
class Fetch:
    """A file that fetch-content gets, all at once; without a time of unpacking it stays packed."""

    download_s: float
    unpack_s: float = 0.0
    size_bytes: int = 100 * MIB
    is_streamed: bool = False  # unpacked while it arrives, in the time of the download


@dataclass(frozen=True)
class SimulatedRun:
    """The seconds of each phase; one that takes 0 is not in the log."""

    pending_s: float = 2.0
    claim_s: float = 0.5  # from the queue's start to the first phase, which is "other"
    caches_s: float = 0.2
    image_download_s: float = 8.0
    image_load_s: float = 12.0
    image_bytes: int = 400 * MIB
    container_s: float = 0.5
    checkout_s: float = 20.0
    checkout_bytes: int = 0  # of hg; 0: git, which does not say
    fetches: tuple[Fetch, ...] = (Fetch(6.0, 3.0), Fetch(6.0, 3.0))
    packages_s: float = 4.0
    own_s: float = 60.0
    artifacts_s: float = 3.0
    caches_kept_s: float = 1.0
    label: str = "build-linux"
    pool: str = "gecko-3/b-linux"
    run_id: int = 0
    worker: str = "us-central1/w1"
    started: datetime = STARTED
    task_id: str = TASK_ID

    @property
    def fetches_s(self) -> float:
        """Return how long all fetches take: all begin at once, each is unpacked at its end."""
        return max((fetch.download_s + fetch.unpack_s for fetch in self.fetches), default=0.0)

    def truth(self, writer: str = D2G) -> dict[PhaseName, float]:
        """Return the seconds of each phase, where all fetches take the same times."""
        first = self.fetches[0] if self.fetches else Fetch(0.0)
        seconds = {
            PhaseName.PENDING: self.pending_s,
            PhaseName.OTHER: self.claim_s,
            PhaseName.CACHES: self.caches_s,
            PhaseName.IMAGE_DOWNLOAD: self.image_download_s,
            PhaseName.IMAGE_LOAD: self.image_load_s,
            PhaseName.CONTAINER_START: self.container_s,
            PhaseName.CHECKOUT: self.checkout_s,
            PhaseName.STREAMED if first.is_streamed else PhaseName.DOWNLOAD: first.download_s,
            PhaseName.UNPACK: first.unpack_s,
            PhaseName.PACKAGES: self.packages_s,
            PhaseName.OWN_WORK: self.own_s,
            PhaseName.ARTIFACTS: self.artifacts_s,
            PhaseName.CACHES_KEPT: self.caches_kept_s,
        }
        if writer in (NATIVE, WINDOWS):
            # The start of run-task is no container's.
            seconds[PhaseName.OTHER] += seconds.pop(PhaseName.CONTAINER_START)
            for phase in (PhaseName.IMAGE_DOWNLOAD, PhaseName.IMAGE_LOAD):
                del seconds[phase]
        if writer == DOCKER_WORKER:
            # Its end has no line about caches.
            seconds[PhaseName.ARTIFACTS] += seconds.pop(PhaseName.CACHES_KEPT)
        return {phase: value for phase, value in seconds.items() if value}

    def log(self, writer: str = D2G, traps: Collection[str] = ()) -> bytes:
        """Return the run's log."""
        return _Log(self, writer, traps).write()

    def phases(self, writer: str = D2G, traps: Collection[str] = ()) -> RunPhases:
        """Return what is read of the log, with what the queue knows of the run."""
        reader = LogReader(self.facts(writer))
        reader.take(self.log(writer, traps))
        return reader.finish()

    def facts(self, writer: str = D2G) -> RunFacts:
        seconds = sum(self.truth(writer).values()) - self.pending_s
        started_ns = round(self.started.timestamp() * 1000) * 10**6
        return RunFacts(
            label=self.label,
            pool=self.pool,
            task_id=self.task_id,
            run_id=self.run_id,
            worker=self.worker,
            scheduled_ns=started_ns - round(self.pending_s * 10**9),
            started_ns=started_ns,
            resolved_ns=started_ns + round(seconds * 10**9),
            started=_queue_time(self.started),
        )


def _queue_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class _Log:
    """Writes the lines of a run, and passes the time between them."""

    run: SimulatedRun
    writer: str
    traps: Collection[str]
    lines: list[str] = field(default_factory=list)
    passed_s: float = 0.0

    def write(self) -> bytes:
        self._before_command()
        begun_s = self.passed_s
        self._set_up()
        self._own_work()
        self._end(begun_s)
        end = "\r\n" if CARRIAGE_RETURNS in self.traps else "\n"
        content = end.join([*self.lines, ""])
        if COLORS in self.traps:
            content = content.replace("[taskcluster ", "\x1b[0m[taskcluster ")
        return content.encode()

    @property
    def _now(self) -> datetime:
        return self.run.started + timedelta(seconds=self.passed_s)

    def _worker(self, message: str) -> None:
        stamp = _queue_time(self._now)
        if self.writer == DOCKER_WORKER:
            stamp = stamp.replace("T", " ")
        self.lines.append(f"[taskcluster {stamp}] {message}")

    def _run_task(self, name: str, message: str) -> None:
        stamp = self._now.isoformat(timespec="milliseconds")
        if OLD_STAMPS in self.traps:
            # Of taskgraph before 13.1: no fraction where it is 0.
            stamp = self._now.isoformat().replace("+00:00", "Z")
        self._bare(f"[{name} {stamp}] {message}")

    def _bare(self, line: str) -> None:
        self.lines.append(f"{line}\r" if self.writer == WINDOWS else line)

    def _path(self, path: str, drive: str = "Z:") -> str:
        """Return a path as this worker has it."""
        if self.writer != WINDOWS:
            return path
        return path.replace("/builds/worker", f"{drive}/task_176437").replace("/", "\\")

    def _before_command(self) -> None:
        run = self.run
        if self.writer == DOCKER_WORKER:
            self._worker(f"Task ID: {run.task_id}")
            self.passed_s += run.claim_s
            if run.caches_s:
                self._worker('using cache "level-3-checkouts" -> /builds/worker/checkouts')
                self.passed_s += run.caches_s
            self._docker_worker_image()
            self._worker("=== Task Starting ===")
            return
        self._worker(f"Worker Type ({run.pool}) settings:")
        self._worker('  {"generic-worker": {"engine": "multiuser", "version": "106.0.0"}}')
        self._worker(f"Task ID: {run.task_id}")
        self._worker("=== Task Starting ===")
        self.passed_s += run.claim_s
        if run.caches_s:
            self._worker("[mounts] Moving existing writable directory cache c from /c to /t/cache0")
            self.passed_s += run.caches_s
            self._worker("[mounts] Successfully mounted writable directory cache '/t/cache0'")
        if self.writer == D2G:
            self._d2g_image()
        program = "docker run -t --name c image " if self.writer == D2G else "python3 "
        if self.writer == WINDOWS:
            program = "C:/mozilla-build/python3/python3.exe "
        command = f"{program}run-task -- bash -cx make"
        self._worker(f"Executing command 0: {command}")
        if self.writer == WINDOWS:
            self._bare("")
            self._bare(f"Z:\\task_176437>{command} ")

    def _d2g_image(self) -> None:
        run = self.run
        if run.image_download_s:
            artifact = "artifact public/image.tar.zst"
            self._worker(f"[mounts] Downloading task AnImageTaskAnImageTas0 {artifact} to /d/x")
            self.passed_s += run.image_download_s
            source = f"task AnImageTaskAnImageTas0 {artifact}"
            size = f"Downloaded {run.image_bytes} bytes"
            self._worker(f"[mounts] {size} with SHA256 {_HASH} from {source} to /d/x")
        self._worker(
            '[mounts] File mount "dockerimage" handled by registered handler (cache: /d/x)'
        )
        if run.image_load_s:
            self._worker("[d2g] Loading docker image")
            self.passed_s += run.image_load_s
            self._worker('[d2g] Loaded docker image "localhost/image:latest"')
        else:
            self._worker('[d2g] Using cached docker image "localhost/image:latest"')

    def _docker_worker_image(self) -> None:
        run = self.run
        if run.image_download_s:
            task = "task ID: AnImageTaskAnImageTas0"
            self._worker(f'Downloading artifact "public/image.tar.zst" from {task}.')
            self.passed_s += run.image_download_s / 2
            self._worker("Download Progress: 50.00%")
            self.passed_s += run.image_download_s / 2
            self._worker(f"Downloaded {run.image_bytes / MIB:.3f} mb over the wire")
        if run.image_load_s:
            self._worker("Decompressing downloaded image")
            self.passed_s += run.image_load_s / 2
            self._worker("Loading docker image from downloaded archive.")
            self.passed_s += run.image_load_s / 2
        loaded = "Image 'public/image.tar.zst' from task 'AnImageTaskAnImageTas0' loaded."
        self._worker(f"{loaded}  Using image ID sha256:{_HASH}.")

    def _set_up(self) -> None:
        run = self.run
        self.passed_s += run.container_s
        self._run_task("setup", f"run-task started in {self._path('/builds/worker')}")
        self._run_task("setup", "running as worker:worker")
        if run.checkout_s:
            self._checkout()
        if run.fetches:
            self._fetch()
        if run.packages_s:
            self._run_task("pip-install", "executing ['python3', '-mpip', 'install']")
            self.passed_s += run.packages_s
            self._run_task("pip-install", "Successfully installed msgspec-0.20.0")

    def _checkout(self) -> None:
        run = self.run
        if run.checkout_bytes:
            source = "https://hg.mozilla.org/mozilla-unified"
            self._run_task("vcs", f"ensuring {source}@{_HASH[:40]} is available at /builds/src")
            self.passed_s += run.checkout_s
            size = f"{run.checkout_bytes / MIB:.1f} MB in {run.checkout_s:.1f} seconds"
            self._run_task("vcs", f"transferred {size} (20.0 MB/sec)")
        else:
            self._run_task("vcs", "executing ['git', 'fetch', 'origin']")
            self.passed_s += run.checkout_s
            suites = [
                {"name": "pull", "value": 0.6 * run.checkout_s},
                {"name": "update", "value": 0.4 * run.checkout_s},
            ]
            document = {"framework": {"name": "vcs"}, "suites": suites}
            self._bare(f"PERFHERDER_DATA: {json.dumps(document)}")
        self._run_task("setup", "MOZ_FETCHES_DIR is /builds/worker/fetches")

    def _fetch(self) -> None:
        """Write what fetch-content does, without stamps; a line when each step has ended."""
        self._run_task("fetches", "fetching artifacts")
        self._run_task("fetches", "executing ['python3', '-u', 'fetch-content']")
        steps = []
        for number, fetch in enumerate(self.run.fetches):
            url = f"https://tc.example.com/api/queue/v1/task/T{number}/artifacts/public/a.tar.zst"
            folder = f"/builds/worker/fetches/.fetch.{number}"
            path = self._path(f"{folder}/a.tar.zst")
            resolved = f"{url} resolved to {fetch.size_bytes} bytes with sha256 {_HASH}"
            downloaded = f"{resolved} in {fetch.download_s:.3f}s"
            if fetch.is_streamed:
                extracted = f"{url} extracted to {self._path(folder)} in {fetch.download_s:.3f}s"
                steps.append((fetch.download_s, f"{downloaded}\n{extracted}"))
                continue
            self._bare(f"Downloading {url} to {path}")
            steps.append((fetch.download_s, downloaded))
            if fetch.unpack_s:
                # It follows links and substituted drives first.
                path = self._path(f"{folder}/a.tar.zst", "D:")
                steps.append((fetch.download_s, f"Extracting {path} to {self._path(folder, 'D:')}"))
                extracted = f"{path} extracted in {fetch.unpack_s:.3f}s"
                steps.append((fetch.download_s + fetch.unpack_s, extracted))
        for _, line in sorted(steps, key=lambda step: step[0]):
            for part in line.split("\n"):
                self._bare(part)
        self.passed_s += self.run.fetches_s
        self._run_task("fetches", "finished fetching artifacts")

    def _own_work(self) -> None:
        self._run_task("task", _EXECUTING)
        self.passed_s += self.run.own_s / 2
        self._run_task("task", "+ make")
        if FAKE_FETCHES in self.traps:
            self._run_task("fetches", "fetching artifacts")
            self._worker("[mounts] Downloading task X artifact public/image.tar.zst to F")
        if FAKE_END in self.traps:
            self._worker("                       Exit Code: 0")
            self._worker("=== Task Finished ===")
            self._worker("Task Duration: 10m2.5s")
        if CARRIAGE_RETURNS in self.traps:
            self._bare("1%\r2%\r3%")
        self.passed_s += self.run.own_s / 2

    def _end(self, begun_s: float) -> None:
        run = self.run
        taken_s = self.passed_s - begun_s
        if self.writer == DOCKER_WORKER:
            self._worker("=== Task Finished ===")
            self.passed_s += run.artifacts_s + run.caches_kept_s
            took = f"completed in {self.passed_s:.3f} seconds"
            self._worker(f"Successful task run with exit code: 0 {took}")
            return
        for line in ("Exit Code: 0", f"Wall Time: {taken_s:.6f}s", "Result: SUCCEEDED"):
            self._worker(f"{line:>40}")
        self._worker("=== Task Finished ===")
        self._worker(f"Task Duration: {taken_s:.6f}s")
        if LATE_OUTPUT in self.traps:
            self._run_task("task", "a process that still writes")
        self.passed_s += run.artifacts_s
        if run.caches_kept_s:
            self._worker('[mounts] Preserving cache: Moving "/t/cache0" to "/c"')
