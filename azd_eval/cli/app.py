"""The command tree. Handlers are imported when they run, so that `--help` is quick."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from azd_eval import __version__
from azd_eval.cli import flags, optimize_flags
from azd_eval.cli.boundary import keep_stdout_for_results, run_guarded
from azd_eval.cli.default_command import DefaultCommandGroup
from azd_eval.cli.document_flags import DocumentFlags
from azd_eval.cli.many_values import fill_bare, repeat_options
from azd_eval.cli.records import command_taking
from azd_eval.errors import InputError

_MANY_WORDS = ("--prompts", "--expected")
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(frozen=True, slots=True)
class _Command:
    """One command: its flags, who handles it (`module:function` of this package), its help."""

    name: str
    record: type[flags.CommonFlags]
    handler: str
    text: str
    examples: tuple[str, ...]
    hidden_aliases: tuple[str, ...] = ()


_INIT = _Command(
    "init",
    flags.InitFlags,
    "eval_init:init_suite",
    "Draft a dataset and an adaptive evaluator from one sentence.",
    (
        "azd-eval eval init",
        'azd-eval eval init -g "Support agent for a shop. Test returns." -m gpt-4.1-mini',
        "azd-eval eval init --dataset ./my-golden-dataset.jsonl",
    ),
    hidden_aliases=("generate",),
)
_RUN = _Command(
    "run",
    flags.RunFlags,
    "eval_run:run_suite",
    "Score every task of the dataset, criterion by criterion.",
    (
        "azd-eval eval run",
        "azd-eval eval run --dry-run",
        "azd-eval eval run --task 'refund_*' --repeat 3 --fail-under 0.8",
    ),
)
_LIST_OPTIMIZATIONS = _Command(
    "list",
    optimize_flags.OptimizationsFlags,
    "optimizations:list_all",
    "List past optimizations.",
    ("azd-eval optimize list",),
)
_SHOW_OPTIMIZATION = _Command(
    "show",
    optimize_flags.OptimizationFlags,
    "optimizations:show_one",
    "Show the candidates of one optimization.",
    ("azd-eval optimize show",),
)
_APPLY_CANDIDATE = _Command(
    "apply",
    optimize_flags.ApplyFlags,
    "optimizations:apply_candidate",
    "Write a candidate's instructions to where the agent reads them.",
    ("azd-eval optimize apply candidate_2",),
)
_VALIDATE = _Command(
    "validate",
    flags.ValidateFlags,
    "dataset_validate:validate_files",
    "Find every problem of datasets, with line, field and cure.",
    (
        "azd-eval dataset validate my_eval_dataset.jsonl",
        "azd-eval dataset validate --lint --json *.jsonl",
        "azd-eval dataset validate --strict evals/evals.json",
    ),
)
_CONVERT = _Command(
    "convert",
    flags.ConvertFlags,
    "dataset_convert:convert_dataset",
    "Write a dataset as JSONL, CSV or an evaluation document (JSON), by its extension.",
    (
        "azd-eval dataset convert tasks.csv tasks.jsonl",
        "azd-eval dataset convert tasks.jsonl evals/evals.json",
    ),
)
_STATS = _Command(
    "stats",
    flags.StatsFlags,
    "dataset_stats:show_stats",
    "Count what a dataset holds: tasks, categories, criteria, evaluators, lengths.",
    ("azd-eval dataset stats tasks.jsonl", "azd-eval dataset stats evals/evals.json --json"),
)
_RUNEVALS = _Command(
    "runevals",
    DocumentFlags,
    "document_run:run_documents",
    "Run evaluation documents of Microsoft 365 agents, with any agent.",
    (
        "runevals",
        "runevals --prompts-file ./evals/regression.json --output ./results/v2.json",
        'runevals --prompts "What is Teams?" --expected "A collaboration platform"',
        "runevals --compare ./results/v1.json ./results/v2.json",
    ),
)
_DEMO = _Command(
    "demo",
    flags.DemoFlags,
    "demo:show_demo",
    "Make a small agent, then draft, score and improve it offline.",
    ("azd-eval demo", "azd-eval demo ./my-demo"),
)


def _examples(*lines: str) -> str:
    # `\b` keeps the help formatter from joining the lines.
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _handler(name: str) -> Callable[[Any], int]:
    module, function = name.split(":")

    def handle(record: Any) -> int:
        _enter_folder(record.cwd)
        # What a user's own agent prints must not mix with the result on stdout.
        with redirect_stdout(sys.stderr):
            result: int = getattr(import_module(f"azd_eval.cli.{module}"), function)(record)
        return result

    return handle


def _enter_folder(folder: Path | None) -> None:
    try:
        if folder is not None:
            os.chdir(folder)
    except OSError as error:
        raise InputError(f"--cwd: cannot enter {str(folder)!r}: {error.strerror}") from error


def _add(group: typer.Typer, command: _Command) -> None:
    function = command_taking(command.record, _handler(command.handler))
    epilog = _examples(*command.examples)
    for name in (command.name, *command.hidden_aliases):
        hidden = name != command.name
        group.command(name, help=command.text, epilog=epilog, hidden=hidden)(function)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"azd-eval {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Version.")
    ] = False,
) -> None:
    """Generate evaluation datasets, score AI agents, improve their instructions."""


def build_app() -> typer.Typer:
    """Build the whole tree."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_SETTINGS,
        epilog=_examples("azd-eval eval init", "azd-eval eval run", "azd-eval optimize"),
    )
    app.callback()(_root)
    app.add_typer(
        _build_group("Generate an evaluation suite; score an agent with it.", _INIT, _RUN),
        name="eval",
    )
    app.add_typer(_build_optimize(), name="optimize")
    app.add_typer(
        _build_group("Check, convert and count datasets.", _VALIDATE, _CONVERT, _STATS),
        name="dataset",
    )
    _add(app, _DEMO)
    return app


def build_runevals() -> typer.Typer:
    """Build `runevals`, a command without subcommands."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=_SETTINGS,
    )
    _add(app, _RUNEVALS)
    return app


def _build_group(text: str, *commands: _Command) -> typer.Typer:
    group = typer.Typer(help=text, no_args_is_help=True, context_settings=_SETTINGS)
    for command in commands:
        _add(group, command)
    return group


def _build_optimize() -> typer.Typer:
    group = typer.Typer(
        help="Revise the agent's instructions and keep what is better.",
        cls=DefaultCommandGroup,
        subcommand_metavar="| COMMAND [ARGS]...",
        context_settings=_SETTINGS,
        epilog=_examples(
            "azd-eval optimize",
            "azd-eval optimize --config eval.yaml --apply",
            "azd-eval optimize my-agent --eval-model gpt-4.1-mini",
        ),
    )
    start = command_taking(optimize_flags.OptimizeFlags, _handler("optimize:optimize_instructions"))
    group.callback(invoke_without_command=True)(start)
    for command in (_LIST_OPTIMIZATIONS, _SHOW_OPTIMIZATION, _APPLY_CANDIDATE):
        _add(group, command)
    return group


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    keep_stdout_for_results()
    sys.exit(run_guarded(build_app(), arguments))


def main_runevals(arguments: Sequence[str] | None = None) -> None:
    """Run `runevals` and exit with its code."""
    keep_stdout_for_results()
    words = read_words(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run_guarded(build_runevals(), words, "runevals"))


def read_words(arguments: Sequence[str]) -> list[str]:
    """Write the arguments of `runevals` in the way that typer reads."""
    return fill_bare(repeat_options(arguments, _MANY_WORDS), "--init", "basic")
