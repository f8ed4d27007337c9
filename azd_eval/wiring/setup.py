"""From a config file and what overrides it to checked parts: no model is asked anything here."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from azd_eval.config import AgentConfig, EvalConfig
from azd_eval.domain.ports import Evaluator, Executor, Journal, Judge, TaskSource
from azd_eval.domain.score import Trial, TrialSpec
from azd_eval.domain.stop import StopSign
from azd_eval.errors import FilesRefused, InputError
from azd_eval.evaluators.judge import BatchedJudge, IndependentJudge
from azd_eval.evaluators.remembered import RememberedJudge
from azd_eval.evaluators.undecided import UndecidedJudge
from azd_eval.executor import LocalExecutor
from azd_eval.formats.eval_yaml import LoadedConfig, load_eval_yaml
from azd_eval.providers.budget import Limits
from azd_eval.providers.endpoint import hide_credentials
from azd_eval.storage.run_memory import RunMemory
from azd_eval.wiring.agents import Agent, find_agent, find_agent_name
from azd_eval.wiring.environment import Environment, read_environment
from azd_eval.wiring.evaluators import EvaluatorSet
from azd_eval.wiring.fingerprint import Fingerprint, digest, digest_agent, digest_tasks
from azd_eval.wiring.layout import CONFIG_NAME, Layout
from azd_eval.wiring.model_choice import choose_model, describe_engine
from azd_eval.wiring.models import OFFLINE, ModelPool, PoolOptions, resolve_endpoint
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.own_evaluators import Calling
from azd_eval.wiring.run_files import locate_dataset, read_run_files
from azd_eval.workflows.plan_run import CallPlan, count_judge_calls, plan_run
from azd_eval.workflows.run_trial import Bench, recall_recorded
from azd_eval.workflows.select_tasks import select_tasks


@dataclass(frozen=True)  # without slots: what takes a walk through the dataset is kept
class Setup:
    """Everything that a run needs to know, checked. `config` has the overrides in it.

    `tell` hears what the user should know while the models are waited for.
    """

    config_path: Path | None
    config: EvalConfig
    layout: Layout
    environment: Environment
    agent: Agent
    dataset_path: Path
    all_tasks: TaskSource
    tasks: TaskSource
    evaluators: EvaluatorSet
    judge_model: str
    uses_cache: bool
    notes: tuple[str, ...]
    stop: StopSign = field(default_factory=StopSign)
    tell: Callable[[str], None] = lambda _: None

    @property
    def dataset(self) -> str:
        """The dataset's path as users know it."""
        return self.layout.show(self.dataset_path)

    @property
    def engine(self) -> str | None:
        """Say so when rules decide or answer, in place of a language model."""
        return describe_engine(self.judge_model, self.agent.model)

    @cached_property
    def asks_judge(self) -> bool:
        """Tell whether anything is left to a judge; checks and comparisons need no model.

        Without tasks, such as before prompts are typed, nobody knows, and it is.
        """
        if next(iter(self.tasks), None) is None:
            return True
        evaluators = self._build_evaluators(UndecidedJudge())
        turns = (turn for task in self.tasks for turn in task.turns)
        return any(each.questions(turn) for turn in turns for each in evaluators)

    @property
    def models(self) -> dict[str, str]:
        """Name the models of an evaluation by role."""
        named = {"agent": self.agent.model, "judge": self.judge_model if self.asks_judge else None}
        return {role: model for role, model in named.items() if model}

    @property
    def judge_parameters(self) -> dict[str, Any]:
        """A judge is as steady as its model allows, unless the user wants otherwise."""
        configured = self.config.models.get(self.judge_model)
        return {"temperature": 0, **(configured.parameters if configured else {})}

    @property
    def optimizer_model(self) -> str:
        """The model that revises instructions."""
        return self.config.options.optimization_model or self.judge_model

    def take_fingerprint(self) -> Fingerprint:
        """Digest all that decides the results."""
        asked, criteria = digest_tasks(self.all_tasks)
        options = self.config.options
        roles = ("agent", "judge")
        agent_model, judge_model = (self._identify_model(self.models.get(role)) for role in roles)
        subject = {**digest_agent(self.agent, agent_model), "dataset": asked}
        if self.agent.kind == "recorded":
            stored = (repr([turn.recorded for turn in task.turns]) for task in self.all_tasks)
            subject["responses"] = digest(sorted(stored))
        return Fingerprint(
            subject,
            {
                "eval_model": digest([judge_model, options.judge]),
                "evaluators": digest(self.evaluators),
                "criteria": criteria,
            },
        )

    def _identify_model(self, name: str | None) -> object:
        if name is None:
            return None
        endpoint = resolve_endpoint(name, self.config.models, self.environment)
        return endpoint.identity, self.config.options.seed

    def describe(self) -> dict[str, Any]:
        """Tell what is run by which settings, for the manifest; places as seen from the project."""
        settings = self.config.model_dump(mode="json", exclude_none=True)
        for model in settings["models"].values():
            if "base_url" in model:
                model["base_url"] = hide_credentials(model["base_url"])
        return {
            "config": self.layout.relate(self.config_path) if self.config_path else None,
            "dataset": self.dataset,
            "agent": self.agent.name,
            "agent_kind": self.agent.kind,
            "evaluators": list(self.evaluators.names),
            "models": self.models,
            "judge_parameters": self.judge_parameters,
            "settings": settings,
        }

    def plan(self) -> CallPlan:
        """Count the calls of one run; raises `FilesRefused` for tasks that nothing scores."""
        plan = plan_run(
            self.tasks,
            self._build_evaluators(UndecidedJudge()),
            repeats=self.config.options.repeats,
            batched=self.config.options.judge == "batched",
            asks_models=self.judge_model != OFFLINE,
        )
        return replace(plan, agent=0) if self.agent.kind == "recorded" else plan

    def open_pool(self) -> ModelPool:
        """Make the models; to be entered inside the running loop."""
        options = self.config.options
        return ModelPool(
            PoolOptions(
                environment=self.environment,
                models=self.config.models,
                concurrency=options.concurrency,
                timeout_s=options.timeout_s,
                cache=self.layout.cache if self.uses_cache else None,
                seed=options.seed,
                limits=Limits(
                    calls=options.max_calls,
                    tokens=options.max_tokens,
                    cost=options.max_cost,
                    seconds=options.max_time_s,
                ),
                stop=self.stop,
                tell=self.tell,
            )
        )

    def build_executor(self, pool: ModelPool, journal: Journal, memory: RunMemory) -> Executor:
        """Put agent and evaluators together; what is in `memory` is not asked again."""
        options = self.config.options
        judge = RememberedJudge(self._build_judge(pool, journal), memory.recall_verdicts)
        evaluators = self._build_evaluators(judge)
        target = self.agent.build_target(pool, options.timeout_s, self._redact)
        recall = recall_recorded if self.agent.kind == "recorded" else memory.recall_reply
        bench = Bench(target, evaluators, journal, recall)
        batched = options.judge == "batched"

        async def run_trial(spec: TrialSpec) -> Trial:
            calls = len(spec.task.turns) + count_judge_calls(spec.task, evaluators, batched=batched)
            async with pool.budget.reserve(calls):
                return await bench.run_trial(spec)

        return LocalExecutor(run_trial, options.concurrency)

    def _build_evaluators(self, judge: Judge) -> tuple[Evaluator, ...]:
        timeout_s = self.config.options.timeout_s
        return self.evaluators.build(judge, Calling(timeout_s=timeout_s, redact=self._redact))

    def _redact(self, text: str) -> str:
        names = [model.api_key_env for model in self.config.models.values() if model.api_key_env]
        return self.environment.redact(text, *names)

    def _build_judge(self, pool: ModelPool, journal: Journal) -> Judge:
        if self.judge_model == OFFLINE or not self.asks_judge:
            return UndecidedJudge()
        kind = BatchedJudge if self.config.options.judge == "batched" else IndependentJudge
        return kind(pool.model(self.judge_model), journal, self.judge_parameters)


