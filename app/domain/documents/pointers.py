"""JSON pointers (RFC 6901) and parameter names for values in a JSON document. Pure."""

from typing import Any, Final

Path = tuple[str | int, ...]
_SHOWN_KEY: Final = 80
_SHOWN: Final = 400


def pointer(path: Path) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def parameter(root: str, path: Path) -> str:
    """Returns the dotted form that errors name: `method.reinforcement.tools[0].server_url`.

    Long keys are cut, and so is the middle of a long path.
    """
    text = root
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part[:_SHOWN_KEY]}" if text else part[:_SHOWN_KEY]
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}…{text[-half:]}"


def replace_at(document: Any, at: str, value: Any) -> None:
    """Replaces the value at a pointer. Raises `KeyError` when the document has no such field."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in at.split("/")[1:]]
    holder = document
    try:
        for part in parts[:-1]:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        last = int(parts[-1]) if isinstance(holder, list) else parts[-1]
        holder[last]
        holder[last] = value
    except (IndexError, TypeError, ValueError) as error:
        raise KeyError(at) from error
