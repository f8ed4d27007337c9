"""Find the rules and facts of an agent's instructions that a check can decide (offline engine)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from azd_eval.domain.criterion import Check
from azd_eval.domain.topics import topic_words
from azd_eval.generators.naming import snake_case

_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_QUOTED = re.compile(r"[\"“”„«「]\s*([^\"“”„«»「」]{2,80}?)\s*[\"“”»」]")
_FORBIDS = re.compile(
    r"\b(?:never|not|don't|avoid|without|mai|non|nunca|nie(?:mals)?|nicht|keine?|jamais|pas|não)\b"
    r"|ない|禁止|不要|不得",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"\b(?:always|must|every|each|sempre|devi|deve|siempre|debes?|immer|stets|toujours|dois|doit)\b"
    r"|必ず|常に|必须|始终",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when(?:ever)?|in case|unless|se|quando|si|cuando|wenn|falls|quand)\b|場合|如果",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s)>\]]*[^\s)>\].,;]")
_WORD_LIMIT = re.compile(
    r"(?:at most|no more than|up to|under|within|massimo|máximo|höchstens|maximum|plus de)\s+"
    r"(\d{1,5})\s+(?:words|parole|palabras|wörter|mots|palavras)\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"(?<![A-Za-z\d_.,])\d+(?:[.,]\d+)*(?:\s?[%€$£]|[- ]"
    r"(?!(?:and|or|to|words?|sentences?|lines?|steps?|bullet|parole|palabras|wörter|mots|palavras"
    r"|frasi|frases|sätze|phrases)\b)[^\W\d_]{3,}|[\u3040-\u9fff])"
    r"|[€$£]\s?\d+(?:[.,]\d+)*",
    re.IGNORECASE,
)
_ASK_FOR = re.compile(
    r"\bask(?:s)?(?: (?:the )?\w+)? for (?:(?:the|their|an?|his|her|its|your) )?"
    r"((?:[\w-]+ ){0,3}?[\w-]+)(?=[,.;!]| (?:and|or|before|when|if|so|first|to|in)\b|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence of the instructions, and the check that shows whether a reply keeps to it."""

    name: str
    text: str
    check: Check

    @property
    def is_general(self) -> bool:
        """Tell whether it holds for every reply."""
        is_absolute = self.check.kind == "not_contains" or bool(_ALWAYS.search(self.text))
        return is_absolute and not _CONDITION.search(self.text)

    def bears_on(self, topic: str) -> bool:
        """Tell whether it speaks of a topic."""
        text = self.text.casefold()
        return any(word in text for word in topic_words(topic))


def find_rules(instructions: str) -> tuple[Rule, ...]:
    """Find the sentences that can be checked, in their order; each name stands once."""
    rules = {rule.name: rule for rule in map(_read_rule, _sentences(instructions)) if rule}
    return tuple(rules.values())


def find_word_limit(instructions: str) -> int | None:
    """Find how many words any reply may have at most."""
    limits = [
        int(limit[1])
        for text in _sentences(instructions)
        if not _CONDITION.search(text) and (limit := _WORD_LIMIT.search(text))
    ]
    return min(limits, default=None)


def _sentences(instructions: str) -> Iterator[str]:
    for line in instructions.splitlines():
        if not line.lstrip().startswith("#"):
            text = _BULLET.sub("", line, count=1)
            yield from filter(None, map(str.strip, _SENTENCE_END.split(text)))


def _read_rule(text: str) -> Rule | None:
    quoted = _QUOTED.search(text)
    if _FORBIDS.search(text):
        if quoted is None or _CONDITION.search(text):
            return None
        return _rule("avoids", quoted[1], text, Check("not_contains", quoted[1]))
    if quoted:
        return _rule("says", quoted[1], text, Check("contains", quoted[1]))
    if asked := _ASK_FOR.search(text):
        return _rule("asks_for", asked[1], text, Check("contains", asked[1]))
    if found := _ADDRESS.search(text) or _AMOUNT.search(text):
        return _rule("states", found[0], text, _mention(found[0]))
    return None


def _rule(verb: str, literal: str, text: str, check: Check) -> Rule:
    return Rule(snake_case(f"{verb} {literal}"), text, check)


def _mention(literal: str) -> Check:
    """Accept "30 days", "30-day" and "30 day" for each other."""
    if amount := re.fullmatch(r"(\d[\d.,]*)[- ]([a-z]+?)s?", literal, re.IGNORECASE):
        number, unit = amount.groups()
        spellings = (literal, f"{number} {unit}s", f"{number} {unit}", f"{number}-{unit}")
        return Check("contains_any", tuple(dict.fromkeys(spellings)))
    return Check("contains", literal)
