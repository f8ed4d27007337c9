"""The flags of every command, as one frozen record each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonFlags:
    """What every command takes."""

    json: Annotated[bool, typer.Option("--json", help="Print the result alone, as JSON.")] = False
    no_prompt: Annotated[bool, typer.Option("--no-prompt", help="Never ask.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Print errors and results only.")] = False
    no_progress: Annotated[bool, typer.Option("--no-progress", help="Show no progress.")] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what is done, and tracebacks.")
    ] = False
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Work in this folder.")
    ] = None


Agent = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="NAME", help="Name of the agent.")
]
Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="eval.yaml; default: the one found here."),
]
Dataset = Annotated[
    Path | None,
    typer.Option("--dataset", "-d", metavar="FILE", help="Tasks, as JSONL, JSON or CSV."),
]
EvalModel = Annotated[
    str | None,
    typer.Option("--eval-model", "-m", metavar="MODEL", help="Model of the judge."),
]
Evaluators = Annotated[
    list[str] | None,
    typer.Option("--evaluator", metavar="NAME", help="Evaluator to use; repeatable."),
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, max=1000, help="Calls in flight at once.")
]
InstructionsFile = Annotated[
    Path | None,
    typer.Option("--instructions-file", metavar="FILE", help="The agent's instructions."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask again what was answered before.")]
FailUnder = Annotated[
    str | None,
    typer.Option("--fail-under", metavar="X", help="Exit 1 below this score, 0..1 or such as 70%."),
]
NoGate = Annotated[bool, typer.Option("--no-gate", help="Never exit 1.")]
MaxErrors = Annotated[
    str | None,
    typer.Option(
        "--max-errors", metavar="N", help="Errors tolerated before exit 3: a number or a share."
    ),
]
ResumeRun = Annotated[
    Path | None, typer.Option("--resume-run", metavar="RUN", help="Go on with this run.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count the calls, make none.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitFlags(CommonFlags):
    """What a run may spend at most; results are kept when a limit is reached."""

    max_calls: Annotated[
        int | None,
        typer.Option("--max-calls", min=1, help="Stop after N calls, vain tries included."),
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, help="Stop after N tokens.")
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", min=0, help="Stop at this cost; models need a `price`."),
    ] = None
    max_time: Annotated[
        float | None, typer.Option("--max-time", min=0, metavar="S", help="Stop after S seconds.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InitFlags(CommonFlags):
    """Flags of `eval init`."""

    agent: Agent = None
    gen_instruction: Annotated[
        str | None,
        typer.Option(
            "--gen-instruction",
            "-g",
            metavar="TEXT",
            help="What the agent does and what scenarios to test, in a sentence or two.",
        ),
    ] = None
    gen_instruction_file: Annotated[
        Path | None,
        typer.Option("--gen-instruction-file", metavar="FILE", help="The same, from a file."),
    ] = None
    eval_model: Annotated[
        str | None,
        typer.Option(
            "--eval-model", "-m", metavar="MODEL", help="Model that drafts, judges and answers."
        ),
    ] = None
    max_samples: Annotated[
        int, typer.Option("--max-samples", min=1, max=1000, help="Tasks to generate.")
    ] = 15
    dataset: Annotated[
        Path | None,
        typer.Option(
            "--dataset", "-d", metavar="FILE", help="Your own tasks: generate the evaluator only."
        ),
    ] = None
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            "--evaluator", metavar="NAME", help="Keep this beside the generated one; repeatable."
        ),
    ] = None
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the suite; default: the agent's.")
    ] = None
    callable: Annotated[
        str | None,
        typer.Option(
            "--callable", metavar="FILE.py:NAME", help="Your agent is this Python function."
        ),
    ] = None
    out_file: Annotated[
        Path, typer.Option("--out-file", metavar="FILE", help="Where the config goes.")
    ] = Path("eval.yaml")
    force: Annotated[
        bool,
        typer.Option(
            "--force", "--reset-defaults", help="Make new versions; keep the old config as backup."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags(LimitFlags):
    """Flags of `eval run`."""

    config: Config = None
    dataset: Dataset = None
    evaluator: Evaluators = None
    name: Annotated[str | None, typer.Option("--name", help="Name of the run.")] = None
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="GLOB", help="Only tasks of such a name; repeatable."),
    ] = None
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="TEXT", help="Only this category; repeatable."),
    ] = None
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N tasks.")] = (
        None
    )
    repeat: Annotated[
        int | None, typer.Option("--repeat", min=1, max=100, help="Ask each task N times.")
    ] = None
    concurrency: Concurrency = None
    eval_model: EvalModel = None
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Model of the agent.")
    ] = None
    instructions_file: InstructionsFile = None
    fail_under: FailUnder = None
    no_gate: NoGate = False
    max_errors: MaxErrors = None
    dry_run: DryRun = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last unfinished run of this config.")
    ] = False
    resume_run: ResumeRun = None
    no_cache: NoCache = False
    run_dir: Annotated[
        Path | None,
        typer.Option("--run-dir", metavar="DIR", help="Folder that gets the run's folder."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateFlags(CommonFlags):
    """Flags of `dataset validate`."""

    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Datasets to check.")]
    strict: Annotated[
        bool, typer.Option("--strict", help="Only the specification's fields; no warnings.")
    ] = False
    lint: Annotated[
        bool,
        typer.Option("--lint", help="Also vague criteria, missing edge cases, near-duplicates."),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertFlags(CommonFlags):
    """Flags of `dataset convert`."""

    source: Annotated[Path, typer.Argument(metavar="IN", help="The dataset to read.")]
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The new file.")]
    strict: Annotated[
        bool, typer.Option("--strict", help="In a document, only what its official schema takes.")
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsFlags(CommonFlags):
    """Flags of `dataset stats`."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="The dataset to describe.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoFlags(CommonFlags):
    """Flags of `demo`."""

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")] = Path(
        "azd-eval-demo"
    )
