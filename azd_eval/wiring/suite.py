"""Create an evaluation suite: find the agent, draft with a model or with rules, write the files."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from azd_eval.config import (
    DEFAULT_MAX_TASKS,
    TASK_ADHERENCE,
    AgentConfig,
    EvalConfig,
    EvaluatorReference,
    ModelConfig,
)
from azd_eval.domain.chat import Usage
from azd_eval.domain.ports import BlueprintDrafter, TaskDrafter
from azd_eval.domain.suite import Brief
from azd_eval.domain.task import Task
from azd_eval.errors import FilesRefused, InputError
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.files import is_taken, require_writable_path, write_new
from azd_eval.formats.agent_folder import write_baseline
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.eval_yaml import SuiteConfig, load_eval_yaml, write_eval_yaml
from azd_eval.formats.evaluator_files import read_rubric, write_rubric
from azd_eval.formats.jsonl import write_tasks
from azd_eval.formats.task_rules import TaskRules
from azd_eval.formats.tasks import read_task_row
from azd_eval.generators.model import ModelBlueprintDrafter, ModelTaskDrafter
from azd_eval.generators.offline import OfflineBlueprintDrafter, OfflineTaskDrafter
from azd_eval.storage.run_ids import keep_out_of_git
from azd_eval.targets.callables import load_function
from azd_eval.wiring.agents import Instructions, find_instructions
from azd_eval.wiring.environment import Environment, read_environment
from azd_eval.wiring.evaluators import is_file, locate_from_shell, resolve_evaluators
from azd_eval.wiring.git import find_ignored
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.model_choice import choose_model, describe_engine
from azd_eval.wiring.models import OFFLINE, ModelPool, PoolOptions, resolve_endpoint
from azd_eval.workflows.init_eval import (
    DraftedSuite,
    SuitePlan,
    draft_instructions,
    init_eval,
    name_assets,
)

Progress = Callable[[str, int, int], None]

_TASK_RULES = TaskRules(criteria_required=True, find_pattern_fault=pattern_fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """What a suite is made from. Paths are relative to the working folder.

    `sentence` says what the agent does and what to test. With `dataset`, those tasks are kept and
    only the evaluator is drafted. `callable` makes it a Python agent.
    """

    agent: str
    sentence: str = ""
    model: str | None = None
    max_tasks: int = DEFAULT_MAX_TASKS
    dataset: Path | None = None
    evaluators: Sequence[str] = ()
    name: str | None = None
    callable: str | None = None
    config: Path = Path("eval.yaml")
    replaces: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CreatedSuite:
    """The files of a new suite; `backup` is the config that was there before.

    `shortfall` says so when there are fewer tasks than were asked for, and why.
    """

    config: Path
    dataset: Path
    evaluator: Path
    dataset_id: str | None
    evaluator_id: str
    tasks: int
    notes: tuple[str, ...]
    usage: Usage
    engine: str | None
    shortfall: str | None = None
    backup: Path | None = None


@dataclass(frozen=True, slots=True)
class SuiteSetup:
    """A suite that can be drafted: everything checked, nothing asked of a model yet.

    `tell` hears what the user should know while the models are waited for.
    """

    options: SuiteOptions
    layout: Layout
    environment: Environment
    models: Mapping[str, ModelConfig]
    model: str
    instructions: Instructions | None
    golden: tuple[Task, ...]
    notes: tuple[str, ...]
    tell: Callable[[str], None] = lambda _: None

    @property
    def engine(self) -> str | None:
        """Say so when rules draft, in place of a language model."""
        return describe_engine(self.model)

    async def create(self, on_progress: Progress) -> CreatedSuite:
        """Draft and write. Files appear only when all is drafted; none is overwritten."""
        async with self._open_pool() as pool:
            drafted = await init_eval(self._plan(), *self._drafters(pool), on_progress)
            usage = pool.usage()
            notes = pool.notes
        return self._write(drafted, usage, notes)

    def _plan(self) -> SuitePlan:
        text = self.instructions.text if self.instructions else ""
        brief = Brief(self.options.agent, self.options.sentence, text, self.golden)
        return SuitePlan(brief, self.options.max_tasks)

    def _open_pool(self) -> ModelPool:
        # After an interruption nothing is paid twice; new versions want new drafts.
        cache = None if self.options.replaces else self.layout.cache
        return ModelPool(PoolOptions(self.environment, self.models, cache=cache, tell=self.tell))

    def _drafters(self, pool: ModelPool) -> tuple[BlueprintDrafter, TaskDrafter]:
        if self.model == OFFLINE:
            return OfflineBlueprintDrafter(), OfflineTaskDrafter(self.options.seed)
        model = pool.model(self.model)
        # What a model drafts passes the very reader that files pass.
        read_drafted_rubric = partial(read_rubric, find_pattern_fault=pattern_fault)
        read_drafted_task = partial(read_task_row, rules=_TASK_RULES)
        return (
            ModelBlueprintDrafter(model, read_drafted_rubric),
            ModelTaskDrafter(model, read_drafted_task),
        )

    def _write(self, drafted: DraftedSuite, usage: Usage, notes: Sequence[str]) -> CreatedSuite:
        layout, options = self.layout, self.options
        keep_out_of_git(layout.foundry)
        names = name_assets(options.agent, _existing(layout))
        evaluator = layout.evaluators / f"{names.evaluator}.v{names.version}.yaml"
        dataset = layout.datasets / f"{names.dataset}.v{names.version}.jsonl"
        rubric = replace(drafted.rubric, name=names.evaluator, version=str(names.version))
        if options.dataset is None:
            write_new(dataset, write_tasks(drafted.tasks))
        else:
            dataset = options.dataset.absolute()
        write_new(evaluator, write_rubric(rubric))
        told = [*self.notes, *notes, *self._write_instructions()]
        told += find_ignored(dataset, evaluator)
        backup = _back_up(options.config) if options.replaces else None
        write_new(options.config, write_eval_yaml(self._describe(dataset, names.evaluator)))
        return CreatedSuite(
            config=options.config,
            dataset=dataset,
            evaluator=evaluator,
            dataset_id=None if options.dataset else f"{names.dataset}/v{names.version}",
            evaluator_id=f"{names.evaluator}/v{names.version}",
            tasks=len(self.golden) or len(drafted.tasks),
            notes=tuple(told),
            usage=usage,
            engine=self.engine,
            shortfall=drafted.shortfall,
            backup=backup,
        )

    def _write_instructions(self) -> list[str]:
        if self.instructions is not None:
            return []
        text = draft_instructions(self.options.agent, self.options.sentence)
        path = self.layout.show(write_baseline(self.layout.agent_configs, text, model=self.model))
        return [f"the agent had no instructions: plain ones to start from are in {path}"]

    def _describe(self, dataset: Path, evaluator: str) -> SuiteConfig:
        relate = self.layout.relate
        kept = [
            relate(Path(name)) if is_file(name) else name
            for name in self.options.evaluators
            if name not in (TASK_ADHERENCE, evaluator)
        ]
        return SuiteConfig(
            agent=self.options.agent,
            name=self.options.name,
            callable=self.options.callable,
            model=self.model,
            dataset_file=relate(dataset),
            evaluators=(TASK_ADHERENCE, *kept, evaluator),
        )


def set_up_suite(options: SuiteOptions) -> SuiteSetup:
    """Check all that can be checked before a model is asked. Raises `InputError`."""
    layout = Layout(options.config.parent.resolve())
    if is_taken(options.config) and not options.replaces:
        raise InputError(
            f"{str(options.config)!r} exists",
            hint="`--force` makes new versions and keeps it as a backup; "
            "`--out-file` writes another one",
        )
    if not options.agent.strip():
        raise InputError("the agent has no name", hint="give one with `--agent`")
    if options.callable is not None:
        load_function(options.callable, layout.project)
    for path in (options.config, layout.foundry / "any", layout.baseline_instructions):
        require_writable_path(path)
    golden, notes = _read_golden(options.dataset)
    kept = [EvaluatorReference(name=locate_from_shell(name)) for name in options.evaluators]
    resolve_evaluators(kept, layout)
    config = AgentConfig(name=options.agent)
    instructions = find_instructions(config, layout.project)
    if not options.sentence.strip() and not golden and instructions is None:
        raise InputError(
            "nothing says what the agent does",
            hint='say it: `--gen-instruction "Customer support agent. Test refunds and returns."`',
        )
    environment = read_environment(layout.project)
    replaced = _read_replaced(options.config)
    models = replaced.models if replaced else {}
    model, model_notes = choose_model(options.model or _name_generator(replaced), environment)
    resolve_endpoint(model, models, environment)
    return SuiteSetup(
        options=options,
        layout=layout,
        environment=environment,
        models=models,
        model=model,
        instructions=instructions,
        golden=golden,
        notes=(*notes, *model_notes),
    )


def _read_replaced(config: Path) -> EvalConfig | None:
    try:
        return load_eval_yaml(config).config
    except InputError:
        # There is none, or it is broken: one more reason to replace it.
        return None


def _name_generator(replaced: EvalConfig | None) -> str | None:
    if replaced is None:
        return None
    return replaced.options.generation_model or replaced.options.eval_model


def _read_golden(path: Path | None) -> tuple[tuple[Task, ...], tuple[str, ...]]:
    if path is None:
        return (), ()
    source = open_dataset(path.absolute(), _TASK_RULES)
    inspection = source.inspect()
    if not inspection.is_good:
        raise FilesRefused(inspection.problems)
    return tuple(source), tuple(map(str, inspection.problems))


def _existing(layout: Layout) -> list[str]:
    folders = (layout.datasets, layout.evaluators)
    return [path.name for folder in folders if folder.is_dir() for path in folder.iterdir()]


def _back_up(config: Path) -> Path | None:
    if not is_taken(config):
        return None
    number = 1
    while (backup := config.with_name(f"{config.name}.backup-{number}")).exists():
        number += 1
    shutil.move(config, backup)
    return backup
