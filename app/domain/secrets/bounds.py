"""Limits of a customer's definition: the number of sealed values, and the length of keys.

Each sealed value costs time whenever the definition is read. Very long keys would fill pointers,
errors and warnings. Stored definitions are not checked.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from app.domain.documents.pointers import Path, parameter
from app.domain.documents.walk import WalkedField
from app.domain.errors import InvalidRequest
from app.domain.secrets.names import MAX_NAME
from app.domain.secrets.redaction import found_in

MAX_SEALED: Final = 1000
"""Largest number of sealed values of one definition: seven for each of the tools that a job may
have.
"""
MAX_KEY: Final = MAX_NAME


def bound_faults(walked: Iterable[tuple[str, WalkedField]]) -> Iterator[InvalidRequest]:
    """Yields an error for each field with a key that is too long, and one for too many sealed
    values.

    `walked`: the fields of the definitions that are stored together, each with the parameter of its
    definition. Counting stops at the limit.
    """
    sealed = 0
    for root, field in walked:
        if (fault := _long_key(root, field)) is not None:
            yield fault
        elif sealed <= MAX_SEALED:
            sealed += sum(1 for _ in found_in(field))
            if sealed > MAX_SEALED:
                yield _too_many(root)


def _long_key(root: str, field: WalkedField) -> InvalidRequest | None:
    holder = next((at for at, key in _keys(field) if len(key) > MAX_KEY), None)
    if holder is None:
        return None
    param = parameter(root, holder)
    where = f" of '{param}'" if param else ""
    return InvalidRequest(
        f"A key{where} is longer than {MAX_KEY} characters.",
        param=param or None,
        code="invalid_value",
    )


def _keys(field: WalkedField) -> Iterator[tuple[Path, str]]:
    """Yields the keys above and below a field, each with the path of its object."""
    for depth, part in enumerate(field.path):
        if isinstance(part, str):
            yield field.path[:depth], part
    waiting: list[tuple[Path, Any]] = [(field.path, field.value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            for key, below in value.items():
                yield path, key
                if isinstance(below, dict | list | tuple):
                    waiting.append(((*path, key), below))
        elif isinstance(value, list | tuple):
            waiting += [
                ((*path, index), below)
                for index, below in enumerate(value)
                if isinstance(below, dict | list | tuple)
            ]


def _too_many(root: str) -> InvalidRequest:
    where = f"'{root}'" if root else "The definition"
    return InvalidRequest(
        f"{where} contains more than {MAX_SEALED} values that are sealed: headers, values under "
        "names such as 'api_key', parts of URLs. Send fewer.",
        param=root or None,
        code="invalid_value",
    )
