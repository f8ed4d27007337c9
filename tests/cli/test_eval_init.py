"""`eval init` without questions: what it drafts, what it keeps, what it refuses unpaid."""

import json

import pytest
import yaml

from tests.cli.shell import EXAMPLES, KEY, RUBRIC, connect, count_roles

SENTENCE = (
    "Customer support agent. Test refund handling, troubleshooting, and out-of-scope deflection."
)
AZURE = """\
name: shop
services:
  web: {host: appservice, project: ./web}
  support: {host: azure.ai.agent, project: ./src, name: my-support-agent}
"""
DATASET = ".azure/.foundry/datasets/my-shop-eval-seed.v1.jsonl"
EVALUATOR = ".azure/.foundry/evaluators/my-shop-quality.v1.yaml"


def read_rows(shell, path):
    return [json.loads(line) for line in shell.read(path).splitlines()]


def test_fifty_distinct_tasks_for_one_sentence(shell, world):
    command = ["--gen-instruction", SENTENCE, "--eval-model", "m", "--max-samples", "50"]

    done = shell("eval", "init", *command, "--no-prompt", **connect(world))
    checked = shell("dataset", "validate", "--lint", "--json", DATASET)

    assert (0, 0) == (done.code, checked.code), done.stderr + checked.stdout
    assert (
        "  Dataset generation:    done  (registered: my-shop-eval-seed/v1)\n"
        "  Evaluator generation:  done  (registered: my-shop-quality/v1)\n"
        "\n"
        "Eval suite created\n"
        "  Config:     eval.yaml\n"
        f"  Dataset:    {DATASET}\n"
        f"  Evaluator:  {EVALUATOR}\n"
        "\n"
        "Review the generated assets, then run:\n"
        "  azd-eval eval run\n"
    ) == done.stdout
    rows = read_rows(shell, DATASET)
    assert [50, 50, 50] == [
        len(rows),
        len({row["name"] for row in rows}),
        len({row["prompt"] for row in rows}),
    ]
    assert all(2 <= len(row["criteria"]) <= 5 for row in rows)
    assert 3 <= len({row["category"] for row in rows})
    assert {"refund handling", "troubleshooting"} <= {row["metadata"]["topic"] for row in rows}
    assert 50 == checked.json["files"][0]["tasks"]
    config = yaml.safe_load(shell.read("eval.yaml"))
    assert {"name": "my-shop", "kind": "model", "model": "m"} == config["agent"]
    assert DATASET == config["dataset_file"]
    assert ["builtin.task_adherence", "my-shop-quality"] == config["evaluators"]
    assert {"generator": 11} == count_roles(world)
    assert KEY.encode() not in b"".join(shell.files().values())


def test_an_existing_config_stops_it_before_any_call(shell, world):
    mine = shell.write("eval.yaml", "# broken, but mine\nagent: [\n").read_bytes()
    flags = ["eval", "init", "-g", SENTENCE, "-m", "m", "--max-samples", "4", "--json"]

    refused = shell(*flags, **connect(world))
    unpaid = len(world.calls)
    elsewhere = shell(*flags, "--out-file", "second.yaml", **connect(world))
    forced = shell(*flags, "--force", **connect(world))
    reset = shell(*flags, "--reset-defaults", **connect(world))

    assert (2, "", 0) == (refused.code, refused.stdout, unpaid)
    assert "error: 'eval.yaml' exists" in refused.stderr
    assert "--force" in refused.stderr
    assert "--out-file" in refused.stderr
    assert [0, 0, 0] == [elsewhere.code, forced.code, reset.code]
    assert ["my-shop-eval-seed/v1", "my-shop-quality/v1"] == elsewhere.json["registered"]
    assert ["my-shop-eval-seed/v2", "my-shop-quality/v2"] == forced.json["registered"]
    assert ["my-shop-eval-seed/v3", "my-shop-quality/v3"] == reset.json["registered"]
    backups = [data for name, data in shell.files().items() if "eval.yaml.backup" in name]
    assert 2 == len(backups)
    assert mine in backups
    assert "v3.jsonl" in shell.read("eval.yaml")
    assert "v1.jsonl" in shell.read("second.yaml")


MY_RUBRIC = """\
type: rubric
name: mine
dimensions:
  - {id: brief, description: The reply has one sentence, weight: 5}
"""


