"""`optimize [AGENT]` beside `optimize list`: a group whose callback is the command itself."""

from typing import Any

from typer.core import TyperGroup


class DefaultCommandGroup(TyperGroup):
    """A group that takes its own options and argument unless the first word is a subcommand."""

    allow_interspersed_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            super().parse_args(ctx, [])
            ctx._protected_args, ctx.args = args[:1], args[1:]
            return args[1:]
        rest = super().parse_args(ctx, args)
        words = (ctx.params.get("agent_name"), *ctx._protected_args)
        if misplaced := next((word for word in words if word in self.commands), None):
            ctx.fail(f"Put the subcommand {misplaced!r} first.")
        if ctx._protected_args:
            ctx.fail(f"Got unexpected extra argument ({ctx._protected_args[0]})")
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)
        # The usage of a subcommand must not name the argument of the default command.
        return params if ctx.command is self else [one for one in params if one.opts[0][0] == "-"]

    def invoke(self, ctx: Any) -> Any:
        if ctx._protected_args:
            # The callback is the default command, not a preamble of the subcommands.
            self.callback = None
        return super().invoke(ctx)
