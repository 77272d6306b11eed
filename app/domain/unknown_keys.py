"""Refuses unknown keys that a customer sent, or reports them in a warning.

Owns the rule and the table of features that do not exist yet. An unknown hyperparameter is refused;
so is an object or a list under any unknown key, because it would be a feature without effect. A
text, number or boolean under another unknown key is accepted with a warning. A refusal suggests the
nearest known name; a warning only a very similar one, because many accepted keys are the customer's
own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import Kind, WalkedField
from app.domain.errors import InvalidRequest, refused_value
from app.domain.near_names import has_words, name_like, nearest_name

_MAX_LISTED: Final = 20
_MAX_COMPARED: Final = 80
"""Characters of a key that are compared with the known names."""
_SIMILARITY: Final = 0.6
_KEY: Final = "key"
_KNOWN: Final = "known"
_MEANT: Final = 0.8
"""Similarity from which a key is assumed to be meant for a parameter of another object, or for a
missing one.
"""
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
_OTHER_NAMES: Final = MappingProxyType(
    {
        "learning_rate": "learning_rate_multiplier",
        "lr": "learning_rate_multiplier",
        "lr_multiplier": "learning_rate_multiplier",
        "epochs": "n_epochs",
        "num_epochs": "n_epochs",
        "num_train_epochs": "n_epochs",
    }
)
"""Names used by other trainers, for which similarity would suggest a wrong name."""
_OBJECTS: Final = frozenset({"grader", "environment", "reinforcement", "supervised", "dpo"})
"""Parameters that hold objects."""


@dataclass(frozen=True, slots=True)
class KeyHints:
    """Parameters of a call by the last part of their path, for keys in the wrong object.

    `names` also match similar keys; `exact` matches only equal ones.
    """

    names: Mapping[str, str]
    exact: Mapping[str, str]

    def of(self, name: str) -> str | None:
        return self.names.get(name) or self.exact.get(name)


NOWHERE: Final = KeyHints({}, {})


@dataclass(frozen=True, slots=True)
class UnreadKey:
    """An unknown key that is accepted."""

    field: WalkedField
    root: str
    elsewhere: KeyHints

    @property
    def param(self) -> str:
        return parameter(self.root, self.field.path)

    @property
    def message(self) -> str:
        hint = _question(suggested(self.field, self.elsewhere))
        return f"Nothing reads '{self.param}', so it changes nothing.{hint}"


def refused(field: WalkedField, root: str, elsewhere: KeyHints = NOWHERE) -> InvalidRequest | None:
    """Returns the error for the value of an unknown key, or for an object under a documented key of
    one value; `None` when the value is accepted.
    """
    if not is_refused(field):
        return None
    param = parameter(root, field.path)
    feature = FEATURES.get(str(field.path[-1]).casefold())
    if feature is not None and nearest(field, elsewhere, likeness=_MEANT) is None:
        message = f"Invalid value for '{param}': {feature}."
        return InvalidRequest(message, param=param, code=NOT_AVAILABLE)
    if field.expected is not None:
        return refused_value(param, f"it must be {field.expected}")
    hint = _hint(field, elsewhere)
    message = f"Unknown parameter: '{param}'.{hint}"
    if field.closed:
        message += f" There are {', '.join(sorted(field.known))}."
    else:
        message += (
            f" {'Move it there' if hint else 'Remove it'}: only a text, a number or a boolean is "
            "accepted under an unknown key, and an object or a list would be ignored."
        )
    return InvalidRequest(message, param=param, code=UNKNOWN_PARAMETER)


def refused_wholly(
    field: WalkedField, root: str, *, only_near: bool = False
) -> InvalidRequest | None:
    """Returns the error for an unknown key with any value, for calls whose reply has no field for
    warnings. With `only_near`, keys without a similar known one are accepted.
    """
    fault = refused(field, root)
    if fault is not None or field.kind is not Kind.UNKNOWN or field.value is None:
        return fault
    if field.expected is not None or (only_near and nearest(field, NOWHERE) is None):
        return None
    param = parameter(root, field.path)
    hint = _hint(field, NOWHERE) or " Remove it."
    message = f"Unknown parameter: '{param}'.{hint}"
    return InvalidRequest(message, param=param, code=UNKNOWN_PARAMETER)


def meant_for(
    walked: Iterable[WalkedField], root: str, elsewhere: KeyHints, missing: Collection[str]
) -> InvalidRequest | None:
    """Returns the error for the first unknown key that was probably meant for one of the missing
    parameters, because of a similar name or a wrong object.
    """
    for field in walked:
        near = nearest(field, elsewhere, likeness=_MEANT) if field.kind is Kind.UNKNOWN else None
        if near is None or not _may_be(field, near):
            continue
        beside = parameter(root, (*field.path[:-1], near)) if near in field.known else near
        if beside not in missing:
            continue
        param = parameter(root, field.path)
        message = f"Unknown parameter: '{param}'. Did you mean '{near}'?"
        return InvalidRequest(message, param=param, code=UNKNOWN_PARAMETER)
    return None


def is_refused(field: WalkedField) -> bool:
    if field.kind is not Kind.UNKNOWN or field.value is None:
        return False
    named = field.closed or str(field.path[-1]).casefold() in FEATURES
    return named or isinstance(field.value, dict | list | tuple)


def unread(
    walked: Iterable[WalkedField], root: str, elsewhere: KeyHints = NOWHERE
) -> Iterator[UnreadKey]:
    """Yields the unknown keys that are accepted."""
    for field in walked:
        if field.kind is Kind.UNKNOWN and not is_refused(field):
            yield UnreadKey(field, root, elsewhere)


def unread_message(keys: Sequence[UnreadKey]) -> str:
    """Returns the warning about all accepted unknown keys of a call."""
    listed = ", ".join(
        f"'{key.param}'" + (f" (did you mean '{near}'?)" if near is not None else "")
        for key in keys[:_MAX_LISTED]
        for near in [suggested(key.field, key.elsewhere)]
    )
    more = len(keys) - _MAX_LISTED
    rest = f" and {more} more" if more > 0 else ""
    return f"Nothing reads these parameters, so they change nothing: {listed}{rest}"


def nearest(
    field: WalkedField, elsewhere: KeyHints, *, likeness: float = _SIMILARITY
) -> str | None:
    """Returns the name for which a key was probably meant: its own name in another object, else the
    most similar one in the same object, else in another object.
    """
    key = str(field.path[-1])[:_MAX_COMPARED].casefold()
    hints = NOWHERE if is_of_others(field.path) else elsewhere
    for name in (key, _OTHER_NAMES.get(key, key)):
        if name in field.known:
            return name
        if (param := hints.of(name)) is not None:
            return param
    here = nearest_name(key, field.known, likeness)
    if here is not None:
        return here
    there = get_close_matches(key, hints.names, n=1, cutoff=_MEANT)
    return hints.names[there[0]] if there else None


def suggested(field: WalkedField, elsewhere: KeyHints) -> str | None:
    """Returns the name that a warning suggests for an accepted key: a very similar one, or the one
    in the same object that has all of its words.
    """
    near = nearest(field, elsewhere, likeness=_MEANT)
    if near is not None:
        return near
    key = str(field.path[-1])[:_MAX_COMPARED].casefold()
    longer = [name for name in field.known if has_words(name, key)]
    return longer[0] if len(longer) == 1 else None


def is_of_others(path: tuple[str | int, ...]) -> bool:
    """Returns whether a key is in a tool or a grader, whose own service may read it, so that it is
    not meant for a parameter of the call.
    """
    return any(name in ("tools", "grader", "graders") for name in path[:-1])


def _may_be(field: WalkedField, param: str) -> bool:
    """Returns whether the value can belong to a missing parameter: an object for a parameter that
    is an object, otherwise no number. Under the exact name any value can.
    """
    name = param.rpartition(".")[2]
    if name == field.path[-1]:
        return True
    if name in _OBJECTS:
        return isinstance(field.value, dict)
    return not isinstance(field.value, int | float)


def _hint(field: WalkedField, elsewhere: KeyHints) -> str:
    return _question(nearest(field, elsewhere))


def _question(near: str | None) -> str:
    return "" if near is None else f" Did you mean '{near}'?"


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
        raise _unknown(unknown[:_MAX_LISTED], tuple(known), ())
    return present


def _unknown(
    keys: Iterable[str], known: tuple[str, ...], holder: tuple[str | int, ...]
) -> ValidationError:
    faults: list[InitErrorDetails] = []
    for key in keys:
        context = {_KEY: key[:_MAX_COMPARED], _KNOWN: known}
        fault = PydanticCustomError(UNKNOWN_PARAMETER, "nothing reads it here; remove it", context)
        faults.append({"type": fault, "loc": (*holder, key), "input": None})
    return ValidationError.from_exception_data("Body", faults)


def cure_of(context: Mapping[str, Any], elsewhere: KeyHints = NOWHERE) -> str:
    """Returns the correction for a key, from the context of its fault: the parameter with its exact
    name in another object, else the nearest name in its own object.
    """
    key = context[_KEY].casefold()
    near = elsewhere.of(key) or name_like(key, context[_KNOWN], _SIMILARITY)
    return f"Did you mean '{near}'?" if near else "Remove it."
