"""`dataset convert`: write a dataset in another format."""

from azd_eval.cli.console import Console
from azd_eval.cli.flags import ConvertFlags
from azd_eval.errors import FilesRefused
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.files import write_new
from azd_eval.formats.datasets import choose_writer, open_dataset
from azd_eval.formats.task_rules import TaskRules


def convert_dataset(flags: ConvertFlags) -> int:
    """Write the new file whole or not at all; a file that exists is not touched."""
    console = Console(flags)
    write = choose_writer(flags.source, flags.target)
    source = open_dataset(flags.source, TaskRules(find_pattern_fault=pattern_fault))
    inspection = source.inspect()
    if not inspection.is_good:
        raise FilesRefused(inspection.problems)
    write_new(flags.target, write(source))
    console.notes(map(str, inspection.problems))
    console.say(f"{flags.target}: {inspection.tasks} task{'s' * (inspection.tasks != 1)}")
    console.show_json({"path": str(flags.target), "tasks": inspection.tasks})
    return 0
