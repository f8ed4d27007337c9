"""A small project whose models are all on one server, run in this process."""

import asyncio
import json
import re
from dataclasses import dataclass

from azd_eval.domain.summary import RunSummary
from azd_eval.storage.run_folder import read_latest_trials
from azd_eval.wiring.evaluation import (
    Evaluation,
    find_unfinished,
    open_evaluation,
    resume_evaluation,
)
from azd_eval.wiring.overrides import Overrides
from azd_eval.wiring.setup import set_up
from tests.cli.shell import Shell
from tests.fake_openai import FakeOpenAI, FakeRequest, Fault, Status

NAMES = tuple(f"task_{number}" for number in range(6))
MODEL = (
    "{name: my-agent, model: a, instructions_file: instructions.md, parameters: {temperature: 1}}"
)
PYTHON = "{name: my-agent, kind: python, callable: 'agent.py:respond'}"
AGENT = """\
def respond(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    return f"About {prompt}: 30 days."
"""

NO_MODEL = Status(404, {"error": {"code": "model_not_found", "message": "no such model"}})
REFUSED = Status(400, {"error": {"message": "not today"}})


def write_tasks(names=NAMES, question="What of {}?"):
    rows = (
        {
            "name": name,
            "prompt": question.format(name),
            "criteria": [{"name": "polite", "instruction": "Is polite"}],
        }
        for name in names
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


@dataclass
class World:
    """A server that finds everything good, but fails in one role for tasks of some names."""

    role: str = "agent"
    fault: Fault = REFUSED
    names: tuple[str, ...] = ()

    def __call__(self, request: FakeRequest):
        role = "agent" if request.schema_name is None else "judge"
        if role == self.role and any(f"What of {name}?" in request.user for name in self.names):
            return self.fault
        verdict = {"reason": "as it should be", "score": 1}
        numbers = re.findall(r"^(\d+)\. ", request.user, re.MULTILINE)
        match request.schema_name:
            case None:
                return "Good day."
            case "verdicts":
                return {"verdicts": [{"number": int(number), **verdict} for number in numbers]}
        return verdict


@dataclass
class Shop:
    """A project whose models are all on one server, run in this process."""

    shell: Shell
    server: FakeOpenAI

    def set_up(self, **overrides):
        return set_up(self.shell.folder / "eval.yaml", Overrides(**overrides))

    def start(self, **overrides):
        return run(open_evaluation(self.set_up(**overrides)))

    def resume(self, **overrides):
        setup = self.set_up(**overrides)
        return run(resume_evaluation(setup, find_unfinished(setup)))

    def change(self, file, before, after):
        text = self.shell.read(file)
        assert before in text
        self.shell.write(file, text.replace(before, after))

    def replies(self, summary):
        (folder,) = self.shell.folder.glob(f".azure/.foundry/runs/{summary.run_id}")
        judging = json.loads((folder / "trials.jsonl").read_bytes().splitlines()[-1])["judging"]
        trials = read_latest_trials(folder, judging)
        return {trial.task: (trial.status, trial.turns[0].reply) for trial in trials}


def run(evaluation: Evaluation) -> RunSummary:
    return asyncio.run(evaluation.run(lambda trial: None))
