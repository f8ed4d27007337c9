"""One optimization, from checked parts to summary: folder, models, measurements, report."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from azd_eval import __version__
from azd_eval.domain.candidate import Candidate
from azd_eval.domain.difference import describe_difference
from azd_eval.domain.optimization import Measurement
from azd_eval.domain.ports import Optimizer
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import OptimizationSummary, ScoreWithInterval
from azd_eval.domain.tally import Tally, overall_score
from azd_eval.errors import InputError
from azd_eval.files import require_writable_path
from azd_eval.formats.agent_folder import apply_instructions
from azd_eval.optimizers.reflect import ReflectOptimizer
from azd_eval.optimizers.rules import RuleOptimizer
from azd_eval.reports.html import render_optimization
from azd_eval.storage.optimization_folder import (
    OptimizationFolder,
    StoredOptimization,
    candidate_instructions,
)
from azd_eval.storage.run_ids import keep_out_of_git, make_run_folder
from azd_eval.storage.run_memory import RunMemory
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.model_choice import describe_engine
from azd_eval.wiring.models import OFFLINE, ModelPool
from azd_eval.wiring.setup import Setup
from azd_eval.workflows.optimize_agent import (
    OptimizationJob,
    OptimizationOutcome,
    OptimizationProgress,
    optimize_agent,
)
from azd_eval.workflows.plan_run import CallPlan
from azd_eval.workflows.run_eval import RunJob, run_eval


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told how it goes: of each step, and of each trial."""

    on_step: Callable[[OptimizationProgress], None]
    on_trial: Callable[[Trial], None]


@dataclass(frozen=True, slots=True)
class Optimization:
    """An optimization that is ready to run, in a folder of its own."""

    setup: Setup
    folder: Path

    async def run(self, watch: Watch, *, applies: bool = False) -> OptimizationSummary:
        """Search for better instructions and write summary and report.

        With `applies`, better instructions are written to where the agent reads them.
        """
        store = OptimizationFolder(self.folder)
        started = time.monotonic()
        store.write_manifest(self._manifest())
        try:
            async with self.setup.open_pool() as pool:
                outcome = await self._search(pool, store, watch)
                summary = self._conclude(outcome, pool, time.monotonic() - started)
            if applies and summary.improved:
                target = require_writable(self.setup)
                text = outcome.best.candidate.instructions
                apply_instructions(target, text, self.setup.layout.agent_configs)
                summary = replace(summary, applied_to=self.setup.layout.show(target))
            store.write_summary(summary.as_dict())
            store.write_report(render_optimization(summary, self._texts(summary)))
        finally:
            store.close()
        return summary

    def _manifest(self) -> dict[str, object]:
        place = _find_place(self.setup)
        return {
            "version": __version__,
            "optimization_id": self.folder.name,
            **self.setup.describe(),
            "models": optimization_models(self.setup),
            "instructions_file": self.setup.layout.relate(place) if place else None,
        }

    async def _search(
        self, pool: ModelPool, store: OptimizationFolder, watch: Watch
    ) -> OptimizationOutcome:
        setup = self.setup

        async def measure(candidate: Candidate) -> Measurement:
            return await self._measure(candidate, pool, store, watch.on_trial)

        job = OptimizationJob(
            baseline=setup.agent.baseline,
            tasks=tuple(setup.tasks),
            max_iterations=setup.config.options.max_iterations,
            rubrics=setup.evaluators.describe(),
            stop=setup.stop,
        )
        return await optimize_agent(
            job, _build_optimizer(setup, pool), measure, store, watch.on_step
        )

    async def _measure(
        self,
        candidate: Candidate,
        pool: ModelPool,
        store: OptimizationFolder,
        on_trial: Callable[[Trial], None],
    ) -> Measurement:
        options = self.setup.config.options
        log = store.open_candidate(candidate.id)
        try:
            executor = self.setup.build_executor(pool, log.journal, RunMemory())
            job = RunJob(self.setup.tasks, candidate, options.repeats, stop=self.setup.stop)
            trials: list[Trial] = []
            tally = Tally(options.repeats)

            def keep(trial: Trial) -> None:
                trials.append(trial)
                on_trial(trial)

            await run_eval(job, executor, log, tally, keep)
        finally:
            log.close()
        ordered = sorted(trials, key=lambda trial: (trial.index, trial.repeat))
        return Measurement(candidate, tuple(ordered), *overall_score(tally.results()))

    def _conclude(
        self, outcome: OptimizationOutcome, pool: ModelPool, duration_s: float
    ) -> OptimizationSummary:
        setup, baseline, best = self.setup, outcome.baseline, outcome.best
        models = optimization_models(setup)
        return OptimizationSummary(
            optimization_id=self.folder.name,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            agent=setup.agent.name,
            config=str(setup.config_path) if setup.config_path else None,
            dataset=setup.dataset,
            models=models,
            baseline=ScoreWithInterval(baseline.score, baseline.interval),
            best_id=best.candidate.id,
            best=ScoreWithInterval(best.score, best.interval),
            candidates=outcome.candidates,
            iterations=outcome.iterations,
            evaluations=outcome.evaluations,
            stop_reason=outcome.stop.reason,
            stop_message=outcome.stop.message,
            usage=pool.usage(),
            duration_s=round(duration_s, 3),
            diff=describe_difference(baseline.candidate.instructions, best.candidate.instructions),
            engine=describe_engine(*models.values()),
            notes=(*setup.notes, *pool.notes),
            run_dir=setup.layout.show(self.folder),
        )

    def _texts(self, summary: OptimizationSummary) -> dict[str, str]:
        return {
            candidate.id: candidate_instructions(self.folder, candidate.id)
            for candidate in summary.candidates
            if candidate.path is not None
        }


