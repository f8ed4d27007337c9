"""Text of files, agents and models on the screen: control characters are shown, not obeyed."""

import re

# All but tab and line feed: with the others a reply could clear the screen, or forge a line of it.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_controls(text: str) -> str:
    """Write control characters as escapes, such as `\\x1b`."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text.replace("\r\n", "\n"))
