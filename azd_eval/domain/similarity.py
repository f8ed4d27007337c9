"""Find prompts that say the same, so that a dataset does not count one situation twice.

Lexical on purpose: no model, no network, the same answer every time. Rewording by other words is
not found here; the drafter is asked to avoid it.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Final

from azd_eval.domain.language import detect_language

# Jaccard overlap of words and word pairs: reached when one word in twelve is another. In shorter
# prompts a single word is what is asked ("return a blender", "reset a blender").
THRESHOLD: Final = 0.76

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+(?:['’](?:(?![\d_])\w)+)*")
_ADDRESS = re.compile(r"[\w.%+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+|(?:https?://|www\.)[!-~]+")
# Longer quotations are what the prompt is about, not a name in it.
_QUOTED = re.compile(
    r"(?<!\w)\"[^\"\n]{1,60}\"|“[^”\n]{1,60}”|„[^“”\n]{1,60}[“”]|«[^»\n]{1,60}»|`[^`\n]{1,60}`"
    r"|「[^」\n]{1,60}」|『[^』\n]{1,60}』|(?<!\w)['‘][^'’\n]{1,60}['’](?!\w)"
)
_SENTENCE_END = re.compile(r"[.!?…:。！？\n(¿¡]")
_NUMBER_WORDS: Final = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred "
    "due tre quattro cinque sette otto nove dieci dos tres cuatro cinco seis siete ocho nueve diez "
    "zwei drei vier fünf sechs sieben acht neun zehn deux trois quatre cinq sept huit neuf dix "
    "dois três quatro sete oito dez 一 二 三 四 五 六 七 八 九 十 百 千".split()
)
_FIRST_PERSON = re.compile(r"I(?:['’]\w+)?")
# From there on capitals are the form of a title, not of names.
_TITLE_WORDS: Final = 3
_TITLE_SHARE: Final = 0.8


def normalise(prompt: str) -> str:
    """Reduce a prompt to the words that make it different from others.

    Leaves out numbers, identifiers, addresses, short quotations and names (capitalised words inside
    a sentence; not in German, where nouns are), and drops case and punctuation. A prompt that is
    nothing else keeps its words.
    """
    return _normal_forms(prompt)[0]


def are_near_duplicates(a: str, b: str) -> bool:
    """Tell whether two prompts are the same but for names, numbers and a word here and there."""
    one, other = _normal_forms(a), _normal_forms(b)
    if not {*one}.isdisjoint(other):
        return True
    return _overlap(_shingles(one[0]), _shingles(other[0])) >= THRESHOLD


class PromptIndex:
    """The prompts that were kept so far; finds a near-duplicate without comparing with each.

    A near-duplicate of n shingles may miss m of them at most, so it has at least three of any m + 3
    (prefix filtering). Looking up the rarest of a new prompt meets hardly any candidates.
    """

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._holders: defaultdict[str, list[str]] = defaultdict(list)

    def add_if_new(self, prompt: str) -> bool:
        """Keep a prompt unless a near-duplicate of it was kept; tell whether it was new."""
        forms = _normal_forms(prompt)
        shingles = _shingles(forms[0])
        if not self._forms.isdisjoint(forms) or self._resembles_kept(shingles):
            return False
        self._forms.update(forms)
        for shingle in shingles:
            self._holders[shingle].append(forms[0])
        return True

    def _resembles_kept(self, shingles: frozenset[str]) -> bool:
        may_miss = len(shingles) - ceil(THRESHOLD * len(shingles))
        needed = min(3, len(shingles) - may_miss)
        rarest = sorted(shingles, key=lambda shingle: len(self._holders.get(shingle, ())))
        hits = Counter(
            form
            for shingle in rarest[: may_miss + needed]
            for form in self._holders.get(shingle, ())
        )
        return any(
            count >= needed and _overlap(shingles, _shingles(form)) >= THRESHOLD
            for form, count in hits.items()
        )


def _normal_forms(prompt: str) -> tuple[str, str]:
    """Give the form without names, and the one with them: "my Order" may be "my order"."""
    text = unicodedata.normalize("NFKC", prompt)
    bare = _ADDRESS.sub(" ", _QUOTED.sub(" ", text))
    matches = list(_WORD.finditer(bare))
    words = [match[0].casefold() for match in matches]
    telling = [word not in _NUMBER_WORDS and not any(map(str.isdigit, word)) for word in words]
    named = [word for word, tells in zip(words, telling, strict=True) if tells]
    nameless = [
        word
        for word, tells, is_name in zip(words, telling, _find_names(bare, matches), strict=True)
        if tells and not is_name
    ]
    all_words = " ".join(_WORD.findall(text.casefold())) or text.strip()
    return " ".join(nameless) or all_words, " ".join(named) or all_words


def _find_names(text: str, matches: Sequence[re.Match[str]]) -> list[bool]:
    if detect_language(text) == "de":
        return [False] * len(matches)
    ends = [0, *(match.end() for match in matches)]
    opens = [
        end == 0 or bool(_SENTENCE_END.search(text, end, match.start()))
        for end, match in zip(ends, matches, strict=False)
    ]
    capital = [one[0][0].isupper() and not _FIRST_PERSON.fullmatch(one[0]) for one in matches]
    names = [is_capital and not begins for is_capital, begins in zip(capital, opens, strict=True)]
    if sum(names) >= max(_TITLE_WORDS, _TITLE_SHARE * opens.count(False)):
        return [False] * len(matches)
    # A capitalised word that opens a sentence is a name when a name follows: "Jane Doe", "Hi Jane".
    return [
        is_name or (is_capital and follows)
        for is_name, is_capital, follows in zip(names, capital, [*names[1:], False], strict=False)
    ]


def _shingles(form: str) -> frozenset[str]:
    words = form.split()
    return frozenset([*words, *(f"{first} {second}" for first, second in pairwise(words))])


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    shared = len(a & b)
    return shared / ((len(a) + len(b) - shared) or 1)
