"""`dataset convert`: write a dataset in another format."""

from azd_eval.cli.console import Console
from azd_eval.cli.flags import ConvertFlags
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.files import write_new
from azd_eval.formats.conversion import convert
from azd_eval.formats.task_rules import TaskRules


def convert_dataset(flags: ConvertFlags) -> int:
    """Write the new file whole or not at all; a file that exists is not touched."""
    console = Console(flags)
    rules = TaskRules(find_pattern_fault=pattern_fault)
    done = convert(flags.source, flags.target, rules, official=flags.strict)
    write_new(flags.target, done.text)
    console.notes(map(str, done.problems))
    console.say(f"{flags.target}: {done.tasks} task{'s' * (done.tasks != 1)}")
    for problem in done.lost:
        console.say(f"left behind: {problem.field} {problem.message}")
    console.show_json(
        {
            "path": str(flags.target),
            "tasks": done.tasks,
            "lost": [{"field": problem.field, "message": problem.message} for problem in done.lost],
        }
    )
    return 0
