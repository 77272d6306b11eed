"""Faults of messages, tools and parameters: the hosted API's sentence, and a clause for a row."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from app.kit.errors import InvalidRequest
from app.kit.fields import Json, Path, parameter

SHOWN: Final = 64
Place = Path | str
"""A path, or a parameter that is written already."""


class ShapeFault(InvalidRequest):
    """A fault in the hosted API's sentence; `reason` is its clause for a line and a pointer."""

    def __init__(
        self,
        place: Place,
        reason: str,
        *,
        code: str = "invalid_value",
        sentence: str | None = None,
    ) -> None:
        self.path: Path = (place,) if isinstance(place, str) else place
        self.reason = reason
        param = shown(place)
        super().__init__(sentence or f"Invalid '{param}': {reason}.", param=param, code=code)


def shown(place: Place) -> str:
    return place if isinstance(place, str) else parameter("", place)


_KINDS: Final[Mapping[type, str]] = {
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    str: "a string",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def invalid_type(place: Place, expected: str, value: Any) -> ShapeFault:
    """Returns the error for a wrong type; `expected` has its article: `a string`."""
    found = _KINDS.get(type(value), "something else")
    reason = f"expected {expected}, but got {'null' if value is None else f'{found} instead'}"
    sentence = f"Invalid type for '{shown(place)}': {reason}."
    return ShapeFault(place, reason, code="invalid_type", sentence=sentence)


def missing(place: Place) -> ShapeFault:
    code, sentence = "missing_required_parameter", f"Missing required parameter: '{shown(place)}'."
    return ShapeFault(place, "it is missing", code=code, sentence=sentence)


def unknown_parameter(place: Place) -> ShapeFault:
    sentence = f"Unknown parameter: '{shown(place)}'. Remove it."
    return ShapeFault(place, "nothing reads it", code="unknown_parameter", sentence=sentence)


def invalid_value(place: Place, reason: str) -> ShapeFault:
    """Returns the error for a wrong value; `reason` is a clause without a full stop."""
    return ShapeFault(place, reason)


def invalid_schema(place: Path, within: Path, reason: str, *, name: str) -> ShapeFault:
    """Returns the error for the schema of a function, at the path `within` the schema."""
    return ShapeFault(
        (*place, *within),
        f"invalid schema of a function: {reason}",
        code="invalid_function_parameters",
        sentence=f"Invalid schema for function '{name}': {reason}.",
    )


def not_one_of(place: Place, value: Any, supported: Iterable[str]) -> ShapeFault:
    listed = _listed(supported)
    sentence = f"Invalid value: {shown_value(value)}. Supported values are: {listed}."
    return ShapeFault(place, f"it must be one of {listed}", sentence=sentence)


def unsupported_value(place: Place, value: Any, supported: Iterable[Any]) -> ShapeFault:
    reason = f"does not support {shown_value(value)} here. Supported values are: "
    reason += _listed(supported)
    sentence = f"Unsupported value: '{shown(place)}' {reason}."
    return ShapeFault(place, f"it {reason}", code="unsupported_value", sentence=sentence)


def unsupported_parameter(place: Place, cure: str) -> ShapeFault:
    """Refuses a parameter that only the hosted API knows. `cure` is a sentence."""
    sentence = f"Unsupported parameter: '{shown(place)}' is not supported here. {cure}"
    reason = f"it is not supported here. {cure.removesuffix('.')}"
    return ShapeFault(place, reason, code="unsupported_parameter", sentence=sentence)


def too_low(param: str, kind: str, bound: str, value: float) -> InvalidRequest:
    """`kind` is `integer` or `decimal`; `bound` is `>= 0` or `> 0`."""
    return InvalidRequest(
        f"Invalid '{param}': {kind} below minimum value. Expected a value {bound}, but got "
        f"{shown_value(value)} instead.",
        param=param,
        code=f"{kind}_below_min_value",
    )


def too_high(param: str, kind: str, bound: str, value: float) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid '{param}': {kind} above maximum value. Expected a value {bound}, but got "
        f"{shown_value(value)} instead.",
        param=param,
        code=f"{kind}_above_max_value",
    )


def shown_value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value[:SHOWN]}'"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 200:
        return "a very large number"  # Python refuses to print integers of 5,000 digits
    return json.dumps(value)[:SHOWN]


def _listed(values: Iterable[Any]) -> str:
    quoted = [shown_value(value) for value in values]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def too_long(values: list[Any], place: Place, most: int) -> ShapeFault | None:
    if len(values) <= most:
        return None
    return ShapeFault(
        place,
        f"it has {len(values)} entries, and may have at most {most}",
        code="array_above_max_length",
        sentence=f"Invalid '{shown(place)}': array too long. Expected an array with maximum "
        f"length {most}, but got an array with length {len(values)} instead.",
    )


def text_faults(holder: Json, names: Iterable[str], path: Path) -> Iterator[ShapeFault]:
    for name in names:
        if holder.get(name) is not None and not isinstance(holder[name], str):
            yield invalid_type((*path, name), "a string", holder[name])


def required_text_faults(holder: Json, names: Iterable[str], path: Path) -> Iterator[ShapeFault]:
    for name in names:
        if holder.get(name) is None:
            yield missing((*path, name))
    yield from text_faults(holder, names, path)


def unknown_in(holder: Json, known: Iterable[str], path: Path) -> Iterator[Path]:
    for key, value in holder.items():
        if key not in known and value is not None:
            yield (*path, key[:SHOWN])


def refuse_unknown(holder: Json, known: Iterable[str], param: str) -> None:
    for path in unknown_in(holder, known, ()):
        raise unknown_parameter(parameter(param, path))
