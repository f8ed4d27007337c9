"""One evaluation, from checked parts to summary: folder, models, trials, report."""

import glob
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from azd_eval import __version__
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import RunSummary
from azd_eval.domain.tally import Tally
from azd_eval.errors import InputError
from azd_eval.reports.html import render_run
from azd_eval.storage.run_folder import (
    RunFolder,
    is_finished,
    read_latest_trials,
    read_manifest,
    read_trials,
)
from azd_eval.storage.run_ids import hold_run_folder, keep_out_of_git, make_run_folder
from azd_eval.storage.run_memory import RunMemory, read_memory
from azd_eval.wiring.fingerprint import Fingerprint, name_changes
from azd_eval.wiring.models import ModelPool
from azd_eval.wiring.setup import Setup
from azd_eval.workflows.conclude_run import RunEnd, RunFacts, conclude_run
from azd_eval.workflows.run_eval import RunJob, run_eval

INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation that is ready to run, in a folder that is new or that of an earlier session.

    `on_end` is called with the summary when it is written, also when the run was cut short.
    """

    setup: Setup
    folder: Path
    fingerprint: Fingerprint
    planned_tasks: int
    resumes: bool = False
    on_end: Callable[[RunSummary], None] = lambda _: None

    @property
    def judging(self) -> str:
        """Identify judge, evaluators and criteria in what is stored."""
        return self.fingerprint.judging_digest

    async def run(self, on_trial: Callable[[Trial], None]) -> RunSummary:
        """Run all trials that are missing and write summary and report.

        Cancelled, it writes them for what was measured, and lets the cancellation pass.
        """
        with hold_run_folder(self.folder), closing(RunFolder(self.folder, self.judging)) as store:
            store.write_manifest(self._manifest())
            async with self.setup.open_pool() as pool:
                return await self._measure(pool, store, on_trial)

    def read_trials(self) -> Iterator[Trial]:
        """Yield the last trial of each task and repeat that is wanted, as judged in this session.

        A resumed run may have them by places of another order of the dataset.
        """
        if not self.resumes:
            yield from read_trials(self.folder, self.judging)
            return
        # In this order there is one index in memory at a time, of the trials or of the tasks.
        latest = read_latest_trials(self.folder, self.judging)
        places = {task.key: (index, task.category) for index, task in enumerate(self.setup.tasks)}
        for trial in latest:
            if trial.task_key in places and trial.repeat < self.setup.config.options.repeats:
                index, category = places[trial.task_key]
                yield replace(trial, index=index, category=category)

    async def _measure(
        self, pool: ModelPool, store: RunFolder, on_trial: Callable[[Trial], None]
    ) -> RunSummary:
        setup, started = self.setup, time.monotonic()
        tally = Tally(setup.config.options.repeats)
        stop_reason = INTERRUPTED
        try:
            stop_reason = await self._run_trials(pool, store, tally, on_trial)
        finally:
            if self.resumes:
                tally = self._count_trials()
            duration = round(time.monotonic() - started, 3)
            end = RunEnd(setup.stop.reason or stop_reason, pool.usage(), duration)
            summary = conclude_run(self._facts((*setup.notes, *pool.notes)), tally, end)
            store.write_summary(summary.as_dict())
            store.write_report(render_run(summary, self.read_trials()))
            self.on_end(summary)
        return summary

    async def _run_trials(
        self, pool: ModelPool, store: RunFolder, tally: Tally, on_trial: Callable[[Trial], None]
    ) -> str:
        setup = self.setup
        memory = read_memory(self.folder, self.judging) if self.resumes else RunMemory()
        executor = setup.build_executor(pool, store.journal, memory)
        repeats = setup.config.options.repeats
        job = RunJob(setup.tasks, setup.agent.baseline, repeats, memory.finished, setup.stop)
        return await run_eval(job, executor, store, tally, on_trial)

    def _count_trials(self) -> Tally:
        """Count the trials of all sessions."""
        tally = Tally(self.setup.config.options.repeats)
        for trial in self.read_trials():
            tally.add(trial)
        return tally

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
            planned_tasks=self.planned_tasks,
            repeats=setup.config.options.repeats,
            fail_under=setup.config.options.fail_under,
            engine=setup.engine,
            notes=tuple(notes),
            run_dir=setup.layout.show(self.folder),
        )

    def _manifest(self) -> dict[str, object]:
        return {
            "version": __version__,
            "run_id": self.folder.name,
            **self.setup.describe(),
            "fingerprint": self.fingerprint.as_dict(),
        }


def open_evaluation(
    setup: Setup, run_dir: Path | None = None, *, prefix: str = "run"
) -> Evaluation:
    """Make the folder of a run, under `run_dir` or where the layout says."""
    planned = setup.plan().tasks
    fingerprint = setup.take_fingerprint()
    if run_dir is None:
        keep_out_of_git(setup.layout.generated)
    folder = make_run_folder(run_dir or setup.layout.runs, prefix)
    return Evaluation(setup, folder, fingerprint, planned)


def resume_evaluation(setup: Setup, folder: Path) -> Evaluation:
    """Take up a run again.

    With another judge, other evaluators or criteria, the replies that are there are judged anew.
    Raises `InputError` when the agent, its instructions or the tasks are others: their results
    would be mixed.
    """
    stored = read_manifest(folder).get("fingerprint")
    if not isinstance(stored, Mapping):
        raise InputError(f"no run in {str(folder)!r} that can be taken up again")
    fingerprint = setup.take_fingerprint()
    if changed := name_changes(stored.get("subject", {}), fingerprint.subject):
        raise InputError(
            f"{folder.name} cannot go on: changed since it began: {', '.join(changed)}",
            hint="start anew, without `--resume`; answers that still fit come from the cache",
        )
    return Evaluation(setup, folder, fingerprint, setup.plan().tasks, resumes=True)


def find_run(setup: Setup, wanted: Path, run_dir: Path | None = None) -> Path:
    """Find a run by its folder or its id; raises `InputError`."""
    parent = run_dir or setup.layout.runs
    for folder in (wanted, parent / wanted):
        if (folder / "manifest.json").is_file():
            return folder
    raise InputError(f"no run {str(wanted)!r}", hint=f"runs are in {parent}")


def find_unfinished(
    setup: Setup, run_dir: Path | None = None, *, prefix: str = "run", by: str = "config"
) -> Path:
    """Find the last run of this config, unless it ended without errors; raises `InputError`.

    `by` is what the manifest tells such runs by: `config`, or `dataset`.
    """
    parent = run_dir or setup.layout.runs
    hint = "start one without `--resume`"
    for manifest in sorted(parent.glob(f"{glob.escape(prefix)}-*/manifest.json"), reverse=True):
        folder = manifest.parent
        if read_manifest(folder).get(by) == setup.describe()[by]:
            if not is_finished(folder):
                return folder
            hint = f"`--resume-run {folder.name}` judges the replies of the last one anew"
            break
    raise InputError(f"no unfinished run of this {by}", hint=hint)
