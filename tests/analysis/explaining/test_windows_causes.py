# SPDX-License-Identifier: MPL-2.0
"""What only Windows has, and what it does not record: each threshold from both sides.

All facts are those of seed 000's case, as if both pools ran Windows, with the changes of a row.
"""

from typing import Any

import pytest
import seed_case
from cause_thresholds import (
    DIFFERENCE_MS,
    ENOUGH_MS,
    TOO_SMALL,
    Expected,
    around,
    assert_judged,
    assert_threshold,
    enough_in_addition,
    threshold,
)
from msgspec.structs import replace
from seed_facts import (
    COLUMNS,
    COPIED_BYTES,
    ENTRY,
    MIB,
    PLACE,
    RATE,
    WRITTEN,
    Facts,
    busy_disk,
    changing,
    counting,
    first,
    idle_writes,
    last_third,
    slower_lookups,
)
from seed_workers import SUBJECT, causes_of, explanation_text, workers
from windows_facts import (
    defender,
    disk,
    first_lookup,
    fixed_work,
    on_windows,
    spaces,
    windows_host,
    worked,
)

from io_benchmark.analysis.explaining import effects, parts
from io_benchmark.analysis.explaining.case import AS_FAST_SHARE
from io_benchmark.analysis.explaining.causes import RULES, disk_speed, other_load
from io_benchmark.analysis.model.cause import State, TrialOutcome, TrialState
from io_benchmark.analysis.model.pool_machine import NetworkDisk, PoolMachine
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.statements import statement
from io_benchmark.analysis.model.subject import Subject
from io_benchmark.analysis.model.time_parts import Kind, Phase
from io_benchmark.analysis.reading import disk_rates, disks, intake
from io_benchmark.analysis.reading.capacity import fixed_work_rate
from io_benchmark.analysis.reading.disks import LOCAL_SSD, PERSISTENT_DISK
from io_benchmark.analysis.reading.network_disks import medium_of
from io_benchmark.analysis.reading.windows import BUSY_COLUMNS, Window
from io_benchmark.results.machine import LINUX, WINDOWS
from io_benchmark.results.workloads.cache_retrieve import SPENT_COLUMNS, TrialKind

SUPPORTED, RULED_OUT, NOT_OBSERVABLE = State.SUPPORTED, State.RULED_OUT, State.NOT_OBSERVABLE
NOT_SEPARABLE, CONFIRMED = State.NOT_SEPARABLE, State.CONFIRMED
UNPACK = Subject("unpack", SUBJECT.place, variant="warm")
CREATING = Subject("metadata", SUBJECT.place, variant="create-rename-unlink")
LOOKING = Subject("metadata", SUBJECT.place, variant="stat")
RANDOM = Subject("random-io", SUBJECT.place, variant="read-depth-32")
STARTING = Subject("spawn", SUBJECT.place, variant="create-process")
SCANS = {"host.windows": windows_host(defender=defender(is_real_time=True))}
MACHINE = PoolMachine("azure", "D8ads_v5", boot_disk=NetworkDisk("", 127, is_ephemeral=True))
MANAGED = PoolMachine("azure", "D8ads_v5", boot_disk=NetworkDisk("Premium_LRS", 127))
EPHEMERAL = {"amd-16": MACHINE, "intel": MANAGED}
FASTER_MIB = 400.0
SYSTEM_DISK = {"is_system_disk": True}
READ = "timeline.devices.nvme1n1.read_bytes"
SPENT = [column.removesuffix("_ns") for column in SPENT_COLUMNS]


def row(
    name: str,
    expected: Expected,
    situation: str,
    slower: Facts | None = None,
    faster: Facts | None = None,
    **arguments: Any,
) -> Any:
    """The slower side is the candidate amd-16, the faster one is intel."""
    change = {"amd-16": slower or on_windows(), "intel": faster or on_windows()}
    return pytest.param(name, expected, change, arguments, id=f"{name}: {situation}")


def place(**facts: Any) -> Facts:
    return on_windows(place=facts)


