"""Write the versioned form of a document that states no version, in its place."""

from datetime import datetime
from pathlib import Path

from azd_eval.errors import FilesRefused
from azd_eval.files import back_up, write_atomically
from azd_eval.formats.document_shapes import read_shape
from azd_eval.formats.documents import dump_document
from azd_eval.formats.json_files import read_json


def upgrade_document(path: Path) -> Path | None:
    """Upgrade a document and give the path of its backup; None when it states its version.

    The backup is `<name>.bak.<YYYYMMDDHHMMSS>` beside it. This is the only thing that ever rewrites
    an input: call it only when the user wants it. Raises `FilesRefused` for what is no document.
    """
    file = read_json(path, "evaluation document")
    shape, faults = read_shape(file.tree)
    if shape is None:
        raise FilesRefused(file.place(faults, [None] * len(faults)))
    if not shape.is_legacy:
        return None
    stamp = datetime.now().astimezone().strftime("%Y%m%d%H%M%S")
    backup = back_up(path, stamp)
    write_atomically(path, dump_document(shape.root))
    return backup
