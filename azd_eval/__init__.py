"""azd-eval: generate evaluation datasets, score AI agents, improve their instructions."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "AzdEvalError",
    "DocumentResult",
    "OptimizationSummary",
    "RunSummary",
    "__version__",
    "aevaluate",
    "aoptimize",
    "arun_documents",
    "evaluate",
    "optimize",
    "run_documents",
]

if TYPE_CHECKING:
    from azd_eval.api import (
        aevaluate,
        aoptimize,
        arun_documents,
        evaluate,
        optimize,
        run_documents,
    )
    from azd_eval.domain.optimization_summary import OptimizationSummary
    from azd_eval.domain.summary import RunSummary
    from azd_eval.errors import AzdEvalError
    from azd_eval.wiring.document_run import DocumentResult

_HOMES = {
    "AzdEvalError": "azd_eval.errors",
    "DocumentResult": "azd_eval.wiring.document_run",
    "OptimizationSummary": "azd_eval.domain.optimization_summary",
    "RunSummary": "azd_eval.domain.summary",
    "aevaluate": "azd_eval.api",
    "aoptimize": "azd_eval.api",
    "arun_documents": "azd_eval.api",
    "evaluate": "azd_eval.api",
    "optimize": "azd_eval.api",
    "run_documents": "azd_eval.api",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is used: `azd-eval --help` needs none of them."""
    from importlib import import_module  # noqa: PLC0415

    if name not in _HOMES:
        raise AttributeError(f"module 'azd_eval' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