def open_optimization(setup: Setup) -> Optimization:
    """Make the folder of an optimization."""
    keep_out_of_git(setup.layout.foundry)
    return Optimization(setup, make_run_folder(setup.layout.optimizations, "opt"))


def plan_optimization(setup: Setup) -> CallPlan:
    """Count the calls of the whole search, at most: baseline and all iterations."""
    once = setup.plan()
    iterations = setup.config.options.max_iterations
    offline = setup.optimizer_model == OFFLINE
    return CallPlan(
        tasks=once.tasks,
        agent=once.agent * (1 + iterations),
        judge=once.judge * (1 + iterations),
        optimizer=0 if offline else iterations,
    )


def optimization_models(setup: Setup) -> dict[str, str]:
    """Name the models by role, the reviser's too."""
    return {**setup.models, "optimizer": setup.optimizer_model}


def require_writable(setup: Setup) -> Path:
    """Say where instructions would be written; raises `InputError` where they cannot be."""
    target = _find_place(setup)
    if target is None:
        raise _refuse_inline(setup.config_path)
    require_writable_path(target)
    return target


def apply_stored(layout: Layout, stored: StoredOptimization, candidate: str) -> Path:
    """Write a candidate to where its optimization read the instructions, archiving those there.

    Needs no model, and no config that is still as it was. Raises `InputError`.
    """
    text = candidate_instructions(stored.path, candidate)
    place: str | None = stored.manifest.get("instructions_file")
    if place is None:
        raise _refuse_inline(stored.manifest.get("config"))
    target = layout.project / place
    apply_instructions(target, text, layout.agent_configs)
    return target


def _find_place(setup: Setup) -> Path | None:
    instructions = setup.agent.instructions
    if instructions.is_inline:
        return None
    return instructions.file or setup.layout.baseline_instructions


def _refuse_inline(config: object) -> InputError:
    return InputError(
        f"{config}: `agent.instructions` stand inside the config, which is never rewritten",
        hint="move them into a file and name it as `agent.instructions_file`, or replace the "
        "lines of `agent.instructions` by the candidate's instructions.md",
    )


def _build_optimizer(setup: Setup, pool: ModelPool) -> Optimizer:
    model = setup.optimizer_model
    return RuleOptimizer() if model == OFFLINE else ReflectOptimizer(pool.model(model))
