"""`runevals --interactive`: type a prompt, read the answer, see how it scores."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from azd_eval.cli.console import Console
from azd_eval.cli.document_choice import asks_questions
from azd_eval.cli.document_flags import DocumentFlags
from azd_eval.cli.document_view import show_scores
from azd_eval.errors import InputError
from azd_eval.wiring.document_files import STARTER, make_document, save_document
from azd_eval.wiring.document_project import DocumentProject
from azd_eval.wiring.document_session import DocumentSession, set_up_session
from azd_eval.wiring.models import ModelPool
from azd_eval.wiring.setup import Setup

_Typed = list[tuple[str, str | None]]


def converse(project: DocumentProject, flags: DocumentFlags, console: Console) -> int:
    """Take prompts until Ctrl-D, then offer to keep them as a document."""
    if not asks_questions(flags):
        raise InputError(
            "`--interactive` needs a terminal", hint="`--prompts` takes prompts without one"
        )
    setup = set_up_session(project)
    console.notes(setup.notes)
    if setup.engine:
        console.note(f"engine: {setup.engine}")
    typed: _Typed = []
    # Questions are asked outside the loop: inside, Ctrl-C would wait for their answer.
    with asyncio.Runner() as runner, _open_pool(setup, runner) as pool:
        _take_prompts(DocumentSession(setup, pool), runner, typed, console)
    if typed:
        _offer_to_save(typed, project, console)
    return 0


@contextmanager
def _open_pool(setup: Setup, runner: asyncio.Runner) -> Iterator[ModelPool]:
    stack = AsyncExitStack()
    try:
        yield runner.run(stack.enter_async_context(setup.open_pool()))
    finally:
        runner.run(stack.aclose())


def _take_prompts(
    session: DocumentSession, runner: asyncio.Runner, typed: _Typed, console: Console
) -> None:
    console.note("Type a prompt; Ctrl-D ends.")
    while True:
        try:
            prompt = console.ask("\nPrompt:")
            if not prompt:
                continue
            result = runner.run(session.answer(prompt))
            console.say(result.reply or f"error: {result.error}")
            typed.append((prompt, None))
            if result.reply:
                expected = _ask_expected(session, console)
                typed[-1] = (prompt, expected)
                show_scores(console, runner.run(session.score(result, expected)))
        except EOFError:
            console.say()
            return


def _ask_expected(session: DocumentSession, console: Console) -> str | None:
    needing = ", ".join(session.needing_expected)
    if not needing:
        return console.ask("Expected response (Enter for none):") or None
    while not (expected := console.ask(f"Expected response (needed by {needing}):")):
        pass
    return expected


def _offer_to_save(typed: _Typed, project: DocumentProject, console: Console) -> None:
    count = len(typed)
    question = f"Save {count} prompt{'s' * (count > 1)} as a document?"
    prompts, expected = zip(*typed, strict=True)
    document = make_document(prompts, expected, project.typed_evaluators)
    try:
        if not console.confirm(question, default=True):
            return
        while True:
            place = Path(console.ask("File:", _find_free().as_posix()))
            try:
                save_document(place, document)
            except InputError as error:
                console.note(f"{error.message}")
            else:
                console.say(f"Saved to {place.as_posix()}")
                return
    except EOFError:
        console.say()


def _find_free() -> Path:
    """Name a file that does not exist, best one that `runevals` finds by itself."""
    place, number = STARTER, 1
    while place.exists():
        number += 1
        place = STARTER.with_name(f"evals-{number}.json")
    return place
