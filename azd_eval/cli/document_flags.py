"""The flags of `runevals`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from azd_eval import __version__
from azd_eval.cli import flags


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"runevals of azd-eval {__version__}")
        raise typer.Exit


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFlags(flags.LimitFlags):
    """Flags of `runevals`."""

    prompts_file: Annotated[
        list[Path] | None,
        typer.Option(
            "--prompts-file", metavar="FILE", help="Evaluation document to run; repeatable."
        ),
    ] = None
    prompts: Annotated[
        list[str] | None,
        typer.Option("--prompts", metavar="TEXT...", help="Prompts, in place of a document."),
    ] = None
    expected: Annotated[
        list[str] | None,
        typer.Option("--expected", metavar="TEXT...", help="The answers expected to them."),
    ] = None
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Type prompts, one by one.")
    ] = False
    evaluate_only: Annotated[
        Path | None,
        typer.Option(
            "--evaluate-only", metavar="FILE", help="Score the responses in it; ask no agent."
        ),
    ] = None
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Also write results here, .json or .csv."
        ),
    ] = None
    force: Annotated[
        bool, typer.Option("--force", help="Replace files of `--output` that exist.")
    ] = False
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--compare", metavar="OLD NEW", help="Compare two results; run nothing."),
    ] = None
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="OLD", help="Compare with this result at the end."),
    ] = None
    fail_on_regression: Annotated[
        bool,
        typer.Option("--fail-on-regression", help="Exit 1 if an item passed before and fails now."),
    ] = False
    init: Annotated[
        str | None,
        typer.Option(
            "--init",
            metavar="[KIND]",
            help="Write ./evals/evals.json: basic, knowledge-base or tool-usage.",
        ),
    ] = None
    upgrade: Annotated[
        bool,
        typer.Option("--upgrade", help="Write documents without version anew, with a backup."),
    ] = False
    strict: Annotated[
        bool, typer.Option("--strict", help="Take only what the official schema takes.")
    ] = False
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="GLOB", help="Only such categories; repeatable."),
    ] = None
    test_id: Annotated[
        list[str] | None,
        typer.Option("--test-id", metavar="GLOB", help="Only such a testId; repeatable."),
    ] = None
    config: flags.Config = None
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Model of the agent.")
    ] = None
    instructions_file: flags.InstructionsFile = None
    callable: Annotated[
        str | None,
        typer.Option(
            "--callable", metavar="FILE.py:NAME", help="The agent is this Python function."
        ),
    ] = None
    eval_model: flags.EvalModel = None
    concurrency: flags.Concurrency = None
    fail_under: flags.FailUnder = None
    no_gate: flags.NoGate = False
    max_errors: flags.MaxErrors = None
    dry_run: flags.DryRun = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last unfinished run of the document.")
    ] = False
    resume_run: flags.ResumeRun = None
    no_cache: flags.NoCache = False
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_print_version, is_eager=True, help="Show the version."
        ),
    ] = False
