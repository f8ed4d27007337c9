"""Which documents `runevals` runs: the ones named, what was typed, or what lies here."""

import sys
from collections.abc import Iterator
from pathlib import Path

from azd_eval.cli.console import Console
from azd_eval.cli.document_flags import DocumentFlags
from azd_eval.errors import InputError
from azd_eval.formats.document_upgrade import upgrade_document
from azd_eval.formats.documents import Document
from azd_eval.wiring.document_files import (
    find_document,
    make_document,
    require_document,
    write_starter,
)
from azd_eval.wiring.document_project import DocumentProject

# The words of the specification.
_NOT_FOUND = "⚠️  No prompts file found in current directory or ./evals/"
_CREATE = "Create a starter evals file with sample prompts? (Y/n):"
_TYPED = Path("typed")
_WAYS_IN = ("--prompts-file", "--prompts", "--evaluate-only", "--interactive")


def asks_questions(flags: DocumentFlags) -> bool:
    """Tell whether anybody can be asked."""
    return not flags.no_prompt and not flags.json and sys.stdin.isatty()


def require_one_way_in(flags: DocumentFlags) -> None:
    """Raise `InputError` where flags contradict each other."""
    given = (flags.prompts_file, flags.prompts, flags.evaluate_only, flags.interactive)
    named = [name for name, value in zip(_WAYS_IN, given, strict=True) if value]
    if len(named) > 1:
        raise InputError(f"`{named[0]}` and `{named[1]}` exclude each other", hint="give one")
    if flags.expected and not flags.prompts:
        raise InputError("`--expected` without `--prompts`", hint="--prompts A B --expected A B")


def choose_documents(
    flags: DocumentFlags, project: DocumentProject, console: Console
) -> list[tuple[Path, Document]] | None:
    """Read all documents that are to be run, each with its place.

    None when a first one was written instead. Raises `InputError`.
    """
    if flags.prompts:
        document = make_document(flags.prompts, flags.expected or (), project.typed_evaluators)
        return [(_TYPED, document)]
    places = [flags.evaluate_only] if flags.evaluate_only else flags.prompts_file
    if not places:
        found = find_document() or _offer_starter(flags, console)
        if found is None:
            return None
        console.note(f"Prompts file: {found.as_posix()}")
        places = [found]
    return list(_read_all(places, flags, project, console))


def tell_starter(console: Console, place: Path) -> int:
    """Say what to do with a document that was just written."""
    console.say(f"Created ./{place.as_posix()}")
    console.say("Put your own prompts and answers into it, then run:")
    console.say("  runevals")
    console.show_json({"created": place.as_posix()})
    return 0


def _offer_starter(flags: DocumentFlags, console: Console) -> Path | None:
    """Ask whether to write a first document; raises `InputError` when nobody wants or can say."""
    if not asks_questions(flags):
        return require_document()
    console.note(f"{_NOT_FOUND}\n")
    if not console.confirm(_CREATE, default=True):
        raise InputError("there is nothing to run", hint="`--prompts-file` names a document")
    tell_starter(console, write_starter("basic"))
    return None


def _read_all(
    places: list[Path], flags: DocumentFlags, project: DocumentProject, console: Console
) -> Iterator[tuple[Path, Document]]:
    for place in places:
        document = project.read(place)
        # One that cannot be run stays as it is.
        if document.header.is_legacy and _wants_upgrade(place, flags, console):
            backup = upgrade_document(place)
            console.note(f"Upgraded {place}; what it was is in {backup}")
            document = project.read(place)
        yield place, project.read(place, strict=True) if flags.strict else document


def _wants_upgrade(place: Path, flags: DocumentFlags, console: Console) -> bool:
    if flags.dry_run or flags.upgrade:
        return not flags.dry_run
    question = f"{place} states no schemaVersion. Write it in the versioned form?"
    return asks_questions(flags) and console.confirm(f"{question} A backup is kept.", default=True)
