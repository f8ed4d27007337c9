"""Read what a generation instruction wants tested: topics, and kinds of tasks.

"Customer support agent. Test refund handling, troubleshooting, and out-of-scope deflection." names
two topics and one kind. What the model drafts beside them may add to the topics, never drop one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from azd_eval.domain.language import detect_language
from azd_eval.domain.suite import TaskKind

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？]+")
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s+")
_TEST = (
    r"test(?:ing|a|are|en?|et|er|ez|ar)?|pro(?:va|vare|bar)|prueb[ae]|check|cover|verify"
    r"|scenarios?(?: to (?:test|cover))?+"
    r"|evaluate|include|focus on|verifi(?:ca|care|car|que)|valuta(?:re)?|copri(?:re)?|includi"
    r"|evalú[ae]|evaluar|cub(?:re|ra|rir)|incluy[ae]|prüfe?n?|bewerten?|vérifie[rz]?|évalue[rz]?"
    r"|couv(?:re|rez|rir)|incluez|avali(?:e|ar)|inclua"
)
_TEST_CLAUSE = re.compile(
    rf"(?:please |bitte |per favore |por favor )?(?:{_TEST})\b[:,]?\s+(?P<opening>.+)"
    r"|(?P<role>.*?)(?:[,:]|\s(?:and|to|e|y|und|et))\s+"
    r"(?:test|testa|teste|testen|tester|prueba)\s+(?P<later>.+)"
    r"|(?:请|請)?(?:测试|測試|涵盖|评估|检查|验证)[:：]?(?P<chinese>.+)"
    r"|(?P<japanese>.+?)(?:を|について|の)(?:テスト|検証|確認|評価).*",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:how (?:well )?|that )(?:it|the agent) (?:handles|deals with|responds to)"
    r"|come (?:l'agente )?gestisce|cómo (?:el agente )?gestiona|comment (?:il|l'agent) gère"
    r"|como (?:o agente )?lida com|scenarios?|escenarios|scenari|situations?|topics?"
    r"|(?:the )?following(?: \w+)?)(?: (?:like|such as|about|for|come|como|wie))?\s*:?\s+",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:handles?|with|about|on|for|that|which|such as|including|gestisce|per|su|che|para|sobre"
    r"|que|für|über|die|pour|sur|qui)\b\s+|[:：]\s*",
    re.IGNORECASE,
)
_CONJUNCTIONS: Final = {
    "en": "and|or|plus|as well as",
    "it": "e|ed|o|oppure|nonché",
    "es": "y|e|o|u|así como",
    "de": "und|oder|sowie",
    "fr": "et|ou|ainsi que",
    "pt": "e|ou|bem como",
}
_SEPARATOR = re.compile(
    r"[,;/、]\s+"
    r"|,?\s+(?:including|inclus[oaie]|incluid[oa]s?|einschließlich|y compris|incluindo)\s+",
    re.IGNORECASE,
)
_UNSPACED: Final = {
    "ja": r"および|及び|ならびに|や|(?<=[\u30a0-\u9fff])と(?=[\u30a0-\u9fff])",
    "zh": "以及|和|与|及",
}
_ARTICLES: Final = {
    "en": "the|an?",
    "it": "il|lo|la|i|gli|le|una?",
    "es": "el|la|los|las|una?",
    "de": "der|die|das|den|eine?",
    "fr": "les?|la|des?|du|une?",
    "pt": "os?|as?|uma?",
}
_KINDS: Final[dict[TaskKind, str]] = {
    "out_of_scope": (
        r"out[- ]of[- ]scope|off[- ]topic|outside (?:of )?(?:the |its )?scope|unrelated"
        r"|fuori (?:ambito|tema|contesto)|fuera de(?:l)? (?:alcance|ámbito|tema)"
        r"|hors[- ](?:sujet|périmètre|champ)|außerhalb|themenfremd|fora d[eo] (?:escopo|âmbito)"
        r"|範囲外|対象外|范围外|超出范围"
    ),
    "ambiguous": r"ambigu|unclear|vague|mehrdeutig|unklar|poco chiar|曖昧|あいまい|模糊|含糊",
    "adversarial": (
        r"adversari|avversari|jailbreak|prompt[- ]injection|manipulat|manipol|manipul|angreif"
        r"|敵対|攻撃|对抗|恶意"
    ),
    "multi_step": (
        r"multi[- ]?step|several steps|più passaggi|(?:varios|múltiples) pasos|mehrstufig"
        r"|mehrschrittig|plusieurs étapes|(?:várias|múltiplas) etapas|複数ステップ|多段階|多步"
    ),
    # No topics either, and no kind in particular.
    "ordinary": (
        r"(?:edge|corner)[- ]cases?|happy path|cas[io] limite|casos límite|cas limites?|grenzfälle"
        r"|randfälle|casos extremos|エッジケース|边缘情况"
    ),
}
_WITH = re.compile(r"\s+(?:with|under|con|mit|avec|com|sotto)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3,}|[^\W\d_\x00-\x7f]{2,}")
_EMPTY_WORDS: Final = frozenset(
    "about and cases for handling help inquiries issues management of on problems process "
    "processing queries questions request requests scenarios support the to with del della delle "
    "der das des die les los las per una".split()
)
_MOST_WORDS: Final = 8
_LONGEST_SENTENCE: Final = 500


@dataclass(frozen=True, slots=True)
class Scope:
    """What a generation instruction says: what the agent is, what to test, in which ways.

    `topics` is empty when the sentence lists none; `kinds` holds the kinds that it names.
    """

    role: str
    topics: tuple[str, ...]
    kinds: tuple[TaskKind, ...]


def read_scope(sentence: str) -> Scope:
    """Split a generation instruction into role, topics and kinds, each in order of mention."""
    language = detect_language(sentence)
    told: list[str] = []
    pieces: list[str] = []
    for part in _parts(sentence):
        if bullet := _BULLET.match(part):
            pieces.append(part[bullet.end() :])
        elif clause := _TEST_CLAUSE.match(part):
            named = clause.groupdict()
            told.append(named.pop("role") or "")
            pieces += _split_list(next(filter(None, named.values())), language)
        elif not part.endswith(":"):
            told.append(part)
    pieces = pieces or _find_list(told, language)
    kinds = [kind for piece in pieces for kind in _kinds_in(piece) if kind != "ordinary"]
    topics: dict[str, str] = {}
    for topic in filter(None, (_as_topic(piece, language) for piece in pieces)):
        topics.setdefault(topic.casefold(), topic)
    role = " ".join(filter(None, told))
    return Scope(role, tuple(topics.values()), tuple(dict.fromkeys(kinds)))


def merge_topics(named: Sequence[str], drafted: Iterable[str]) -> tuple[str, ...]:
    """Put drafted topics behind those that the user named, never more than were named.

    Leaves out what only repeats a topic or is a kind of tasks. Without named topics all count.
    """
    merged = list(named)
    taken = [set(topic_words(topic)) for topic in named]
    for topic in filter(None, (_as_topic(topic, detect_language(topic)) for topic in drafted)):
        words = set(topic_words(topic))
        if not any(words <= other or other <= words for other in taken):
            taken.append(words)
            merged.append(topic)
    return tuple(merged[: 2 * len(named)] if named else merged)


def topic_words(topic: str) -> tuple[str, ...]:
    """Give the stems of the words that tell a topic from others: of "refund handling", "refund"."""
    words = _WORD.findall(topic.casefold()) or [topic.casefold()]
    telling = [word for word in words if word not in _EMPTY_WORDS] or words
    return tuple(dict.fromkeys(_stem(word) for word in telling))


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences of running lines, and bulleted lines whole; a long one is no topic."""
    for line in filter(None, map(str.strip, text.splitlines())):
        if not _BULLET.match(line):
            yield from filter(None, _SENTENCE_END.split(line))
        elif len(line.split()) <= _MOST_WORDS:
            yield line


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{4})(?:ing|es|s)$", "", word)


