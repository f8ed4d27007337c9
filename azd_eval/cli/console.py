"""Everything the user sees; the only module that may import rich or write to the screen.

Results go to the real stdout, all else to stderr. Text from files, agents and models is never
markup.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Any, Self

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from azd_eval.cli.flags import CommonFlags
from azd_eval.cli.plain_text import show_controls

_NARROW = 100
_SECONDS_WITHOUT_TERMINAL = 10.0

Cell = str | Text


def styled(text: str, style: str) -> Text:
    """Give a text a colour; its meaning must also stand in the words."""
    return Text(show_controls(text), style=style)


class Console:
    """The screen, as the common flags want it."""

    def __init__(self, flags: CommonFlags) -> None:
        self.wants_json = flags.json
        self._quiet = flags.quiet
        self._shows_progress = not (flags.quiet or flags.no_progress)
        self._stdout = sys.__stdout__ or sys.stdout
        self._out = _rich_console(self._stdout)
        self._err = _rich_console(sys.stderr)

    def say(self, text: Cell = "") -> None:
        """Print a line of the result; nothing with `--json`."""
        if not self.wants_json:
            self._out.print(_as_text(text), soft_wrap=not _is_screen(self._out))

    def note(self, text: str) -> None:
        """Print a side remark to stderr; nothing with `--quiet`."""
        if not self._quiet:
            self._err.print(_as_text(text), soft_wrap=not _is_screen(self._err))

    def warn(self, text: str) -> None:
        """Print to stderr what changes the meaning of the result, `--quiet` or not."""
        self._err.print(_as_text(f"warning: {text}"), soft_wrap=not _is_screen(self._err))

    def remark(self, text: str) -> None:
        """Print a side remark, led by the word `note`."""
        self.note(f"note: {text}")

    def notes(self, notes: Iterable[str]) -> None:
        """Print remarks, each led by the word `note`."""
        for note in notes:
            self.remark(note)

    def show_json(self, value: Mapping[str, Any]) -> None:
        """Print the result alone, as JSON; nothing without `--json`."""
        if self.wants_json:
            # What the stream cannot hold would be lost; JSON has a way to write it.
            escapes = "utf" not in self._stdout.encoding.casefold()
            self._stdout.write(json.dumps(value, ensure_ascii=escapes, indent=2) + "\n")

    def table(self, titles: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Print an aligned table; columns titled with a leading `>` are right-aligned."""
        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
        for title in titles:
            table.add_column(
                Text(title.lstrip(">")),
                justify="right" if title.startswith(">") else "left",
                overflow="fold",
            )
        for row in rows:
            table.add_row(*map(_as_text, row))
        if not self.wants_json:
            self._out.print(table)

    def progress(self, title: str) -> "ProgressLine":
        """Show how far a piece of work is, on stderr, while the `with` block runs."""
        return ProgressLine(self._err, title, shown=self._shows_progress)

    def ask(self, question: str, default: str = "") -> str:
        """Ask for a line of text; an empty answer is the default."""
        shown = f"{question} [{default}] " if default else f"{question} "
        self._err.print(_as_text(shown), end="")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.strip() or default

    def confirm(self, question: str, *, default: bool) -> bool:
        """Ask a yes/no question until it is answered; one that ends in `:` says how by itself."""
        choice = "" if question.endswith(":") else f" ({'Y/n' if default else 'y/N'})"
        while True:
            answer = self.ask(f"{question}{choice}").casefold()
            if not answer:
                return default
            if answer in ("y", "yes", "n", "no"):
                return answer[0] == "y"


class ProgressLine:
    """A bar on a terminal; elsewhere a line every ten seconds, so that logs stay short."""

    def __init__(self, console: RichConsole, title: str, *, shown: bool) -> None:
        self._console = console
        self._title = title
        self._shown = shown
        self._last_line = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._shown and _is_screen(self._console):
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.completed:.0f}/{task.total:.0f}", markup=False),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=1, visible=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def counter(self, total: int) -> Callable[[object], None]:
        """Give what is to be called with each of `total` things that is done."""
        done = count(1)
        return lambda _: self.update(next(done), total)

    def update(self, done: int, total: int, title: str | None = None) -> None:
        """Say how much is done."""
        self._title = title or self._title
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task, completed=done, total=total, description=self._title, visible=True
            )
        elif self._shown and time.monotonic() - self._last_line >= _SECONDS_WITHOUT_TERMINAL:
            self._last_line = time.monotonic()
            self._console.print(Text(f"{self._title}: {done}/{total}"))


def _as_text(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else styled(cell, "")


def _rich_console(stream: Any) -> RichConsole:
    console = RichConsole(file=stream, highlight=False, markup=False, emoji=False)
    if not _is_screen(console):
        # A pipe has no width: rich would fold at 80 columns and break what others parse.
        console.width = _NARROW
    return console


def _is_screen(console: RichConsole) -> bool:
    """Tell a screen, which folds and redraws, from a log, even one that is to be coloured."""
    return console.file.isatty() and not console.is_dumb_terminal
