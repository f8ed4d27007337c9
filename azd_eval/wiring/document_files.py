"""Find the evaluation document that is to be run, write a first one, or make one of a few texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from azd_eval.errors import InputError
from azd_eval.files import write_new
from azd_eval.formats.document_items import build_tasks
from azd_eval.formats.documents import Document, DocumentHeader, write_document
from azd_eval.prompts import template

DOCUMENT_NAMES = ("prompts.json", "evals.json", "tests.json")
DOCUMENT_FOLDER = Path("evals")
STARTER = DOCUMENT_FOLDER / "evals.json"
STARTER_KINDS = ("basic", "knowledge-base", "tool-usage")

_VERSION = "1.6.0"


def find_document() -> Path | None:
    """Find the document of the working folder, or else of `./evals/`; the first name there is."""
    places = (folder / name for folder in (Path(), DOCUMENT_FOLDER) for name in DOCUMENT_NAMES)
    return next((place for place in places if place.is_file()), None)


def require_document() -> Path:
    """Find the document, or raise `InputError` that says how to get one."""
    if (found := find_document()) is None:
        raise InputError(
            "no prompts file found in current directory or ./evals/",
            hint="`runevals --init` writes one to start from; `--prompts-file` names your own",
        )
    return found


def write_starter(kind: str) -> Path:
    """Write `./evals/evals.json` to start from; raises `InputError` when it exists."""
    if kind not in STARTER_KINDS:
        raise InputError(
            f"there is no starter {kind!r}", hint=f"there are {', '.join(STARTER_KINDS)}"
        )
    write_new(STARTER, template(f"starter_{kind.replace('-', '_')}.json"))
    return STARTER


def make_document(
    prompts: Sequence[str],
    expected: Sequence[str | None] = (),
    evaluators: Mapping[str, Mapping[str, Any]] | None = None,
) -> Document:
    """Make a document of prompts and the answers expected to them, in the same order.

    Without `evaluators` it names none, so that the usual ones score it. Raises `InputError` where
    prompts and answers do not fit together.
    """
    if expected and len(expected) != len(prompts):
        raise InputError(
            f"{len(prompts)} prompts and {len(expected)} expected responses do not fit together",
            hint="give each prompt its own: `--prompts A B --expected A B`",
        )
    if any(not prompt.strip() for prompt in prompts):
        raise InputError("a prompt is empty", hint="write what the agent is to be asked")
    pairs = zip(prompts, expected or [None] * len(prompts), strict=True)
    header = DocumentHeader(_VERSION, evaluators)
    return Document(header, build_tasks(_make_item(*pair) for pair in pairs))


def save_document(path: Path, document: Document) -> None:
    """Write a document to a new file; raises `InputError` when it exists."""
    write_new(path, write_document(document.header, document.tasks))


def _make_item(prompt: str, expected: str | None) -> dict[str, str]:
    return {"prompt": prompt} | ({"expected_response": expected} if expected else {})