def test_golden_data_is_kept_and_only_the_evaluator_drafted(shell, world):
    golden = (EXAMPLES / "customer_support.jsonl").read_bytes().replace(b"\n", b"\r\n")
    (shell.folder / "golden.jsonl").write_bytes(golden)
    shell.write("mine.yaml", RUBRIC.replace("name: quality", "name: mine"))

    done = shell(
        *"eval init --dataset ./golden.jsonl -m m --evaluator ./mine.yaml".split(),
        **connect(world),
    )
    run = shell("eval", "run", "--json", **connect(world))

    assert (0, 1) == (done.code, run.code), done.stderr + run.stderr
    assert "Dataset:    golden.jsonl" in done.stdout
    assert "registered: my-shop-quality/v1" in done.stdout
    assert "eval-seed" not in done.stdout
    assert 1 == sum(call.schema_name == "blueprint" for call in world.calls)
    assert 0 == sum(call.schema_name == "tasks" for call in world.calls)
    assert golden == (shell.folder / "golden.jsonl").read_bytes()
    assert ["builtin.task_adherence", "mine", "my-shop-quality"] == run.json["evaluators"]
    assert 3 == run.json["tasks"]["total"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--dataset broken.jsonl", ["invalid JSON on line 2", "broken.jsonl:1", "prompt"]),
        ("--dataset none.jsonl", ["dataset_file not found: ", "my-shop/none.jsonl"]),
        ("--dataset .", ["my-shop"]),
        ("--max-samples 0 -g x", ["--max-samples"]),
        ("--max-samples 1001 -g x", ["--max-samples"]),
        ("--evaluator none.yaml -g x", ["my-shop/none.yaml"]),
        ("-g x --agent ", ["--agent"]),
        ("--evaluator nothing -g x", ["evaluator 'nothing' not found"]),
        ("--gen-instruction-file none.txt", ["my-shop/none.txt"]),
        ("--gen-instruction-file sentence.txt -g x", ["--gen-instruction-file", "not both"]),
        ("", ["--gen-instruction"]),
        ("-g  ", ["--gen-instruction"]),
    ],
)
def test_what_is_wrong_is_refused_unpaid_and_unwritten(shell, world, flags, words):
    shell.write("broken.jsonl", '{"name": "a", "criteria": []}\n{"name": "b",}\n')
    shell.write("sentence.txt", SENTENCE)
    before = shell.files()
    arguments = flags.split() + ([""] if flags.endswith(" ") else [])

    refused = shell("eval", "init", *arguments, "-m", "m", **connect(world))

    assert (2, "", []) == (refused.code, refused.stdout, world.calls)
    assert [] == [word for word in words if word not in refused.stderr]
    assert before == shell.files()


def test_the_agent_and_its_instructions_are_found(shell, world):
    shell.write("azure.yaml", AZURE)
    path = shell.write(".agent_configs/baseline/instructions.md", "Speak of refunds in verse.\n")
    shell.write("sentence.txt", f"{SENTENCE}\n")

    done = shell(
        *"eval generate --gen-instruction-file sentence.txt -m m --max-samples 3".split(),
        *"--name nightly --cwd . --json".split(),
        **connect(world),
    )

    assert 0 == done.code, done.stderr
    assert "  Found: my-support-agent (hosted)" in done.stderr
    assert ["my-support-agent-eval-seed/v1", "my-support-agent-quality/v1"] == done.json[
        "registered"
    ]
    assert (3, [], 2) == tuple(done.json[key] for key in ("tasks", "notes", "calls"))
    assert "Speak of refunds in verse." in world.calls[0].user
    assert "Speak of refunds in verse.\n" == path.read_text(encoding="utf-8")
    config = yaml.safe_load(shell.read("eval.yaml"))
    assert ("nightly", "my-support-agent") == (config["name"], config["agent"]["name"])


def test_one_of_several_agents_has_to_be_named(shell, world):
    shell.write("azure.yaml", AZURE + "  sales: {host: azure.ai.agent, project: ./sales}\n")
    command = ["eval", "init", "-g", SENTENCE, "-m", "m", "--max-samples", "2"]

    unclear = shell(*command, **connect(world))
    before = len(world.calls)
    named = shell(*command, "--agent", "sales", "--json", **connect(world))

    assert (2, 0) == (unclear.code, before)
    assert "my-support-agent, sales" in unclear.stderr
    assert "--agent" in unclear.stderr
    assert ["sales-eval-seed/v1", "sales-quality/v1"] == named.json["registered"]


def test_a_python_agent_and_rules_alone(shell):
    shell.write("agent.py", "def respond(prompt):\n    return 'We refund: ' + prompt\n")

    done = shell("eval", "init", "-g", SENTENCE, "--callable", "agent.py:respond", "--json")
    run = shell("eval", "run", "--no-gate", "--json")

    assert (0, 0) == (done.code, run.code), done.stderr + run.stderr
    assert 15 == done.json["tasks"]
    assert "rules, not a language model" in done.json["engine"]
    assert "rules, not a language model" in run.json["engine"]
    assert 15 == run.json["usage"]["calls"]


def test_too_few_tasks_are_told_with_the_reason(shell, fake_openai):
    def respond(request):
        if request.schema_name == "blueprint":
            dimensions = [
                {"id": f"d_{n}", "description": f"Is {n}", "weight": n, "always_applicable": True}
                for n in range(1, 5)
            ]
            return {"topics": ["refunds"], "dimensions": dimensions}
        criteria = [{"name": f"c_{n}", "instruction": f"Is {n}"} for n in range(2)]
        prompt = "May I bring back my [bold]kettle[/bold]?"
        return {"tasks": [{"slot": 1, "name": "kettle", "prompt": prompt, "criteria": criteria}]}

    done = shell(
        *"eval init -g Refunds. -m m --max-samples 6".split(), **connect(fake_openai(respond))
    )

    assert 0 == done.code, done.stderr
    assert "warning: 1 of 6 tasks were drafted; not used: almost" in done.stderr
    assert 1 == len(read_rows(shell, DATASET))