def _split_list(text: str, language: str) -> list[str]:
    text = _LEAD.sub("", text.strip(), count=1)
    if language in _UNSPACED:
        return re.split(rf"[、，,；;]\s*|{_UNSPACED[language]}", text)
    joint = re.compile(rf"\s+(?:{_CONJUNCTIONS[language]})\s+", re.IGNORECASE)
    parts = _SEPARATOR.split(text)
    closing = joint.match(f" {parts[-1]}")
    if len(parts) > 1 and closing:
        # "a, b and c, and d": with a comma before the last "and", the others are inside items.
        return [*parts[:-1], parts[-1][closing.end() - 1 :]]
    return [piece for part in parts for piece in joint.split(part)]


def _find_list(sentences: Sequence[str], language: str) -> list[str]:
    """Look for a list in what describes the agent, behind the last word that may open one."""
    for sentence in (one for one in sentences if len(one) <= _LONGEST_SENTENCE):
        for cue in reversed(list(_CUE.finditer(sentence))):
            pieces = _split_list(sentence[cue.end() :], language)
            if len(pieces) > 1 and all(len(piece.split()) <= _MOST_WORDS for piece in pieces):
                return pieces
    return []


def _kinds_in(piece: str) -> list[TaskKind]:
    return [kind for kind, pattern in _KINDS.items() if re.search(pattern, piece, re.IGNORECASE)]


def _as_topic(piece: str, language: str) -> str:
    """Clean a topic; empty when it is a kind of tasks. "refunds with ambiguous data": refunds."""
    if _kinds_in(piece):
        piece, *ways = _WITH.split(piece, maxsplit=1)
        if not ways or _kinds_in(piece):
            return ""
    topic = " ".join(piece.split()).strip(" .,:;!?。\"'()")
    if articles := _ARTICLES.get(language):
        topic = re.sub(rf"^(?:(?:{articles})\s+|l['’]\s*)", "", topic, flags=re.IGNORECASE)
    return topic