def scanning(*, subject: Subject = SUBJECT, **facts: Any) -> dict[str, Any]:
    return {"slower": on_windows(SCANS, place=facts), "subject": subject}


def only_reads(mib_per_s: float, name: str = "nvme1n1") -> Facts:
    """The disk reads so much while it is busy, which it always is, and writes nothing."""
    device = f"timeline.devices.{name}"
    return {
        f"{device}.read_bytes": counting(mib_per_s * MIB),
        f"{device}.written_bytes": counting(0),
    }


UNKNOWN_DEFENDER = {"host.windows": windows_host(defender=defender(is_real_time=None))}
STOPPED = {"host.windows": windows_host(defender=defender(is_real_time=True, is_running=False))}
ON_TEMPORARY = place(is_temporary_disk=True)
STATES = [
    row("defender-scan", RULED_OUT, "scans on neither side"),
    row("defender-scan", RULED_OUT, "does not run", on_windows(STOPPED)),
    row("defender-scan", NOT_OBSERVABLE, "unknown", on_windows(UNKNOWN_DEFENDER)),
    row("defender-scan", NOT_SEPARABLE, "scans", **scanning(is_excluded=False)),
    row("defender-scan", NOT_SEPARABLE, "exclusions unreadable", **scanning(is_excluded=None)),
    row("defender-scan", RULED_OUT, "excluded", **scanning(is_excluded=True)),
    row(
        "defender-scan",
        NOT_SEPARABLE,
        "a process starts, whatever place is excluded",
        **scanning(is_excluded=True, subject=STARTING),
    ),
    row("defender-scan", NOT_SEPARABLE, "a file is created", **scanning(subject=CREATING)),
    row("defender-scan", RULED_OUT, "no file is created", **scanning(subject=LOOKING)),
    row("defender-scan", RULED_OUT, "scans on both", on_windows(SCANS), on_windows(SCANS)),
    row(
        "defender-scan",
        RULED_OUT,
        "a Dev Drive is scanned later",
        on_windows(SCANS, place={"is_trusted_dev_drive": True}),
        on_windows(SCANS),
    ),
    row(
        "defender-scan",
        NOT_SEPARABLE,
        "the faster side's Dev Drive is scanned later",
        on_windows(SCANS),
        on_windows(SCANS, place={"is_trusted_dev_drive": True}),
    ),
    row("os-disk", NOT_OBSERVABLE, "unknown", place(is_system_disk=None)),
    row("os-disk", NOT_SEPARABLE, "no rates", place(is_system_disk=True)),
    row("os-disk", RULED_OUT, "the faster side's", None, place(is_system_disk=True)),
    row("os-disk", SUPPORTED, "small operations", place(is_system_disk=True), subject=RANDOM),
    row("disk-kind", NOT_OBSERVABLE, "no bus", on_windows(device=disk("unknown"))),
    row("disk-kind", NOT_OBSERVABLE, "Storage Spaces", on_windows(device=spaces(2))),
    row("disk-kind", NOT_SEPARABLE, "not NVMe", on_windows(device=disk("sata"))),
    row(
        "disk-kind",
        NOT_SEPARABLE,
        "it turns",
        on_windows(device=disk("sata", queue={"rotational": 1})),
        on_windows(device=disk("sas")),
    ),
    row(
        "disk-kind",
        RULED_OUT,
        "it is the disk of Windows",
        on_windows(device=disk("scsi"), place={"is_system_disk": True}),
    ),
    row("shared-io", NOT_OBSERVABLE, "no definition", ON_TEMPORARY),
    row("shared-io", NOT_SEPARABLE, "one device", ON_TEMPORARY, ON_TEMPORARY, defined=EPHEMERAL),
    row("shared-io", RULED_OUT, "another disk", None, None, defined=EPHEMERAL),
    row("remote-image", NOT_OBSERVABLE, "no times", subject=STARTING),
    row("remote-image", NOT_SEPARABLE, "no definition", on_windows(first_lookup(60_000))),
    row("lookup-cost", RULED_OUT, "the first start alone", on_windows(first_lookup(60_000))),
    row(
        "remote-image",
        RULED_OUT,
        "a managed disk",
        on_windows(first_lookup(60_000)),
        defined={"amd-16": MANAGED},
    ),
    row(
        "remote-image",
        NOT_SEPARABLE,
        "Defender scans as well",
        on_windows(first_lookup(60_000), SCANS),
        defined=EPHEMERAL,
    ),
    row("short-names", NOT_OBSERVABLE, "unknown", place(short_names=None), subject=UNPACK),
    row("short-names", NOT_SEPARABLE, "made", place(short_names=True), subject=UNPACK),
    row("short-names", RULED_OUT, "no new file", place(short_names=True), subject=LOOKING),
    row("drive-compression", NOT_OBSERVABLE, "unknown", place(is_compressed=None)),
    row("drive-compression", NOT_SEPARABLE, "compressed", place(is_compressed=True)),
    row("drive-compression", NOT_SEPARABLE, "encrypted", place(is_encrypted=True)),
    row(
        "file-system",
        NOT_SEPARABLE,
        "another one",
        on_windows({f"{PLACE}.filesystem.type": "ReFS"}),
    ),
    row("device-count", NOT_OBSERVABLE, "columns unknown", on_windows(device=spaces(None))),
    row(
        "device-count",
        SUPPORTED,
        "fewer columns",
        on_windows(idle_writes(FASTER_MIB / 2), device=spaces(2)),
        on_windows(idle_writes(FASTER_MIB), device=spaces(4)),
    ),
    row(
        "disk-speed",
        "Each disk of the slower side is as fast.",
        "fewer columns",
        on_windows(idle_writes(FASTER_MIB / 2), device=spaces(2)),
        on_windows(idle_writes(FASTER_MIB), device=spaces(4)),
    ),
    row(
        "disk-speed",
        SUPPORTED,
        "only reads are slower",
        on_windows(idle_writes(FASTER_MIB), only_reads(100)),
        on_windows(
            idle_writes(FASTER_MIB), only_reads(200, "nvme0n1"), device=disk(name="nvme0n1")
        ),
    ),
    row("disk-speed", NOT_OBSERVABLE, "no rates", on_windows({"timeline": None})),
    row("kernel", RULED_OUT, "as fast", on_windows({"host.kernel": "10.0.26100.1"})),
]


