"""The Python API: the commands as functions, for scripts and notebooks.

    import azd_eval

    summary = azd_eval.evaluate("eval.yaml", repeats=3)
    better = azd_eval.optimize("eval.yaml", max_iterations=5)
    (result,) = azd_eval.run_documents("evals/evals.json")

The keywords are the fields of `Overrides`, which are also the flags of the command line; where
several texts may be given, one will do. Errors are those of `azd_eval.errors`. Every call has its
own event loop and clients, so that it may be made more than once in a process, and from a notebook.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from azd_eval.domain.optimization_summary import OptimizationSummary
from azd_eval.domain.score import Trial
from azd_eval.domain.summary import RunSummary
from azd_eval.wiring.application import require_writable
from azd_eval.wiring.document_files import require_document
from azd_eval.wiring.document_project import open_project
from azd_eval.wiring.document_run import DocumentResult, open_document_run
from azd_eval.wiring.evaluation import open_evaluation
from azd_eval.wiring.optimization import Watch
from azd_eval.wiring.optimization_job import make_job, plan_optimization
from azd_eval.wiring.optimization_start import open_optimization
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import set_up

T = TypeVar("T")

# Keywords that take several texts; one alone will do.
_LISTS = ("evaluators", "task", "category", "test_id")


async def aevaluate(
    config: Path | str | None = None,
    *,
    on_trial: Callable[[Trial], None] = lambda _: None,
    **overrides: Any,
) -> RunSummary:
    """Score every task of the dataset; `config` defaults to the eval.yaml of the working folder.

    `on_trial` is called with each trial as it ends. A missed gate is no error: see `summary.gate`.
    """
    given = _read_overrides(overrides)
    setup = set_up(_as_path(config), given)
    setup.plan()
    return await open_evaluation(setup, _as_path(given.run_dir)).run(on_trial)


async def aoptimize(
    config: Path | str | None = None,
    *,
    apply: bool = False,
    on_trial: Callable[[Trial], None] = lambda _: None,
    **overrides: Any,
) -> OptimizationSummary:
    """Revise the agent's instructions and keep what is better.

    With `apply`, better instructions are written to where the agent reads them.
    """
    setup = set_up(_as_path(config), _read_overrides(overrides), optimizes=True)
    plan_optimization(setup, make_job(setup))
    if apply:
        require_writable(setup)
    watch = Watch(on_step=lambda _: None, on_trial=on_trial)
    return await open_optimization(setup).run(watch, applies=apply)


async def arun_documents(
    *files: Path | str,
    config: Path | str | None = None,
    evaluate_only: bool = False,
    on_trial: Callable[[Trial], None] = lambda _: None,
    **overrides: Any,
) -> tuple[DocumentResult, ...]:
    """Run evaluation documents, one after the other; without any, the one that `runevals` finds.

    With `evaluate_only`, the responses that they hold are scored and no agent is asked. Nothing is
    asked before all of them are found good.
    """
    project = open_project(_as_path(config), _read_overrides(overrides), replays=evaluate_only)
    places = [Path(file) for file in files] or [require_document()]
    ready = [project.prepare(project.read(place), place) for place in places]
    return tuple([await open_document_run(each).run(on_trial) for each in ready])


def evaluate(config: Path | str | None = None, **overrides: Any) -> RunSummary:
    """Do what `aevaluate` does, and wait for it."""
    return _wait_for(aevaluate(config, **overrides))


def optimize(config: Path | str | None = None, **overrides: Any) -> OptimizationSummary:
    """Do what `aoptimize` does, and wait for it."""
    return _wait_for(aoptimize(config, **overrides))


def run_documents(*files: Path | str, **options: Any) -> tuple[DocumentResult, ...]:
    """Do what `arun_documents` does, and wait for it."""
    return _wait_for(arun_documents(*files, **options))


def _read_overrides(given: dict[str, Any]) -> Overrides:
    known = [field.name for field in fields(Overrides)]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
            raise TypeError(f"unexpected keyword {name!r}: {hint}")
    lists = {name: _as_texts(name, given[name]) for name in _LISTS if name in given}
    return Overrides(**{**given, **lists})


def _as_texts(name: str, value: object) -> tuple[str | Mapping[str, Any], ...]:
    if value is None:
        return ()
    if isinstance(value, str | Path | Mapping):
        value = (value,)
    if not isinstance(value, Iterable):
        raise TypeError(f"`{name}`: expected a text or several, got {value!r}")
    return tuple(each if isinstance(each, Mapping) else str(each) for each in value)


def _as_path(path: Path | str | None) -> Path | None:
    return None if path is None else Path(path)


def _wait_for(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A notebook has a loop of its own, which must not be entered twice: use another thread's.
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
