"""`optimize`: revise the agent's instructions and keep what is better."""

from dataclasses import replace

from azd_eval.cli.console import Console, ProgressLine
from azd_eval.cli.eval_run import read_flag, read_limits, show_plan
from azd_eval.cli.interrupt import REASON as INTERRUPTED_BY_USER
from azd_eval.cli.interrupt import run_until_interrupted
from azd_eval.cli.optimization_view import show_optimization
from azd_eval.cli.optimize_flags import OptimizeFlags
from azd_eval.cli.records import write_flags
from azd_eval.cli.result_view import count_of, word_config, word_number
from azd_eval.domain.gate import read_share
from azd_eval.domain.optimization_summary import CandidateResult, OptimizationSummary
from azd_eval.domain.score import Trial
from azd_eval.errors import InputError, Interrupted, MeasurementError
from azd_eval.wiring.application import require_writable
from azd_eval.wiring.optimization import Optimization, Watch
from azd_eval.wiring.optimization_job import (
    OptimizationPlan,
    make_job,
    note_hold_out,
    plan_optimization,
)
from azd_eval.wiring.optimization_start import (
    find_optimization,
    find_unfinished,
    open_optimization,
    resume_optimization,
)
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import Setup, set_up
from azd_eval.workflows.optimization_job import OptimizationProgress

_FAILED = ("model_error", "strategy_error")
# What goes into an optimization from the command line alone, and must be said again to go on.
_SAID_AGAIN = (
    *("cwd", "agent", "dataset", "evaluator", "eval_model", "optimize_model", "model"),
    *("instructions_file", "max_iterations", "strategy", "proposals", "hold_out", "seed"),
    *("concurrency", "apply", "no_cache"),
)


def optimize_instructions(flags: OptimizeFlags) -> int:
    """Optimize; exit 0 whether it improved or not, 3 when nothing could be measured."""
    console = Console(flags)
    setup = set_up(flags.config, _read_overrides(flags), optimizes=True)
    setup = replace(setup, tell=console.remark)
    job = make_job(setup)
    plan = plan_optimization(setup, job)
    if flags.apply:
        require_writable(setup)
    if flags.dry_run:
        noted = note_hold_out(setup, job)
        return show_plan(console, plan.calls, noted, held_out=plan.held_out, cost=plan.cost)
    if setup.engine:
        console.note(f"engine: {setup.engine}")
    optimization = _open(flags, setup)
    resume = _word_resume(flags, optimization)
    console.note(_word_plan(setup, plan))
    try:
        summary = _run(console, optimization, applies=flags.apply)
    except (KeyboardInterrupt, MeasurementError) as error:
        if setup.stop.reason != INTERRUPTED_BY_USER:
            raise
        place = setup.layout.show(optimization.folder)
        raise Interrupted(
            f"interrupted; every candidate and verdict so far is kept in {place}", hint=resume
        ) from error
    console.notes(summary.notes)
    show_optimization(console, summary)
    console.show_json(summary.as_dict())
    if setup.stop.reason == INTERRUPTED_BY_USER:
        raise Interrupted("interrupted; the best so far is shown, and kept", hint=resume)
    if summary.baseline.score is None or summary.stop_reason in _FAILED:
        raise MeasurementError(f"not measured: {summary.stop_message}", hint=resume)
    return 0


def _open(flags: OptimizeFlags, setup: Setup) -> Optimization:
    if not flags.resume and flags.resume_run is None:
        return open_optimization(setup, flags.source)
    if flags.source:
        raise InputError("`--from` begins a new optimization: it does not go with `--resume`")
    if flags.resume_run is not None:
        return resume_optimization(setup, find_optimization(setup.layout, flags.resume_run))
    return resume_optimization(setup, find_unfinished(setup))


def _word_plan(setup: Setup, plan: OptimizationPlan) -> str:
    calls = plan.calls
    parts = [
        count_of(getattr(calls, role), f"{role} call")
        for role in ("agent", "judge", "optimizer")
        if getattr(calls, role)
    ]
    limit = " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "no calls"
    cost = f", about {plan.cost:.2g} at the prices given" if plan.cost is not None else ""
    held_out = f"; {count_of(plan.held_out, 'task')} held out" if plan.held_out else ""
    iterations = count_of(setup.config.options.max_iterations, "iteration")
    repeated = ", if none has to be repeated" if parts else ""
    return (
        f"Optimizing {setup.agent.name!r}: {iterations}, at most {limit}{repeated}{cost}{held_out}"
    )


def _read_overrides(flags: OptimizeFlags) -> Overrides:
    if flags.agent and flags.agent_name and flags.agent != flags.agent_name:
        raise InputError(f"two agents are named: {flags.agent_name!r} and {flags.agent!r}")
    return replace(
        read_limits(flags),
        agent=flags.agent_name or flags.agent,
        dataset=flags.dataset,
        evaluators=tuple(flags.evaluator or ()),
        eval_model=flags.eval_model,
        optimize_model=flags.optimize_model,
        model=flags.model,
        instructions_file=flags.instructions_file,
        max_iterations=flags.max_iterations,
        strategy=flags.strategy,
        proposals=flags.proposals,
        hold_out=read_flag("--hold-out", flags.hold_out, read_share),
        concurrency=flags.concurrency,
        seed=flags.seed,
        cache=not flags.no_cache,
    )


def _run(console: Console, optimization: Optimization, *, applies: bool) -> OptimizationSummary:
    with console.progress("Baseline") as line:
        follower = _Follower(console, line)
        watch = Watch(follower.step, follower.count)
        work = optimization.run(watch, applies=applies)
        return run_until_interrupted(work, optimization.setup.stop)


def _word_resume(flags: OptimizeFlags, optimization: Optimization) -> str:
    """Write the command that goes on with this one, as it can be typed where this one was."""
    said = replace(flags, agent=flags.agent_name or flags.agent)
    more = word_config(optimization.setup.config_path) + write_flags(said, _SAID_AGAIN)
    return f"go on with `azd-eval optimize --resume-run {optimization.folder.name}{more}`"


class _Follower:
    """Turns steps and trials into progress."""

    def __init__(self, console: Console, line: ProgressLine) -> None:
        self._console = console
        self._line = line
        self._total = 0
        self._done = 0
        self._name = ""

    def count(self, _: Trial) -> None:
        self._done += 1
        self._line.update(min(self._done, self._total), self._total)

    def step(self, progress: OptimizationProgress) -> None:
        if progress.step == "measuring":
            # Several may be measured at once: the bar is of all that is under way.
            if self._done >= self._total:
                self._total = self._done = 0
            self._total += progress.trials
            self._line.update(self._done, self._total, progress.candidate_id)
        elif progress.step == "calibrated":
            self._console.note(f"Noise: {progress.words}")
        elif progress.result is not None:
            self._console.note(_word_result(progress, progress.result))


def _word_result(progress: OptimizationProgress, result: CandidateResult) -> str:
    place = f"[{progress.iteration}/{progress.max_iterations}] {result.id}"
    word = "accepted" if result.accepted and result.parent else None
    return ": ".join(filter(None, [place, word, word_number(result.score), result.reason]))
