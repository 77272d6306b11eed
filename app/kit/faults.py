"""Refusals of customers' values: what a value must be, and what an unknown key was meant for.

pydantic's own messages name classes, tags and regular expressions, and clients never see them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, get_args

from pydantic import ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ErrorType

from app.kit.errors import InvalidRequest, RunFailed, missing_parameter, refused_value
from app.kit.fields import DescribedModel, FieldKind, WalkedField, parameter
from app.kit.texts import PATTERNS

_BEGINNING: Final = 3


def nearest_name(key: str, known: Collection[str], likeness: float) -> str | None:
    """Requires two thirds of the characters: by `likeness` alone, `grader` matches `headers`."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - rapidfuzz loads only where it is used

    likely = get_close_matches(key, known, cutoff=likeness)
    return next((n for n in likely if OSA.distance(key, n) <= max(len(key), len(n)) // 3), None)


def name_like(key: str, known: Collection[str], likeness: float) -> str | None:
    begun = (name for name in known if len(key) >= _BEGINNING and name.startswith(key))
    return nearest_name(key, known, likeness) or next(begun, None)


MAX_COMPARED: Final = 80
SIMILARITY: Final = 0.6
SIMILARITY_CUTOFF: Final = 0.8
"""Similarity from which a key counts as meant for another object, or for a missing one."""
_OTHER_NAMES: Final = {
    "learning_rate": "learning_rate_multiplier",
    "lr": "learning_rate_multiplier",
    "lr_multiplier": "learning_rate_multiplier",
    "epochs": "n_epochs",
    "num_epochs": "n_epochs",
    "num_train_epochs": "n_epochs",
}
"""Names used by other trainers, for which similarity would suggest a wrong name."""


@dataclass(frozen=True, slots=True)
class KeyHints:
    """Parameters of a call by the last part of their path; `names` also match similar keys."""

    names: Mapping[str, str]
    exact: Mapping[str, str]

    def of(self, name: str) -> str | None:
        return self.names.get(name) or self.exact.get(name)


NOWHERE: Final = KeyHints({}, {})


def nearest(field: WalkedField, elsewhere: KeyHints, *, likeness: float = SIMILARITY) -> str | None:
    """Returns its own name in another object, else the most similar one here, else elsewhere."""
    key = str(field.path[-1])[:MAX_COMPARED].casefold()
    hints = NOWHERE if is_of_others(field.path) else elsewhere
    for name in (key, _OTHER_NAMES.get(key, key)):
        if name in field.known:
            return name
        if (param := hints.of(name)) is not None:
            return param
    here = nearest_name(key, field.known, likeness)
    if here is not None:
        return here
    there = get_close_matches(key, hints.names, n=1, cutoff=SIMILARITY_CUTOFF)
    return hints.names[there[0]] if there else None


def suggested_name(field: WalkedField, elsewhere: KeyHints) -> str | None:
    """Returns a very similar name, or the only one here that has all words of the key."""
    near = nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF)
    key = str(field.path[-1])[:MAX_COMPARED].casefold()
    if near is not None or len(key) < _BEGINNING:
        return near
    longer = [
        name
        for name in field.known
        if all(any(part.startswith(word) for part in name.split("_")) for word in key.split("_"))
    ]
    return longer[0] if len(longer) == 1 else None


def is_of_others(path: tuple[str | int, ...]) -> bool:
    """Whether a key is in a tool or a grader, so that it is no misplaced parameter."""
    return any(name in ("tools", "grader", "graders") for name in path[:-1])


def question(near: str | None) -> str:
    return "" if near is None else f" Did you mean '{near}'?"


def unknown_parameter(param: str, rest: str) -> InvalidRequest:
    message = f"Unknown parameter: '{param}'.{rest}"
    return InvalidRequest(message, param=param, code=UNKNOWN_PARAMETER)


MAX_LISTED: Final = 20
NOT_AVAILABLE: Final = "not_available"
UNKNOWN_PARAMETER: Final = "unknown_parameter"
_HEADERS_INSTEAD: Final = "credentials are sent in 'headers'"
_SERVERS_THERE: Final = "MCP servers are sent in 'method.reinforcement.mcp_servers'"
FEATURES: Final = {
    "mcp_servers": _SERVERS_THERE,
    "mcp": _SERVERS_THERE,
    "sandbox": "the sandbox has the operator's settings alone; send a grader of type 'python'",
    "rubric": "a rubric is part of an 'ai_judge' or 'llm_judge' grader",
    "rubrics": "a rubric is part of an 'ai_judge' or 'llm_judge' grader",
    "group_grader": "send a grader of type 'ai_judge'",
    "auth": f"authentication flows are not available; {_HEADERS_INSTEAD}",
    "oauth": f"authentication flows are not available; {_HEADERS_INSTEAD}",
}
"""Unavailable features by key, at any depth: planned for this service, or hosted only."""
_OBJECTS: Final = frozenset({"grader", "environment", "reinforcement", "supervised", "dpo"})


@dataclass(frozen=True, slots=True)
class UnreadKey:
    field: WalkedField
    root: str
    elsewhere: KeyHints

    @property
    def param(self) -> str:
        return parameter(self.root, self.field.path)

    @property
    def message(self) -> str:
        hint = question(suggested_name(self.field, self.elsewhere))
        return f"Nothing reads '{self.param}', so it changes nothing.{hint}"


def unknown_key_error(
    field: WalkedField, root: str, elsewhere: KeyHints = NOWHERE
) -> InvalidRequest | None:
    """Returns the error, also for an object under a documented key of one value."""
    if not is_refused(field):
        return None
    param = parameter(root, field.path)
    feature = FEATURES.get(str(field.path[-1]).casefold())
    if feature is not None and nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF) is None:
        message = f"Invalid value for '{param}': {feature}."
        return InvalidRequest(message, param=param, code=NOT_AVAILABLE)
    if field.expected is not None:
        return refused_value(param, f"it must be {field.expected}")
    hint = question(nearest(field, elsewhere))
    if field.closed:
        return unknown_parameter(param, f"{hint} There are {', '.join(sorted(field.known))}.")
    return unknown_parameter(
        param,
        f"{hint} {'Move it there' if hint else 'Remove it'}: only a text, a number or a boolean is "
        "accepted under an unknown key, and an object or a list would be ignored.",
    )


