"""`demo`: a small agent, then init, run, optimize and report on it, with rules alone."""

import asyncio
import os
from pathlib import Path

from azd_eval.cli.console import Console, styled
from azd_eval.cli.flags import DemoFlags
from azd_eval.cli.optimization_view import show_optimization
from azd_eval.cli.result_view import show_run, word_number
from azd_eval.domain.optimization_summary import OptimizationSummary
from azd_eval.domain.summary import RunSummary
from azd_eval.wiring.demo_project import write_demo_project
from azd_eval.wiring.evaluation import open_evaluation
from azd_eval.wiring.models import OFFLINE
from azd_eval.wiring.optimization import Watch
from azd_eval.wiring.optimization_start import open_optimization
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import set_up
from azd_eval.wiring.suite import SuiteOptions, set_up_suite

_SENTENCE = (
    "This agent handles customer support for electronics. "
    "Test returns, troubleshooting, and out-of-scope requests."
)
_OVERRIDES = Overrides(eval_model=OFFLINE, optimize_model=OFFLINE)


def show_demo(flags: DemoFlags) -> int:
    """Write the demo project and take it through the whole job."""
    console = Console(flags)
    files = write_demo_project(flags.folder)
    os.chdir(flags.folder)
    console.say(styled(f"Demo project in {flags.folder}: {len(files)} files", "bold"))
    _draft(console)
    _run(console)
    optimization = _optimize(console)
    after = _run(console)
    _conclude(console, flags.folder, after, optimization)
    return 0


def _draft(console: Console) -> None:
    _show_command(console, f'azd-eval eval init -g "{_SENTENCE}" --callable agent.py:respond')
    setup = set_up_suite(
        SuiteOptions(
            agent="my-support-agent",
            sentence=_SENTENCE,
            model=OFFLINE,
            callable="agent.py:respond",
        )
    )
    suite = asyncio.run(setup.create(lambda *_: None))
    console.say(f"{suite.tasks} tasks in {suite.dataset.relative_to(Path.cwd())}")


def _run(console: Console) -> RunSummary:
    _show_command(console, "azd-eval eval run")
    evaluation = open_evaluation(set_up(None, _OVERRIDES))
    summary = asyncio.run(evaluation.run(lambda _: None))
    trials = sorted(evaluation.read_trials(), key=lambda trial: trial.index)
    show_run(console, summary, trials)
    return summary


def _optimize(console: Console) -> OptimizationSummary:
    _show_command(console, "azd-eval optimize --apply")
    optimization = open_optimization(set_up(None, _OVERRIDES))
    watch = Watch(on_step=lambda _: None, on_trial=lambda _: None)
    summary = asyncio.run(optimization.run(watch, applies=True))
    show_optimization(console, summary)
    return summary


def _show_command(console: Console, command: str) -> None:
    console.say()
    console.say(styled(f"$ {command}", "bold cyan"))


def _conclude(
    console: Console, folder: Path, after: RunSummary, optimization: OptimizationSummary
) -> None:
    baseline, best = optimization.baseline.score, optimization.best.score
    console.say()
    console.say(styled(f"Baseline {word_number(baseline)}, best {word_number(best)}", "bold green"))
    console.say("All of this was done by rules, not a language model.")
    console.say("Open:")
    console.say(f"  {folder / str(after.run_dir) / 'report.html'}")
    console.say(f"  {folder / str(optimization.run_dir) / 'report.html'}")
    console.say(f"  {folder / 'eval.yaml'}")
    console.show_json({"run": after.as_dict(), "optimization": optimization.as_dict()})
