"""What evaluation documents are run with: agent, judge, evaluators of the user's own, options."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from azd_eval.domain.task import Task, Turn
from azd_eval.errors import InputError
from azd_eval.evaluator_options import OPTIONS
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.documents import Document, read_document
from azd_eval.formats.eval_yaml import LoadedConfig
from azd_eval.formats.task_rules import TaskRules
from azd_eval.wiring.agents import Agent, Instructions, find_agent, find_instructions
from azd_eval.wiring.environment import read_environment
from azd_eval.wiring.evaluators import EvaluatorSet, resolve_evaluators
from azd_eval.wiring.layout import DocumentLayout
from azd_eval.wiring.model_choice import choose_model
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import Setup, check_models, find_config, load_config
from azd_eval.workflows.plan_run import CallPlan
from azd_eval.workflows.select_tasks import select_tasks

_LINES_TO_ADD = """\
write an eval.yaml with
  agent:
    name: my-agent
    model: gpt-4.1-mini
    instructions_file: instructions.md
or give `--callable agent.py:respond`, or `--model` and `--instructions-file`
`--evaluate-only FILE` scores responses that are stored, without an agent"""

Options = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ReadyDocument:
    """A document found good, with only those tasks that are wanted; nothing is asked yet."""

    document: Document
    setup: Setup
    plan: CallPlan


@dataclass(frozen=True, slots=True)
class DocumentProject:
    """The project in which documents are run; `replays`: stored responses are scored.

    What eval.yaml says of an evaluator holds wherever a document names it, key by key, unless the
    document says otherwise.
    """

    config_path: Path | None
    loaded: LoadedConfig
    layout: DocumentLayout
    evaluators: EvaluatorSet
    overrides: Overrides
    replays: bool = False

    def read(self, path: Path, *, strict: bool = False) -> Document:
        """Read a document that can be run here; raises `FilesRefused` with all its problems.

        With `strict`, the official schema must take it, too.
        """
        if strict:
            read_document(path, TaskRules(strict=True))
        own = frozenset(each.name for each in self.evaluators.own)
        rules = TaskRules(find_pattern_fault=pattern_fault, custom_evaluators=own)
        return read_document(path, rules)

    @property
    def typed_evaluators(self) -> Options | None:
        """Give what scores prompts that are typed: what eval.yaml names that a document could.

        None when it names nothing of that kind.
        """
        own = [each.name for each in self.evaluators.own]
        known = self.evaluators.of_run
        return {name: known[name] for name in known if name in OPTIONS or name in own} or None

    def prepare(self, document: Document, place: Path) -> ReadyDocument:
        """Check all that is needed to run a document, known as `place`; raises `InputError`."""
        wanted = select_tasks(document.tasks, self.overrides.task_filter)
        selected = replace(document, tasks=tuple(wanted))
        setup = replace(self.set_up(document, place), tasks=self._give_options(selected))
        return ReadyDocument(selected, setup, setup.plan())

    def set_up(self, document: Document, place: Path) -> Setup:
        """Check agent, judge and models; raises `InputError`."""
        environment = read_environment(self.layout.project)
        config = self.loaded.config
        judge_model, model_notes = choose_model(config.options.eval_model, environment)
        agent, agent_notes = self._find_agent(judge_model)
        tasks = self._give_options(document)
        setup = Setup(
            config_path=self.config_path,
            config=config,
            layout=self.layout,
            environment=environment,
            agent=agent,
            dataset_path=place.absolute(),
            all_tasks=tasks,
            tasks=tasks,
            evaluators=EvaluatorSet(
                own=self.evaluators.own,
                of_run=_put_over(self.evaluators.of_run, document.header.evaluators),
            ),
            judge_model=judge_model,
            uses_cache=self.overrides.cache,
            notes=(
                *self.loaded.notes,
                *map(str, document.notes),
                *self._note_stored(document),
                *model_notes,
                *agent_notes,
            ),
        )
        check_models(setup, self.loaded)
        return setup

    def _give_options(self, document: Document) -> tuple[Task, ...]:
        """Let turns that name an evaluator have the options of eval.yaml under their own.

        Where they extend the document's evaluators, those have them already.
        """
        known, defaults = self.evaluators.of_run, document.header.evaluators

        def give(turn: Turn) -> Turn:
            held = () if turn.evaluators_mode == "replace" else defaults
            wanted = {name: known[name] for name in known if name not in held}
            return replace(turn, evaluators=_put_over(wanted, turn.evaluators))

        return tuple(replace(task, turns=tuple(map(give, task.turns))) for task in document.tasks)

    def _find_agent(self, judge_model: str) -> tuple[Agent, tuple[str, ...]]:
        config, given = self.loaded.config.agent, self.overrides
        if self.replays:
            return Agent(config.name, "recorded", Instructions("")), ()
        flag = Path(given.instructions_file) if given.instructions_file else None
        is_named = self.config_path or flag or given.model or given.callable
        if not is_named and find_instructions(config, self.layout.project) is None:
            raise InputError("there is no agent to ask", hint=_LINES_TO_ADD)
        return find_agent(
            config, self.layout.project, judge_model=judge_model, flag=flag, bare=True
        )

    def _note_stored(self, document: Document) -> tuple[str, ...]:
        stored = sum(turn.recorded is not None for task in document.tasks for turn in task.turns)
        if self.replays or not stored:
            return ()
        return (f"stored responses ({stored}) are passed over; `--evaluate-only` scores them",)


def open_project(
    config: Path | None, overrides: Overrides, *, replays: bool = False
) -> DocumentProject:
    """Read the config, if there is one, and what it names; raises `InputError`.

    A document asks each item once, whatever the config says of `repeats`.
    """
    path = find_config(config, Path.cwd())
    layout = DocumentLayout(path.parent.resolve() if path else Path.cwd())
    loaded = load_config(path, replace(overrides, repeats=1), layout, built_in=True)
    return DocumentProject(
        config_path=layout.project / path.name if path else None,
        loaded=loaded,
        layout=layout,
        evaluators=resolve_evaluators(loaded.config.evaluators, layout),
        overrides=overrides,
        replays=replays,
    )


def _put_over(known: Options, named: Options) -> dict[str, dict[str, Any]]:
    return {name: {**known.get(name, {}), **options} for name, options in named.items()}