def refused_wholly(
    field: WalkedField, root: str, *, only_near: bool = False
) -> InvalidRequest | None:
    fault = unknown_key_error(field, root)
    if fault is not None or field.kind is not FieldKind.UNKNOWN or field.value is None:
        return fault
    if field.expected is not None or (only_near and nearest(field, NOWHERE) is None):
        return None
    param = parameter(root, field.path)
    return unknown_parameter(param, question(nearest(field, NOWHERE)) or " Remove it.")


def misnamed_key_error(
    walked: Iterable[WalkedField], root: str, elsewhere: KeyHints, missing: Collection[str]
) -> InvalidRequest | None:
    for field in walked:
        if field.kind is not FieldKind.UNKNOWN:
            continue
        near = nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF)
        if near is None or not _may_be(field, near):
            continue
        beside = parameter(root, (*field.path[:-1], near)) if near in field.known else near
        if beside not in missing:
            continue
        return unknown_parameter(parameter(root, field.path), question(near))
    return None


def is_refused(field: WalkedField) -> bool:
    if field.kind is not FieldKind.UNKNOWN or field.value is None:
        return False
    named = field.closed or str(field.path[-1]).casefold() in FEATURES
    return named or isinstance(field.value, dict | list | tuple)


def unread(
    walked: Iterable[WalkedField], root: str, elsewhere: KeyHints = NOWHERE
) -> Iterator[UnreadKey]:
    return (
        UnreadKey(field, root, elsewhere)
        for field in walked
        if field.kind is FieldKind.UNKNOWN and not is_refused(field)
    )


def unread_message(keys: Sequence[UnreadKey]) -> str:
    listed = ", ".join(
        f"'{key.param}'" + (f" (did you mean '{near}'?)" if near is not None else "")
        for key in keys[:MAX_LISTED]
        for near in [suggested_name(key.field, key.elsewhere)]
    )
    more = len(keys) - MAX_LISTED
    rest = f" and {more} more" if more > 0 else ""
    return f"Nothing reads these parameters, so they change nothing: {listed}{rest}"


def _may_be(field: WalkedField, param: str) -> bool:
    """Whether the value can be that of an object or of a text; of the exact name any can."""
    name = param.rpartition(".")[2]
    if name == field.path[-1]:
        return True
    if name in _OBJECTS:
        return isinstance(field.value, dict)
    return not isinstance(field.value, int | float)


_KEYS_COMPARED: Final = 200
GRADER_NOT_AVAILABLE: Final = "grader_not_available"
"""Type of the fault of a grader's kind that does not exist; also the API's error code."""
_MUST: Final = "it must be "
_KINDS: Final = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dataclass_type"), "an object"),
    **dict.fromkeys(("dict_type", "mapping_type"), "an object"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "a list"),
    **dict.fromkeys(("frozen_set_type", "iterable_type"), "a list"),
    **dict.fromkeys(("string_type", "string_unicode"), "a text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "an integer"),
    "int_parsing_size": "an integer of fewer digits",
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    "finite_number": "a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "none_required": "null",
    "invalid_key": "an object whose keys are texts",
}
_BOUNDS: Final[Mapping[str, str]] = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "union_tag_invalid": "{expected_tags}",
}
_LENGTHS: Final = {
    "string_too_short": ("at least", "min_length", "character", "characters"),
    "string_too_long": ("at most", "max_length", "character", "characters"),
    "too_short": ("at least", "min_length", "entry", "entries"),
    "too_long": ("at most", "max_length", "entry", "entries"),
}
_ABSENT: Final = frozenset({"missing", "union_tag_not_found"})
_WHOLE: Final[Mapping[str, str]] = {
    **{kind: _MUST + expected for kind, expected in _KINDS.items()},
    **dict.fromkeys(_ABSENT, "it is missing"),
    "extra_forbidden": "nothing reads it here; remove it",
    "json_invalid": "it is not valid JSON",
}
_BUILT_IN: Final = frozenset(get_args(ErrorType))


