"""A sign that work should end: put up by a limit or by Ctrl-C, heeded between two steps."""

# What calls in flight are given to end, once it is up.
GRACE_S = 10.0


class StopSign:
    """Holds why to stop, once somebody has said so; the first reason stays."""

    def __init__(self) -> None:
        self.reason: str | None = None

    def put_up(self, reason: str) -> None:
        """Ask for the end."""
        self.reason = self.reason or reason

    @property
    def is_up(self) -> bool:
        return self.reason is not None
