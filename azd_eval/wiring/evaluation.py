"""One evaluation, from checked parts to summary: folder, models, trials, report."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from azd_eval import __version__
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import RunSummary
from azd_eval.domain.tally import Tally
from azd_eval.executor import LocalExecutor
from azd_eval.reports.html import render_run
from azd_eval.storage.run_folder import RunFolder, read_trials
from azd_eval.storage.run_ids import keep_out_of_git, make_run_folder
from azd_eval.wiring.models import ModelPool
from azd_eval.wiring.setup import Setup
from azd_eval.workflows.conclude_run import RunEnd, RunFacts, conclude_run
from azd_eval.workflows.run_eval import RunJob, run_eval
from azd_eval.workflows.run_trial import Bench

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation that is ready to run, in a folder of its own."""

    setup: Setup
    folder: Path

    async def run(self, on_trial: Callable[[Trial], None]) -> RunSummary:
        """Run all trials and write summary and report.

        Cancelled, it writes them for what was measured, and lets the cancellation pass.
        """
        store = RunFolder(self.folder)
        tally = Tally(self.setup.config.options.repeats)
        started = time.monotonic()
        store.write_manifest(self._manifest())
        try:
            async with self.setup.open_pool() as pool:
                stop_reason = INTERRUPTED
                try:
                    stop_reason = await self._run_trials(pool, store, tally, on_trial)
                finally:
                    duration = round(time.monotonic() - started, 3)
                    end = RunEnd(stop_reason, pool.usage(), duration)
                    facts = self._facts((*self.setup.notes, *pool.notes))
                    summary = conclude_run(facts, tally, end)
                    store.write_summary(summary.as_dict())
                    store.write_report(render_run(summary, read_trials(self.folder)))
        finally:
            store.close()
        return summary

    async def _run_trials(
        self,
        pool: ModelPool,
        store: RunFolder,
        tally: Tally,
        on_trial: Callable[[Trial], None],
    ) -> str:
        options = self.setup.config.options
        bench = Bench(
            self.setup.agent.build_target(pool, options.timeout_s),
            self.setup.build_evaluators(pool, store.journal),
            store.journal,
        )
        job = RunJob(self.setup.tasks, self.setup.agent.baseline, options.repeats)
        executor = LocalExecutor(bench.run_trial, options.concurrency)
        return await run_eval(job, executor, store, tally, on_trial)

    def _facts(self, notes: Sequence[str]) -> RunFacts:
        setup = self.setup
        return RunFacts(
            run_id=self.folder.name,
            name=setup.config.name or setup.agent.name,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            agent=setup.agent.name,
            config=str(setup.config_path) if setup.config_path else None,
            dataset=setup.dataset,
            evaluators=setup.evaluators.names,
            models=setup.models,
            repeats=setup.config.options.repeats,
            fail_under=setup.config.options.fail_under,
            engine=setup.engine,
            notes=tuple(notes),
            run_dir=setup.layout.show(self.folder),
        )

    def _manifest(self) -> dict[str, object]:
        return {"version": __version__, "run_id": self.folder.name, **self.setup.describe()}


def open_evaluation(setup: Setup, run_dir: Path | None = None) -> Evaluation:
    """Make the folder of a run, under `run_dir` or where the layout says."""
    if run_dir is None:
        keep_out_of_git(setup.layout.foundry)
    parent = run_dir or setup.layout.runs
    return Evaluation(setup, make_run_folder(parent, "run"))
