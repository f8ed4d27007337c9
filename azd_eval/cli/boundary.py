"""The one place where errors become lines on stderr and exit codes."""

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import TextIO

import typer

from azd_eval.cli.plain_text import show_controls
from azd_eval.errors import AzdEvalError, FilesRefused, InputError
from azd_eval.wiring.environment import read_process_environment

BUG = 70
INTERRUPTED = 130
# What a shell says of a program that a closed pipe ended.
CLOSED_PIPE = 141

_STDOUT, _STDERR = 1, 2


def keep_stdout_for_results() -> None:
    """Give this program a stdout of its own; who writes to that of the process meets stderr.

    That is the user's agent, what it calls in other languages, and its children.
    """
    if sys.stdout is None or sys.stderr is None:
        return
    sys.stdout.flush()
    own = open(  # noqa: SIM115 - for as long as the process lives
        os.dup(_STDOUT), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors
    )
    os.dup2(_STDERR, _STDOUT)
    sys.stdout = sys.__stdout__ = own  # type: ignore[misc]


def run_guarded(
    app: typer.Typer, arguments: Sequence[str] | None, program: str = "azd-eval"
) -> int:
    """Run the app, which is called by the name of the program; return the exit code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        # Whoever starts us may have closed some.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character gets `?`, not a traceback after paid work.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    code = _run(app, arguments, program)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would complain of it once more at exit.
        _silence(sys.stdout)
        return code if isinstance(error, BrokenPipeError) else code or _explain_system(error)
    return code


def _run(app: typer.Typer, arguments: Sequence[str] | None, program: str) -> int:
    wants_traceback = _is_verbose(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(arguments, prog_name=program, standalone_mode=False)
    except typer.TyperException as error:
        return _explain_usage(error, program)
    except (typer.Abort, EOFError, KeyboardInterrupt):
        return _explain_interrupt()
    except (BrokenPipeError, SystemExit):
        # Typer makes a SystemExit of a closed pipe that a command meets.
        _silence(sys.stdout)
        return CLOSED_PIPE
    except AzdEvalError as error:
        return _explain(error, wants_traceback=wants_traceback)
    except OSError as error:
        if wants_traceback:
            _show_traceback()
        return _explain_system(error)
    except Exception:
        return _report_bug()
    if code == INTERRUPTED:
        # And a code of Ctrl-C at a question.
        return _explain_interrupt()
    return code if isinstance(code, int) else 0


def _explain_interrupt() -> int:
    sys.stderr.write("\n")
    _complain("interrupted")
    return INTERRUPTED


def _explain_usage(error: typer.TyperException, program: str) -> int:
    message = error.format_message()
    if message.startswith("Usage:"):
        # A group without a subcommand: the message is its help.
        sys.stderr.write(f"{message}\n")
        return error.exit_code
    context = getattr(error, "ctx", None)
    command = context.command_path if context else program
    _complain(message, f"see `{command} --help`")
    return error.exit_code


def _explain(error: AzdEvalError, *, wants_traceback: bool) -> int:
    if wants_traceback and not isinstance(error, FilesRefused):
        _show_traceback()
    _complain(error.message, error.hint)
    return error.exit_code


def _explain_system(error: OSError) -> int:
    _complain(f"the system refused: {error}", "`--verbose` shows where")
    return InputError.exit_code


def _complain(message: str, hint: str | None = None) -> None:
    lines = [f"error: {line}" for line in message.splitlines() or [""]]
    if hint:
        lines += ["", *(f"hint: {line}" for line in hint.splitlines())]
    sys.stderr.write(show_controls(_redact("\n".join(lines))) + "\n")


def _show_traceback() -> None:
    sys.stderr.write(_redact(traceback.format_exc()))


def _redact(text: str) -> str:
    # What the user's own code raises may tell the keys that it has got from us.
    return read_process_environment().redact(text)


def _report_bug() -> int:
    with tempfile.NamedTemporaryFile(
        "w", prefix="azd-eval-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(_redact(traceback.format_exc()))
    kind, fault, _ = sys.exc_info()
    name = kind.__name__ if kind else "error"
    _complain(f"this is a bug of azd-eval ({name}: {fault})", f"the traceback is in {file.name}")
    return BUG


def _is_verbose(arguments: Sequence[str]) -> bool:
    return "-v" in arguments or "--verbose" in arguments


def _silence(stream: TextIO) -> None:
    # Python flushes stdout at exit and would complain of the closed pipe once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
