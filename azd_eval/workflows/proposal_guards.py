"""Refuse proposed instructions that are not worth measuring, or must not reach the agent."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from azd_eval.domain.criterion import Rubric
from azd_eval.domain.task import Task

# `{{name}}` before `{name}`: the longer form holds the shorter one.
_PLACEHOLDER = re.compile(
    r"<%.*?%>|\{%.*?%\}|\$?\{\{[^{}]+\}\}|\$?\{[^\W\d][^{}\s\"']*\}", re.DOTALL
)
_LARGEST_GROWTH = 4
_ALWAYS_ACCEPTABLE_LENGTH = 8000
# A revision of a long text that is a fraction of it is an excerpt, not a revision.
_LONG_TEXT = 1000
_LEAST_KEPT = 0.3

# So many words in a row are a copy; an expected answer of fewer words, when it is whole.
_COPIED_WORDS = 8
_ANSWER_WORDS = 4
# With a number in it, two words tell an answer: "30 days".
_ANSWER_WORDS_WITH_NUMBER = 2
_Run = tuple[str, ...]
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_REFUSAL = re.compile(
    r"\W*(?:i(?:['’]m| am) sorry|sorry,|i (?:can(?:not|['’]t)|am unable|won['’]t)\b"
    r"|as an ai\b|i(?:['’]m| am) (?:not able|unable))",
    re.IGNORECASE,
)
_COMMENTARY = re.compile(
    r"\W*(?:(?:sure|certainly|of course|okay)\b[^\n]{0,40}[:!.]\s|"
    r"(?:here (?:is|are)|below (?:is|are)|i(?:['’]ve| have) (?:revised|updated|improved|rewritten))"
    r"\b[^\n]{0,60}\b(?:instructions|prompt|version|text)\b|"
    r"no (?:changes?|revision|edits?) (?:is|are|was|were) (?:needed|necessary|required))",
    re.IGNORECASE,
)
_TO_THE_JUDGE = re.compile(
    r"\b(?:the|a|any|your|this|dear) (?:\w+ )?(?:judge|grader|evaluator|rater)s?\b"
    r"|\b(?:evaluation|grading|scoring|judging) (?:criteri(?:a|on)|rubrics?|process|model)\b"
    r"|\b(?:you|your (?:work|answers?|replies|reply|responses?|output)) (?:are|is|will be|get)"
    r" (?:being )?(?:judged|graded|scored|evaluated|rated|tested)\b"
    r"|\b(?:maximi[sz]e|increase|raise|improve) (?:the|your|its) scores?\b"
    r"|\b(?:full|highest|maximum|perfect|top) (?:score|marks?|grade)\b"
    r"|\btest (?:cases?|set|prompts?|suite)\b",
    re.IGNORECASE,
)


class ProposalGuards:
    """Judges texts against the baseline, its parent, all texts before it, and the tasks.

    Criteria may be quoted: the rule that a criterion asks for belongs in the instructions.
    """

    def __init__(self, baseline: str, tasks: Sequence[Task], rubrics: Sequence[Rubric]) -> None:
        self._baseline = baseline
        self._tried = {_fold(baseline)}
        self._secrets = _gather_secrets(tasks)
        for rule in (baseline, *_list_rules(tasks, rubrics)):
            for length, runs in self._secrets.items():
                for run in _runs(_spell(rule), length):
                    runs.pop(run, None)

    def find_objection(self, text: str, parent: str) -> str | None:
        """Say why a proposal is refused unmeasured, or None when it may be tried."""
        objection = next(self._find_objections(text, parent), None)
        self._tried.add(_fold(text))
        return objection

    def _find_objections(self, text: str, parent: str) -> Iterator[str]:
        if not text.strip():
            yield "the proposal is empty"
        if len(text) > max(_LARGEST_GROWTH * len(self._baseline), _ALWAYS_ACCEPTABLE_LENGTH):
            yield f"too long: {len(text)} characters, the baseline has {len(self._baseline)}"
        if changes := _compare_placeholders(placeholders(self._baseline), placeholders(text)):
            yield changes
        if _fold(text) in self._tried:
            yield "the same text was tried before"
        if len(parent) > _LONG_TEXT and len(text) < _LEAST_KEPT * len(parent):
            yield f"most is missing: {len(text)} characters of {len(parent)} are left"
        if len(_FENCE.findall(text)) % 2 and not len(_FENCE.findall(parent)) % 2:
            yield "cut off: a code fence is not closed"
        for what, pattern in (("a refusal", _REFUSAL), ("commentary", _COMMENTARY)):
            if pattern.match(text) and not pattern.match(self._baseline):
                yield f"{what}, not instructions: {_quote(text)}"
        if (found := _TO_THE_JUDGE.search(text)) and not _TO_THE_JUDGE.search(self._baseline):
            yield f"it speaks of being judged, not of the agent's work: {_quote(found[0])}"
        yield from self._find_copies(text)

    def _find_copies(self, text: str) -> Iterator[str]:
        words = _spell(text)
        for length, runs in self._secrets.items():
            for run in _runs(words, length):
                if run in runs:
                    yield f"copied from task {runs[run]!r}: {_quote(' '.join(run))}"


def placeholders(text: str) -> frozenset[str]:
    """Find what a template engine fills: `{name}`, `{{name}}`, `${name}`, `<% name %>`, `{% %}`."""
    return frozenset(_PLACEHOLDER.findall(text))


def _list_rules(tasks: Iterable[Task], rubrics: Iterable[Rubric]) -> Iterator[str]:
    turns = (turn.criteria for task in tasks for turn in task.turns)
    for criterion in chain.from_iterable([*turns, *(rubric.dimensions for rubric in rubrics)]):
        value = criterion.check.value if criterion.check else ""
        yield from (criterion.name, criterion.instruction)
        yield from value if isinstance(value, tuple) else [str(value)]


def _gather_secrets(tasks: Iterable[Task]) -> dict[int, dict[_Run, str]]:
    """Gather runs of words that only a copy of a task would hold, by length, each with its task."""
    secrets: dict[int, dict[_Run, str]] = defaultdict(dict)
    for task in tasks:
        for turn in task.turns:
            expected = turn.expected or ""
            has_number = any(map(str.isdigit, expected))
            fewest = _ANSWER_WORDS_WITH_NUMBER if has_number else _ANSWER_WORDS
            for text, at_least in ((turn.prompt, _COPIED_WORDS), (expected, fewest)):
                words = _spell(text)
                length = min(len(words), _COPIED_WORDS)
                if length >= at_least:
                    secrets[length].update(dict.fromkeys(_runs(words, length), task.name))
    return secrets


def _spell(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: Sequence[str], length: int) -> Iterator[_Run]:
    """Yield every so many words in a row."""
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _quote(text: str) -> str:
    words = " ".join(text.split())
    return f"«{words[:80]}»"


def _compare_placeholders(wanted: frozenset[str], found: frozenset[str]) -> str | None:
    changes = [
        f"{word} {', '.join(f'`{name}`' for name in sorted(names))}"
        for word, names in (("lost", wanted - found), ("new", found - wanted))
        if names
    ]
    return f"placeholders changed: {'; '.join(changes)}" if changes else None
