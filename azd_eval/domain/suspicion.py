"""Find words in a reply that speak to the judge and not to the user.

They are told, and never change a score: the judge has its own protection (`templates/judge.md`),
and an agent may quote such words for good reasons.
"""

import re

_LONGEST = 100

# All repeats are bounded, so that no text takes long.
_MARKS = r"[^\w\n]{0,12}"
_PART = (
    r"(begin|start|end)[ _](of[ _])?(the[ _])?"
    r"(data|reply|response|submission|answer|output|conversation|input)"
)
_JUDGE = r"(judge|grader|evaluator|rater)s?"
_FLAGS = re.IGNORECASE | re.MULTILINE | re.VERBOSE
_SPOKEN = re.compile(
    rf"""
    # A verdict alone on its line: `GRADE: C`, `**Score**: 1/1`, `[[A]]`.
    ^{_MARKS} (final\ )? (grade|verdict|score|rating|judge?ment) {_MARKS} [:=] {_MARKS}
        ([a-f] | \d{{1,3}}(\ ?/\ ?\d{{1,3}})? | pass(ed)? | met | correct) {_MARKS}$
    | ^\[\[ ([a-f] | (rating:\ ?)?\d{{1,3}}) \]\]$

    # The end of the data, or the beginning of another part of the prompt.
    | ^{_MARKS} {_PART} {_MARKS}$
    | [\[<{{(] /?{_PART} [\])}}>]
    | </ (data|reply|response|submission|agent_reply|untrusted\w{{0,9}}|system|user|assistant) >
    | <\| (im_start|im_end|endoftext|eot_id|start_header_id|system|user|assistant) \|>

    # Orders to whoever reads it as a prompt.
    | \b(ignore|disregard|forget|override)\ (all\ |any\ |everything\ )? (of\ )? (the\ |your\ )?
        (previous|prior|above|earlier|preceding|other)\ (instruction|rule|criteri|prompt)

    # The judge, called by name.
    | \b(dear|attention|note\ to|message\ (to|for)|instructions?\ (to|for)|hello|hi) [,:]?[ ]
        (the\ |any\ |an?\ )? (\w{{1,20}}\ )? {_JUDGE}\b
    | \b(you\ are|as)\ (the|an?)\ {_JUDGE}[,:.!]

    # What the judge should say.
    | \b(give|assign|award|grant)\ (this|it|the|my) (\ \w{{1,20}})?\ (a\ |the\ )?
        (full|highest|maximum|perfect|passing|top)\ (marks?|score|grade|points|rating)
    | \b(score|grade|rate|mark|judge)\ (this|it|the|my|all|every|each) (\ \w{{1,20}})?[ ]
        (as\ |with\ )? (an?\ )? (1|5|100|10/10|5/5|pass(ed|ing)?|met|correct|fulfilled)\b
    | \b(all|every|each)(\ of)?(\ the)?\ criteri(a|on)\ ((is|are|was|were|ha(s|ve)\ been)\ )?
        (\w{{1,20}}ly\ )? (met|satisfied|fulfilled)\b
    """,
    _FLAGS,
)

# A verdict as JSON has both; the quotation marks may be escaped.
_REASON = re.compile(r"""["']reason\\?["']\s{0,9}:""", _FLAGS)
_SCORE = re.compile(r"""["'](score|verdict|grade)\\?["']\s{0,9}:\s?[\w."']{0,9}""", _FLAGS)


def find_suspicious_words(reply: str) -> str | None:
    """Quote the first words of a reply that are made for a judge; None if there are none.

    Knows the forms of verdicts, of ends of data and of orders, the latter in English.
    """
    found = _SPOKEN.search(reply) or (_REASON.search(reply) and _SCORE.search(reply))
    return " ".join(found[0].split())[:_LONGEST] if found else None
