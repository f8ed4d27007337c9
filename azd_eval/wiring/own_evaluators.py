"""Evaluators of the user's own: a Python function, or a file with the question for the judge."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from azd_eval.config import EvaluatorReference
from azd_eval.domain.criterion import Criterion, Rubric
from azd_eval.domain.ports import Evaluator, Judge
from azd_eval.errors import InputError, TargetError
from azd_eval.evaluators.custom import FIELDS, FunctionEvaluator
from azd_eval.evaluators.graded import PROMPT_FIELDS, grade_by_prompt
from azd_eval.files import read_text
from azd_eval.formats.faults import suggest
from azd_eval.targets.callables import PythonFunction, load_function
from azd_eval.targets.calls import call_function
from azd_eval.wiring.fingerprint import digest_function
from azd_eval.wiring.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Calling:
    """How the user's functions are called: the limit of a call, and what blots out our keys."""

    timeout_s: float
    redact: Callable[[str], str]

    async def call(self, function: PythonFunction, fields: Mapping[str, object]) -> object:
        """Call a function; raises `TargetError`."""
        try:
            result = await call_function(function, fields, self.timeout_s)
        except TargetError as error:
            raise TargetError(self.redact(error.message), hint=error.hint) from None
        if not isinstance(result, Mapping):
            return result
        told = {key: result.get(key) for key in ("reason", "error")}
        texts = {key: self.redact(text) for key, text in told.items() if isinstance(text, str)}
        return {**result, **texts}


@dataclass(frozen=True, slots=True)
class OwnEvaluator:
    """One of them, found good: either `function` or `prompt` is given.

    `code` tells versions of the function apart; `repr` must not, as it is part of fingerprints.
    """

    name: str
    prompt: str = ""
    code: str = ""
    function: PythonFunction | None = field(default=None, repr=False)

    def build(self, judge: Judge, calling: Calling, of_run: Mapping[str, Any] | None) -> Evaluator:
        """Attach a judge, or the way to the function."""
        if self.function is None:
            return grade_by_prompt(self.name, self.prompt, judge, of_run)
        call: Callable[[Mapping[str, object]], Awaitable[object]]
        call = partial(calling.call, self.function)
        return FunctionEvaluator(self.name, call, of_run)

    def describe(self) -> Rubric:
        """Say what it asks of a reply, as far as anybody can know."""
        asked = self.prompt or f"The reply passes the user's own test {self.name!r}"
        return Rubric(self.name, (Criterion(self.name, asked),))


def read_own(reference: EvaluatorReference, layout: Layout) -> OwnEvaluator:
    """Load the function or read the file; raises `InputError`."""
    if reference.callable is not None:
        function = load_function(reference.callable, layout.project, FIELDS)
        return OwnEvaluator(reference.name, code=digest_function(function), function=function)
    path = layout.project / (reference.prompt_file or "")
    prompt = read_text(path, "prompt_file").strip()
    if not prompt:
        raise InputError(f"prompt_file is empty: {path}", hint="write the question for the judge")
    for word in re.findall(r"\{\{ *(\w+) *\}\}", prompt):
        close = suggest(word, PROMPT_FIELDS)
        if close and close != word:
            hint = f"did you mean `{{{{{close}}}}}`?"
            raise InputError(f"unknown `{{{{{word}}}}}` in prompt_file: {path}", hint=hint)
    return OwnEvaluator(reference.name, prompt)
