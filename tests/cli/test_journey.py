"""The whole job in an empty folder, nothing edited in between."""

import json
import shutil

import pytest

from tests.cli.shell import EXAMPLES, connect

SENTENCE = "Customer support agent. Test refund handling, troubleshooting, and out-of-scope."
WORLDS = ["server", "offline"]


@pytest.mark.parametrize("place", WORLDS)
def test_init_run_and_optimize_in_a_row(shell, world, place):
    variables = connect(world) if place == "server" else {}
    named = ["--eval-model", "m"] if place == "server" else []
    # Below eight tasks none is held out, and rules learn only from what fails.
    init = ["eval", "init", "-g", SENTENCE, "--max-samples", "7", *named]

    results = [
        shell(*arguments, "--json", **variables)
        for arguments in (
            init,
            ["eval", "run"],
            ["optimize", "--apply"],
            ["eval", "run"],
            ["optimize", "list"],
            ["optimize", "show"],
            ["optimize", "apply", "baseline"],
        )
    ]

    assert [0, 1, 0, 0, 0, 0, 0] == [one.code for one in results], results[-1].stderr
    made, before, better, after, listed, shown, applied = (one.json for one in results)
    assert 7 == made["tasks"] == before["tasks"]["total"]
    assert before["score"] == better["baseline"]["score"] < better["best"]["score"]
    assert better["best"]["score"] == after["score"] == 1.0
    assert "nothing_left_to_fix" == better["stop_reason"]
    assert ".agent_configs/baseline/instructions.md" == better["applied_to"]
    assert better["optimization_id"] == listed["optimizations"][0]["optimization_id"]
    assert (shown["id"], "baseline") == (better["optimization_id"], applied["candidate"])
    engine = None if place == "server" else "rules, not a language model"
    assert [engine] * 4 == [one["engine"] for one in (made, before, better, after)]
    texts = {path.read_text() for path in (shell.folder / ".agent_configs/archive").iterdir()}
    assert 2 == len(texts)
    assert shell.read(".agent_configs/baseline/instructions.md") in texts


def test_the_example_datasets_of_the_specification_run(shell, world):
    for path in EXAMPLES.glob("*.jsonl"):
        shutil.copy(path, shell.folder)
    shell.write("eval.yaml", SPECIFIED)
    shell.write(".agent_configs/baseline/instructions.md", "Be kind.\n")

    runs = {
        path.name: shell("eval", "run", "--json", "--dataset", path.name, **connect(world))
        for path in EXAMPLES.glob("*.jsonl")
    }
    own = shell("optimize", "--config", "eval.yaml", "--json", **connect(world))

    assert {1} == {result.code for result in runs.values()}
    totals = {name: result.json["tasks"]["total"] for name, result in runs.items()}
    assert (3, 2) == (totals["customer_support.jsonl"], totals["coding_assistant.jsonl"])
    assert {0} == {result.json["tasks"]["errored"] for result in runs.values()}
    assert 1.0 == own.json["best"]["score"], own.stderr
    assert {"gpt-4.1-mini", "gpt-5.1"} == {call.model for call in world.calls}
    assert ["gpt-5.1"] == [call.model for call in world.calls if call.schema_name == "instructions"]


SPECIFIED = """\
# eval.yaml
agent:
  name: my-agent

dataset_file: ./customer_support.jsonl

evaluators:
  - builtin.task_adherence

options:
  eval_model: gpt-4.1-mini
  optimization_model: gpt-5.1
  max_iterations: 10
"""


def test_the_demo_improves_offline(shell):
    done = shell("demo", "shop")
    again = shell("demo", "shop", "--json")
    quiet = shell("demo", "another", "--json")

    assert (0, 2, 0) == (done.code, again.code, quiet.code), done.stderr
    assert done.stdout.count("rules, not a language model") >= 3
    files = [line.strip() for line in done.stdout.split("Open:\n")[1].splitlines()]
    assert 3 == len([name for name in files if (shell.folder / name).is_file()])
    optimization = quiet.json["optimization"]
    assert optimization["baseline"]["score"] < optimization["best"]["score"]
    assert quiet.json["run"]["score"] == optimization["best"]["score"]
    assert json.loads(shell.read(f"another/{quiet.json['run']['run_dir']}/summary.json"))