def refusal(
    param: str,
    faults: Sequence[ErrorDetails],
    *,
    compared: bool = True,
    elsewhere: KeyHints = NOWHERE,
) -> InvalidRequest:
    """Returns the error about one parameter, or if `compared`, the key that was meant for it.
    An unknown key may have been meant for one `elsewhere`.
    """
    kind = faults[0]["type"]
    if kind in _ABSENT:
        return (_misspelt(param, faults[0]) if compared else None) or missing_parameter(param)
    if kind in {"extra_forbidden", UNKNOWN_PARAMETER}:
        hints = NOWHERE if is_of_others(faults[0]["loc"]) else elsewhere
        hint = cure_of(faults[0]["ctx"], hints) if kind == UNKNOWN_PARAMETER else "Remove it."
        return unknown_parameter(param, f" {hint}")
    code = kind if kind == GRADER_NOT_AVAILABLE else "invalid_value"
    message = f"Invalid value for '{param}': {fault_clause(faults)}."
    return InvalidRequest(message, param=param, code=code)


def _misspelt(param: str, fault: ErrorDetails) -> InvalidRequest | None:
    """An error about the missing name would hide the mistake: it is about the key meant for it."""
    sent = fault["input"]
    if not fault["loc"] or not isinstance(sent, dict):
        return None
    name = str(fault["loc"][-1])
    keys = {
        key[:MAX_COMPARED].casefold(): key
        for key in islice(sent, _KEYS_COMPARED)
        if isinstance(key, str) and key != name and sent[key] is not None
    }
    near = get_close_matches(name, keys, n=1, cutoff=SIMILARITY_CUTOFF)
    if not near or not param.endswith(name):
        return None
    return unknown_parameter(param.removesuffix(name) + keys[near[0]], question(name))


def refused_today(what: str, root: str, error: ValidationError) -> RunFailed:
    fault = error.errors(include_url=False)[0]
    refused = refusal(parameter(root, fault["loc"]), [fault])
    return RunFailed(
        f"{what} was made under earlier rules and is refused today. {refused.message} Create it "
        "again with another value.",
        code="definition_refused",
        param=refused.param,
    )


def unknown_cursor(after: str, sent_as: str = "after") -> InvalidRequest:
    return refused_value(sent_as, f"there is no object with id '{after}' in this list")


def fault_clause(faults: Sequence[ErrorDetails]) -> str:
    clauses = list(dict.fromkeys(map(_clause, faults)))
    if len(clauses) > 1 and all(clause.startswith(_MUST) for clause in clauses):
        return _MUST + " or ".join(clause.removeprefix(_MUST) for clause in clauses)
    return clauses[0]


def _clause(fault: ErrorDetails) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _WHOLE:
        return _WHOLE[kind]
    if kind in _LENGTHS:
        bound, limit, one, many = _LENGTHS[kind]
        return f"it must have {bound} {context[limit]} {one if context[limit] == 1 else many}"
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
    kind = fault["type"]
    own = kind not in _BUILT_IN or kind in {"value_error", "assertion_error"}
    return _clause(fault) if own else None


class ClosedModel(DescribedModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, sent: Any) -> Any:
        # Before pydantic reports the missing fields that a misspelling causes.
        return known_keys(sent, cls.model_fields)


def unknown_key(
    key: str, known: Iterable[str], holder: tuple[str | int, ...] = ()
) -> ValidationError:
    """Returns the fault of a key of `holder`. `cure_of` looks up names: a body has many faults."""
    return _unknown([key], tuple(known), holder)


def known_keys(sent: Any, known: Collection[str]) -> Any:
    """Returns an object without its nulls. Raises `ValidationError` for unknown keys."""
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
        context = {"key": key[:MAX_COMPARED], "known": known}
        fault = PydanticCustomError(UNKNOWN_PARAMETER, _WHOLE["extra_forbidden"], context)
        faults.append({"type": fault, "loc": (*holder, key), "input": None})
    return ValidationError.from_exception_data("Body", faults)


def cure_of(context: Mapping[str, Any], elsewhere: KeyHints = NOWHERE) -> str:
    """Returns the correction: the same name in another object, else the nearest in its own."""
    key = context["key"].casefold()
    near = elsewhere.of(key) or name_like(key, context["known"], SIMILARITY)
    return f"Did you mean '{near}'?" if near else "Remove it."
