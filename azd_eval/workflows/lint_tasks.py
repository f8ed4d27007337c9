"""What is unwise in a dataset though it can be run (specification: tips for good datasets)."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from azd_eval.domain.similarity import PromptIndex, normalise
from azd_eval.domain.suite import TaskKind
from azd_eval.domain.task import Task
from azd_eval.errors import Problem

# Near-duplicates of more prompts than this would cost more memory than they are worth.
_MOST_COMPARED: Final = 20_000
_FEWEST_CRITERIA: Final = 2
_WORD: Final = re.compile(r"\w{2,}|\d")

# A criterion made of nothing but these says nothing that two judges would decide alike: who speaks,
# that it should, and that it is good. Words such as "polite" or "mention" are not among them.
_EMPTY_WORDS: Final = frozenset(
    """
    a an and any as at be been being by do does for from has have if in is it its of on or so that
    the their them there this to very was well will with you your user users customer
    agent ai answer answers answered assistant bot chatbot content model output question questions
    quality reply replies request response responses respond responds result text
    must should shall can could needs need expected
    acceptable accurate accurately adequate adequately appropriate appropriately best better clear
    clearly complete completely correct correctly effective excellent fine good great helpful
    helpfully high nice ok okay perfect proper properly reasonable relevant right satisfactory
    sensible suitable useful

    agente alla all al che con da dei del della deve dovrebbe di domanda e è essere gli ha i il in
    l la le lo modello per qualità questa questo risposta risposte risponde rispondere si sia sua un
    una utente abbia
    accurata accurato adatta adatto adeguata adeguato appropriata appropriato bella bello bene buon
    buona buone buono chiara chiaro completa completo corretta correttamente corretto giusta giusto
    ottima ottimo pertinente soddisfacente utile valida valido alta alto

    a calidad con de debe debería del el en es esta la las los modelo para pregunta que respuesta
    respuestas responder ser sea su tener tiene un una usuario y
    aceptable adecuada adecuado apropiada apropiado bien buena bueno clara claro completa completo
    correcta correctamente correcto excelente pertinente precisa preciso relevante útil

    agent antwort antworten auf benutzer dass der die das den dem des ein eine einer es frage für
    haben hat hohe ist modell muss müssen nutzer qualität sein sind soll sollte sollten und von zu
    zur werden wird
    akzeptabel angemessen brauchbar gut gute guten hilfreich hilfreiche klar klare korrekt korrekte
    nützlich passend passende relevant richtig richtige sinnvoll verständlich vollständig
    """.split()
)

# What tasks of each kind are called and asked for, in English, Italian, Spanish and German.
_SIGNS: Final[dict[TaskKind, re.Pattern[str]]] = {
    "out_of_scope": re.compile(
        r"out[ _-]?of[ _-]?scope|off[ _-]?topic|outside (its|the|of|your)|unrelated|declin|refus"
        r"|redirect|fuori (ambito|tema)|rifiut|fuera del? |rechaz|außerhalb|ablehn|nicht zuständig",
        re.IGNORECASE,
    ),
    "ambiguous": re.compile(
        r"ambigu|clarif|\bask(s|ing)? (for|which|what|whether|the user|back)|chied|chiariment"
        r"|pregunt[ae]|aclar|nachfrag|rückfrag|mehrdeutig|klarstell",
        re.IGNORECASE,
    ),
    "adversarial": re.compile(
        r"adversar|jailbreak|injection|\bignor[aei]|system prompt|reveal|pretend|manipul|trick|leak"
        r"|avversari|inganna|finge|engañ|vorgeb|überlist",
        re.IGNORECASE,
    ),
    "multi_step": re.compile(
        r"multi[ _-]?(step|turn)|step[ -]by[ -]step|\bsteps\b|\bfirst\b.*\bthen\b|passaggi|passo"
        r"|primero.*(luego|después)|\bprima\b.*\bpoi\b|schritt|\bzuerst\b.*\bdann\b",
        re.IGNORECASE | re.DOTALL,
    ),
}
_SIZES: Final = (
    (5, "quick iterations, a limited signal"),
    (11, "a good balance of speed and coverage"),
    (21, "a thorough evaluation, longer runs"),
)
_LARGE: Final = "accurate but slow: suited to a final validation"


def lint_tasks(tasks: Iterable[Task]) -> Iterator[Problem]:
    """Yield warnings and notes; those of a task before the next task is taken.

    Problems that name no task are about the dataset as a whole, and come last.
    """
    prompts = _Prompts()
    missing = dict(_SIGNS)
    count = signals = 0
    for task in tasks:
        count += 1
        signals += sum(len(turn.criteria) + len(turn.evaluators) for turn in task.turns)
        yield from _lint_criteria(task)
        yield from prompts.lint(task)
        if found := [kind for kind, sign in missing.items() if _is_of_kind(task, kind, sign)]:
            missing = {kind: sign for kind, sign in missing.items() if kind not in found}
    if count:
        yield from _describe_coverage(missing)
        yield _describe_size(count, signals)


class _Prompts:
    """The prompts so far, to find those that say the same."""

    def __init__(self) -> None:
        self._index = PromptIndex()
        self._first: dict[str, str] = {}

    def lint(self, task: Task) -> Iterator[Problem]:
        if len(self._first) >= _MOST_COMPARED:
            return
        prompt = "\n".join(turn.prompt for turn in task.turns)
        first = self._first.setdefault(normalise(prompt), task.name)
        if not self._index.add_if_new(prompt):
            other = "an earlier one" if first == task.name else f"that of {first!r}"
            yield Problem(
                f"the prompt is nearly the same as {other}",
                item=task.name,
                field="prompt",
                hint="one situation counts twice; change it or remove one",
                severity="warning",
            )


def _lint_criteria(task: Task) -> Iterator[Problem]:
    criteria = [criterion for turn in task.turns for criterion in turn.criteria]
    for criterion in criteria:
        words = _WORD.findall(criterion.instruction.casefold())
        if criterion.check is None and _EMPTY_WORDS.issuperset(words):
            yield Problem(
                f"vague criterion {criterion.name!r}: {criterion.instruction[:80]!r}",
                item=task.name,
                field="criteria",
                hint="say what can be found in the reply, such as "
                "'Response must explicitly mention the 30-day refund window'",
                severity="warning",
            )
    if 0 < len(criteria) < _FEWEST_CRITERIA:
        yield Problem(
            "only one criterion",
            item=task.name,
            field="criteria",
            hint="two to five criteria tell more about a reply",
            severity="note",
        )


def _is_of_kind(task: Task, kind: TaskKind, sign: re.Pattern[str]) -> bool:
    if task.category == kind or (kind == "multi_step" and len(task.turns) > 1):
        return True
    texts = [task.name, task.category or ""]
    for turn in task.turns:
        texts.append(turn.prompt)
        texts += [f"{criterion.name} {criterion.instruction}" for criterion in turn.criteria]
    return any(sign.search(text) for text in texts)


def _describe_coverage(missing: Iterable[TaskKind]) -> Iterator[Problem]:
    if names := ", ".join(kind.replace("_", "-") for kind in missing):
        yield Problem(
            f"no task looks {names}",
            hint="test beyond the happy path: requests that the agent should decline, that it "
            "should ask back about, that try to mislead it, and that take several steps",
            severity="warning",
        )


def _describe_size(count: int, signals: int) -> Problem:
    advice = next((advice for end, advice in _SIZES if count < end), _LARGE)
    tasks = "1 task" if count == 1 else f"{count} tasks"
    message = f"{tasks} with {signals} evaluation signals: {advice}"
    return Problem(message, severity="note")
