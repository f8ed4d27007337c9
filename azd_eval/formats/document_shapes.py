"""The shapes of an evaluation document, brought into the versioned one."""

from dataclasses import dataclass
from typing import Any

from azd_eval.formats.document_versions import find_lowest_version
from azd_eval.formats.faults import Fault, Loc, name_kind

_SHAPE = 'a document is `{"schemaVersion": "1.6.0", "items": [{"prompt": "..."}]}`'
_ITEM = ("prompt", "turns", "query")
PARALLEL = ("prompts", "expected_responses")


@dataclass(frozen=True, slots=True)
class Shape:
    """A document in its versioned form, and where its items stand in the file.

    `is_legacy`: the file states no version; the one here is the lowest that has what it uses.
    """

    root: dict[str, Any]
    items: Loc
    is_legacy: bool

    @property
    def rows(self) -> list[Any]:
        """The items, none where the document holds something else in their place."""
        items = self.root.get("items")
        return items if isinstance(items, list) else []

    def find_index(self, loc: Loc) -> int | None:
        """Give the index of the item that a path leads into."""
        depth = len(self.items)
        index = loc[depth] if len(loc) > depth and loc[:depth] == self.items else None
        return index if isinstance(index, int) else None


def read_shape(tree: object) -> tuple[Shape | None, list[Fault]]:
    """Tell the shape of a document; None with the faults of what has none."""
    if isinstance(tree, list):
        return _add_version({"items": tree}, ()), []
    if not isinstance(tree, dict):
        return None, [Fault((), f"expected an evaluation document, got {name_kind(tree)}", _SHAPE)]
    if "items" in tree:
        is_legacy = "schemaVersion" not in tree
        return _add_version(tree, ("items",)) if is_legacy else Shape(tree, ("items",), False), []
    if "prompts" in tree:
        faults = _find_parallel_faults(tree)
        return None if faults else _add_version(_zip_lists(tree), ("prompts",)), faults
    if any(key in tree for key in _ITEM):
        hint = 'put it into a document: `{"schemaVersion": "1.6.0", "items": [...]}`'
        return None, [Fault((), "this is a single item, not a document", hint)]
    return None, [Fault(("items",), "missing `items`", _SHAPE)]


def _add_version(root: dict[str, Any], items: Loc) -> Shape:
    version = find_lowest_version(root)
    return Shape({"schemaVersion": version, **root}, items, is_legacy=True)


def _find_parallel_faults(tree: dict[str, Any]) -> list[Fault]:
    faults = []
    for key in PARALLEL:
        listed = tree.get(key, [])
        if not isinstance(listed, list):
            faults.append(Fault((key,), f"expected a list, got {name_kind(listed)}"))
            continue
        faults += [
            Fault((key, index), f"expected text, got {name_kind(each)}")
            for index, each in enumerate(listed)
            if not isinstance(each, str)
        ]
    if faults or "expected_responses" not in tree:
        return faults
    asked, expected = (len(tree[key]) for key in PARALLEL)
    if asked == expected:
        return []
    message = f"{expected} expected responses for {asked} prompts"
    return [Fault(("expected_responses",), message, "give each prompt its own, in the same order")]


def _zip_lists(tree: dict[str, Any]) -> dict[str, Any]:
    prompts = tree["prompts"]
    expected = tree.get("expected_responses", [None] * len(prompts))
    items = [
        {"prompt": prompt} | ({} if answer is None else {"expected_response": answer})
        for prompt, answer in zip(prompts, expected, strict=True)
    ]
    return {key: tree[key] for key in tree if key not in PARALLEL} | {"items": items}