@pytest.mark.parametrize(("name", "expected", "change", "arguments"), STATES)
def test_states(name: str, expected: Expected, change: Any, arguments: Any) -> None:
    """One situation each, of a cause that only Windows has or whose facts differ there."""
    assert_judged(causes_of(change, **arguments)[name], expected)


def test_every_cause_of_windows_can_be_not_observable() -> None:
    """And in another situation it is judged."""
    rows = [row.values for row in STATES]
    unseen = {cause for cause, expected, *_ in rows if expected is NOT_OBSERVABLE}
    assert unseen >= {rule.name for rule in RULES if rule.only_on == WINDOWS}


def test_causes_of_another_system_are_left_out() -> None:
    """Not even as not observable: a Windows report has nothing of cgroups or ext4."""
    on_linux, there = causes_of(), causes_of({"amd-16": on_windows(), "intel": on_windows()})
    of_system = {
        system: {rule.name for rule in RULES if rule.only_on == system}
        for system in (LINUX, WINDOWS)
    }
    assert not of_system[WINDOWS] & on_linux.keys()
    assert not of_system[LINUX] & there.keys()
    assert {"cgroup-io-limit", "ext4-flush", "scheduler", "dirty-limit"} <= of_system[LINUX]
    texts = " ".join(cause.hypothesis + explanation_text(cause) for cause in there.values())
    assert "cgroup" not in texts
    assert "ext4" not in texts
    assert "fork" in on_linux["spawn-cost"].hypothesis
    assert "CreateProcess" in there["spawn-cost"].hypothesis


# --- trials ---


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (TrialState.CONFIRMED, CONFIRMED),
        (TrialState.UNDECIDED, NOT_SEPARABLE),
        (TrialState.REFUTED, State.REFUTED),
    ],
)
def test_the_trial_decides(outcome: TrialState, state: State) -> None:
    """A setting whose cost nothing shows is confirmed or refuted by the trial of it alone."""
    change = {"amd-16": on_windows(SCANS), "intel": on_windows()}
    trial = TrialOutcome(TrialKind.EXCLUDED, outcome, statement("The gap."), 0.9)
    assert causes_of(change, trials=[trial])["defender-scan"].state is state


