# SPDX-License-Identifier: MPL-2.0
"""What makes downloads slow: round trips, the rate of the bytes, or what precedes the first byte.

A download is divided into three: round trips (connecting, TLS and the request each take at least
one), waiting beyond these until the first byte, and the bytes. The bytes take longer because of
round trips as well, since a connection begins slowly, and sends only so much per round trip. How
fast it is once it has begun shows in the second half of the bytes. If round trips limit that, too,
several connections get several times as much. Where the network's rate is the limit, they get what
one gets.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from io_benchmark.analysis.explaining import effects
from io_benchmark.analysis.explaining.case import Case
from io_benchmark.analysis.explaining.facts import downloads
from io_benchmark.analysis.explaining.measured_gains import Gain, Push, follows
from io_benchmark.analysis.explaining.rules import CauseRule, Only, RemedyRule
from io_benchmark.analysis.model.cause import Cause, NoChange
from io_benchmark.analysis.model.run import Run
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.model.statements import Unit, ratio_of
from io_benchmark.analysis.model.time_parts import Kind, in_all

_DOWNLOAD, _TO_MEMORY, _TO_PLACE = "download", "to-memory", "to-place"
_ALONE, _AT_ONCE = 1, 4  # connections
_SLOWER_TRIP = 1.1
# What 4 connections get over what 1 gets: 1 where the rate is the limit, 4 where round trips are.
_RATE_IS_LIMIT, _TRIPS_ARE_LIMIT = 1.6, 2.5
_OF_DOWNLOADS = Only((_DOWNLOAD,), "no other workload downloads")
_NOT_PROFILED = NoChange("a task's profile does not have its downloads")

ReadTime = Callable[[Run], float | None]


_EVIDENCE = (
    effects.span("round-trip", downloads.round_trip_ns, Unit.NANOSECONDS, "round trip {value}"),
    effects.span(
        "before-bytes", downloads.before_body_ns, Unit.NANOSECONDS, "first byte after {value}"
    ),
    effects.span(
        "rate-of-bytes", downloads.bytes_per_s, Unit.BYTES_PER_SECOND, "{value} per connection"
    ),
    effects.tally("answered-by", downloads.answered_by, "answered by {value}"),
)


def _led_by(number: int) -> tuple[effects.Observe, ...]:
    return (_EVIDENCE[number], *_EVIDENCE[:number], *_EVIDENCE[number + 1 :])


class _Network(Struct, frozen=True):
    """Downloads to memory of both sides, with as many connections as the case's."""

    case: Case
    slower: Side
    faster: Side
    evidence: effects.SideEvidence

    def longer_ns(self, read: ReadTime) -> float | None:
        slower_ns, faster_ns = self.slower.mean(read), self.faster.mean(read)
        return None if slower_ns is None or faster_ns is None else slower_ns - faster_ns

    def share(self, *longer_ns: float) -> float | None:
        """Return the share of the case's difference that these times of a download make up."""
        mib = self.slower.mean(downloads.operations_of_sample)
        if mib is None:
            return None
        return self.case.share_of(sum(max(0.0, time_ns) for time_ns in longer_ns) / mib)

    @property
    def trip_is_longer(self) -> bool:
        slower_ns, faster_ns = (
            side.mean(downloads.round_trip_ns) for side in (self.slower, self.faster)
        )
        return bool(slower_ns and faster_ns and slower_ns >= _SLOWER_TRIP * faster_ns)

    @property
    def gain(self) -> float | None:
        """Return how many times as much 4 connections of the slower side get as 1 does."""
        alone_ns = _steady_to_memory_ns(self.case, self.case.slower, _ALONE)
        at_once_ns = _steady_to_memory_ns(self.case, self.case.slower, _AT_ONCE)
        return _AT_ONCE * alone_ns / at_once_ns if alone_ns and at_once_ns else None

    @property
    def bytes_wait_for_trips(self) -> bool | None:
        """Return whether the bytes take longer because of round trips; None: not known."""
        if not self.trip_is_longer:
            return False
        gain, carries_as_much = self.gain, self.carries_as_much
        if gain is None or carries_as_much is None:
            return None
        if carries_as_much or gain >= _TRIPS_ARE_LIMIT:
            return True
        return False if gain <= _RATE_IS_LIMIT else None

    @property
    def carries_as_much(self) -> bool | None:
        """Return whether 4 connections get as much on both sides; None: not known."""
        slower_ns = _steady_to_memory_ns(self.case, self.case.slower, _AT_ONCE)
        faster_ns = _steady_to_memory_ns(self.case, self.case.faster, _AT_ONCE)
        if slower_ns is None or faster_ns is None:
            return None
        return slower_ns < effects.SLOWER_AT_RATIO * faster_ns


