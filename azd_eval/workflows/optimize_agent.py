"""Propose, measure, keep what is better - until a stop condition, always a named one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.criterion import Rubric
from azd_eval.domain.optimization import Evidence, FailedVerdict, Measurement, Proposal, Rejected
from azd_eval.domain.ports import Journal, Optimizer
from azd_eval.domain.stop import StopSign
from azd_eval.domain.summary import CandidateResult
from azd_eval.domain.task import Task
from azd_eval.errors import MeasurementError, ModelError
from azd_eval.workflows.acceptance import Decision, accept
from azd_eval.workflows.failures import CriteriaIndex, collect_failures, find_fatal, find_fault
from azd_eval.workflows.proposal_guards import find_objection, fold_space

MOST_UNUSABLE_IN_A_ROW = 3
MOST_REJECTED_IN_A_ROW = 5

StopReason = Literal[
    "nothing_left_to_fix",
    "max_iterations",
    "no_progress",
    "no_usable_proposals",
    "undecided",
    "model_error",
    "stopped",
]
Step = Literal["measuring", "proposing", "decided"]
Measure = Callable[[Candidate], Awaitable[Measurement]]


@dataclass(frozen=True, slots=True)
class OptimizationJob:
    """What to improve, and how long to try. `rubrics` describe the dimensions of verdicts.

    The search ends with the best so far once the stop sign is up.
    """

    baseline: Candidate
    tasks: Sequence[Task]
    max_iterations: int
    rubrics: tuple[Rubric, ...] = ()
    stop: StopSign = field(default_factory=StopSign)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the search ended: a stable word, and a sentence."""

    reason: StopReason
    message: str


@dataclass(frozen=True, slots=True)
class OptimizationProgress:
    """What happens now; `iteration` 0 is the baseline. `result` is given once decided."""

    step: Step
    iteration: int
    max_iterations: int
    candidate_id: str
    result: CandidateResult | None = None


@dataclass(frozen=True, slots=True)
class OptimizationOutcome:
    """The end of a search. `candidates` holds the baseline, then one row per iteration.

    `best` is the baseline's measurement when nothing was better. `evaluations` counts trials.
    """

    baseline: Measurement
    best: Measurement
    candidates: tuple[CandidateResult, ...]
    iterations: int
    evaluations: int
    stop: Stop


class OptimizationRecorder(Journal, Protocol):
    """Keeps decisions, and the text of each candidate, on disk before it returns."""

    def keep_candidate(self, candidate: Candidate) -> str:
        """Save a candidate's instructions; returns where they are."""
        ...


async def optimize_agent(
    job: OptimizationJob,
    optimizer: Optimizer,
    measure: Measure,
    recorder: OptimizationRecorder,
    on_progress: Callable[[OptimizationProgress], None],
) -> OptimizationOutcome:
    """Revise the baseline's instructions in up to `max_iterations` tries, whatever each comes to.

    Raises `MeasurementError` when the baseline cannot be measured. What fails later costs a try or
    ends the search, and the best so far is returned. Cancelled, it has everything on record.
    """
    try:
        search = _Search(job, measure, recorder, on_progress)
        await search.measure_baseline()
        while (stop := search.find_reason_to_stop()) is None:
            await search.try_once(optimizer)
    except asyncio.CancelledError:
        recorder.record({"event": "stopped", "reason": "interrupted"})
        raise
    recorder.record({"event": "stopped", **asdict(stop), "best": search.best.candidate.id})
    return OptimizationOutcome(
        baseline=search.baseline,
        best=search.best,
        candidates=tuple(search.results),
        iterations=search.iterations,
        evaluations=search.evaluations,
        stop=stop,
    )