# --- thresholds ---


def rates(mib_per_s: float, **facts: Any) -> Facts:
    return on_windows(idle_writes(mib_per_s), **facts)


def crowded(waiting: float, *facts: Facts) -> Facts:
    """Fixed work waits for so long for each second on a CPU."""
    return on_windows(fixed_work(1 + waiting), *facts)


FAST_DISKS = rates(FASTER_MIB)
AS_FAST_MIB = FASTER_MIB * AS_FAST_SHARE
WORKED_MS = 26.0  # of each retrieve
COPIED_MIB = COPIED_BYTES / MIB / seed_case.RETRIEVES
NO_COUNTERS = {"timeline": None, f"{ENTRY}.device_bytes": None}
THRESHOLDS = [
    threshold(
        "os-disk: as fast",
        lambda rate: rates(rate, place={"is_system_disk": True}),
        around(AS_FAST_MIB),
        TOO_SMALL,
        "The slower side's disk is another one, but as fast.",
        faster=FAST_DISKS,
    ),
    threshold(
        "disk-kind: as fast",
        lambda rate: rates(rate, device=disk("scsi")),
        around(AS_FAST_MIB),
        TOO_SMALL,
        "The slower side's disk is another one, but as fast.",
        faster=FAST_DISKS,
    ),
    threshold(
        "remote-image: a share",
        lambda more_ms: on_windows(first_lookup(more_ms)),
        around(enough_in_addition() * seed_case.RETRIEVES),
        RULED_OUT,
        SUPPORTED,
        faster=on_windows(),
        defined=EPHEMERAL,
    ),
    threshold(
        "disk-speed: as fast",
        rates,
        around(AS_FAST_MIB),
        SUPPORTED,
        "The slower side's disks move as many bytes",
        faster=FAST_DISKS,
    ),
    # Half of the time in which they are busy is saved by disks that are twice as fast.
    threshold(
        "disk-speed: busy for longer",
        lambda share: on_windows(idle_writes(FASTER_MIB / 2), busy_disk(share)),
        around(ENOUGH_MS / (0.5 * seed_case.AMD_16.average * seed_case.BUSY_SHARE)),
        "The slower side's disks are slower, but",
        SUPPORTED,
        faster=FAST_DISKS,
    ),
    threshold(
        "disk-speed: writing that takes too long to be waited for",
        lambda ms: on_windows(NO_COUNTERS, idle_writes(COPIED_MIB / ms * 1000)),
        around(disk_speed._MOST_OF_WRITING_SHARE * DIFFERENCE_MS),
        SUPPORTED,
        NOT_OBSERVABLE,
        faster=on_windows(NO_COUNTERS, idle_writes(10_000_000)),
    ),
    threshold(
        "other-load: waits for CPUs",
        crowded,
        around(ENOUGH_MS / WORKED_MS),
        RULED_OUT,
        SUPPORTED,
        faster=on_windows(),
    ),
    # Nearly all of a copy is work, so that so little waiting could be enough, but has no room.
    threshold(
        "other-load: waits for CPUs a tenth longer",
        lambda waiting: crowded(waiting, worked(copy_kernel=144), {"timeline": None}),
        around(other_load._PRESSED_SHARE),
        "The slower side shows no other load",
        TOO_SMALL,
        faster=on_windows({"timeline": None}),
    ),
    threshold(
        "other-load: waits for CPUs much longer, which do little else while workloads run",
        lambda waiting: crowded(waiting, worked(copy_kernel=144)),
        around(parts.MUCH_WAITING),
        "The slower side shows no other load",
        TOO_SMALL,
        faster=on_windows(),
    ),
    threshold(
        "kernel: slower by a tenth",
        lambda times: on_windows({"host.kernel": "10.0.26100.1"}, slower_kernel(times)),
        around(effects.SLOWER_AT_RATIO),
        "The kernels differ, but fixed work in them takes as long.",
        "The kernels differ, but what they do more slowly",
        faster=on_windows(),
    ),
]


