# SPDX-License-Identifier: MPL-2.0
"""What limits the verdicts of a comparison, as clauses of the sentences that they limit.

What limits all pairs of pools is written once. A sentence has the first clauses and the number of
the others. Warnings and notes have the whole messages; a screen has no warning of which a sentence
speaks.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from io_benchmark.analysis.model.comparison import Comparison, Problem, Severity
from io_benchmark.analysis.model.groups import grouped
from io_benchmark.analysis.model.report import SampledReport
from io_benchmark.analysis.model.run import WorkerLine
from io_benchmark.number_text import listed, number_of, percent
from io_benchmark.report.content import text_of
from io_benchmark.text import ending_in_words

ENDED_BADLY = ("failed", "exception")
_ONE_WORKER = "one-worker"
_SHOWN = 2
_NAMED = 2
_SIDES = "SIDES"
# What the rule of a warning changes in the meaning of a verdict.
_CLAUSES = {
    "retrieves": "runs of SIDES of another length are left out",
    "interpreter": "measured by different versions of Python",
    "place-kind": "the places are of different kinds",
    "engine": "tasks of one pool ran in docker, those of the other natively",
    "script-version": "measured by different versions of the script",
    "unequal-length": "only the first samples of each run are compared",
    "survivors": "slower runs of SIDES ended early and are left out",
    "same-worker": "runs of SIDES on one machine count as one worker",
    "zones": "the workers are in different zones",
    "measured-apart": "measured hours apart",
    "pushes": "measured by different pushes",
    "shared-worker": "both pools ran on one machine",
}


class Caveat(Struct, frozen=True):
    clause: str
    problems: tuple[Problem, ...] = ()
    runs: tuple[WorkerLine, ...] = ()
    joint: str = "; "  # between what is before it in a sentence, and its text
    general_clause: str = ""  # where a sentence about all pairs has another text


class Caveats(Struct, frozen=True):
    common: Sequence[Caveat]
    by_candidate: dict[str, Sequence[Caveat]]  # without those of all
    pairs: Sequence[Comparison]

    @classmethod
    def of(cls, report: SampledReport, pairs: Sequence[Comparison]) -> "Caveats":
        """Return the caveats of the pairs with which the sentences of a report begin."""
        by_candidate = {pair.candidate: [*_caveats_of_pair(report, pair)] for pair in pairs}
        clauses = [{caveat.clause for caveat in caveats} for caveats in by_candidate.values()]
        common = set.intersection(*clauses) if len(clauses) > 1 else set()
        first = next(iter(by_candidate.values()), [])
        return cls(
            [caveat for caveat in first if caveat.clause in common],
            {
                candidate: [caveat for caveat in caveats if caveat.clause not in common]
                for candidate, caveats in by_candidate.items()
            },
            pairs,
        )

    def without_pools(self) -> "Caveats":
        """Return the caveats of validity rules and runs, without those of a whole pool.

        A gate's reasons have these: single workers, lost results, and unlike machines.
        """
        by_candidate: dict[str, Sequence[Caveat]] = {
            candidate: [
                caveat
                for caveat in caveats
                if caveat.runs or any(problem.rule != _ONE_WORKER for problem in caveat.problems)
            ]
            for candidate, caveats in self.by_candidate.items()
        }
        return Caveats(self.common, by_candidate, self.pairs)

    def common_sentence(self) -> str:
        """Return what limits all pairs; nothing where nothing does."""
        texts = [caveat.general_clause or caveat.clause for caveat in self.common[:_SHOWN]]
        return "; ".join([*texts, *_more(self.common)])

    def clauses(self, candidate: str) -> str:
        """Return what belongs behind the number of workers of a pair."""
        caveats = self.by_candidate.get(candidate, ())
        texts = [f"{caveat.joint}{caveat.clause}" for caveat in caveats[:_SHOWN]]
        return "".join([*texts, *(f"; {count}" for count in _more(caveats))])

    def pointer_to(self, candidates: Iterable[str]) -> str:
        """Return which of several pools have caveats, for the sentence that they share."""
        names = [candidate for candidate in candidates if self.by_candidate.get(candidate)]
        return f"; for caveats of {listed(names, _NAMED)} see below" if names else ""

    def is_written(self, about: Problem | WorkerLine, candidates: Collection[str]) -> bool:
        """Return whether the sentences of these candidates have all that this limits."""
        limited = [pair.candidate for pair in self.pairs if _is_limited(pair, about)]
        return bool(limited) and all(
            any(_is_about(caveat, about) for caveat in self.common[:_SHOWN])
            or (
                candidate in candidates
                and any(
                    _is_about(caveat, about) for caveat in self.by_candidate[candidate][:_SHOWN]
                )
            )
            for candidate in limited
        )


def _more(caveats: Sequence[Caveat]) -> Iterator[str]:
    left_out = len(caveats) - _SHOWN
    if left_out > 0:
        yield f"and {number_of(left_out, 'more caveat')} below"


def _is_limited(pair: Comparison, about: Problem | WorkerLine) -> bool:
    sides = {pair.candidate, pair.baseline}
    if isinstance(about, WorkerLine):
        return about.side in sides
    # A problem of several sides is one of their pairs, except that of single workers.
    return (
        not sides.isdisjoint(about.sides)
        if about.rule == _ONE_WORKER
        else (sides.issuperset(about.sides))
    )


def _is_about(caveat: Caveat, about: Problem | WorkerLine) -> bool:
    if isinstance(about, WorkerLine):
        return about in caveat.runs
    return any(_alike(problem, about) for problem in caveat.problems)


def _alike(problem: Problem, similar: Problem) -> bool:
    """Return whether two problems differ in their measurement alone."""
    return (problem.rule, problem.severity, problem.sides) == (
        similar.rule,
        similar.severity,
        similar.sides,
    )


def _caveats_of_pair(report: SampledReport, pair: Comparison) -> Iterator[Caveat]:
    """Yield the caveats of a pair, those first that change most of what its verdict means."""
    allowed, warned = (
        [
            problem
            for problem in report.problems
            if problem.severity is severity and _is_limited(pair, problem)
        ]
        for severity in (Severity.ALLOWED, Severity.WARNING)
    )
    yield from _single_worker(pair, warned)
    for rule, problems in grouped(allowed, lambda problem: problem.rule).items():
        yield _by_rule(pair, f"compared nevertheless, by --allow {rule}", problems)
    for side in (pair.candidate, pair.baseline):
        yield from _results(report, side)
        yield from _unlike_machines(report, side)
    clauses = [
        _by_rule(pair, clause, problems)
        for rule, clause in _CLAUSES.items()
        if (problems := [problem for problem in warned if problem.rule == rule])
    ]
    yield from sorted(clauses, key=lambda caveat: not _is_of(pair, caveat.problems))
    if pair.look is not None and pair.of_all is None:
        yield Caveat(f"{text_of(pair.look)}, for which the interval is wider")
    unknown = len(report.unreadable) - sum(
        report.lost.get(count.side, 0) for count in report.replication
    )
    if unknown > 0:
        yield Caveat(f"{number_of(unknown, 'result')} could not be read")


def _single_worker(pair: Comparison, warned: Sequence[Problem]) -> Iterator[Caveat]:
    single = tuple(problem for problem in warned if problem.rule == _ONE_WORKER)
    if single and pair.assumed_variation_ratio is not None:
        assumed = f"that workers vary by {percent(pair.assumed_variation_ratio)}"
        yield Caveat(
            f"so the interval assumes {assumed}",
            single,
            joint=", ",
            general_clause=f"with one worker, the interval assumes {assumed}",
        )


def _by_rule(pair: Comparison, clause: str, problems: Sequence[Problem]) -> Caveat:
    """Return the caveat of a rule; what is about further measurements names their workloads."""
    sides = dict.fromkeys(side for problem in problems for side in problem.sides)
    clause = clause.replace(_SIDES, " and ".join(sides))
    if not _is_of(pair, problems):
        workloads = dict.fromkeys(
            problem.subject.workload for problem in problems if problem.subject is not None
        )
        clause += f" ({listed([*workloads], _NAMED)})"
    return Caveat(clause, tuple(problems))


def _is_of(pair: Comparison, problems: Sequence[Problem]) -> bool:
    return any(problem.subject in (None, pair.subject) for problem in problems)


def _results(report: SampledReport, side: str) -> Iterator[Caveat]:
    """Yield which results of a pool are missing, or are not of whole runs."""
    lost = report.lost.get(side, 0)
    runs = [run for run in report.workers if run.is_counted and run.side == side]
    if lost:
        results = number_of(len(runs) + lost, "result")
        yield Caveat(f"{lost:,} of {results} of {side} {_is_or_are(lost, 'was', 'were')} lost")
    ended_early = tuple(run for run in runs if run.state in ENDED_BADLY)
    if ended_early:
        ending = "ended early"
        if len(ended_early) == 1:
            ending = ending_in_words(ended_early[0].state, ended_early[0].reason)
        yield Caveat(
            f"{_counted(ended_early, runs)} {ending}, {_use(ended_early)}", runs=ended_early
        )
    unused_runs = [
        run
        for run in runs
        if run.measurements and not run.measurements_used and run.state not in ENDED_BADLY
    ]
    if unused_runs:
        yield Caveat(f"{_counted(unused_runs, runs)} {_is_or_are(len(unused_runs))} left out")


def _use(runs: Sequence[WorkerLine]) -> str:
    """Return what counts of runs that ended early; rules may leave out some of it."""
    unused = sum(run.measurements_used == 0 for run in runs)
    if unused:
        return "left out" if unused == len(runs) else f"{unused:,} of them left out"
    is_whole = all(run.measurements_used == run.measurements for run in runs)
    return "used as far as measured" if is_whole else "partly used"


def _counted(part: Sequence[WorkerLine], runs: Sequence[WorkerLine]) -> str:
    if len(runs) == 1:
        return f"the only run of {runs[0].side}"
    return f"{len(part):,} of {number_of(len(runs), 'run')} of {runs[0].side}"


def _is_or_are(number: int, singular: str = "is", plural: str = "are") -> str:
    return singular if number == 1 else plural


def _unlike_machines(report: SampledReport, side: str) -> Iterator[Caveat]:
    """Yield how many workers of a pool are unlike the others, of which sentences below tell."""
    pools = [pool for pool in report.mixed_pools if pool.side == side]
    if pools:
        pool = max(pools, key=lambda pool: len(pool.slower))
        workers = number_of(len(pool.slower) + len(pool.faster), "worker")
        yield Caveat(f"{len(pool.slower):,} of {workers} of {side} are other machines")
    machines = {worker.machine for worker in report.single_workers if worker.side == side}
    if machines:
        workers = number_of(len(machines), "worker")
        yield Caveat(f"{workers} of {side} {_is_or_are(len(machines))} unlike the others")
