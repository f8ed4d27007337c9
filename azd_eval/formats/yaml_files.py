"""The only home of YAML: read it without guessing types, write it so that people can edit it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from azd_eval.errors import FilesRefused, Problem
from azd_eval.files import read_text
from azd_eval.formats.faults import (
    HALF_PAIR,
    Fault,
    Loc,
    cut_faults,
    is_encodable,
    name_field,
    show,
)
from azd_eval.formats.yaml_scalars import Plain, resolve

_LONGEST = 500_000
_MOST_VALUES = 20_000
_DEEPEST = 100
_TOO_MANY = f"more than {_MOST_VALUES} keys and values, those behind aliases included"
_WIDTH = 100
_TEXT = "tag:yaml.org,2002:str"
_TAGS = (_TEXT, "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")
_OLD_FLAGS = frozenset("y Y n N yes Yes YES no No NO on On ON off Off OFF".split())

# YAML 1.2 ends no line at these, PyYAML does: signs of a private area stand in for them.
_NO_BREAKS = {0x85: 0x10F085, 0x2028: 0x10F028, 0x2029: 0x10F029}
_BREAKS = {private: public for public, private in _NO_BREAKS.items()}

# What PyYAML says, what a person needs to hear, and the cure.
_REASONS = (
    (r"'\t'", "a tab stands where only spaces may", None),
    ("another document", "several documents in one file", "keep one; remove the `---` between"),
    ("mapping values are not allowed", "a `:` where none can be", "put text with `: ` in quotes"),
    ("undefined alias", "a value begins with `*`", "put it in quotes"),
    ("cannot start any token", "a value begins with a sign of YAML's own", "put it in quotes"),
    ("could not find expected ':'", "expected `key: value`", None),
    ("expected <block end>", "the indentation does not fit the lines above", None),
    ("unexpected end of stream", "a quotation mark is not closed", None),
    ("<stream end>", "a bracket is not closed", None),
)

_SAID_AT_END = ("could not find expected ':'", "end of stream", "<stream end>")

Mark = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A document as maps, lists and text, and where its parts stand.

    A scalar is text, `Plain` where it was written without quotes. `tree` is None for a file that
    holds nothing. `places` gives, by path, where a value begins and where its key does.
    """

    path: str
    tree: Any
    places: Mapping[Loc, tuple[Mark, Mark]]

    def place(self, fault: Fault, item: str | None = None) -> Problem:
        """Give a fault its line and column; a missing key stands where its map begins."""
        loc = fault.loc
        while loc and loc not in self.places:
            loc = loc[:-1]
        value, key = self.places.get(loc, ((1, 1), (1, 1)))
        return Problem(
            fault.message,
            self.path,
            *(key if fault.at_key else value),
            item,
            name_field(fault.loc),
            fault.hint,
            fault.severity,
        )


def read_yaml(path: Path, what: str) -> YamlFile:
    """Read a file; raises `InputError` when there is none and `FilesRefused` with its faults."""
    return parse_yaml(read_text(path, what), str(path))


def parse_yaml(text: str, path: str) -> YamlFile:
    """Read a text; raises `FilesRefused` with its faults."""
    builder = _Builder()
    try:
        tree = builder.read(text)
    except yaml.MarkedYAMLError as error:
        raise FilesRefused([_word_syntax(error, text, path)]) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise FilesRefused([Problem("a character that YAML forbids", path, *place)]) from error
    except RecursionError as error:
        raise FilesRefused([Problem("nested too deeply", path)]) from error
    except (ValueError, OverflowError) as error:
        raise FilesRefused([Problem(f"invalid YAML: {error}", path)]) from error
    file = YamlFile(path, tree, builder.places)
    if builder.faults:
        raise FilesRefused([file.place(fault) for fault in cut_faults(builder.faults)])
    return file


def dump_yaml(value: Any) -> str:
    """Write maps, lists, text, numbers and flags in block style.

    Text of several lines is a literal block where YAML allows it; text that some reader could take
    for something else is quoted.
    """
    return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)


