"""Where things lie in a project folder (DESIGN: "Layout")."""

import os
from dataclasses import dataclass
from pathlib import Path

CONFIG_NAME = "eval.yaml"


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of a project; `project` is the folder of its eval.yaml."""

    project: Path

    @property
    def foundry(self) -> Path:
        return self.project / ".azure" / ".foundry"

    @property
    def datasets(self) -> Path:
        return self.foundry / "datasets"

    @property
    def evaluators(self) -> Path:
        return self.foundry / "evaluators"

    @property
    def generated(self) -> Path:
        return self.foundry

    @property
    def runs(self) -> Path:
        return self.generated / "runs"

    @property
    def optimizations(self) -> Path:
        return self.foundry / "optimizations"

    @property
    def cache(self) -> Path:
        return self.generated / "cache" / "replies.sqlite"

    @property
    def agent_configs(self) -> Path:
        return self.project / ".agent_configs"

    @property
    def baseline_instructions(self) -> Path:
        return self.agent_configs / "baseline" / "instructions.md"

    def relate(self, path: Path) -> str:
        """Write a path relative to the project folder, wherever it lies: for files that move."""
        return Path(os.path.relpath(path.resolve(), self.project.resolve())).as_posix()

    @staticmethod
    def show(path: Path) -> str:
        """Write a path as seen from the working folder, where it lies inside."""
        try:
            return path.resolve().relative_to(Path.cwd().resolve()).as_posix()
        except ValueError:
            return str(path)


class DocumentLayout(Layout):
    """The folders of a project of evaluation documents: all that is generated is in `.evals`."""

    @property
    def generated(self) -> Path:
        return self.project / ".evals"

    @property
    def runs(self) -> Path:
        return self.generated / "results"
