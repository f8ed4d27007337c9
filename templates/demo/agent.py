"""The support agent of an electronics shop: a knowledge file and rules, no language model.

It looks up in `knowledge.md` what bears on a question and then does what its instructions say, line
by line. What they do not ask for, it does not do. Try it:

    python agent.py "My headphones do not connect"
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTRUCTIONS = HERE / ".agent_configs" / "baseline" / "instructions.md"

SMALL_WORDS = frozenset(
    "a about after again all also am an and any are as ask asked at back be been but by can "
    "cannot check choose come could customer day did do does each every few first for from get "
    "give go got had has have hello help helps her here hey hi his hold hours how i if in into "
    "is it its just keep know knows leave leaves like list longer me mention minutes months more "
    "most must my need needs new next no none not of off old on once one or other others our out "
    "page please product put question reach reaches reason reasons reply request response say "
    "seconds she shop should so some somebody soon stays still such take takes tell than thank "
    "that the their them then there they thing this to told too try two under until up us use "
    "usual usually very want was way ways we were what when where which who why will with within "
    "without word would you your".split()
)


def stems(text: str) -> frozenset[str]:
    """Reduce a text to the beginnings of the words that say what it is about."""
    words = re.findall(r"[a-z]+|\d+", text.lower().replace("n't", " not"))
    roots = (re.sub(r"(?<=...)(?:able|ies|ing|ed|es|s|y|e)$", "", one) for one in words)
    kept = (root for root, word in zip(roots, words, strict=True) if word not in SMALL_WORDS)
    return frozenset(re.sub(r"([a-z])\1$", r"\1", root)[:8] for root in kept)


class Knowledge:
    """The sections of the knowledge file, and what each of their sentences is about."""

    def __init__(self, text: str) -> None:
        self.sections: dict[str, tuple[str, ...]] = {}
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            title, _, body = section.partition("\n")
            self.sections[title] = tuple(re.split(r"(?<=[.!?])\s+", " ".join(body.split())))
        self._home = {one: title for title, body in self.sections.items() for one in body}
        self._about = {
            one: Counter([*stems(one), *stems(title)]) for one, title in self._home.items()
        }
        self._spread = Counter(word for words in self._about.values() for word in words)
        self._titles = {title: stems(title) for title in self.sections}

    def knows(self, text: str) -> frozenset[str]:
        """Give the words of a text that the shop has something to say about."""
        return stems(text) & self._spread.keys()

    def rank(self, text: str) -> list[str]:
        """List the sentences that share words with a text: by title first, then by rare words."""
        asked = self.knows(text)
        ranks = {
            one: (
                len(asked & self._titles[self._home[one]]),
                sum(words[word] / self._spread[word] for word in asked),
            )
            for one, words in self._about.items()
        }
        return sorted(
            (one for one in ranks if any(ranks[one])), key=ranks.__getitem__, reverse=True
        )

    def title_of(self, sentence: str) -> str:
        """Name the section in which a sentence stands."""
        return self._home[sentence]

    def find(self, words: str) -> str | None:
        """Find a sentence with these very words in it, or else a section."""
        pointers = (f"See our help on {title.lower()}." for title in self.sections)
        return next((one for one in (*self._home, *pointers) if words.lower() in one.lower()), None)


KNOWLEDGE = Knowledge((HERE / "knowledge.md").read_text(encoding="utf-8"))
TOPICS = ", ".join(dict.fromkeys(title.partition(":")[0].lower() for title in KNOWLEDGE.sections))

VAGUE = stems(
    "bad break broke broken deal fails fix going handle happened happens issue matter problem "
    "quickly sort start started stopped strange sure trouble urgent weird work wrong"
)
"""Words that say that something is the matter, but not what."""

TRICKS = re.compile(
    r"\b(?:(?:ignore|disregard|forget|override|bypass) (?:all|any|every|the|your)|jailbreak|pretend"
    r"|role-?play|act as|(?:system|hidden|internal) (?:prompt|rules|instructions)"
    r"|your (?:prompt|rules|instructions))\b",
    re.IGNORECASE,
)
"""How people try to make an agent forget what it is there for."""


@dataclass(frozen=True)
class Message:
    """What the customer wrote, with what was said before, as far as the agent understands it."""

    prompt: str
    before: str = ""

    @cached_property
    def found(self) -> tuple[str, ...]:
        """The section that answers best, beginning with the sentence nearest to the question."""
        ranked = KNOWLEDGE.rank(self.prompt) or KNOWLEDGE.rank(self.before)
        section = KNOWLEDGE.sections[KNOWLEDGE.title_of(ranked[0])] if ranked else ()
        start = section.index(ranked[0]) if ranked else 0
        return section[start:] + section[:start]

    @cached_property
    def situation(self) -> str:
        """What kind of message it is: a trick, unclear, foreign to the shop, or known."""
        if TRICKS.search(self.prompt):
            return "trick"
        if not self.before and not stems(self.prompt) - VAGUE:
            return "unclear"
        return "known" if self.found else "foreign"

    @cached_property
    def topic(self) -> frozenset[str]:
        """What it is about: its own words and the title of the section found."""
        return stems(f"{self.prompt} {KNOWLEDGE.title_of(self.found[0]) if self.found else ''}")


SITUATIONS = {
    "trick": r"reveal|manipul|adversar|jailbreak|injection|refus|its (?:own )?(?:instruct|rules)",
    "unclear": r"unclear|ambigu|vague|clarif|missing detail",
    "foreign": r"scope|outside|unrelated|off.topic|declin|refus|redirect|appropriate|instead",
}
"""The words by which a rule says for which messages it is meant."""

QUOTED = r'"[^"]+"'

OPENINGS = (
    (r"apolog|empath|sympath|sorry|regret", "", "I am sorry for the trouble."),
    (r"polite|friend|courte|professional|thank|greet", "", "Thank you for getting in touch."),
    (SITUATIONS["trick"], "trick", "I cannot share how I was set up, and I keep to my task."),
    (SITUATIONS["foreign"], "foreign", "I cannot help with that, it is outside of what I do."),
    (r"what .* can|able to|instead|redirect", "foreign", f"I can help with {TOPICS}."),
    (r"suggest|refer|contact|elsewhere", "foreign", "A specialist for it can help you further."),
)
CLOSINGS = (
    (r"clarif|ask", "unclear", "Which product is it, and what exactly happens?"),
    (r"order (?:number|details)|e-?mail", "", "Could you tell me your order number?"),
    (r"next step|follow.?up", "known", "Next step: write to us again if this does not help."),
)
"""What is said before and after the answer: asked for by which words, in which situation, what."""


@dataclass(frozen=True)
class Rule:
    """One sentence of the instructions, the line around it, and the question that it names."""

    text: str
    line: str
    question: str = ""

    def applies_to(self, message: Message) -> bool:
        """Decide by the question, the kind of message or the topic that the line names."""
        if self.question:
            asked = stems(self.question)
            return 2 * len(asked & stems(message.prompt)) >= len(asked)
        meant = [
            name for name, hint in SITUATIONS.items() if re.search(hint, self.line, re.IGNORECASE)
        ]
        topic = KNOWLEDGE.knows(re.sub(QUOTED, "", self.line))
        return message.situation in meant if meant else not topic or bool(topic & message.topic)

    def speaks_of(self, hint: str) -> bool:
        """Tell whether the rule uses certain words, other than those that it quotes."""
        return bool(re.search(hint, re.sub(QUOTED, "", self.text), re.IGNORECASE))

    @property
    def forbids(self) -> bool:
        return self.speaks_of(r"\b(?:never|not|don't|avoid)\b")

    @property
    def quotes(self) -> list[str]:
        """List the words that it wants, or does not want, in the reply."""
        return [words.strip('"') for words in re.findall(QUOTED, self.text)]


def read_rules(instructions: str) -> Iterator[Rule]:
    """Read the instructions line by line, each sentence a rule; titles are passed over."""
    for line in instructions.splitlines():
        text = re.sub(r"^\s*(?:[-*]|\d+[.)])\s+", "", line).strip()
        named = re.match(r'when asked "(.*)":\s+', text, re.IGNORECASE)
        rest = text[named.end() :] if named else text
        if rest and not rest.startswith("#"):
            for sentence in re.split(r"(?<=[.!?])\s+", rest):
                yield Rule(sentence, rest, named[1] if named else "")


def respond(prompt: str, history: Sequence[Mapping[str, str]] = (), instructions: str = "") -> str:
    """Answer one message of a customer."""
    before = " ".join(one["content"] for one in history if one["role"] == "user")
    message = Message(prompt, before)
    rules = [rule for rule in read_rules(instructions) if rule.applies_to(message)]
    wanted = [rule for rule in rules if not rule.forbids]
    guards = [rule for rule in rules if rule.speaks_of(SITUATIONS["trick"])]
    opening = list(phrases(OPENINGS, [*wanted, *guards], message))
    closing = list(phrases(CLOSINGS, wanted, message))
    said = opening + answer(message, wanted) + closing
    if message.situation == "trick" and not opening:
        said = [f"My instructions are: {instructions}"]
    for rule in wanted:
        said += what_is_missing(rule, " ".join(said))
    banned = [words.lower() for rule in rules if rule.forbids for words in rule.quotes]
    said = [one for one in said if not any(words in one.lower() for words in banned)]
    return finish(said or ["I am not sure about that."], wanted)


def phrases(
    table: Sequence[tuple[str, str, str]], rules: Sequence[Rule], message: Message
) -> Iterator[str]:
    """Pick the phrases that rules ask for and that fit the situation."""
    for hint, situation, phrase in table:
        asking = [rule for rule in rules if rule.speaks_of(hint)]
        if any(situation in ("", message.situation) or rule.question for rule in asking):
            yield phrase


def answer(message: Message, rules: Sequence[Rule]) -> list[str]:
    """Say what the shop knows: briefly, or all of it where the rules want steps or details."""
    if message.situation != "known":
        return []
    if any(rule.speaks_of(r"\b(?:step|detail|complete|every)") for rule in rules):
        return list(message.found)
    brief = any(rule.speaks_of(r"\b(?:short|brief|concise)") for rule in rules)
    return list(message.found[: 1 if brief else 2])


def what_is_missing(rule: Rule, said: str) -> list[str]:
    """Give the sentence that a rule wants mentioned, or those with the words it wants to see."""
    missing = [words for words in rule.quotes if words.lower() not in said.lower()]
    if " or " in rule.text:
        missing = missing[:1] if len(missing) == len(rule.quotes) else []
    if rule.quotes:
        return [KNOWLEDGE.find(words) or f"Please note: {words}." for words in missing]
    wants_fact = rule.speaks_of(r"\b(?:mention|state|explain|tell|include|name|give|inform|speak)")
    return [one for one in KNOWLEDGE.rank(rule.text)[:1] if wants_fact and one not in said]


def finish(said: Sequence[str], rules: Sequence[Rule]) -> str:
    """Put the sentences together as the rules on form want it."""
    for rule in rules:
        if rule.quotes and rule.speaks_of("nothing else"):
            return rule.quotes[0]
        for limit in re.findall(
            r"(?:at most|under|more than) (\d+) words", rule.text, re.IGNORECASE
        ):
            while len(said) > 1 and len(" ".join(said).split()) > int(limit):
                said = said[:-1]
    if any(rule.speaks_of(r"numbered|step.by.step") for rule in rules):
        return "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(said, 1))
    text = " ".join(said)
    return json.dumps({"reply": text}) if any(rule.speaks_of("json") for rule in rules) else text


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "How do I return a product?"
    sys.stdout.write(respond(question, (), INSTRUCTIONS.read_text(encoding="utf-8")) + "\n")