class _Search:
    """What is known so far, and the steps that add to it."""

    def __init__(
        self,
        job: OptimizationJob,
        measure: Measure,
        recorder: OptimizationRecorder,
        on_progress: Callable[[OptimizationProgress], None],
    ) -> None:
        self.job = job
        self.recorder = recorder
        self._measure = measure
        self._on_progress = on_progress
        self._criteria = CriteriaIndex.build(job.tasks, job.rubrics)
        self.baseline = self.best = Measurement(job.baseline, (), None, None)
        self.failures: tuple[FailedVerdict, ...] = ()
        self.results: list[CandidateResult] = []
        self.evaluations = 0
        self._rejected: list[Rejected] = []
        self._tried = {fold_space(job.baseline.instructions)}
        self._unusable_in_a_row = 0
        self._rejected_in_a_row = 0
        self._fatal: str | None = None

    @property
    def iterations(self) -> int:
        return len(self.results) - 1

    async def measure_baseline(self) -> None:
        candidate = self.job.baseline
        self._report("measuring", 0, candidate)
        path = self.recorder.keep_candidate(candidate)
        measurement = await self._measure(candidate)
        if fault := self.job.stop.reason or find_fault(measurement):
            raise MeasurementError(f"the baseline could not be measured: {fault}")
        self.baseline = measurement
        self.evaluations = len(measurement.trials)
        self._promote(measurement)
        self._conclude(candidate, Decision(True, "where it starts"), measurement, path)

    async def try_once(self, optimizer: Optimizer) -> None:
        number = len(self.results)
        name, parent = f"candidate_{number}", self.best.candidate
        self._report("proposing", number, Candidate(name, ""))
        proposal = await self._propose(optimizer, number)
        text = proposal.instructions or ""
        candidate = Candidate(name, text, parent.id, proposal.rationale)
        self.recorder.record({"event": "proposed", **asdict(candidate), "fault": proposal.fault})
        objection = proposal.fault or find_objection(
            text, self.job.baseline.instructions, self._tried
        )
        if objection is None:
            self._unusable_in_a_row = 0
            await self._try_candidate(candidate)
        else:
            self._unusable_in_a_row += 1
            self._conclude(candidate, Decision(False, f"not usable: {objection}"))
        self._tried.add(fold_space(text))

    def find_reason_to_stop(self) -> Stop | None:
        unusable, rejected = self._unusable_in_a_row, self._rejected_in_a_row
        last = self.results[-1].reason
        causes: tuple[tuple[bool, StopReason, str], ...] = (
            (self._fatal is not None, "model_error", f"the model failed: {self._fatal}"),
            (self.job.stop.is_up, "stopped", f"{self.job.stop.reason}"),
            (self.best.score is None, "undecided", "no verdict on the baseline could be decided"),
            (not self.failures, "nothing_left_to_fix", "no criterion is missed any more"),
            (
                unusable >= MOST_UNUSABLE_IN_A_ROW,
                "no_usable_proposals",
                f"{unusable} proposals in a row could not be used; the last: {last}",
            ),
            (
                rejected >= MOST_REJECTED_IN_A_ROW,
                "no_progress",
                f"{rejected} proposals in a row brought nothing better; the last: {last}",
            ),
            (
                self.iterations >= self.job.max_iterations,
                "max_iterations",
                f"all {self.job.max_iterations} iterations are used",
            ),
        )
        return next((Stop(reason, message) for holds, reason, message in causes if holds), None)

    async def _propose(self, optimizer: Optimizer, iteration: int) -> Proposal:
        evidence = Evidence(
            self.best, self.failures, tuple(self._rejected), self.job.tasks, iteration
        )
        try:
            return await optimizer.propose(evidence)
        except ModelError as error:
            self._note_fatal(error)
            return Proposal(None, fault=error.message)

    async def _try_candidate(self, candidate: Candidate) -> None:
        path = self.recorder.keep_candidate(candidate)
        self._report("measuring", len(self.results), candidate)
        try:
            measurement = await self._measure(candidate)
        except MeasurementError as error:
            self._note_fatal(error)
            reason = f"could not be measured: {error.message}"
            self._conclude(candidate, Decision(False, reason), path=path)
            return
        self.evaluations += len(measurement.trials)
        self._fatal = find_fatal(measurement)
        decision = self._decide(measurement)
        if decision.accepted:
            self._promote(measurement)
        self._conclude(candidate, decision, measurement, path)

    def _decide(self, child: Measurement) -> Decision:
        if child.score is None and (fault := find_fault(child)):
            return Decision(False, f"could not be measured: {fault}")
        decision = accept(self.best, child)
        if decision.accepted and self.best is not self.baseline:
            # Where errors leave gaps, better than the incumbent may be worse than the baseline.
            first = accept(self.baseline, child)
            return decision if first.accepted else first
        return decision

    def _promote(self, measurement: Measurement) -> None:
        self.best = measurement
        self.failures = collect_failures(measurement, self._criteria)

    def _conclude(
        self,
        candidate: Candidate,
        decision: Decision,
        measurement: Measurement | None = None,
        path: str | None = None,
    ) -> None:
        self._rejected_in_a_row = 0 if decision.accepted else self._rejected_in_a_row + 1
        if not decision.accepted:
            failures = collect_failures(measurement, self._criteria) if measurement else ()
            self._rejected.append(Rejected(candidate.instructions, decision.reason, failures))
        result = CandidateResult(
            id=candidate.id,
            parent=candidate.parent,
            score=measurement.score if measurement else None,
            interval=measurement.interval if measurement else None,
            accepted=decision.accepted,
            reason=decision.reason,
            length=len(candidate.instructions),
            rationale=candidate.rationale,
            path=path,
        )
        self.recorder.record({"event": "decided", **asdict(result)})
        self._report("decided", len(self.results), candidate, result)
        self.results.append(result)

    def _note_fatal(self, error: MeasurementError) -> None:
        if isinstance(error, ModelError) and error.is_fatal:
            self._fatal = error.message

    def _report(
        self,
        step: Step,
        iteration: int,
        candidate: Candidate,
        result: CandidateResult | None = None,
    ) -> None:
        limit = self.job.max_iterations
        self._on_progress(OptimizationProgress(step, iteration, limit, candidate.id, result))