def slower_kernel(times: float) -> Facts:
    """Fixed work in the kernel takes so many times as long, on a CPU."""
    (facts,) = fixed_work().values()
    return {
        "host.fixed_work": [
            burst
            if burst["work"] == "user"
            else burst | {name: round(times * burst[name]) for name in ("duration_ns", "kernel_ns")}
            for burst in facts
        ]
    }


@pytest.mark.parametrize(("cause", "judge", "values", "expected"), THRESHOLDS)
def test_thresholds(cause: str, judge: Any, values: Any, expected: Any) -> None:
    """Just below and just above the value, the cause is judged differently."""
    assert_threshold(cause, judge, values, expected)


# --- what Windows does not record ---


def judged(slower: Facts, faster: Facts | None = None, **arguments: Any) -> dict[str, Any]:
    return causes_of({"amd-16": slower, "intel": faster or on_windows()}, **arguments)


@pytest.mark.parametrize(
    ("wall", "on_cpu", "state"),
    [
        (1.5, 1.5, SUPPORTED),
        # It waited, or its time on a CPU was counted by chance.
        (1.5, 1.0, RULED_OUT),
        (1.0, 1.5, RULED_OUT),
    ],
)
def test_a_slower_cpu(wall: float, on_cpu: float, state: State) -> None:
    """Fixed work takes longer in both: its duration alone has what others take."""
    slower = on_windows(fixed_work(wall, on_cpu), worked(copy_user=10, copy_kernel=40))
    assert judged(slower)["cpu"].state is state


def test_other_load_explains_what_is_not_recorded() -> None:
    """What work waits as fixed work does is no other cause's: none that is not about CPUs holds."""
    waiting = 0.98 * DIFFERENCE_MS / WORKED_MS
    slower = on_windows(idle_writes(FASTER_MIB / 2), fixed_work(1 + waiting), place=SYSTEM_DISK)
    causes = judged(slower, FAST_DISKS)
    assert {name for name, cause in causes.items() if cause.state is SUPPORTED} == {"other-load"}
    assert explanation_text(causes["os-disk"]).startswith("The sides differ in this, but the parts")


def test_other_load_that_may_explain_it() -> None:
    """Where the time on a CPU is not recorded, waiting may be all of the time: nothing is sure."""
    unknown = {f"{ENTRY}.samples.{name}_ns": None for name in SPENT}
    slower = on_windows(idle_writes(FASTER_MIB / 2), fixed_work(2.5), unknown, place=SYSTEM_DISK)
    causes = judged(slower, on_windows(idle_writes(FASTER_MIB), unknown))
    assert causes["other-load"].state is NOT_SEPARABLE
    assert causes["os-disk"].state is NOT_SEPARABLE
    assert "kept the slower side's CPUs busier" in explanation_text(causes["os-disk"])


CPU_TIMES = [*BUSY_COLUMNS, "own_user_ms", "own_system_ms"]


def for_others(share: float, own: float = 0.02) -> Facts:
    """So much of the time of 16 CPUs is for other processes, and so much for the benchmark."""
    idle = {f"{COLUMNS}.{name}": counting(0) for name in CPU_TIMES}
    busy = {f"{COLUMNS}.cpu_user_ms": counting(16_000 * (share + own))}
    return on_windows(idle, busy, {f"{COLUMNS}.own_user_ms": counting(16_000 * own)})


@pytest.mark.parametrize(
    ("share", "of_faster", "state"),
    [
        (0.29, 0.0, RULED_OUT),
        (0.31, 0.0, SUPPORTED),
        (0.5, 0.31, RULED_OUT),
        (0.5, 0.29, SUPPORTED),
        # A scanner works on one of several CPUs.
        (1 / 16, 0.0, RULED_OUT),
    ],
)
def test_other_load_by_what_cpus_do_meanwhile(share: float, of_faster: float, state: State) -> None:
    """Also where fixed work, which runs before and after, waited for nothing."""
    causes = judged(for_others(share), for_others(of_faster))
    assert causes["other-load"].state is state