def set_up(given: Path | None, overrides: Overrides, *, optimizes: bool = False) -> Setup:
    """Read and check everything: config, dataset, evaluators, agent, models.

    Raises `InputError`, with the problems of all files at once. For an optimization (`optimizes`),
    a missing config or dataset is made up for by the built-in coding tasks.
    """
    path = find_config(given, Path.cwd())
    layout = Layout(path.parent.resolve() if path else Path.cwd())
    loaded = load_config(path, overrides, layout, built_in=optimizes)
    config = loaded.config
    dataset = locate_dataset(config, overrides.dataset, layout, built_in=optimizes)
    source, evaluators, warnings = read_run_files(config, layout, dataset)
    environment = read_environment(layout.project)
    judge_model, model_notes = choose_model(config.options.eval_model, environment)
    agent, agent_notes = find_agent(
        config.agent,
        layout.project,
        judge_model=judge_model,
        flag=Path(overrides.instructions_file) if overrides.instructions_file else None,
        built_in=optimizes and path is None,
    )
    setup = Setup(
        config_path=layout.project / path.name if path else None,
        config=config,
        layout=layout,
        environment=environment,
        agent=agent,
        dataset_path=dataset.absolute(),
        all_tasks=source,
        tasks=select_tasks(source, overrides.task_filter),
        evaluators=evaluators,
        judge_model=judge_model,
        uses_cache=overrides.cache,
        notes=(*loaded.notes, *warnings, *model_notes, *agent_notes),
    )
    check_models(setup, loaded, optimizes=optimizes)
    if optimizes:
        agent.require_revisable()
    return setup


def find_config(given: Path | None, folder: Path) -> Path | None:
    """Find the config: the one given, else `eval.yaml` of the folder, else None."""
    if given is not None:
        if not given.is_file():
            raise InputError(f"config not found: {given.absolute()}")
        return given
    found = folder / CONFIG_NAME
    return found if found.is_file() else None


def check_models(setup: Setup, loaded: LoadedConfig, *, optimizes: bool = False) -> None:
    """Find where each model lives, and its price where cost is limited; raises `InputError`."""
    names = {*setup.models.values()} | ({setup.optimizer_model} if optimizes else set())
    try:
        for name in sorted(names):
            endpoint = resolve_endpoint(name, setup.config.models, setup.environment)
            if setup.config.options.max_cost and not endpoint.price and name != OFFLINE:
                raise InputError(
                    f"a limit of cost needs the price of model {name!r}",
                    hint=f"add `models: {{{name}: {{price: {{input: ..., output: ...}}}}}}`",
                )
    except FilesRefused as error:
        raise FilesRefused([loaded.place(problem) for problem in error.problems]) from error


def load_config(
    path: Path | None, overrides: Overrides, layout: Layout, *, built_in: bool
) -> LoadedConfig:
    """Read the config as it holds for this command; with `built_in`, there need be none."""
    if path is not None:
        loaded = load_eval_yaml(path)
        return replace(loaded, config=overrides.apply(loaded.config))
    if not built_in and overrides.dataset is None:
        raise InputError(
            f"no {CONFIG_NAME} in {layout.project}",
            hint="`azd-eval eval init` makes one; `--config` and `--dataset` name your own files",
        )
    name = overrides.agent or find_agent_name(layout.project)
    return LoadedConfig(overrides.apply(EvalConfig(agent=AgentConfig(name=name))))