class _Loader(yaml.BaseLoader):
    """Gives up while reading what is too large: a node takes a thousand times its text."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._values = self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._values += 1
        self._depth += 1
        if self._values > _MOST_VALUES:
            raise ValueError(_TOO_MANY)
        if self._depth > _DEEPEST:
            raise RecursionError
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Builder:
    """Turns nodes into a plain tree; an alias is built again where it stands, within bounds."""

    def __init__(self) -> None:
        self.places: dict[Loc, tuple[Mark, Mark]] = {}
        self.faults: list[Fault] = []
        self._open: set[int] = set()

    def read(self, text: str) -> Any:
        if len(text) > _LONGEST:
            raise ValueError(f"longer than {_LONGEST} characters")
        root = yaml.compose(text.translate(_NO_BREAKS), Loader=_Loader)
        return None if root is None else self._build(root, ())

    def _build(self, node: yaml.Node, loc: Loc, key: Mark | None = None) -> Any:
        mark = _mark(node)
        self.places[loc] = (mark, key or mark)
        if len(self.places) > _MOST_VALUES:
            raise ValueError(_TOO_MANY)
        if id(node) in self._open:
            return self._refuse(loc, "an alias stands inside the value that it names")
        if node.tag not in _TAGS:
            return self._refuse(loc, f"tag {show(node.tag)} is not supported", "remove it")
        if isinstance(node, yaml.ScalarNode):
            return self._build_scalar(node, loc)
        self._open.add(id(node))
        is_map = isinstance(node, yaml.MappingNode)
        built = self._build_map(node, loc) if is_map else self._build_list(node, loc)
        self._open.remove(id(node))
        return built

    def _build_scalar(self, node: yaml.ScalarNode, loc: Loc) -> str:
        text = node.value.translate(_BREAKS)
        if not is_encodable(text):
            self._refuse(loc, HALF_PAIR)
        return text if node.style else Plain(text)

    def _build_list(self, node: yaml.Node, loc: Loc) -> list[Any]:
        return [self._build(each, (*loc, index)) for index, each in enumerate(node.value)]

    def _build_map(self, node: yaml.Node, loc: Loc) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key_node, value_node in node.value:
            mark, key = _mark(key_node), key_node.value
            key = key.translate(_BREAKS) if isinstance(key, str) else None
            if key is None or not is_encodable(key):
                self.places[(*loc, "?")] = (mark, mark)
                self._refuse((*loc, "?"), "a key must be text")
            elif key in built:
                first = self.places[(*loc, key)][1][0]
                self.places[(*loc, key)] = (mark, mark)
                message = f"key {show(key)} stands on line {first} and on line {mark[0]}"
                hint = "keep one; the first would be lost without a word"
                self._refuse((*loc, key), message, hint)
            else:
                built[key] = self._build(value_node, (*loc, key), mark)
        return self._merge(built, loc) if "<<" in built else built

    def _merge(self, built: dict[str, Any], loc: Loc) -> dict[str, Any]:
        value = built.pop("<<")
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                self._refuse((*loc, "<<"), "expected a map to merge")
                continue
            for key in each:
                if key not in built:
                    built[key] = each[key]
                    self.places[(*loc, key)] = self.places[(*loc, "<<")]
        return built

    def _refuse(self, loc: Loc, message: str, hint: str | None = None) -> None:
        self.faults.append(Fault(loc, message, hint))


class _Dumper(yaml.SafeDumper):
    """Indents lists under their key and quotes what some reader could misread."""

    def increase_indent(self, flow: Any = None, indentless: Any = None) -> None:
        super().increase_indent(bool(flow), indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    # A block that keeps several line breaks at its end would need a mark of the document's end.
    if text.translate(_NO_BREAKS) != text or text.endswith("\n\n") or text == "\n":
        style = '"'
    elif text in _OLD_FLAGS or resolve(Plain(text)) != text:
        style = "'"
    return dumper.represent_scalar(_TEXT, text, style)


_Dumper.add_representer(str, _represent_text)


def _mark(node: yaml.Node) -> Mark:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _word_syntax(error: yaml.MarkedYAMLError, text: str, path: str) -> Problem:
    said = str(error.problem)
    begins_it = any(part in said for part in _SAID_AT_END)
    mark = error.context_mark if begins_it and error.context_mark else error.problem_mark
    if mark is None:
        return Problem(f"invalid YAML: {said}", path)
    reason, hint = next((words for part, *words in _REASONS if part in said), (said, None))
    if "'\\t'" in said and not text[mark.index - mark.column : mark.index].strip():
        reason = "tab used for indentation, use spaces"
    return Problem(f"invalid YAML: {reason}", path, mark.line + 1, mark.column + 1, hint=hint)
