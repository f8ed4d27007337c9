"""A chat model that is none: it answers as an agent by quoting its instructions.

Rules, not a language model. A line of the instructions is quoted when it bears on the prompt,
obeyed when it forbids or limits something, else left out; equal requests get equal answers.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from azd_eval.domain.chat import ChatReply, ChatRequest
from azd_eval.errors import ModelError

_NOTHING_SAID: Final = "My instructions say nothing about that."

_BULLET = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")
_ENDING = re.compile(r"(?:ies|ing|ed|es|able|s|y|[aeiou])$")
_STEM_LENGTH: Final = 6

_CONDITION = re.compile(
    r"(?:when(?:ever)?|if|in case|quando|se|cuando|si|wenn|falls|quand|lorsque)\b"
    r'(?P<when>[^",:]*".*"|[^,:]+)\s*[,:]\s+(?P<then>.+)',
    re.IGNORECASE | re.DOTALL,
)
_ALTERNATIVE = re.compile(r",|\bor\b|\b[oe]\b|\bou\b|\boder\b|/", re.IGNORECASE)
_FORBIDDEN = re.compile(r"\b(?:never|do not|don't|(?:must|should|may) not|avoid)\b", re.IGNORECASE)
_DEMANDED = re.compile(
    r"\b(?:must|should|shall|always|make sure)\b"
    r"|^(?:the )?(?:reply|response|answer|agent|assistant)\b"
    r"|^(?:acknowledge|add|answer|apologi[sz]e|ask|be|begin|check|close|confirm|decline|end|explain"
    r"|give|greet|help|include|keep|list|mention|offer|open|point|politely|provide|refer|refuse|reply"
    r"|respond|say|show|state|suggest|tell|thank|use|write)\b",
    re.IGNORECASE,
)
_STATED = re.compile(r"^\W*(?:\w+\W+){1,3}(?:is|are|has|have|can|will)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]+)"')
_MOST_WORDS = re.compile(
    r"\b(?:at most|no more than|up to|under|below|within) (\d+) words", re.IGNORECASE
)
_ONLY = re.compile(r'^reply with "(.+)" and nothing else', re.IGNORECASE | re.DOTALL)
_JSON = re.compile(r"^reply in json\b", re.IGNORECASE)
_PATTERN = re.compile(r"\bmatch the pattern\b", re.IGNORECASE)

# What a question shares with any other question says nothing of what it is about.
_SMALL_WORDS: Final = frozenset(
    "about agent all am an and any are asked asks at be been by can could customer did do does "
    "for from had has have how if in into is it its just me my no not of on one or our out people "
    "please question questions should so some somebody tell that the their them then there they "
    "this to us user users want wants was we were what when where which who why will with would "
    "you your".split()
)


@dataclass(frozen=True, slots=True)
class OfflineModel:
    """Answers requests of purpose `agent`; refuses all others with a `ModelError`."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        if request.purpose != "agent":
            raise ModelError(
                f"the offline engine answers as an agent only, not as {request.purpose}",
                code="refused_request",
                hint="configure a model: OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT or OPENAI_BASE_URL",
            )
        instructions = "\n".join(one.text for one in request.messages if one.role == "system")
        prompt = next((one.text for one in reversed(request.messages) if one.role == "user"), "")
        return ChatReply(_answer(instructions, prompt))


def _answer(instructions: str, prompt: str) -> str:
    sentences = list(_applying(instructions, _stems(prompt)))
    forbidden = [sentence for sentence in sentences if _FORBIDDEN.search(sentence)]
    told = [one for one in sentences if one not in forbidden and not _PATTERN.search(one)]
    for sentence in told:
        if only := _ONLY.match(sentence):
            return only.group(1)
    banned = [words.casefold() for one in forbidden for words in _QUOTED.findall(one)]
    limits = [int(number) for one in told for number in _MOST_WORDS.findall(one)]
    quoted = [one for one in told if not _MOST_WORDS.search(one) and not _JSON.match(one)]
    quoted = [one for one in quoted if not any(words in one.casefold() for words in banned)]
    text = _shorten(quoted, min(limits, default=None)) or _NOTHING_SAID
    return json.dumps({"reply": text}) if any(map(_JSON.match, told)) else text


def _applying(instructions: str, asked: frozenset[str]) -> Iterator[str]:
    """Yield the sentences of all lines that bear on what is asked, in their order."""
    for line in instructions.splitlines():
        text = _BULLET.sub("", line, count=1).strip()
        if not text or text.startswith("#"):
            continue
        condition = _CONDITION.match(text)
        if condition is None:
            is_rule = _BULLET.match(line) is not None and not _STATED.match(text)
            for sentence in _SENTENCE_END.split(text):
                if is_rule or _is_demand(sentence) or _stems(sentence) & asked:
                    yield sentence
        elif _bears_on(condition["when"], asked):
            yield from _SENTENCE_END.split(condition["then"])


def _is_demand(sentence: str) -> bool:
    return bool(_DEMANDED.search(sentence) or _FORBIDDEN.search(sentence))


def _bears_on(condition: str, asked: frozenset[str]) -> bool:
    """Look for half of the words of one alternative; a quoted question is one alternative."""
    quoted = _QUOTED.search(condition)
    alternatives = [condition] if quoted else _ALTERNATIVE.split(condition)
    stems = [_stems(alternative) for alternative in alternatives]
    return any(one and 2 * len(one & asked) >= len(one) for one in stems)


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return frozenset(_stem(word) for word in words if word not in _SMALL_WORDS)


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word) if len(word) > len("ship") else word
    if stem[-2:-1] == stem[-1:]:
        stem = stem[:-1]
    return stem[:_STEM_LENGTH]


def _shorten(sentences: list[str], most_words: int | None) -> str:
    """Keep whole sentences from the front; cut only the first one, if it alone is too long."""
    text = " ".join(sentences)
    if most_words is None or len(text.split()) <= most_words:
        return text
    while len(sentences) > 1 and len(" ".join(sentences).split()) > most_words:
        sentences = sentences[:-1]
    return " ".join(" ".join(sentences).split()[:most_words])