def _to_memory(case: Case, side: Side, connections: int) -> Side | None:
    """Return the same workers' downloads to memory, which do not depend on the place."""
    for measured in case.measured(_DOWNLOAD, _TO_MEMORY):
        if measured.subject.threads == connections:
            return Side.of_workers((run.worker for run in side), measured.subject)
    return None


def _steady_to_memory_ns(case: Case, side: Side, connections: int) -> float | None:
    to_memory = _to_memory(case, side, connections)
    return to_memory.mean(downloads.steady_ns) if to_memory is not None else None


def _network(case: Case, leading: int) -> "_Network | effects.Effect":
    """Return the downloads that show the network alone, or what is missing or speaks against it."""
    evidence = effects.SideEvidence.of(case, *_led_by(leading))
    connections = case.subject.threads
    slower = _to_memory(case, case.slower, connections)
    faster = _to_memory(case, case.faster, connections)
    if slower is None or faster is None:
        return effects.NOT_MEASURED.needs("downloads to memory", _DOWNLOAD)
    network = _Network(case, slower, faster, evidence)
    if None in (network.longer_ns(downloads.trips_ns), network.longer_ns(downloads.body_ns)):
        return evidence.unseen("A side did not record the steps of its downloads.")
    if case.subject.variant == _TO_PLACE:
        to_memory = case.sibling(variant=_TO_MEMORY, place=slower.subject.place)
        if to_memory is not None and case.times_as_long(to_memory) < effects.SLOWER_AT_RATIO:
            return evidence.opposes(
                "Downloads to memory take as long on both sides: the place makes the difference."
            )
    return network


def _rate(case: Case) -> effects.Effect:
    network = _network(case, 2)
    if isinstance(network, effects.Effect):
        return network
    evidence, waits_for_trips = network.evidence, network.bytes_wait_for_trips
    read = downloads.steady_ns if network.trip_is_longer else downloads.body_ns
    # Bytes that wait for a CPU are no slow network.
    longer_on_cpu_ns = max(0.0, network.longer_ns(downloads.cpu_ns) or 0.0)
    longer_ns = (network.longer_ns(read) or 0.0) - longer_on_cpu_ns
    if longer_ns <= 0:
        return evidence.opposes("The bytes come as fast on the slower side, but for its CPUs.")
    gain = network.gain
    if waits_for_trips:
        if network.carries_as_much:
            return evidence.opposes(
                "4 connections get as much on both sides: the bytes of one wait for round trips."
            )
        return evidence.opposes(
            "4 connections get {gain} what 1 gets: the bytes wait for round trips.",
            gain=ratio_of(gain or _TRIPS_ARE_LIMIT),
        )
    too_little = "That the bytes come slower makes up {share} of the difference."
    effect = evidence.supports("The slower side's bytes come slower.")
    if gain is not None and gain >= _TRIPS_ARE_LIMIT:
        effect = effect.also(
            "4 connections get {gain} what 1 gets: the limit is one of each connection.",
            gain=ratio_of(gain),
        )
    elif gain is not None and gain <= _RATE_IS_LIMIT:
        effect = effect.also(
            "4 connections get {gain} what 1 gets: the limit is one of them all.",
            gain=ratio_of(gain),
        )
    effect = effect.if_enough(case, network.share(longer_ns), too_little)
    if effect.is_slower and waits_for_trips is None:
        return replace(effect, size=None, proof=effects.Proof.SETTING)
    return effect