def test_bursts_that_wait_little_while_cpus_have_nothing_else_to_do() -> None:
    """That is chance; where it is not known what CPUs did, it counts."""
    nearly = {f"{ENTRY}.samples.copy_ns": changing(lambda ns: 1.8 * ns)}
    states = {}
    for are_known in (True, False):
        no_counters = {} if are_known else {"timeline": None}
        slower, faster = (
            for_others(0.0) | facts | no_counters for facts in (fixed_work(1.28), nearly)
        )
        states[are_known] = judged(slower, faster)["other-load"].state
    assert states == {True: RULED_OUT, False: SUPPORTED}


@pytest.mark.parametrize("name", ["lookup-cost", "spawn-cost"])
def test_lookups_without_fixed_work(name: str) -> None:
    """All work may take longer: nothing shows that lookups alone do."""
    slower = on_windows(slower_lookups(40))
    assert judged(slower)["lookup-cost"].state is SUPPORTED
    unknown = {"host.fixed_work": None}
    causes = judged(slower | unknown, on_windows(unknown))
    assert causes[name].state is NOT_OBSERVABLE


def test_a_worker_whose_bursts_met_no_other_load() -> None:
    """It does not contradict its side: a competitor takes whole quanta from few bursts."""
    slower = crowded(ENOUGH_MS / WORKED_MS * 4)
    change = {"amd-16": slower, "amd-16/1": crowded(0.05), "intel": on_windows()}
    assert causes_of(change, workers=4)["other-load"].state is SUPPORTED


def test_disks_that_are_never_busy() -> None:
    """Nothing waits for them, whatever they could do."""
    slower = on_windows(busy_disk(0.01), device=disk("sata"), place=SYSTEM_DISK)
    cause = judged(slower, on_windows(idle_writes(9000)))["disk-speed"]
    assert cause.state is not SUPPORTED
    slower |= idle_writes(100)
    cause = judged(slower, on_windows(idle_writes(9000)))["disk-speed"]
    assert explanation_text(cause) == "The slower side did not wait for its disks."


def test_disks_by_what_they_move_while_they_are_busy() -> None:
    """Without trials, windows in which a disk hardly reads show how fast it writes."""
    half = {WRITTEN: changing(lambda moved: moved / 2)}
    faster = on_windows(device=disk(name="nvme0n1"))
    assert judged(on_windows(half, place=SYSTEM_DISK), faster)["os-disk"].state is SUPPORTED
    # Too few windows with writes alone show nothing.
    reading = {READ: counting(RATE)}
    unknown = judged(on_windows(half, reading, place=SYSTEM_DISK), faster)["os-disk"]
    assert unknown.state is NOT_SEPARABLE


@pytest.mark.parametrize("columns", [0, disks._MOST_COLUMNS + 1, 2**62])
def test_columns_that_no_volume_has(columns: int) -> None:
    """A damaged result is one whose disks could not be seen."""
    cause = judged(on_windows(device=spaces(columns)))["device-count"]
    assert cause.state is NOT_OBSERVABLE


def test_a_cap_needs_a_rate_that_was_seen() -> None:
    """A managed disk that may do less is no cause where nothing shows what it did."""
    small, large = (
        PoolMachine("azure", "D32ads_v5", boot_disk=NetworkDisk("Premium_LRS", size))
        for size in (1024, 8192)
    )

    def managed(gib: int, *facts: Facts) -> Facts:
        device = disk("scsi", size_bytes=gib << 30)
        machine = {"task.instance_type": "Standard_D32ads_v5"}
        return on_windows(machine, *facts, place={"is_system_disk": gib == 1024}, device=device)

    defined = {"amd-16": small, "intel": large}
    unseen = judged(managed(1024, {"timeline": None}), managed(8192), defined=defined)
    assert unseen["disk-size"].state is NOT_OBSERVABLE
    at_its_cap = {WRITTEN: changing(lambda moved: moved * 190 * MIB / RATE)}
    slower, faster = managed(1024, at_its_cap), managed(8192, idle_writes(470))
    at_cap = judged(slower, faster, defined=defined)
    assert at_cap["disk-size"].state is SUPPORTED
    assert explanation_text(at_cap["os-disk"]).startswith("What the slower side's network disk")
    # Copies that wait for reads alone show what it reads.
    slower, faster = managed(1024, only_reads(190)), managed(8192, idle_writes(470))
    assert judged(slower, faster, defined=defined)["disk-size"].state is SUPPORTED


