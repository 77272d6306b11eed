"""Describes values that fail validation: a clause states what the value must be. pydantic's own
messages name classes, tags and regular expressions, and clients never see them.


"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, get_args

from pydantic import ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ErrorType

from app.kit.errors import InvalidRequest, RunFailed, missing_parameter
from app.kit.fields import DescribedModel, parameter
from app.kit.issues import name_like
from app.kit.texts import PATTERNS
from app.kit.unknown_keys import (
    MAX_COMPARED,
    MAX_LISTED,
    NOWHERE,
    SIMILARITY,
    UNKNOWN_PARAMETER,
    KeyHints,
    is_of_others,
)

_COMPARED: Final = 80
_KEYS_COMPARED: Final = 200
"""Largest number of keys of an object that are compared with a missing name."""
_MISSPELT: Final = 0.8
"""Smallest similarity from which a key is assumed to be meant for a missing name."""
GRADER_NOT_AVAILABLE: Final = "grader_not_available"
"""Type of the fault of a grader's kind that does not exist; also the API's error code."""
_MUST: Final = "it must be "
_OBJECT: Final = "an object"
_LIST: Final = "a list"
_TEXT: Final = "a text"
_INTEGER: Final = "an integer"
_NUMBER: Final = "a number"
_BOOLEAN: Final = "true or false"
_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model_type": _OBJECT,
        "model_attributes_type": _OBJECT,
        "dataclass_type": _OBJECT,
        "dict_type": _OBJECT,
        "mapping_type": _OBJECT,
        "list_type": _LIST,
        "tuple_type": _LIST,
        "set_type": _LIST,
        "frozen_set_type": _LIST,
        "iterable_type": _LIST,
        "string_type": _TEXT,
        "string_unicode": _TEXT,
        "int_type": _INTEGER,
        "int_parsing": _INTEGER,
        "int_from_float": _INTEGER,
        "int_parsing_size": "an integer of fewer digits",
        "float_type": _NUMBER,
        "float_parsing": _NUMBER,
        "finite_number": "a finite number",
        "bool_type": _BOOLEAN,
        "bool_parsing": _BOOLEAN,
        "none_required": "null",
        "invalid_key": "an object whose keys are texts",
    }
)
_BOUNDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "greater_than": "greater than {gt}",
        "greater_than_equal": "at least {ge}",
        "less_than": "less than {lt}",
        "less_than_equal": "at most {le}",
        "multiple_of": "a multiple of {multiple_of}",
        "literal_error": "{expected}",
        "enum": "{expected}",
        "union_tag_invalid": "{expected_tags}",
    }
)
_LENGTHS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "string_too_short": ("at least", "min_length", "character"),
        "string_too_long": ("at most", "max_length", "character"),
        "too_short": ("at least", "min_length", "entry"),
        "too_long": ("at most", "max_length", "entry"),
    }
)
_PLURALS: Final[Mapping[str, str]] = MappingProxyType(
    {"character": "characters", "entry": "entries"}
)
_ABSENT: Final = frozenset({"missing", "union_tag_not_found"})
_WHOLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{kind: _MUST + expected for kind, expected in _KINDS.items()},
        **dict.fromkeys(_ABSENT, "it is missing"),
        "extra_forbidden": "nothing reads it here; remove it",
        "json_invalid": "it is not valid JSON",
    }
)
_BUILT_IN: Final = frozenset(get_args(ErrorType))


def refusal(
    param: str,
    faults: Sequence[ErrorDetails],
    *,
    compared: bool = True,
    elsewhere: KeyHints = NOWHERE,
) -> InvalidRequest:
    """Returns the error about the value of one parameter. With `compared`, it is about the key that
    was probably meant for a missing one. `elsewhere` are parameters for which an unknown key may
    have been meant.
    """
    kind = faults[0]["type"]
    if kind in _ABSENT:
        return (_misspelt(param, faults[0]) if compared else None) or missing_parameter(param)
    if kind in {"extra_forbidden", UNKNOWN_PARAMETER}:
        hints = NOWHERE if is_of_others(faults[0]["loc"]) else elsewhere
        hint = cure_of(faults[0]["ctx"], hints) if kind == UNKNOWN_PARAMETER else "Remove it."
        message = f"Unknown parameter: '{param}'. {hint}"
        return InvalidRequest(message, param=param, code=UNKNOWN_PARAMETER)
    code = kind if kind == GRADER_NOT_AVAILABLE else "invalid_value"
    message = f"Invalid value for '{param}': {fault_clause(faults)}."
    return InvalidRequest(message, param=param, code=code)


def _misspelt(param: str, fault: ErrorDetails) -> InvalidRequest | None:
    """Returns the error about the key that was probably meant for a missing one: an error about the
    missing name would hide the mistake.
    """
    sent = fault["input"]
    if not fault["loc"] or not isinstance(sent, dict):
        return None
    name = str(fault["loc"][-1])
    keys = {
        key[:_COMPARED].casefold(): key
        for key in islice(sent, _KEYS_COMPARED)
        if isinstance(key, str) and key != name and sent[key] is not None
    }
    near = get_close_matches(name, keys, n=1, cutoff=_MISSPELT)
    if not near or not param.endswith(name):
        return None
    found = param.removesuffix(name) + keys[near[0]]
    message = f"Unknown parameter: '{found}'. Did you mean '{name}'?"
    return InvalidRequest(message, param=found, code=UNKNOWN_PARAMETER)


def refused_today(what: str, root: str, error: ValidationError) -> RunFailed:
    """Returns the error of a run whose stored definition, at the path `root`, was created under
    earlier rules and is invalid today.
    """
    fault = error.errors(include_url=False)[0]
    refused = refusal(parameter(root, fault["loc"]), [fault])
    return RunFailed(
        f"{what} was made under earlier rules and is refused today. {refused.message} Create it "
        "again with another value.",
        code="definition_refused",
        param=refused.param,
    )


def unknown_cursor(after: str, sent_as: str = "after") -> InvalidRequest:
    message = f"Invalid value for '{sent_as}': there is no object with id '{after}' in this list."
    return InvalidRequest(message, param=sent_as, code="invalid_value")


def fault_clause(faults: Sequence[ErrorDetails]) -> str:
    """Returns the clause about the faults of one value; a union has one fault for each member."""
    clauses = list(dict.fromkeys(map(_clause, faults)))
    if len(clauses) > 1 and all(clause.startswith(_MUST) for clause in clauses):
        return _MUST + " or ".join(clause.removeprefix(_MUST) for clause in clauses)
    return clauses[0]


def _clause(fault: ErrorDetails) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind in _LENGTHS:
        return _length(kind, context)
    if kind in _BOUNDS:
        shown = {
            name: f"{value:g}" if isinstance(value, float) else value
            for name, value in context.items()
        }
        return _MUST + _BOUNDS[kind].format_map(shown)
    if kind == "string_pattern_mismatch":
        return _MUST + PATTERNS.get(str(context["pattern"]), "written in another form")
    if kind in {"value_error", "assertion_error"}:
        return str(context["error"])
    return "it has the wrong type" if kind in _BUILT_IN else fault["msg"]


def broken_rule(fault: ErrorDetails) -> str | None:
    """Returns the message of a violated rule of this project, `None` for a wrong type."""
    kind = fault["type"]
    own = kind not in _BUILT_IN or kind in {"value_error", "assertion_error"}
    return _clause(fault) if own else None


def _length(kind: str, context: Mapping[str, int]) -> str:
    bound, limit, noun = _LENGTHS[kind]
    count = context[limit]
    return f"it must have {bound} {count} {noun if count == 1 else _PLURALS[noun]}"


class ClosedModel(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, sent: Any) -> Any:
        """Reports unknown keys with the nearest fields, before the missing fields that a
        misspelling causes.
        """
        return known_keys(sent, cls.model_fields)


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
