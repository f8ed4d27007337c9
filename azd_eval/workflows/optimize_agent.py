"""Hold out, calibrate, let a strategy search, confirm what it found; say only what is known."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.faults import find_fault
from azd_eval.domain.optimization_summary import CandidateResult
from azd_eval.domain.search import Decision, Finding, Stop
from azd_eval.domain.summary import ScoreWithInterval
from azd_eval.errors import MeasurementError
from azd_eval.workflows.calibration import Calibration, calibrate
from azd_eval.workflows.confirmation import Confirmation, confirm
from azd_eval.workflows.hold_out import Split, split_tasks
from azd_eval.workflows.optimization_job import OptimizationJob, OptimizationParts
from azd_eval.workflows.search_bench import GuardedBench


@dataclass(frozen=True, slots=True)
class OptimizationOutcome:
    """The end of an optimization. `candidates` holds the baseline, then one row per proposal.

    `best` is the baseline where nothing was better, or what seemed so lost the last comparison.
    That `confirmation` is None where nothing was better, and where there was no leave to look.
    `evaluations` counts trials. `believed` is as in `Finding`.
    """

    best: Candidate
    candidates: tuple[CandidateResult, ...]
    iterations: int
    evaluations: int
    stop: Stop
    split: Split
    calibration: Calibration | None = None
    confirmation: Confirmation | None = None
    believed: Mapping[str, ScoreWithInterval] = field(default_factory=dict)


async def optimize_agent(job: OptimizationJob, parts: OptimizationParts) -> OptimizationOutcome:
    """Revise the baseline's instructions in up to `max_iterations` tries, whatever each comes to.

    Raises `MeasurementError` when the baseline cannot be measured. What fails later costs a try or
    ends the search, and the best so far is returned. Cancelled, it has everything on record.
    """
    split = split_tasks(job)
    bench = GuardedBench(job, parts, split.learning)
    try:
        bench.record({"event": "split", **split.names})
        calibration = await _calibrate(bench, split)
        finding = await _search(bench, parts)
        rows = bench.close(finding.stop)
        confirmation = await confirm(bench, finding.best, split)
    except asyncio.CancelledError:
        bench.record({"event": "stopped", "reason": "interrupted"})
        raise
    best = job.baseline if confirmation and confirmation.is_against else finding.best
    bench.record({"event": "stopped", **asdict(finding.stop), "best": best.id})
    return OptimizationOutcome(
        best,
        rows,
        bench.iterations,
        bench.ledger.count,
        finding.stop,
        split,
        calibration,
        confirmation,
        finding.believed,
    )


async def _calibrate(bench: GuardedBench, split: Split) -> Calibration | None:
    """Look at the baseline twice; once is enough where it misses nothing, or nothing is decided."""
    first = await bench.measure(bench.baseline, split.learning, 0)
    bench.decide(bench.baseline, Decision(True, "where it starts"))
    stop = bench.stop if bench.is_cut_short else None
    if fault := (stop.message if stop else find_fault(first)):
        raise MeasurementError(f"the baseline could not be measured: {fault}")
    if all(trial.score in (None, 1) for trial in first):
        return None
    second = await bench.measure(bench.baseline, split.learning, 1)
    policy = bench.policy
    tasks = len(split.learning) + len(split.held_out)
    calibration = calibrate(first, second, tasks=tasks, looks=max(1, policy.confirm_looks))
    if calibration:
        bench.tell(calibration)
    return calibration


async def _search(bench: GuardedBench, parts: OptimizationParts) -> Finding:
    if not bench.ledger.task_scores(bench.baseline):
        message = "no verdict on the baseline could be decided"
        return Finding(bench.baseline, Stop("undecided", message))
    return await parts.strategy.search(bench)
