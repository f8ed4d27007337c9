"""Refuse proposed instructions that are not worth measuring, or must not reach the agent."""

import re
from collections.abc import Collection

# `{{name}}` before `{name}`: the longer form holds the shorter one.
_PLACEHOLDER = re.compile(
    r"<%.*?%>|\{%.*?%\}|\$?\{\{[^{}]+\}\}|\$?\{[^\W\d][^{}\s\"']*\}", re.DOTALL
)
_LARGEST_GROWTH = 4
_ALWAYS_ACCEPTABLE_LENGTH = 8000


def placeholders(text: str) -> frozenset[str]:
    """Find what a template engine fills: `{name}`, `{{name}}`, `${name}`, `<% name %>`, `{% %}`."""
    return frozenset(_PLACEHOLDER.findall(text))


def fold_space(text: str) -> str:
    """Give the form in which texts that differ in white space alone are equal."""
    return " ".join(text.split())


def find_objection(text: str, baseline: str, tried: Collection[str]) -> str | None:
    """Say why a proposal is refused unmeasured, or None when it may be tried.

    `tried` holds every text proposed so far and the baseline, as `fold_space` gives them.
    """
    if not text.strip():
        return "the proposal is empty"
    if len(text) > max(_LARGEST_GROWTH * len(baseline), _ALWAYS_ACCEPTABLE_LENGTH):
        return f"too long: {len(text)} characters, the baseline has {len(baseline)}"
    if changes := _compare_placeholders(placeholders(baseline), placeholders(text)):
        return changes
    return "the same text was tried before" if fold_space(text) in tried else None


def _compare_placeholders(wanted: frozenset[str], found: frozenset[str]) -> str | None:
    changes = [
        f"{word} {', '.join(f'`{name}`' for name in sorted(names))}"
        for word, names in (("lost", wanted - found), ("new", found - wanted))
        if names
    ]
    return f"placeholders changed: {'; '.join(changes)}" if changes else None
