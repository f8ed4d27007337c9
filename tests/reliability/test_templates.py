"""Texts of users reach every model as they are (cases 044 and 046)."""

import json
import re

import pytest

from azd_eval.structured import json_values
from tests.personas import support_world
from tests.reliability.projects import make_row, write_rows

TEXTS = {
    "044-braces": 'Reply as {"answer": "…"}, {x | x > 0}, {placeholder}, {0}, {}, {{',
    "044-our own placeholders": "{{ reply }} {{conversation}} {{ question }} {{ instructions }}",
    "044-other templates": "{% if a %} {# b #} ${NAME} $name %s %(a)d <%= c %> [[d]]",
    "044-replacements": r"\1 \g<0> \\n \u0041 $1 & \U0001F600",
    "046-markup": "Is 3 < 5 && \"a\" > 'b'? <b>&lt;&amp;</b> <!-- x --> ]]>",
    "frames": "```json\n{}\n```\n----- x begin -----\n----- x end -----\n</think>",
    "spaces": "  two  spaces\tand a tab \n\n at the end  ",
    "scripts": "你好 שלום ﷽ 👩‍👩‍👧 e\u0301 \u00a0 \u200b \u202e ÅÅ",
    "controls": "\x01 bell \x07 escape \x1b[31m null-free \x7f",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_agent_and_judge_get_equals_what_was_written(project, text):
    row = make_row("t", text, {"name": "right", "instruction": text}, groundTruth=text)
    rubric = {"name": "q", "dimensions": [{"id": "d", "description": text}]}
    project.write_suite(
        tasks=write_rows([row, make_row("in context", "How?", context=text)]),
        evaluators="[{name: builtin.task_adherence, initialization_parameters: "
        "{use_ground_truth: true}}, ./quality.json]",
    )
    project.write("instructions.md", text)
    project.write("quality.json", json.dumps(rubric))
    server = project.serve(
        lambda request: text if request.schema_name is None else {"score": 1, "reason": text}
    )

    run = project.evaluate()

    agents = [call for call in server.calls if call.schema_name is None]
    judges = [call for call in server.calls if "How?" not in call.user and call.schema_name]
    assert {text} == {call.system for call in agents}
    assert [True, True] == sorted(text in call.user for call in agents)
    assert text in [call.user for call in agents]
    for call in judges:
        (conversation,) = json_values(call.user.partition("Reply to be judged")[0])
        reply = re.search(r'^Reply to be judged[^\n]*\n(".*")$', call.user, re.MULTILINE)
        assert [text, text] == [conversation["user"], json.loads(reply[1])]
        assert f":\n{text}\n" in call.user
    assert 2 == len(judges)
    (turn,) = project.trials(run.run_dir)["t"]["turns"]
    assert [text, text] == [turn["prompt"], turn["reply"]]
    verdicts = [verdict for score in turn["scores"] for verdict in score["verdicts"]]
    assert [text.strip()] * 2 == [verdict["reason"] for verdict in verdicts]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_the_optimizer_gets_equals_what_was_written(project, text):
    project.write_suite(
        tasks=write_rows([make_row("t", text, {"name": "right", "instruction": text})])
    )
    project.write("instructions.md", text)
    world = support_world(rule="Say the word.")

    def respond(request):
        answer = world(request)
        return (
            {**answer, "reason": f"{answer['reason']} {text}"}
            if request.schema_name == "verdict"
            else answer
        )

    server = project.serve(respond)

    summary = project.optimize(max_iterations=1)

    (revision,) = [call for call in server.calls if call.schema_name == "instructions"]
    assert f" begin -----\n{text}\n----- " in revision.user
    data = json.dumps(json_values(revision.user.partition(" end -----\n")[2]), ensure_ascii=False)
    for shown in (text.strip(), text):
        assert json.dumps(shown, ensure_ascii=False)[1:-1] in data
    best = project.folder / str(summary.candidates[-1].path)
    assert text in best.read_bytes().decode()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_the_generator_gets_equals_what_was_written(project, text):
    server = project.serve(support_world())
    project.write("sentence.txt", f"Test refunds. {text}")
    project.write(".agent_configs/baseline/instructions.md", text)

    done = project.run(
        server, *"eval init --gen-instruction-file sentence.txt -m m --max-samples 2".split()
    )

    assert 0 == done.code, done.output
    (blueprint,) = [call for call in server.calls if call.schema_name == "blueprint"]
    (brief,) = json_values(blueprint.user)
    assert f"Test refunds. {text}".strip() in brief.values()
    assert text.strip() in [str(value).strip() for value in brief.values()]
