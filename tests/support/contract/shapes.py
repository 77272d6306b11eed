"""Checks that an object which the client read is complete.

The client builds its models without validation: a field that the answer lacks is silently
missing, and a wrong type passes.
"""

from typing import Any

from pydantic import BaseModel, ValidationError


def faults(found: Any) -> list[str]:
    """`field.of.field: what` of each required field that is absent and each value of a wrong type.

    Checks the rows of a page, too.
    """
    if not isinstance(found, BaseModel):
        return []
    every = {*_absent(found, ""), *_mistyped(found)}
    return sorted({path.removeprefix("data[].") for path in every})


def _absent(value: Any, path: str) -> list[str]:
    if isinstance(value, BaseModel):
        here = [
            f"{path}{name}: absent"
            for name, field in type(value).model_fields.items()
            if field.is_required() and name not in value.model_fields_set
        ]
        inner = {name: getattr(value, name) for name in value.model_fields_set}
        return here + [
            absent for name, part in inner.items() for absent in _absent(part, f"{path}{name}.")
        ]
    if isinstance(value, dict):
        return [absent for key, part in value.items() for absent in _absent(part, f"{path}{key}.")]
    if isinstance(value, list):
        return [
            absent for part in value for absent in _absent(part, f"{path.removesuffix('.')}[].")
        ]
    return []


def _mistyped(value: BaseModel) -> list[str]:
    sent = value.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    try:
        type(value).model_validate(sent)
    except ValidationError as error:
        return [f"{_dotted(fault['loc'])}: {fault['msg']}" for fault in error.errors()]
    return []


def _dotted(path: tuple[int | str, ...]) -> str:
    return "".join("[]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
