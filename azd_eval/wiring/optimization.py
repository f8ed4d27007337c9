"""One optimization, from checked parts to summary: folder, models, measurements, report."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from azd_eval import __version__
from azd_eval.domain.candidate import Candidate
from azd_eval.domain.difference import describe_difference
from azd_eval.domain.faults import word_faults
from azd_eval.domain.optimization_summary import OptimizationSummary
from azd_eval.domain.ports import Optimizer
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import ScoreWithInterval
from azd_eval.domain.tally import Tally
from azd_eval.domain.task import Task
from azd_eval.formats.agent_folder import apply_instructions
from azd_eval.optimizers.reflector import Reflector
from azd_eval.optimizers.remembered import RememberedOptimizer
from azd_eval.optimizers.rules import RuleOptimizer
from azd_eval.reports.html import render_optimization
from azd_eval.storage.optimization_folder import OptimizationFolder, candidate_instructions
from azd_eval.storage.run_ids import hold_run_folder
from azd_eval.wiring.application import find_place, require_writable
from azd_eval.wiring.fingerprint import Fingerprint
from azd_eval.wiring.model_choice import describe_engine
from azd_eval.wiring.models import OFFLINE, ModelPool
from azd_eval.wiring.optimization_job import build_strategy
from azd_eval.wiring.setup import Setup
from azd_eval.workflows.hold_out import split_tasks
from azd_eval.workflows.optimization_job import (
    OptimizationJob,
    OptimizationParts,
    OptimizationProgress,
)
from azd_eval.workflows.optimize_agent import OptimizationOutcome, optimize_agent
from azd_eval.workflows.run_eval import LookJob, run_eval


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told how it goes: of each step, and of each trial."""

    on_step: Callable[[OptimizationProgress], None]
    on_trial: Callable[[Trial], None]


