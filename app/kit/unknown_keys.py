"""Finds the parameter that an unknown key was meant for, in its own object or in another one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import parameter
from app.kit.issues import has_words, nearest_name
from app.kit.walk import FieldKind, WalkedField

MAX_COMPARED: Final = 80
"""Characters of a key that are compared with the known names."""
SIMILARITY: Final = 0.6
SIMILARITY_CUTOFF: Final = 0.8
"""Similarity from which a key is assumed to be meant for a parameter of another object, or for a
missing one.
"""
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


def nearest(field: WalkedField, elsewhere: KeyHints, *, likeness: float = SIMILARITY) -> str | None:
    """Returns the name for which a key was probably meant: its own name in another object, else the
    most similar one in the same object, else in another object.
    """
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
    """Returns the name that a warning suggests for an accepted key: a very similar one, or the one
    in the same object that has all of its words.
    """
    near = nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF)
    if near is not None:
        return near
    key = str(field.path[-1])[:MAX_COMPARED].casefold()
    longer = [name for name in field.known if has_words(name, key)]
    return longer[0] if len(longer) == 1 else None


def is_of_others(path: tuple[str | int, ...]) -> bool:
    """Returns whether a key is in a tool or a grader, whose own service may read it, so that it is
    not meant for a parameter of the call.
    """
    return any(name in ("tools", "grader", "graders") for name in path[:-1])


def question(near: str | None) -> str:
    return "" if near is None else f" Did you mean '{near}'?"


MAX_LISTED: Final = 20
"""Keys of one object or call that a message names."""
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
"""Parameters that hold objects."""


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
        hint = question(suggested_name(self.field, self.elsewhere))
        return f"Nothing reads '{self.param}', so it changes nothing.{hint}"


def unknown_key_error(
    field: WalkedField, root: str, elsewhere: KeyHints = NOWHERE
) -> InvalidRequest | None:
    """Returns the error for the value of an unknown key, or for an object under a documented key of
    one value; `None` when the value is accepted.
    """
    if not is_refused(field):
        return None
    param = parameter(root, field.path)
    feature = FEATURES.get(str(field.path[-1]).casefold())
    if feature is not None and nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF) is None:
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
    fault = unknown_key_error(field, root)
    if fault is not None or field.kind is not FieldKind.UNKNOWN or field.value is None:
        return fault
    if field.expected is not None or (only_near and nearest(field, NOWHERE) is None):
        return None
    param = parameter(root, field.path)
    hint = _hint(field, NOWHERE) or " Remove it."
    message = f"Unknown parameter: '{param}'.{hint}"
    return InvalidRequest(message, param=param, code=UNKNOWN_PARAMETER)


def misnamed_key_error(
    walked: Iterable[WalkedField], root: str, elsewhere: KeyHints, missing: Collection[str]
) -> InvalidRequest | None:
    """Returns the error for the first unknown key that was probably meant for one of the missing
    parameters, because of a similar name or a wrong object.
    """
    for field in walked:
        near = (
            nearest(field, elsewhere, likeness=SIMILARITY_CUTOFF)
            if field.kind is FieldKind.UNKNOWN
            else None
        )
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
    if field.kind is not FieldKind.UNKNOWN or field.value is None:
        return False
    named = field.closed or str(field.path[-1]).casefold() in FEATURES
    return named or isinstance(field.value, dict | list | tuple)


def unread(
    walked: Iterable[WalkedField], root: str, elsewhere: KeyHints = NOWHERE
) -> Iterator[UnreadKey]:
    """Yields the unknown keys that are accepted."""
    for field in walked:
        if field.kind is FieldKind.UNKNOWN and not is_refused(field):
            yield UnreadKey(field, root, elsewhere)


def unread_message(keys: Sequence[UnreadKey]) -> str:
    """Returns the warning about all accepted unknown keys of a call."""
    listed = ", ".join(
        f"'{key.param}'" + (f" (did you mean '{near}'?)" if near is not None else "")
        for key in keys[:MAX_LISTED]
        for near in [suggested_name(key.field, key.elsewhere)]
    )
    more = len(keys) - MAX_LISTED
    rest = f" and {more} more" if more > 0 else ""
    return f"Nothing reads these parameters, so they change nothing: {listed}{rest}"


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
    return question(nearest(field, elsewhere))