def _latency(case: Case) -> effects.Effect:
    network = _network(case, 0)
    if isinstance(network, effects.Effect):
        return network
    evidence = network.evidence
    if not network.trip_is_longer:
        return evidence.opposes("A round trip takes no longer on the slower side.")
    trips_ns = (
        network.longer_ns(downloads.trips_ns) or 0.0,
        network.longer_ns(downloads.beginning_ns) or 0.0,
    )
    steady_ns = network.longer_ns(downloads.steady_ns) or 0.0
    too_little = "Round trips make up {share} of the difference."
    effect = evidence.supports("A round trip of the slower side takes longer.")
    if network.bytes_wait_for_trips:
        effect = effect.also(
            "The bytes wait for round trips, too: 4 connections get {gain} what 1 gets.",
            gain=ratio_of(network.gain or _TRIPS_ARE_LIMIT),
        )
        return effect.if_enough(case, network.share(*trips_ns, steady_ns), too_little)
    before_bytes = effect.if_enough(case, network.share(*trips_ns), too_little)
    if before_bytes.is_slower or network.bytes_wait_for_trips is False:
        return before_bytes
    effect = effect.if_enough(case, network.share(*trips_ns, steady_ns), too_little)
    return replace(effect, size=None, proof=effects.Proof.SETTING)


def _first_byte(case: Case) -> effects.Effect:
    network = _network(case, 1)
    if isinstance(network, effects.Effect):
        return network
    longer_ns = network.longer_ns(downloads.waits_ns) or 0.0
    too_little = (
        "Waiting for the first byte, beyond round trips, makes up {share} of the difference."
    )
    effect = network.evidence.supports(
        "The slower side waits longer for the first byte than its round trips take."
    )
    return effect.if_enough(case, network.share(longer_ns), too_little)


_NOT_AT_ONCE = follows("Not measured here: 4 connections in the same push would show it.")


def _by_more_connections(push: Push, cause: Cause) -> Gain | None:
    """Compare with the same side's downloads by several connections."""
    subject = replace(push.subject, threads=_AT_ONCE)
    if subject == push.subject:
        return None
    if (push.slow, subject) not in push.measured:
        return _NOT_AT_ONCE(push, cause)
    template = "{side}: a MiB by 4 connections at once takes {then} instead of {now}."
    return push.gain(push.slow, subject, template).if_worth_it


_MORE_CONNECTIONS = RemedyRule("download by several connections at once", _by_more_connections)
_CLOSER = RemedyRule(
    "run the workers in the region that answers, or keep a copy of the objects in theirs",
    Push.other_pool,
)
NETWORK_RATE = CauseRule(
    name="network-rate",
    hypothesis="The slower side's network, or the host that answers, gives fewer bytes per second.",
    fact=_rate,
    applies_to=_OF_DOWNLOADS,
    acts_through=in_all(Kind.BLOCKED),
    change=_NOT_PROFILED,
    remedies=(
        RemedyRule("use a machine type whose network is as fast as the other's", Push.other_pool),
        _MORE_CONNECTIONS,
    ),
)
NETWORK_LATENCY = CauseRule(
    name="network-latency",
    hypothesis="The slower side is farther from the host that answers.",
    fact=_latency,
    applies_to=_OF_DOWNLOADS,
    acts_through=in_all(Kind.BLOCKED),
    change=_NOT_PROFILED,
    remedies=(_CLOSER, _MORE_CONNECTIONS),
)
NETWORK_FIRST_BYTE = CauseRule(
    name="network-first-byte",
    hypothesis="The host that answers the slower side takes longer to begin.",
    fact=_first_byte,
    applies_to=_OF_DOWNLOADS,
    acts_through=in_all(Kind.BLOCKED),
    change=_NOT_PROFILED,
    remedies=(
        RemedyRule(
            "keep the objects in a cache next to the workers",
            follows("A cache does not wait for the origin. This is not measured here."),
        ),
    ),
)
