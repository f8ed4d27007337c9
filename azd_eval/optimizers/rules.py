"""Revise instructions without a model: one rule per failing criterion (the offline engine)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from azd_eval.domain.criterion import Check, CheckKind, Criterion
from azd_eval.domain.optimization import Evidence, Proposal


@dataclass(frozen=True, slots=True)
class RuleOptimizer:
    """Adds the missing rules and leaves all else as it is. An optimizer; deterministic.

    Tries all rules at once; then, where that was rejected, one rule at a time. A rule that stands
    there is never added again, and no rule holds the question of a task: that would be copying.
    """

    async def propose(self, evidence: Evidence) -> Proposal:
        """Propose the next untried text; a `fault` when there is none."""
        current = evidence.parent.instructions
        rejected = {item.instructions for item in evidence.rejected}
        attempts = ((_add_rules(current, rules), rules) for rules in _attempts(evidence))
        untried = ((text, rules) for text, rules in attempts if text not in rejected)
        # Of those that are asked for at once, each takes another.
        text, rules = next(islice(untried, evidence.number, None), (None, []))
        if text is None:
            return Proposal(None, fault="there is no rule left to add")
        return Proposal(text, f"a rule for each criterion that failed: {len(rules)} added")


def word_rule(criterion: Criterion) -> str:
    """Turn a criterion into one line that, followed to the letter, meets it and its check."""
    text = " ".join(criterion.instruction.split())
    if text.endswith("?"):
        text = f"Make sure that the answer is yes: {text}"
    elif not text.endswith((".", "!")):
        text += "."
    return f"{text} {_word_check(criterion.check)}" if criterion.check else text


def _attempts(evidence: Evidence) -> Iterator[list[str]]:
    lines = {line.strip().removeprefix("- ") for line in evidence.parent.instructions.splitlines()}
    rules = _missing((word_rule(failure.criterion) for failure in evidence.failures), lines)
    return (attempt for attempt in (rules, *([rule] for rule in rules)) if attempt)


def _missing(rules: Iterable[str], lines: set[str]) -> list[str]:
    return [rule for rule in dict.fromkeys(rules) if rule not in lines]


def _add_rules(current: str, rules: Iterable[str]) -> str:
    last_line = current.rstrip("\n").rpartition("\n")[2].strip()
    paragraph = "" if not last_line or last_line.startswith("- ") else "\n"
    line_end = "" if not current or current.endswith("\n") else "\n"
    return current + line_end + paragraph + "".join(f"- {rule}\n" for rule in rules)


def _word_check(check: Check) -> str:
    return _WORDINGS[check.kind](check.value)


def _quote(value: object, conjunction: str = "and") -> str:
    texts = value if isinstance(value, tuple) else (value,)
    return f" {conjunction} ".join(f'"{text}"' for text in texts)


_WORDINGS: dict[CheckKind, Callable[[object], str]] = {
    "contains": lambda value: f"Use the words {_quote(value)}.",
    "contains_all": lambda value: f"Use the words {_quote(value)}.",
    "contains_any": lambda value: f"Use the words {_quote(value, 'or')}.",
    "not_contains": lambda value: f"Never use the words {_quote(value, 'or')}.",
    "regex": lambda value: f"The reply must match the pattern {_quote(value)}.",
    "not_regex": lambda value: f"The reply must not match the pattern {_quote(value)}.",
    "equals": lambda value: f"Reply with {_quote(value)} and nothing else.",
    "min_words": lambda value: f"Use at least {value} words.",
    "max_words": lambda value: f"Use at most {value} words.",
    "is_json": lambda value: "Do not reply in JSON." if value is False else "Reply in JSON only.",
}
