"""`optimize`: revise the agent's instructions and keep what is better."""

from dataclasses import replace

from azd_eval.cli.console import Console, ProgressLine
from azd_eval.cli.eval_run import show_plan
from azd_eval.cli.flags import OptimizeFlags
from azd_eval.cli.interrupt import REASON as INTERRUPTED_BY_USER
from azd_eval.cli.interrupt import run_until_interrupted
from azd_eval.cli.optimization_view import show_optimization
from azd_eval.cli.result_view import word_number
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import OptimizationSummary
from azd_eval.errors import InputError, Interrupted, MeasurementError
from azd_eval.wiring.optimization import (
    Optimization,
    Watch,
    open_optimization,
    plan_optimization,
    require_writable,
)
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import set_up
from azd_eval.workflows.optimize_agent import OptimizationProgress


def optimize_instructions(flags: OptimizeFlags) -> int:
    """Optimize; exit 0 whether it improved or not, 3 when nothing could be measured."""
    console = Console(flags)
    setup = set_up(flags.config, _read_overrides(flags), optimizes=True)
    setup = replace(setup, tell=console.remark)
    plan = plan_optimization(setup)
    if flags.apply:
        require_writable(setup)
    if flags.dry_run:
        return show_plan(console, plan, setup)
    if setup.engine:
        console.note(f"engine: {setup.engine}")
    iterations = setup.config.options.max_iterations
    console.note(
        f"Optimizing {setup.agent.name!r}: {iterations} iterations, "
        f"at most {plan.agent} agent calls and {plan.judge} judge calls"
    )
    optimization = open_optimization(setup)
    per_candidate = plan.tasks * setup.config.options.repeats
    summary = _run(console, optimization, per_candidate, applies=flags.apply)
    console.notes(summary.notes)
    show_optimization(console, summary)
    console.show_json(summary.as_dict())
    if setup.stop.reason == INTERRUPTED_BY_USER:
        raise Interrupted("interrupted; the best so far is shown, and kept")
    if summary.baseline.score is None or summary.stop_reason == "model_error":
        raise MeasurementError(f"not measured: {summary.stop_message}")
    return 0


def _read_overrides(flags: OptimizeFlags) -> Overrides:
    if flags.agent and flags.agent_name and flags.agent != flags.agent_name:
        raise InputError(f"two agents are named: {flags.agent_name!r} and {flags.agent!r}")
    return Overrides(
        agent=flags.agent_name or flags.agent,
        dataset=flags.dataset,
        evaluators=tuple(flags.evaluator or ()),
        eval_model=flags.eval_model,
        optimize_model=flags.optimize_model,
        model=flags.model,
        instructions_file=flags.instructions_file,
        max_iterations=flags.max_iterations,
        concurrency=flags.concurrency,
        seed=flags.seed,
        max_calls=flags.max_calls,
        max_tokens=flags.max_tokens,
        max_cost=flags.max_cost,
        max_time_s=flags.max_time,
        cache=not flags.no_cache,
    )


def _run(
    console: Console, optimization: Optimization, per_candidate: int, *, applies: bool
) -> OptimizationSummary:
    with console.progress("Baseline") as line:
        follower = _Follower(console, line, per_candidate)
        try:
            watch = Watch(follower.step, follower.count)
            return run_until_interrupted(
                optimization.run(watch, applies=applies), optimization.setup.stop
            )
        except (KeyboardInterrupt, MeasurementError) as error:
            if optimization.setup.stop.reason != INTERRUPTED_BY_USER:
                raise
            place = optimization.setup.layout.show(optimization.folder)
            raise Interrupted(
                f"interrupted; every candidate and verdict so far is kept in {place}",
                hint="the same command again takes answered calls from the cache",
            ) from error


class _Follower:
    """Turns steps and trials into progress."""

    def __init__(self, console: Console, line: ProgressLine, per_candidate: int) -> None:
        self._console = console
        self._line = line
        self._total = per_candidate
        self._done = 0

    def count(self, _: Trial) -> None:
        self._done += 1
        self._line.update(self._done, self._total)

    def step(self, progress: OptimizationProgress) -> None:
        self._done = 0
        if progress.step == "measuring":
            self._line.update(0, self._total, progress.candidate_id)
        elif progress.result is not None:
            result = progress.result
            self._console.note(
                f"[{progress.iteration}/{progress.max_iterations}] {result.id}: "
                f"{word_number(result.score)}, {result.reason}"
            )
