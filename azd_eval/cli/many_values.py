"""Options that typer does not know: `--prompts A B C` with many words, `--init` with or without."""

from collections.abc import Collection, Iterator, Sequence


def repeat_options(arguments: Sequence[str], many: Collection[str]) -> list[str]:
    """Write `--prompts A B` as `--prompts=A --prompts=B`, for the options in `many`.

    Their values end at a word that begins with `-`, unless it is a lone `-`; after `--` every word
    is one. An option without any is put last, as it would take the next option for its value.
    """
    bare: list[str] = []
    return [*_repeat(arguments, many, bare), *bare]


def _repeat(arguments: Sequence[str], many: Collection[str], bare: list[str]) -> Iterator[str]:
    option, values, takes_all = None, 0, False
    for word in arguments:
        name, has_value, value = word.partition("=")
        if option and (takes_all or word == "-" or not word.startswith("-")):
            values += 1
            yield f"{option}={word}"
            continue
        if option and word == "--":
            takes_all = True
            continue
        if option and not values:
            bare.append(option)
        option, values = (name, int(bool(has_value))) if name in many else (None, 0)
        if option and has_value:
            yield f"{option}={value}"
        elif not option:
            yield word
    if option and not values:
        bare.append(option)


def fill_bare(arguments: Sequence[str], option: str, default: str) -> list[str]:
    """Give an option that stands without a word its default."""
    return [
        f"{option}={default}" if word == option and following.startswith("-") else word
        for word, following in zip(arguments, (*arguments[1:], "-"), strict=False)
    ]
