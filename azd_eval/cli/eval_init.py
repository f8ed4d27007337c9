"""`eval init`: the wizard and its scripted twin."""

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from azd_eval.cli.console import Console
from azd_eval.cli.flags import InitFlags
from azd_eval.cli.result_view import count_of, word_config, word_usage
from azd_eval.errors import InputError, Interrupted
from azd_eval.files import is_taken, read_text
from azd_eval.formats.azure_project import AzureAgent, find_agents
from azd_eval.formats.faults import is_encodable
from azd_eval.wiring.environment import read_environment
from azd_eval.wiring.model_choice import DEFAULT_MODEL, names_no_model
from azd_eval.wiring.suite import CreatedSuite, SuiteOptions, SuiteSetup, set_up_suite

_STAGES = {"blueprint": "Evaluator generation", "tasks": "Dataset generation"}


def init_suite(flags: InitFlags) -> int:
    """Create a suite; asks what is missing on a terminal, never elsewhere."""
    console = Console(flags)
    asks = not flags.no_prompt and not flags.json and sys.stdin.isatty()
    if asks and is_taken(flags.out_file) and not flags.force:
        question = f"{flags.out_file} exists. Generate new versions and keep it as a backup?"
        if not console.confirm(question, default=False):
            console.note(f"Keeping {flags.out_file} as it is")
            return 0
        flags = replace(flags, force=True)
    options = _read_options(flags, _detect_agent(flags, console, asks=asks))
    if asks:
        options = _ask_what_is_missing(options, flags, console)
    setup = replace(set_up_suite(options), tell=console.remark)
    _show_plan(setup, console)
    created = _create(setup, console)
    _show_suite(created, console)
    console.show_json(_describe(created))
    return 0


def _detect_agent(flags: InitFlags, console: Console, *, asks: bool) -> str:
    console.note("Detecting agent...")
    agents = find_agents(flags.out_file.parent.resolve())
    if flags.agent is not None:
        if not flags.agent.strip():
            raise InputError("`--agent` must not be empty")
        found = next((agent for agent in agents if agent.name == flags.agent), None)
        console.note(f"  Using: {_word_agent(found) if found else flags.agent}")
        return flags.agent
    if not agents:
        name = flags.out_file.parent.resolve().name or "agent"
        console.note(f"  No azure.yaml: the agent is called {name!r}, as the folder")
        return name
    agent = agents[0]
    if len(agents) > 1:
        agent = _choose_agent(agents, console, asks=asks)
    console.note(f"  Found: {_word_agent(agent)}")
    return agent.name


def _choose_agent(agents: tuple[AzureAgent, ...], console: Console, *, asks: bool) -> AzureAgent:
    names = ", ".join(agent.name for agent in agents)
    if not asks:
        raise InputError(f"azure.yaml has several agents: {names}", hint="choose with `--agent`")
    while True:
        name = console.ask(f"  Several agents: {names}. Which one?", agents[0].name)
        for agent in agents:
            if agent.name == name:
                return agent


def _word_agent(agent: AzureAgent) -> str:
    return f"{agent.name} ({agent.kind})"


def _read_options(flags: InitFlags, agent: str) -> SuiteOptions:
    if flags.gen_instruction is not None and flags.gen_instruction_file is not None:
        raise InputError("give `--gen-instruction` or `--gen-instruction-file`, not both")
    sentence = flags.gen_instruction or ""
    if not is_encodable(sentence):
        # Where the locale knows no UTF-8, Python leaves the bytes of an argument undecoded.
        sentence = os.fsencode(sentence).decode("utf-8", "replace")
    if flags.gen_instruction_file is not None:
        sentence = read_text(flags.gen_instruction_file, "generation instruction")
    return SuiteOptions(
        agent=agent,
        sentence=sentence.strip(),
        model=flags.eval_model,
        max_tasks=flags.max_samples,
        dataset=flags.dataset,
        evaluators=tuple(flags.evaluator or ()),
        name=flags.name,
        callable=flags.callable,
        config=flags.out_file,
        replaces=flags.force,
    )


def _ask_what_is_missing(options: SuiteOptions, flags: InitFlags, console: Console) -> SuiteOptions:
    if not options.sentence and options.dataset is None:
        console.note("")
        console.note("Generation prompt")
        console.note("  Describe what this agent does and what scenarios to test.")
        sentence = ""
        while not sentence:
            sentence = console.ask("  >")
        options = replace(options, sentence=sentence)
    folder: Path = flags.out_file.parent.resolve()
    if options.model is None and names_no_model(read_environment(folder)):
        model = console.ask("  Model that drafts, judges and answers:", DEFAULT_MODEL)
        options = replace(options, model=model)
    return options


def _show_plan(setup: SuiteSetup, console: Console) -> None:
    options = setup.options
    tasks = count_of(len(setup.golden) or options.max_tasks, "task")
    tasks = f"your {tasks}" if setup.golden else tasks
    console.note("")
    console.note(f"Plan: {tasks} and one adaptive evaluator for {options.agent!r}")
    console.note(f"  Model: {setup.model}" + (f" ({setup.engine})" if setup.engine else ""))


def _create(setup: SuiteSetup, console: Console) -> CreatedSuite:
    console.note("")
    console.note("Generating dataset and evaluators...")
    with console.progress("Generating") as line:
        try:
            return asyncio.run(
                setup.create(
                    lambda stage, done, total: line.update(done, total, _STAGES.get(stage, stage))
                )
            )
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted: nothing was written") from error


def _show_suite(created: CreatedSuite, console: Console) -> None:
    if created.dataset_id:
        console.say(f"  Dataset generation:    done  (registered: {created.dataset_id})")
    else:
        console.say(
            f"  Dataset:               kept  ({count_of(created.tasks, 'task')}, untouched)"
        )
    console.say(f"  Evaluator generation:  done  (registered: {created.evaluator_id})")
    if created.shortfall:
        console.warn(created.shortfall)
    console.notes(created.notes)
    console.say()
    console.say("Eval suite created")
    console.say(f"  Config:     {_show(created.config)}")
    console.say(f"  Dataset:    {_show(created.dataset)}")
    console.say(f"  Evaluator:  {_show(created.evaluator)}")
    if created.backup:
        console.say(f"  Backup:     {_show(created.backup)}")
    if created.engine:
        console.say(f"  Engine:     {created.engine}")
    console.note(f"  Usage:      {word_usage(created.usage)}")
    console.say()
    console.say("Review the generated assets, then run:")
    console.say(f"  azd-eval eval run{word_config(created.config)}")


def _show(path: Path) -> str:
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def _describe(created: CreatedSuite) -> dict[str, object]:
    return {
        "config": _show(created.config),
        "dataset": _show(created.dataset),
        "evaluator": _show(created.evaluator),
        "registered": [name for name in (created.dataset_id, created.evaluator_id) if name],
        "tasks": created.tasks,
        "engine": created.engine,
        "shortfall": created.shortfall,
        "notes": list(created.notes),
        "calls": created.usage.calls,
    }
