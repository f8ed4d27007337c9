"""What a strategy searches with: it measures, asks for proposals, guards and records."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from azd_eval.domain.candidate import Candidate
from azd_eval.domain.faults import find_fatal
from azd_eval.domain.ledger import Ledger
from azd_eval.domain.optimization import Evidence, Proposal, Rejected
from azd_eval.domain.optimization_summary import CandidateResult
from azd_eval.domain.score import Trial, mean
from azd_eval.domain.search import Decision, SearchPolicy, Stop, StopReason
from azd_eval.domain.statistics import score_interval
from azd_eval.domain.task import Task
from azd_eval.errors import ModelError
from azd_eval.workflows.calibration import Calibration
from azd_eval.workflows.failures import CriteriaIndex, collect_failures, collect_met
from azd_eval.workflows.optimization_job import (
    OptimizationJob,
    OptimizationParts,
    OptimizationProgress,
    Step,
)
from azd_eval.workflows.proposal_guards import ProposalGuards


@dataclass(frozen=True, slots=True)
class _Entry:
    candidate: Candidate
    path: str | None = None
    decision: Decision | None = None


class GuardedBench:
    """A `SearchBench`. All that a search does goes through here, so that it is counted and kept."""

    def __init__(
        self, job: OptimizationJob, parts: OptimizationParts, tasks: Sequence[Task]
    ) -> None:
        self.baseline = job.baseline
        self.tasks = tasks
        self.ledger = Ledger()
        self.random = Random(job.seed)
        self.iterations = 0
        self._job = job
        self._parts = parts
        self._criteria = CriteriaIndex.build(tasks, job.rubrics)
        self._guards = ProposalGuards(
            job.baseline.instructions, (*job.tasks, *job.validation), job.rubrics
        )
        self._looks: dict[tuple[str, str, int], tuple[Trial, ...]] = {}
        self._rejected: list[Rejected] = []
        self._unusable_in_a_row = 0
        self._last_objection = ""
        self._fatal: str | None = None
        path = parts.recorder.keep_candidate(job.baseline)
        self._entries = {job.baseline.id: _Entry(job.baseline, path)}

    @property
    def policy(self) -> SearchPolicy:
        return self._job.policy

    @property
    def is_cut_short(self) -> bool:
        """Tell whether the last measurement may be incomplete."""
        return self._fatal is not None or self._job.stop.is_up

    @property
    def stop(self) -> Stop | None:
        unusable, most = self._unusable_in_a_row, self._job.max_iterations
        vain = (
            f"{unusable} iterations in a row gave nothing usable; the last: {self._last_objection}"
        )
        causes: tuple[tuple[bool, StopReason, str], ...] = (
            (self._fatal is not None, "model_error", f"the model failed: {self._fatal}"),
            (self._job.stop.is_up, "stopped", f"{self._job.stop.reason}"),
            (unusable >= self.policy.stop_after_unusable, "no_usable_proposals", vain),
            (self.iterations >= most, "max_iterations", f"all {most} iterations are used"),
        )
        return next((Stop(reason, message) for holds, reason, message in causes if holds), None)

    async def measure(
        self, candidate: Candidate, tasks: Sequence[Task], look: int
    ) -> tuple[Trial, ...]:
        missing = [task for task in tasks if (candidate.id, task.key, look) not in self._looks]
        if missing and not self.is_cut_short:
            self._report("measuring", candidate, trials=len(missing))
            trials = await self._parts.measure(candidate, missing, look)
            self.ledger.add(candidate, trials)
            self._fatal = self._fatal or find_fatal(trials)
            for task in missing:
                if mine := tuple(trial for trial in trials if trial.task_key == task.key):
                    self._looks[candidate.id, task.key, look] = mine
        known = (self._looks.get((candidate.id, task.key, look), ()) for task in tasks)
        return tuple(trial for mine in known for trial in mine)

    def next_look(self, candidate: Candidate) -> int:
        """Give the number of the first look that the candidate has had at no task."""
        return 1 + max((look for name, _, look in self._looks if name == candidate.id), default=-1)

    async def propose(
        self, parent: Candidate, tasks: Sequence[Task] | None = None
    ) -> tuple[Candidate, ...]:
        count = self._job.proposals
        first = self.iterations * count + 1
        self.iterations += 1
        self._report("proposing", Candidate(f"candidate_{first}", ""))
        evidence = self._gather_evidence(parent, tasks)
        requests = [
            replace(evidence, attempt=first + number, number=number) for number in range(count)
        ]
        proposals = await asyncio.gather(*map(self._ask, requests))
        admitted = [
            self._admit(proposal, parent, request.attempt)
            for proposal, request in zip(proposals, requests, strict=True)
            if proposal is not None
        ]
        usable = tuple(candidate for candidate in admitted if candidate is not None)
        self._unusable_in_a_row = 0 if usable else self._unusable_in_a_row + 1
        return usable

    def decide(self, candidate: Candidate, decision: Decision) -> None:
        entry = replace(self._entries[candidate.id], decision=decision)
        self._entries[candidate.id] = entry
        if not decision.accepted:
            failures = collect_failures(self.ledger.trials(candidate), self._criteria)
            self._rejected.append(Rejected(candidate.instructions, decision.reason, failures))
        row = self._make_row(entry)
        self.record({"event": "decided", **asdict(row)})
        self._report("decided", candidate, row)

    def tell(self, calibration: Calibration) -> None:
        """Record how noisy the baseline is, and say it."""
        words = calibration.words
        self.record({"event": "calibrated", **asdict(calibration), "words": words})
        most = self._job.max_iterations
        progress = OptimizationProgress("calibrated", 0, most, self.baseline.id, words=words)
        self._parts.on_progress(progress)

    def record(self, event: Mapping[str, Any]) -> None:
        self._parts.recorder.record(event)

    def close(self, stop: Stop) -> tuple[CandidateResult, ...]:
        """Decide what was left open; give a row for each candidate, with all that is known now."""
        for entry in list(self._entries.values()):
            if entry.decision is None:
                self.decide(entry.candidate, Decision(False, f"not decided: {stop.message}"))
        return tuple(map(self._make_row, self._entries.values()))

    def _gather_evidence(self, parent: Candidate, tasks: Sequence[Task] | None) -> Evidence:
        shown = {task.key for task in (self.tasks if tasks is None else tasks)}
        trials = [trial for trial in self.ledger.trials(parent) if trial.task_key in shown]
        failures = collect_failures(trials, self._criteria)
        met = collect_met(trials, self._criteria)
        return Evidence(parent, failures, met, tuple(self._rejected))

    async def _ask(self, evidence: Evidence) -> Proposal | None:
        """Ask for one proposal; None when the search was stopped meanwhile."""
        try:
            return await self._parts.optimizer.propose(evidence)
        except ModelError as error:
            if error.code == "stopped":
                return None
            if error.is_fatal:
                self._fatal = error.message
            return Proposal(None, fault=error.message)

    def _admit(self, proposal: Proposal, parent: Candidate, attempt: int) -> Candidate | None:
        text = proposal.instructions or ""
        candidate = Candidate(f"candidate_{attempt}", text, parent.id, proposal.rationale)
        self.record({"event": "proposed", **asdict(candidate), "fault": proposal.fault})
        objection = proposal.fault or self._guards.find_objection(text, parent.instructions)
        if objection is None:
            path = self._parts.recorder.keep_candidate(candidate)
            self._entries[candidate.id] = _Entry(candidate, path)
            return candidate
        self._last_objection = objection
        self._entries[candidate.id] = _Entry(candidate)
        self.decide(candidate, Decision(False, f"not usable: {objection}"))
        return None

    def _make_row(self, entry: _Entry) -> CandidateResult:
        candidate = entry.candidate
        decision = entry.decision or Decision(False, "not decided")
        shown = {task.key for task in self.tasks}
        scores = [
            score for key, score in self.ledger.task_scores(candidate).items() if key in shown
        ]
        is_whole = len(scores) >= self.policy.least_shared * len(shown)
        return CandidateResult(
            id=candidate.id,
            parent=candidate.parent,
            score=mean(scores) if is_whole else None,
            interval=score_interval(scores) if is_whole else None,
            accepted=decision.accepted,
            reason=decision.reason,
            length=len(candidate.instructions),
            rationale=candidate.rationale,
            path=entry.path,
            difference=decision.difference,
            difference_interval=decision.interval,
        )

    def _report(
        self,
        step: Step,
        candidate: Candidate,
        result: CandidateResult | None = None,
        trials: int = 0,
    ) -> None:
        most = self._job.max_iterations
        progress = OptimizationProgress(step, self.iterations, most, candidate.id, trials, result)
        self._parts.on_progress(progress)
