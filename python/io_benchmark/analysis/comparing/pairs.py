# SPDX-License-Identifier: MPL-2.0
"""From valid sides to compared ones: the pairs that are planned, their comparisons and figures."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field
from msgspec.structs import replace

from io_benchmark.analysis.comparing.comparisons import compare_sides, with_advice
from io_benchmark.analysis.comparing.figures import storage_of, summarize
from io_benchmark.analysis.comparing.looks import Earlier, earlier_looks, look_of, schedule_of
from io_benchmark.analysis.comparing.pushes import push_variation
from io_benchmark.analysis.comparing.samples import in_common
from io_benchmark.analysis.model.comparison import Problem, Severity, WorkerVariation
from io_benchmark.analysis.model.looks import Schedule
from io_benchmark.analysis.model.measurement import ComparedSides, Measurement
from io_benchmark.analysis.model.plan import Plan
from io_benchmark.analysis.model.run import Run, Worker
from io_benchmark.analysis.model.side import Side
from io_benchmark.analysis.statistics import levels, variations
from io_benchmark.analysis.statistics.variances import MeanVariance
from io_benchmark.analysis.validity import checks, workers

# How many earlier pushes of a run's pool there are, and how far their levels differ; None: too few.
EarlierPushes = Callable[[Run], tuple[int, MeanVariance] | None]


class Options(Struct, frozen=True):
    """How a user wants pools to be judged."""

    margin: float = levels.DEFAULT_MARGIN
    worker_variation: WorkerVariation | None = None  # None: as far as the results show it
    allow: frozenset[str] = field(default_factory=frozenset)  # validity rules that refuse nothing
    looks: Schedule = field(default_factory=Schedule)


class Results(Struct, frozen=True):
    """All results of each side, and what is known beside them."""

    by_side: Mapping[str, Sequence[Worker]]
    lost: Counter[str]  # how many tasks of a side ended and left no result
    earlier: EarlierPushes | None  # None: no two pushes are compared


def compare_pairs(
    measurement: Measurement, plan: Plan, options: Options, results: Results
) -> Measurement:
    """Return the measurement with its sides' figures and the comparisons of its planned pairs."""
    sides = measurement.sides
    problems = [*chain.from_iterable(map(workers.repeated_workers, sides.values()))]
    pairs: list[ComparedSides] = []
    earlier: list[Earlier] = []
    for names in plan.pairs:
        if not all(name in sides for name in names):
            continue
        candidate, baseline = (sides[name] for name in names)
        broken = checks.check_sides(candidate, baseline, options.allow)
        problems += broken
        if any(problem.severity is Severity.REFUSED for problem in broken):
            continue
        pair, warnings = _compared_sides(candidate, baseline, measurement, plan, options, results)
        problems += warnings
        pairs.append(pair)
        lost = [results.lost[name] for name in names]
        earlier.append(earlier_looks(pair, candidate, baseline, lost))
    comparisons = compare_sides(measurement.subject, pairs, margin=options.margin, earlier=earlier)
    comparisons = with_advice(comparisons, pairs, margin=options.margin)
    problems += workers.single_workers(comparisons, sides)
    in_order = {name: sides[name] for name in plan.order(sides)}
    # Only cache-retrieve tells where its bytes went.
    stored = in_order if measurement.subject.workload == "cache-retrieve" else {}
    return replace(
        measurement,
        figures={name: summarize(side) for name, side in in_order.items()},
        storage={name: storage_of(side) for name, side in stored.items()},
        pairs=tuple(pairs),
        comparisons=comparisons,
        problems=(*measurement.problems, *problems),
    )


def _compared_sides(
    candidate: Side,
    baseline: Side,
    measurement: Measurement,
    plan: Plan,
    options: Options,
    results: Results,
) -> tuple[ComparedSides, list[Problem]]:
    """Return what is compared of two sides, and what may mislead in it."""
    names = candidate.name, baseline.name
    common = in_common(candidate, baseline)
    of_sides = [results.by_side[name] for name in names]
    schedule = schedule_of(options.looks, of_sides)
    counts = common.candidate.count, common.baseline.count
    look = look_of(schedule, counts, of_sides, [results.lost[name] for name in names])
    earlier = results.earlier and results.earlier(next(iter(candidate)))
    pushes = push_variation(candidate, baseline, earlier, is_change=plan.is_change)
    variation = _variation(names, measurement.sides, options)
    pair = ComparedSides(common.candidate, common.baseline, variation, look, schedule, pushes)
    return pair, workers.check_pair(candidate, baseline, common.length, pushes)


def _variation(
    pair: tuple[str, str], sides: Mapping[str, Side], options: Options
) -> WorkerVariation:
    """Return how far workers are assumed to differ where a side of the pair has too few."""
    logs = {name: side.log_means for name, side in sides.items()}
    variation = options.worker_variation or variations.of_pair(pair, logs)
    has_single = any(len(logs[name]) == 1 for name in pair)
    return variations.of_single_worker(variation) if has_single else variation
