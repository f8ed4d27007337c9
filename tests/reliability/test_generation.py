"""Exactly the tasks asked for, all different, or a clear word (case 124)."""

import json

import pytest

from tests.fake_openai import FakeReply, Status
from tests.generators.drafts import row
from tests.personas import draft_blueprint
from tests.reliability.projects import make_row

WANTED = 10


def draft(*replies):
    """Make a server that drafts tasks in this order, the last reply for ever."""
    asked = []

    def respond(request):
        if request.schema_name == "blueprint":
            return draft_blueprint()
        asked.append(request)
        return replies[min(len(asked), len(replies)) - 1]

    return respond


def rows(*numbers, **fields):
    return [row(number, slot=None, **fields) for number in numbers]


def tasks(*listed):
    return {"tasks": list(listed)}


GOOD_3, GOOD_12 = rows(1, 2, 3), rows(*range(20, 32))
SENTENCE = "Customer support agent for a shop."
OFFERS = {
    "as reported": ([tasks(*GOOD_3), tasks(*GOOD_3), tasks(*GOOD_12)], 10),
    "all at once": ([tasks(*GOOD_12, *GOOD_3)], 10),
    "three in all": ([tasks(*GOOD_3)], 3),
    "one name": ([tasks(*rows(1, 2, 3, name="same")), tasks(*rows(*range(30), name="same"))], 10),
    "one prompt": ([tasks(*(row(n, prompt="Where is my parcel?") for n in range(12)))], 1),
    "one prompt in other forms": (
        [
            tasks(
                *(
                    row(n, prompt=prompt)
                    for n, prompt in enumerate(
                        (
                            "Where is my parcel now?",
                            "where is my  PARCEL now",
                            "  Where is my parcel, now?!",
                            "Where is my parcel now? ",
                        )
                    )
                )
            )
        ],
        1,
    ),
    "none, then all": ([tasks(), tasks(), tasks(*GOOD_12)], 10),
    "rows at fault among them": (
        [tasks(*GOOD_3, "text", None, {"prompt": ""}, row(7, criteria=[])), tasks(*GOOD_12)],
        10,
    ),
    "cut off": ([FakeReply(json.dumps(tasks(*GOOD_12))[:-400], "length"), tasks(*GOOD_12)], 10),
    "the server fails once": ([tasks(*GOOD_3), Status(400), tasks(*GOOD_12)], 10),
    "the server fails from then on": ([tasks(*GOOD_3), Status(400)], 3),
}


COMMAND = f"eval init -m m --max-samples {WANTED} --agent shop"


@pytest.mark.parametrize(("replies", "found"), OFFERS.values(), ids=OFFERS)
def test_case_124_exactly_as_many_tasks_or_a_clear_word(project, replies, found):
    server = project.serve(draft(*replies))

    done = project.run(server, *COMMAND.split(), "--json", "-g", SENTENCE)

    assert 0 == done.code, done.output
    (name,) = [name for name in project.files() if name.endswith("seed.v1.jsonl")]
    drafted = [json.loads(line) for line in project.read(name).splitlines()]
    assert found == len(drafted)
    assert found == len({one["name"] for one in drafted})
    assert found == len({" ".join(one["prompt"].casefold().split()) for one in drafted})
    # Bounded: a blueprint, and two tries at most for each of ten slots, in four rounds.
    assert len(server.calls) <= 1 + 2 * (2 + 4 + 5 + 10)
    assert found == done.json["tasks"]
    shortfall = done.json["shortfall"]
    if found == WANTED:
        assert shortfall is None
        assert "warning" not in done.stderr
    else:
        assert shortfall.startswith(f"{found} of {WANTED} tasks were drafted; not used: ")
        assert f"warning: {shortfall}\n" in done.stderr


@pytest.mark.parametrize("flags", ["", "--quiet", "--json", "--quiet --json --no-progress"])
def test_case_124_no_flag_hides_that_there_are_too_few(project, flags):
    server = project.serve(draft(tasks(*GOOD_3)))

    done = project.run(server, *COMMAND.split(), *flags.split(), "-g", SENTENCE)

    assert 0 == done.code
    assert f"warning: 3 of {WANTED} tasks were drafted; not used: " in done.stderr
    assert ("--quiet" in flags) == (1 == len(done.stderr.splitlines()))


NOTHING = {
    "no rows": tasks(),
    "no JSON": "I am sorry, I cannot do that.",
    "rows without criteria": tasks(*rows(1, 2, 3, criteria=[])),
    "no text": "",
    "the content filter": Status(400, {"error": {"message": "no", "code": "content_filter"}}),
}


@pytest.mark.parametrize("answer", NOTHING.values(), ids=NOTHING)
def test_case_124_no_task_at_all_is_no_suite(project, answer):
    server = project.serve(draft(answer))
    before = project.files()

    done = project.run(server, *COMMAND.split(), "-g", SENTENCE)

    assert 3 == done.code, done.output
    assert done.stderr.strip()
    written = [name for name in project.files() if name not in before and "cache" not in name]
    assert [] == [name for name in written if name.endswith((".jsonl", ".yaml"))]
    assert len(server.calls) <= 1 + 2 * (2 + 3)


@pytest.mark.parametrize("number", ["0", "-1", "1001", "many", "1.5"])
def test_case_124_a_number_that_cannot_be_is_refused_unpaid(project, number):
    server = project.serve(draft(tasks(*GOOD_12)))

    done = project.run(
        server,
        "eval",
        "init",
        "-m",
        "m",
        "--agent",
        "shop",
        "-g",
        SENTENCE,
        "--max-samples",
        number,
    )

    assert 2 == done.code, done.output
    assert [] == server.calls


def test_case_124_golden_tasks_are_neither_more_nor_fewer(project):
    golden = "".join(json.dumps(make_row(f"t{n}", f"Question {n}?")) + "\n" for n in range(3))
    project.write("golden.jsonl", golden)
    server = project.serve(draft(tasks(*GOOD_12)))

    done = project.run(
        server,
        *"eval init --dataset golden.jsonl -m m --agent shop --json --max-samples 10".split(),
    )

    assert (0, 3, None) == (done.code, done.json["tasks"], done.json["shortfall"]), done.output
    assert golden == project.read("golden.jsonl")
    assert ["blueprint"] == [call.schema_name for call in server.calls]
