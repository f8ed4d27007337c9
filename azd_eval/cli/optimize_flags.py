"""The flags of `optimize` and its subcommands, as one frozen record each."""

from dataclasses import dataclass
from typing import Annotated

import typer

from azd_eval.cli.flags import (
    Agent,
    CommonFlags,
    Concurrency,
    Config,
    Dataset,
    DryRun,
    EvalModel,
    Evaluators,
    InstructionsFile,
    LimitFlags,
    NoCache,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizeFlags(LimitFlags):
    """Flags of `optimize`."""

    agent_name: Annotated[
        str | None, typer.Argument(metavar="AGENT", help="Name of the agent.")
    ] = None
    agent: Agent = None
    config: Config = None
    dataset: Dataset = None
    evaluator: Evaluators = None
    eval_model: EvalModel = None
    optimize_model: Annotated[
        str | None,
        typer.Option("--optimize-model", metavar="MODEL", help="Model that revises."),
    ] = None
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Model of the agent.")
    ] = None
    instructions_file: InstructionsFile = None
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations", "--max-candidates", min=1, max=1000, help="Revisions to try."
        ),
    ] = None
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", metavar="NAME", help="How to search: reflect (default), gepa."),
    ] = None
    proposals: Annotated[
        int | None,
        typer.Option("--proposals", min=1, max=20, help="Revisions to ask for at once."),
    ] = None
    hold_out: Annotated[
        str | None,
        typer.Option(
            "--hold-out", metavar="X", help="Share of tasks to hold out, such as 30%; 0: none."
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of the search and the models; another asks anew.")
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="ID[/CANDIDATE]", help="Start from what an optimization found."
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the last unfinished one of this config."),
    ] = False
    resume_run: Annotated[
        str | None,
        typer.Option("--resume-run", metavar="ID", help="Go on with this optimization."),
    ] = None
    concurrency: Concurrency = None
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Write instructions that are really better to where the agent reads them.",
        ),
    ] = False
    dry_run: DryRun = False
    no_cache: NoCache = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationsFlags(CommonFlags):
    """Flags of `optimize list`."""

    config: Config = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationFlags(OptimizationsFlags):
    """Flags of `optimize show`."""

    optimization: Annotated[
        str | None, typer.Argument(metavar="ID", help="Optimization; default: the last one.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyFlags(OptimizationsFlags):
    """Flags of `optimize apply`."""

    candidate: Annotated[
        str, typer.Argument(metavar="CANDIDATE", help="Candidate, such as candidate_2.")
    ]
    optimization: Annotated[
        str | None,
        typer.Option("--optimization", metavar="ID", help="Which optimization; default: the last."),
    ] = None
