"""One run of an evaluation document, from checked parts to its result and summary."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from azd_eval import __version__
from azd_eval.domain.document_summary import DocumentSummary
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import RunSummary
from azd_eval.errors import InputError
from azd_eval.files import require_writable_path, write_atomically, write_new
from azd_eval.formats.documents import Document, dump_document
from azd_eval.formats.result_csv import write_result_csv
from azd_eval.formats.result_documents import ResultFacts, build_result
from azd_eval.storage.json_records import write_json
from azd_eval.wiring.document_project import ReadyDocument
from azd_eval.wiring.evaluation import (
    Evaluation,
    find_run,
    find_unfinished,
    open_evaluation,
    resume_evaluation,
)
from azd_eval.wiring.setup import Setup
from azd_eval.workflows.conclude_document import DocumentFacts, conclude_document

_LONGEST_PREFIX = 60
_WRITERS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    ".json": dump_document,
    ".csv": write_result_csv,
}


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """A finished run: its summary, and the document with its results, which is at `path`."""

    summary: DocumentSummary
    document: dict[str, Any]
    path: Path


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where results are wanted beside `.evals/results/`; files that exist are not replaced.

    With `replaces` they are.
    """

    paths: tuple[Path, ...] = ()
    replaces: bool = False

    def check(self, inputs: Iterable[Path]) -> None:
        """Raise `InputError` where something could not be written, before anything is paid.

        Documents that are read, `inputs`, are replaced in no case.
        """
        read = {path.resolve() for path in inputs}
        for path in self.paths:
            if path.resolve() in read:
                raise InputError(f"`--output` would replace {str(path)!r}, which is to be run")
            if path.suffix.lower() not in _WRITERS:
                raise InputError(
                    f"cannot write results as {path.name!r}",
                    hint=f"results are {' or '.join(f'`{suffix}`' for suffix in _WRITERS)} files",
                )
            require_writable_path(path)
            for each in (path, _beside(path)) if _is_document(path) else (path,):
                if each.exists() and not self.replaces:
                    raise InputError(
                        f"{str(each)!r} exists and is not overwritten",
                        hint="choose another name, or replace it with `--force`",
                    )


NO_OUTPUTS = Outputs()


@dataclass(frozen=True, slots=True)
class DocumentRun:
    """A document that is ready to run; `document` has only the tasks that are wanted."""

    document: Document
    evaluation: Evaluation
    outputs: Outputs

    @property
    def result_path(self) -> Path:
        """Where the result goes: beside the folder that keeps every reply and verdict."""
        folder = self.evaluation.folder
        return folder.with_name(f"{folder.name}.json")

    async def run(self, on_trial: Callable[[Trial], None]) -> DocumentResult:
        """Run what is missing and write the results, also when cancelled or cut short."""
        results: list[DocumentResult] = []
        evaluation = replace(self.evaluation, on_end=lambda run: results.append(self._write(run)))
        await evaluation.run(on_trial)
        return results[0]

    def _write(self, run: RunSummary) -> DocumentResult:
        setup = self.evaluation.setup
        trials = sorted(self.evaluation.read_trials(), key=lambda trial: trial.index)
        result = build_result(
            self.document,
            {trial.task_key: trial for trial in trials},
            ResultFacts(
                run.created_at, run.agent, __version__, is_replay=setup.agent.kind == "recorded"
            ),
        )
        summary = conclude_document(
            DocumentFacts(
                items=len(self.document.tasks),
                result=setup.layout.show(self.result_path),
                fail_under=setup.config.options.fail_under,
            ),
            trials,
            run,
        )
        write_atomically(self.result_path, dump_document(result))
        write_json(_beside(self.result_path), summary.as_dict())
        write = write_atomically if self.outputs.replaces else write_new
        for path in self.outputs.paths:
            write(path, _WRITERS[path.suffix.lower()](result))
            if _is_document(path):
                write_json(_beside(path), summary.as_dict())
        return DocumentResult(summary, result, self.result_path)


def open_document_run(ready: ReadyDocument, outputs: Outputs = NO_OUTPUTS) -> DocumentRun:
    """Make the folder of a run, named after the document."""
    evaluation = open_evaluation(ready.setup, prefix=_name_prefix(ready.setup))
    return DocumentRun(ready.document, evaluation, outputs)


def resume_document_run(ready: ReadyDocument, outputs: Outputs, wanted: Path | None) -> DocumentRun:
    """Take up a run again: the one wanted, else the last unfinished one of the document."""
    setup = ready.setup
    if wanted is not None:
        folder = find_run(setup, wanted)
    else:
        folder = find_unfinished(setup, prefix=_name_prefix(setup), by="dataset")
    return DocumentRun(ready.document, resume_evaluation(setup, folder), outputs)


def _name_prefix(setup: Setup) -> str:
    return setup.dataset_path.stem[:_LONGEST_PREFIX]


def _is_document(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.summary.json")
