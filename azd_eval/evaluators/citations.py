"""Count the citations of a reply: distinct markers, in the format that its agent writes.

Markers in code are none, neither are the lines that say what `[1]` stands for. All patterns take
linear time, as agents write the text that they are run on.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.evaluator_options import CitationsOptions
from azd_eval.evaluators.findings import DECIDED, Finding

# As ChatGPT and Copilot write: U+E200 cite U+E202 turn0search1 U+E202 turn0search2 U+E201.
_PRIVATE_USE = re.compile("\ue200(?:file)?cite((?:\ue202[^\ue200-\ue202\\s]++)++)\ue201")
_LINES_OF_FILE = re.compile(r"L\d+(-L?\d+)?")
# As the Assistants API writes: 【4:0†source】.
_LENTICULAR = re.compile("【([0-9]{1,4}:[0-9]{1,4})†([^】\n]{0,300}+)】")
_BRACKET = re.compile(r"\[\^?([0-9]{1,3}(?:, ?[0-9]{1,3})*+)\^?\](?!\()")
_MARKDOWN = re.compile(
    r"\[\^?([0-9]{1,3})\^?\]\(((?:[^()\s]|\([^()\s]*+\))++)(?:[ \t]+\"[^\"\n]*+\")?\)"
)
_DEFINITION = re.compile(r"^ {0,3}\[\^?([0-9]{1,3})\^?\]:[ \t]*+(.*+)$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)(.*+)", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]++`")
_LOOKS = {
    "oai_unicode": "U+E200 cite U+E202 turn0search1 U+E201",
    "bracket": "[1]",
    "markdown": "[1](https://...)",
    "mixed": "[1] or [1](https://...)",
}


@dataclass(frozen=True, slots=True)
class _Citation:
    """What one marker says: its number, or None where the format has none, and its source."""

    number: int | None
    source: str = ""


def count_citations(item: TurnUnderTest, options: CitationsOptions) -> Finding:
    """Count distinct markers; where the text has none, the citations that came beside it."""
    wanted = "mixed" if options.citation_format == "inline" else options.citation_format
    prose = _strip_code(item.reply.text)
    sources = {int(number): source for number, source in _DEFINITION.findall(prose)}
    prose = _DEFINITION.sub("", prose)
    found = {
        kind: list(dict.fromkeys(find(prose)))
        for kind, find in _FINDERS.items()
        if wanted in (kind, "mixed")
    }
    beside = {each["index"]: each for each in _read_evidence(item.reply.evidence.get("citations"))}
    listed = [
        _describe(citation, place, sources, beside)
        for place, citation in enumerate(chain(*found.values()), start=1)
    ]
    present = [kind for kind, citations in found.items() if citations]
    detected = present[0] if len(present) == 1 else wanted
    return _conclude(listed or list(beside.values()), detected, options.threshold)


def _conclude(listed: list[dict[str, Any]], detected: str, threshold: int) -> Finding:
    count = len(listed)
    return Finding(
        DECIDED[count >= threshold],
        f"{count} citation{'' if count == 1 else 's'} found, as {_LOOKS[detected]}; "
        f"at least {threshold} wanted",
        min(1.0, count / threshold),
        count,
        threshold,
        {"count": count, "format": detected, "citations": listed},
    )


def _find_private_use(prose: str) -> Iterator[_Citation]:
    for marker in _PRIVATE_USE.finditer(prose):
        for reference in marker[1][1:].split("\ue202"):
            if not _LINES_OF_FILE.fullmatch(reference):
                yield _Citation(None, reference)
    for marker in _LENTICULAR.finditer(prose):
        yield _Citation(None, f"{marker[1]} {marker[2]}".strip())


def _find_brackets(prose: str) -> Iterator[_Citation]:
    for marker in _BRACKET.finditer(prose):
        yield from (_Citation(number) for number in map(int, marker[1].split(",")) if number)


def _find_links(prose: str) -> Iterator[_Citation]:
    for marker in _MARKDOWN.finditer(prose):
        if number := int(marker[1]):
            yield _Citation(number, marker[2])


_FINDERS: Mapping[str, Callable[[str], Iterator[_Citation]]] = {
    "oai_unicode": _find_private_use,
    "bracket": _find_brackets,
    "markdown": _find_links,
}


def _describe(
    citation: _Citation,
    place: int,
    sources: Mapping[int, str],
    beside: Mapping[int, Mapping[str, Any]],
) -> dict[str, Any]:
    index = citation.number or place
    source = citation.source or sources.get(index, "")
    return {"index": index} | ({"source": source} if source else {}) | dict(beside.get(index, {}))


def _read_evidence(listed: object) -> Iterator[dict[str, Any]]:
    """Yield the well-formed citations that came beside the text."""
    for entry in listed if isinstance(listed, list | tuple) else ():
        index = entry.get("index") if isinstance(entry, Mapping) else None
        if isinstance(index, int) and not isinstance(index, bool) and index >= 1:
            texts = {key: entry.get(key) for key in ("text", "source")}
            kept = {key: value for key, value in texts.items() if isinstance(value, str)}
            yield {"index": index, **kept}


def _strip_code(text: str) -> str:
    """Take out fenced blocks, also one that never ends, and code within lines."""
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and "`" not in mark[2]:
            fence = mark[1]
        else:
            kept.append(line)
    return _INLINE_CODE.sub("", "\n".join(kept))