@dataclass(frozen=True, slots=True)
class Optimization:
    """An optimization that is ready to run, in a folder that is new or that of an earlier session.

    `source` is the earlier optimization that it starts from, in place of the agent's instructions.
    """

    setup: Setup
    job: OptimizationJob
    folder: Path
    fingerprint: Fingerprint
    source: str | None = None
    resumes: bool = False

    async def run(self, watch: Watch, *, applies: bool = False) -> OptimizationSummary:
        """Search for better instructions and write summary and report.

        With `applies`, instructions that are better by more than chance are written to where the
        agent reads them.
        """
        judging = self.fingerprint.judging_digest
        started = time.monotonic()
        with (
            hold_run_folder(self.folder),
            closing(OptimizationFolder(self.folder, judging)) as store,
        ):
            store.write_manifest(self._manifest())
            async with self.setup.open_pool() as pool:
                trials: list[Trial] = []
                outcome = await self._search(pool, store, _listen(watch, trials))
                summary = self._conclude(outcome, pool, time.monotonic() - started)
                if faults := word_faults(trials):
                    summary = replace(summary, notes=(*summary.notes, faults))
            if applies and summary.is_trusted:
                summary = self._apply(outcome.best, summary)
            store.write_summary(summary.as_dict())
            store.write_report(render_optimization(summary, self._texts(summary)))
        return summary

    def _manifest(self) -> dict[str, object]:
        place = find_place(self.setup)
        split = split_tasks(self.job)
        return {
            "version": __version__,
            "optimization_id": self.folder.name,
            **self.setup.describe(),
            "models": optimization_models(self.setup),
            "instructions_file": self.setup.layout.relate(place) if place else None,
            "from": self.source,
            "split": split.names,
            "fingerprint": self.fingerprint.as_dict(),
        }

    async def _search(
        self, pool: ModelPool, store: OptimizationFolder, watch: Watch
    ) -> OptimizationOutcome:
        places = {
            task.key: place for place, task in enumerate((*self.job.tasks, *self.job.validation))
        }

        async def measure(
            candidate: Candidate, tasks: Sequence[Task], look: int
        ) -> tuple[Trial, ...]:
            repeats = self.setup.config.options.repeats
            job = LookJob(tasks, candidate, look, places, repeats, stop=self.job.stop)
            return await self._measure(job, pool, store, watch.on_trial)

        known = store.read_proposals() if self.resumes else {}
        optimizer = RememberedOptimizer(_build_optimizer(self.setup, pool), known, store.proposals)
        strategy = build_strategy(self.setup.config.options.strategy)
        parts = OptimizationParts(strategy, optimizer, measure, store, watch.on_step)
        return await optimize_agent(self.job, parts)

    async def _measure(
        self,
        job: LookJob,
        pool: ModelPool,
        store: OptimizationFolder,
        on_trial: Callable[[Trial], None],
    ) -> tuple[Trial, ...]:
        memory = store.read_candidate(job.candidate.id)
        trials = {key: memory.trials[key] for key in job.keys if key in memory.trials}
        for trial in trials.values():
            on_trial(trial)

        def keep(trial: Trial) -> None:
            trials[trial.task_key, trial.repeat] = trial
            on_trial(trial)

        with closing(store.open_candidate(job.candidate.id)) as log:
            executor = self.setup.build_executor(pool, log.journal, memory.parts)
            await run_eval(replace(job, finished=frozenset(trials)), executor, log, Tally(), keep)
        return tuple(trials[key] for key in job.keys if key in trials)

    def _conclude(
        self, outcome: OptimizationOutcome, pool: ModelPool, duration_s: float
    ) -> OptimizationSummary:
        setup, best = self.setup, outcome.best
        models = optimization_models(setup)
        baseline_score, best_score = _find_scores(outcome)
        names = outcome.split.names
        return OptimizationSummary(
            optimization_id=self.folder.name,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            agent=setup.agent.name,
            config=str(setup.config_path) if setup.config_path else None,
            dataset=setup.dataset,
            models=models,
            strategy=setup.config.options.strategy,
            tasks={name: len(tasks) for name, tasks in names.items()},
            baseline=baseline_score,
            best_id=best.id,
            best=best_score,
            held_out=outcome.confirmation.comparison if outcome.confirmation else None,
            candidates=outcome.candidates,
            iterations=outcome.iterations,
            evaluations=outcome.evaluations,
            stop_reason=outcome.stop.reason,
            stop_message=outcome.stop.message,
            usage=pool.usage(),
            duration_s=round(duration_s, 3),
            noise=outcome.calibration.words if outcome.calibration else None,
            diff=describe_difference(self.job.baseline.instructions, best.instructions),
            engine=describe_engine(*models.values()),
            notes=(*setup.notes, *pool.notes),
            run_dir=setup.layout.show(self.folder),
        )

    def _apply(self, best: Candidate, summary: OptimizationSummary) -> OptimizationSummary:
        target = require_writable(self.setup)
        apply_instructions(target, best.instructions, self.setup.layout.agent_configs)
        return replace(summary, applied_to=self.setup.layout.show(target))

    def _texts(self, summary: OptimizationSummary) -> dict[str, str]:
        return {
            candidate.id: candidate_instructions(self.folder, candidate.id)
            for candidate in summary.candidates
            if candidate.path is not None
        }


def _listen(watch: Watch, trials: list[Trial]) -> Watch:
    """Add every trial to a list before it is told."""

    def on_trial(trial: Trial) -> None:
        trials.append(trial)
        watch.on_trial(trial)

    return replace(watch, on_trial=on_trial)


def optimization_models(setup: Setup) -> dict[str, str]:
    """Name the models by role, the reviser's too."""
    return {**setup.models, "optimizer": setup.optimizer_model}


def _find_scores(outcome: OptimizationOutcome) -> tuple[ScoreWithInterval, ScoreWithInterval]:
    """Give the scores of baseline and best, by looks that chose neither where there are any."""
    seen = {row.id: ScoreWithInterval(row.score, row.interval) for row in outcome.candidates}
    rows = {**seen, **outcome.believed}
    baseline = outcome.candidates[0].id
    if outcome.confirmation is None:
        return rows[baseline], rows[outcome.best.id]
    compared = outcome.confirmation.overall
    is_baseline = outcome.best.id == baseline
    return compared.baseline, compared.baseline if is_baseline else compared.best


def _build_optimizer(setup: Setup, pool: ModelPool) -> Optimizer:
    model = setup.optimizer_model
    return RuleOptimizer() if model == OFFLINE else Reflector(pool.model(model))
