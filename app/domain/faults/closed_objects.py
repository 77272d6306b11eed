"""Faults of keys in objects that accept no other keys than their own, for pydantic's validators.

A fault carries the key and the known names. Its reader looks up the nearest name, because a body
can have thousands of unknown keys.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from app.domain.faults.near_names import name_like
from app.domain.faults.suggestions import MAX_COMPARED, NOWHERE, SIMILARITY, KeyHints
from app.domain.faults.unknown_keys import MAX_LISTED, UNKNOWN_PARAMETER

_KEY: Final = "key"
_KNOWN: Final = "known"


def unknown_key(
    key: str, known: Iterable[str], holder: tuple[str | int, ...] = ()
) -> ValidationError:
    """Returns the fault of an unknown key, for validators. `holder` is the path of its object. The
    nearest name is looked up lazily (`cure_of`), because a body can have thousands of faults.
    """
    return _unknown([key], tuple(known), holder)


def known_keys(sent: Any, known: Collection[str]) -> Any:
    """Returns an object without its nulls, which count as absent; for validators of closed objects.
    Raises `ValidationError` for unknown keys.
    """
    if not isinstance(sent, dict):
        return sent
    present = {key: value for key, value in sent.items() if value is not None}
    unknown = [str(key) for key in present if key not in known]
    if unknown:
        raise _unknown(unknown[:MAX_LISTED], tuple(known), ())
    return present


def _unknown(
    keys: Iterable[str], known: tuple[str, ...], holder: tuple[str | int, ...]
) -> ValidationError:
    faults: list[InitErrorDetails] = []
    for key in keys:
        context = {_KEY: key[:MAX_COMPARED], _KNOWN: known}
        fault = PydanticCustomError(UNKNOWN_PARAMETER, "nothing reads it here; remove it", context)
        faults.append({"type": fault, "loc": (*holder, key), "input": None})
    return ValidationError.from_exception_data("Body", faults)


def cure_of(context: Mapping[str, Any], elsewhere: KeyHints = NOWHERE) -> str:
    """Returns the correction for a key, from the context of its fault: the parameter with its exact
    name in another object, else the nearest name in its own object.
    """
    key = context[_KEY].casefold()
    near = elsewhere.of(key) or name_like(key, context[_KNOWN], SIMILARITY)
    return f"Did you mean '{near}'?" if near else "Remove it."
