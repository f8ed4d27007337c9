"""Find the user's function and learn, before any call, what it wants to be given."""

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from azd_eval.errors import InputError

FIELDS = ("prompt", "history", "instructions", "context")
"""What an agent may ask for, by the name of its parameter; the first is what it must take."""

_FRAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function found good: how the user names it, where it lives, which fields it takes.

    `positional` and `keywords` say which field goes to which parameter.
    """

    name: str
    folder: Path
    call: Callable[..., object]
    positional: tuple[str, ...]
    keywords: Mapping[str, str]

    @property
    def accepts_instructions(self) -> bool:
        """Tell whether other instructions can make any difference to it."""
        return "instructions" in (*self.positional, *self.keywords.values())

    def bind(self, fields: Mapping[str, object]) -> Callable[[], object]:
        """Give the call with the fields that the function takes filled in."""
        arguments = [fields[name] for name in self.positional]
        named = {parameter: fields[name] for parameter, name in self.keywords.items()}
        return lambda: self.call(*arguments, **named)


def load_function(name: str, folder: Path, offered: Sequence[str] = FIELDS) -> PythonFunction:
    """Load `module:function` or `file.py:function`, the file relative to `folder`.

    `offered` are the fields that it may take; the first is what it must take, by whatever name.
    A class is made an object, without arguments. Runs the module's own code: `folder` (and that of
    the file) is first on `sys.path` meanwhile, and last from then on, for imports in functions.
    Raises `InputError` for whatever keeps the function from being called.
    """
    folder = folder.resolve()
    source, _, attribute = name.rpartition(":")
    if not source or not attribute:
        raise InputError(
            f"`callable` {name!r} names no function",
            hint="write `file.py:function` or `module:function`, such as `agent.py:respond`",
        )
    with _importing_from(folder, (folder / source).parent), _blaming_user_code(name, folder):
        if source.endswith(".py"):
            module = _load_file(folder / source)
        else:
            module = _load_module(source, folder)
        function = _make_callable(_find(module, attribute, source), name)
    positional, keywords = _read_signature(function, name, offered)
    return PythonFunction(name, folder, function, positional, keywords)


def describe_exception(error: BaseException, folder: Path) -> str:
    """Say what was raised and where in the user's code: the last frames below `folder`.

    Frames outside stand in only where there are none inside; ours are never shown.
    """
    ours = str(Path(__file__).parent)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((ours, "<frozen importlib"))
    ]
    inside = [frame for frame in frames if _is_inside(Path(frame.filename), folder)]
    places = [
        f"{_relative(frame.filename, folder)}:{frame.lineno} in {frame.name}"
        for frame in reversed((inside or frames)[-_FRAMES_SHOWN:])
    ]
    text = type(error).__name__
    with suppress(Exception):  # the message is made by the user's code, too
        text = f"{text}: {error}".removesuffix(": ")
    return f"{text} ({', '.join(places)})" if places else text


def _is_inside(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) and "site-packages" not in path.parts


def _relative(filename: str, folder: Path) -> str:
    path = Path(filename)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else filename


@contextmanager
def _importing_from(*folders: Path) -> Iterator[None]:
    entries = list(dict.fromkeys(map(str, folders)))
    before = list(sys.path)
    sys.path[:0] = reversed(entries)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = [*before, *(entry for entry in entries if entry not in before)]


@contextmanager
def _blaming_user_code(name: str, folder: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise InputError(
            f"`callable` {name!r} cannot be loaded: {describe_exception(error, folder)}",
            hint="run the file with `python` to see the whole traceback",
        ) from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        near = [entry.name for entry in path.parent.glob("*.py")]
        raise InputError(
            f"file of `callable` not found: {path}", hint=_did_you_mean(path.name, near)
        )
    # A name of our own: the user's `json.py` must neither replace nor be taken for the real one.
    identity = f"azd_eval_agent_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(identity, path)
    if spec is None or spec.loader is None:
        raise InputError(f"file of `callable` is no Python module: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[identity] = module
    spec.loader.exec_module(module)
    return module


def _load_module(source: str, folder: Path) -> ModuleType:
    try:
        module = importlib.import_module(source)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{source}.".startswith(f"{error.name}."):
            raise
        raise InputError(
            f"module of `callable` not found: {source!r}, neither in {folder} nor installed",
            hint="write `file.py:function` for a file beside the configuration",
        ) from error
    _refuse_stranger(module, source, folder)
    return module


def _refuse_stranger(module: ModuleType, source: str, folder: Path) -> None:
    """Refuse an equally named module that was loaded from elsewhere: it is not this agent."""
    place = folder.joinpath(*source.split("."))
    found = Path(module.__file__ or "").resolve()
    own = [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()]
    if own and found not in [path.resolve() for path in own]:
        raise InputError(
            f"module {source!r} of `callable` was loaded before from {found}, not from {folder}",
            hint=f"write `{source.replace('.', '/')}.py:function`",
        )


def _find(module: ModuleType, attribute: str, source: str) -> object:
    found: Any = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            near = [name for name in vars(module) if callable(getattr(module, name))]
            raise InputError(
                f"`{source}` has no function {attribute!r}", hint=_did_you_mean(attribute, near)
            ) from error
    return found


def _make_callable(found: object, name: str) -> Callable[..., object]:
    made = found() if inspect.isclass(found) else found
    if not callable(made):
        raise InputError(
            f"`{name}` is no function but a {type(made).__name__}",
            hint="name a function, or a class whose objects can be called",
        )
    return made


def _did_you_mean(wrong: str, known: Iterable[str]) -> str | None:
    names = sorted(name for name in known if not name.startswith("_"))
    near = difflib.get_close_matches(wrong, names, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there are: {', '.join(names)}" if names else None


def _read_signature(
    function: Callable[..., object], name: str, offered: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Decide which field goes where; raises `InputError` for a parameter that nobody can fill."""
    parameters, wanted = _parameters(function), offered[0]
    keywords = _match_fields(parameters, offered)
    unfilled = [one.name for one in parameters if _is_required(one) and one.name not in keywords]
    positional = []
    for one in parameters:
        if one.kind is one.POSITIONAL_ONLY and one.name in keywords:
            positional.append(keywords.pop(one.name))
        elif one.kind is one.VAR_POSITIONAL and not keywords and not positional:
            positional.append(wanted)
        elif one.kind is one.VAR_KEYWORD:
            taken = (*positional, *keywords.values())
            keywords |= {field: field for field in offered if field not in taken}
    if unfilled or wanted not in (*positional, *keywords.values()):
        fault = f"needs {', '.join(map(repr, unfilled))}" if unfilled else f"takes no {wanted}"
        names = ", ".join(f"`{field}`" for field in offered)
        raise InputError(
            f"`{name}` {fault}",
            hint=f"it may take {names}; give every other parameter a default",
        )
    return tuple(positional), keywords


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions have no signature to read
        return [inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)]


def _match_fields(
    parameters: Iterable[inspect.Parameter], offered: Sequence[str]
) -> dict[str, str]:
    """Map parameters to fields by name; else the first that must be given gets the first field."""
    fields = {one.name: one.name for one in parameters if one.name in offered}
    if offered[0] not in fields:
        for one in parameters:
            if _is_required(one) and one.name not in fields and one.kind is not one.KEYWORD_ONLY:
                return fields | {one.name: offered[0]}
    return fields


def _is_required(one: inspect.Parameter) -> bool:
    variable = one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    return one.default is one.empty and not variable