def test_a_temporary_disk_is_no_disk_of_the_network() -> None:
    """Whatever disks the definition has whose size is not known."""
    unsized = PoolMachine("azure", "D8ads_v5", boot_disk=NetworkDisk("Premium_LRS"))
    for is_temporary, medium in ((True, LOCAL_SSD), (False, PERSISTENT_DISK)):
        facts = place(is_temporary_disk=is_temporary)
        (worker,) = workers(pools=["amd-16"], change={"amd-16": facts})
        run, *_ = replace(worker, defined=unsized).runs
        assert medium_of(run) == medium


@pytest.mark.parametrize(
    ("busy_share", "number", "rate"),
    [
        (disk_rates._BUSY_SHARE + 0.01, disk_rates._FEWEST_BUSY, 1000.0),
        (disk_rates._BUSY_SHARE - 0.01, disk_rates._FEWEST_BUSY, None),
        (disk_rates._BUSY_SHARE + 0.01, disk_rates._FEWEST_BUSY - 1, None),
    ],
)
def test_windows_that_show_a_rate(
    monkeypatch: pytest.MonkeyPatch, busy_share: float, number: int, rate: float | None
) -> None:
    """Some seconds in which the disk was busy for a part; it is the rate of that part."""
    second = Window(1.0, 0.0, 1000.0 * busy_share, 1.0, busy_share)
    monkeypatch.setattr(disk_rates, "windows_of", lambda _run: [second] * number)
    (worker,) = workers(pools=["amd-16"], change={"amd-16": on_windows()})
    found = disk_rates.busy_write_rate(worker.runs[0])
    assert found == (rate and pytest.approx(rate))


def test_fixed_work_that_others_take_quanta_from() -> None:
    """Their sum counts: a burst loses nothing, or a whole quantum."""
    facts = fixed_work()
    for number, burst in enumerate(facts["host.fixed_work"]):
        burst["duration_ns"] *= 3 if number % 2 else 1
    (worker,) = workers(pools=["amd-16"], change={"amd-16": on_windows(facts)})
    assert fixed_work_rate(worker.runs[0], "user") == pytest.approx(1000 / 0.1)


def test_a_full_cache_is_not_a_disk_that_slowed_down() -> None:
    """Where nothing shows the disks' rates before, later copies that take longer say nothing."""
    slower = on_windows(last_third(2)) | {READ: counting(RATE)}
    cause = judged(slower)["drift-over-time"]
    assert cause.state is NOT_OBSERVABLE
    assert "a cache was full" in explanation_text(cause)


@pytest.mark.parametrize(("share", "is_divided"), [(0.99, False), (1.01, True)])
def test_too_few_ticks(share: float, is_divided: bool) -> None:
    """The root of as many ticks as were counted is chance: it is little of the run's time."""
    retrieves = 10

    def run_of(*facts: Facts) -> Run:
        change = {"amd-16": on_windows(*facts) | first(retrieves)}
        (worker,) = workers(pools=["amd-16"], change=change)
        return worker.runs[0]

    run_s = run_of().mean_ns * retrieves / 1e9
    # The root of so many ticks is this share of the run.
    worked_s = (intake._MOST_CHANCE_SHARE * run_s / share) ** 2 / (intake._TICK_NS / 1e9)
    run = run_of(worked(copy_kernel=1000 * worked_s / retrieves))
    kinds = {part.kind for part in run.parts_ns if part.phase is Phase.COPY}
    assert (Kind.KERNEL in kinds) is is_divided
    assert sum(run.parts_ns.values()) == pytest.approx(run.mean_ns)
