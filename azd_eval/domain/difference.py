"""What changed between two versions of a text."""

from difflib import unified_diff


def describe_difference(before: str, after: str, *, context: int = 3) -> str:
    """Give the unified diff of two texts, without file names; empty when they are equal.

    `context` is how many unchanged lines stand around each change.
    """
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=context)
    return "\n".join(list(lines)[2:])
