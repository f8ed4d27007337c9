"""Compare the words of a reply with the expected answer: ExactMatch and PartialMatch.

The expected answer is never quoted: reasons reach whoever revises the instructions.
"""

import re
import unicodedata
from collections import Counter
from typing import Literal

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.evaluator_options import ExactMatchOptions, PartialMatchOptions
from azd_eval.evaluators.findings import DECIDED, Finding

_ARTICLES = frozenset({"a", "an", "the"})
# Scripts that put no space between words: Thai to Tibetan, Burmese, Khmer, kana, Han.
_UNSPACED = re.compile(
    "([\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_DROPPED = frozenset("$+<=>^`|~")  # punctuation to ASCII, symbols to Unicode
_TOLERANCE = 1e-9


def match_exactly(item: TurnUnderTest, options: ExactMatchOptions) -> Finding:
    """Look for the expected answer in the reply, or hold it against the whole of it."""
    texts = (item.reply.text, item.turn.expected or "")
    reply, expected = (
        _fold(text.strip(), "NFC", case_sensitive=options.case_sensitive) for text in texts
    )
    if options.mode == "equals":
        found, relation = expected == reply, "equal"
    else:
        found, relation = expected in reply, "contain"
    verb = f"{relation}s" if found else f"does not {relation}"
    return Finding(DECIDED[found], f"the reply {verb} the expected answer")


def match_partly(item: TurnUnderTest, options: PartialMatchOptions) -> Finding:
    """Measure how many words reply and expected answer share, as the F1 of both directions."""
    texts = [
        _fold(text.strip(), "NFKC", case_sensitive=options.case_sensitive)
        for text in (item.reply.text, item.turn.expected or "")
    ]
    reply, expected = map(_count_words, texts)
    common = (reply & expected).total()
    total = reply.total() + expected.total()
    share = 2 * common / total if total else float(texts[0] == texts[1])
    reason = (
        f"match score {share:.3f}: {common} words in common, of {reply.total()} in the reply "
        f"and {expected.total()} in the expected answer"
    )
    passed = share >= options.threshold - _TOLERANCE
    return Finding(DECIDED[passed], reason, share, share, options.threshold)


def _count_words(folded: str) -> Counter[str]:
    """Count words as SQuAD does: without punctuation and articles."""
    kept = "".join(char for char in folded if not _is_punctuation(char))
    words = _UNSPACED.sub(r" \1 ", kept).split()
    return Counter(word for word in words if word.lower() not in _ARTICLES)


def _is_punctuation(char: str) -> bool:
    return char in _DROPPED or unicodedata.category(char).startswith("P")


def _fold(text: str, form: Literal["NFC", "NFKC"], *, case_sensitive: bool) -> str:
    """Write equal texts equally: accents (and, with NFKC, widths), and case unless it counts."""
    composed = unicodedata.normalize(form, text)
    return composed if case_sensitive else unicodedata.normalize(form, composed.casefold())
