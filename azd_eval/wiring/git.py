"""Ask git, where there is one, whether files that belong in the repository would be left out."""

import subprocess
from pathlib import Path

_IGNORED = 0
_SECONDS = 5


def find_ignored(*paths: Path) -> list[str]:
    """Give a note for generated files that git ignores; none without git or a repository."""
    ignored = [path for path in paths if _is_ignored(path)]
    if not ignored:
        return []
    names = " and ".join(path.name for path in ignored)
    return [f"git ignores {names}: they belong in the repository, mend .gitignore"]


def _is_ignored(path: Path) -> bool:
    command = ["git", "check-ignore", "--quiet", path.name]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words and the name of a file of ours
            command, cwd=path.parent, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == _IGNORED
