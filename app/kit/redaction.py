"""Limits of a customer's definition: the number of sealed values, and the length of keys.

Each sealed value costs time whenever the definition is read. Very long keys would fill pointers,
errors and warnings. Stored definitions are not checked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from app.kit.errors import InvalidRequest, SecretsLost
from app.kit.fields import Path, parameter, pointer, replace_at
from app.kit.secret_echoes import (
    REDACTED,
    has_placeholder,
    is_placeholder,
    shown_url,
    url_has_placeholder,
)
from app.kit.secret_finding import Found, secrets_in
from app.kit.secrets import MAX_NAME, SecretNameClass, secret_name_class
from app.kit.walk import FieldKind, Models, WalkedField, walk_fields

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


SecretValues = dict[str, Any]
"""Secrets by JSON pointer."""


class SecretsMissing(SecretsLost):
    """A document shows a redacted value that its sealed part does not contain."""


def found_in(field: WalkedField) -> Iterator[Found]:
    """Yields the secrets of one field."""
    match field.kind:
        case FieldKind.SECRET:
            yield from secrets_in(field.value, field.path, credential=SecretNameClass.ALL)
        case FieldKind.ADDRESS:
            if (shown := shown_url(field.value)) != field.value:
                yield field.path, field.value, shown
        case FieldKind.FREE_FORM:
            yield from secrets_in(field.value, field.path)
        case FieldKind.UNKNOWN:
            name = str(field.path[-1])
            yield from secrets_in(field.value, field.path, credential=secret_name_class(name))
        case FieldKind.JUDGE | FieldKind.EMBEDDING | FieldKind.TEMPLATE:
            return


def redact_in_place(document: Any, walked: Iterable[WalkedField]) -> SecretValues:
    """Redacts a JSON document that was walked, and returns its secrets."""
    found = [secret for field in walked for secret in found_in(field)]
    sealed = {pointer(path): value for path, value, _ in found}
    for path, _, shown in found:
        _replace(document, path, shown)
    return sealed


def split(models: Models, document: Any, path: Path = ()) -> tuple[Any, SecretValues]:
    """Returns a redacted copy of a document and its secrets. `models` are the models of the value
    at `path`.
    """
    copy = deepcopy(document)
    inner = copy
    for part in path:
        inner = inner[part]
    return copy, redact_in_place(copy, list(walk_fields(models, inner, path)))


def redacted_json(value: BaseModel) -> dict[str, Any]:
    """Returns an instance as JSON, redacted."""
    document: dict[str, Any] = value.model_dump(mode="json")
    redact_in_place(document, list(walk_fields(type(value), document)))
    return document


def shown_free_form(document: Any) -> Any:
    """Returns a redacted copy of free-form JSON, whose secrets are dropped because nothing uses
    them.
    """
    copy = deepcopy(document)
    for path, _, shown in list(secrets_in(document, ())):
        _replace(copy, path, shown)
    return copy


def restore_secrets(document: Any, sealed: Mapping[str, Any]) -> Any:
    """Undoes `split`. Raises `SecretsMissing` when the document has no such field."""
    copy = deepcopy(document)
    for at, value in sealed.items():
        try:
            replace_at(copy, at, value)
        except KeyError as error:
            raise SecretsMissing(at) from error
    return copy


def require_sealed(models: Models, document: Any, sealed: SecretValues, path: Path = ()) -> None:
    """Raises `SecretsMissing` when a value that will be used is redacted and not sealed.

    Values under unknown keys are never used and may be missing.
    """
    inner = document
    for part in path:
        inner = inner[part]
    for field in walk_fields(models, inner, path):
        if field.kind in (FieldKind.SECRET, FieldKind.ADDRESS):
            for at, value in _shown_secrets(field):
                if REDACTED in value and pointer(at) not in sealed:
                    raise SecretsMissing(pointer(at))


def _shown_secrets(field: WalkedField) -> Iterator[tuple[Path, str]]:
    if field.kind is FieldKind.ADDRESS:
        yield field.path, field.value if field.value == shown_url(field.value) else ""
        return
    for at, value, _ in found_in(field):
        yield at, value if value == REDACTED else ""


def _replace(document: Any, path: Path, value: Any) -> None:
    for part in path[:-1]:
        document = document[part]
    document[path[-1]] = value


@dataclass(frozen=True, slots=True)
class _OwnedSecret:
    """One secret, or one text with `[redacted]`, with its owner."""

    owner: Path
    address: str | None
    below: Path
    """The path below the owner."""
    value: Any
    shown: str
    field: WalkedField
    needed: bool = False
    """True if the text is a placeholder that must not be used as a value."""

    @property
    def path(self) -> Path:
        return (*self.owner, *self.below)


_Key = tuple[str | None, Path, str]


class _EarlierSecrets:
    """The secrets of the earlier definition, indexed once."""

    def __init__(self, values: Iterable[_OwnedSecret]) -> None:
        self._here: dict[tuple[Path, _Key], Any] = {}
        self._agreed: dict[_Key, list[Any]] = {}
        for held in values:
            key = (held.address, held.below, held.shown)
            self._here[(held.owner, key)] = held.value
            alike = self._agreed.setdefault(key, [held.value])
            if len(alike) == 1 and alike[0] != held.value:
                alike.append(held.value)

    def value_for(self, held: _OwnedSecret) -> Any:
        """Returns the value at the same path, else the only one at this address, else `None`."""
        key = (held.address, held.below, held.shown)
        if (held.owner, key) in self._here:
            return self._here[(held.owner, key)]
        alike = self._agreed.get(key, [])
        return alike[0] if held.address is not None and len(alike) == 1 else None


def with_earlier_values(
    models: Models, definition: dict[str, Any], before: dict[str, Any], *, root: str
) -> dict[str, Any]:
    """Returns a copy of `definition` with the values of `before`, whose secrets are unsealed.

    Raises `InvalidRequest` for a placeholder without an earlier value; `root` is the parameter of
    the definition.
    """
    copy: dict[str, Any] = deepcopy(definition)
    known = list(walk_fields(models, before))
    addresses = _EarlierSecrets(_addresses(known))
    for held in _addresses(list(walk_fields(models, copy))):
        if held.needed:
            _put_earlier(copy, held, addresses, root)
    values = _EarlierSecrets(_secrets(known))
    for held in _placeholders(list(walk_fields(models, copy))):
        _put_earlier(copy, held, values, root)
    return copy


def with_earlier_url(url: str, before: str | None, *, param: str) -> str:
    """Returns `before` if its shown form was sent back, else `url`.

    Raises `InvalidRequest` for a placeholder without an earlier value.
    """
    if before is not None and url == shown_url(before):
        return before
    if url_has_placeholder(url):
        raise InvalidRequest(
            _no_value_message(f"'{param}'", " for this address"), param=param, code="invalid_value"
        )
    return url


def placeholder_faults(walked: Sequence[WalkedField], root: str) -> Iterator[InvalidRequest]:
    """Yields an error for each secret that is `[redacted]`, whether its key is known or not.
    `walked` are the fields of a definition, which may be invalid.
    """
    for held in _addresses(walked):
        if held.needed:
            yield _no_value(held, root)
    for held in _placeholders(walked):
        if held.needed:
            yield _no_value(held, root)


def _put_earlier(document: Any, held: _OwnedSecret, known: _EarlierSecrets, root: str) -> None:
    earlier = known.value_for(held)
    if earlier is not None:
        replace_at(document, pointer(held.path), earlier)
    elif held.needed:
        raise _no_value(held, root)


def _addresses(walked: Iterable[WalkedField]) -> Iterator[_OwnedSecret]:
    """Yields addresses by their shown form; a placeholder is matched by the text that was sent."""
    for field in walked:
        if field.kind is FieldKind.ADDRESS:
            needed = url_has_placeholder(field.value)
            shown = field.value if needed else shown_url(field.value)
            yield _OwnedSecret(field.path, "", (), field.value, shown, field, needed)


def _owned(walked: Sequence[WalkedField]) -> Iterator[tuple[WalkedField, Path, str | None]]:
    """Yields fields other than addresses, each with its owner and the owner's address.

    Free-form JSON is not sent to an address, so it has none and keeps its values at any address of
    the owner.
    """
    addresses: defaultdict[Path, str | None] = defaultdict(lambda: None)
    addresses |= {
        field.path[:-1]: field.value for field in walked if field.kind is FieldKind.ADDRESS
    }
    for field in walked:
        if field.kind not in (FieldKind.ADDRESS, FieldKind.JUDGE):
            owner = field.path[:-1]
            yield field, owner, None if field.kind is FieldKind.FREE_FORM else addresses[owner]


def _secrets(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    for field, owner, address in _owned(walked):
        for path, value, shown in found_in(field):
            yield _OwnedSecret(owner, address, path[len(owner) :], value, shown, field)


def _placeholders(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    """Yields texts with `[redacted]`. An ordinary text, such as a description, may contain it on
    purpose.
    """
    for field, owner, address in _owned(walked):
        announced = {path for path, _, shown in found_in(field) if shown == REDACTED}
        for path, text in _texts(field.value, field.path):
            if has_placeholder(text):
                shown = REDACTED if is_placeholder(text) else text
                needed = path in announced or url_has_placeholder(text)
                yield _OwnedSecret(owner, address, path[len(owner) :], text, shown, field, needed)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    waiting = [(path, value)]
    while waiting:
        at, inner = waiting.pop()
        if isinstance(inner, str):
            yield at, inner
        elif isinstance(inner, dict):
            waiting += [((*at, key), below) for key, below in inner.items()]
        elif isinstance(inner, list | tuple):
            waiting += [((*at, index), below) for index, below in enumerate(inner)]


def _no_value(held: _OwnedSecret, root: str) -> InvalidRequest:
    param = parameter(root, held.field.path)
    in_headers = held.field.path[-1] == "headers" and held.path != held.field.path
    last = str(held.path[-1])[:80]
    named = f"The header '{last}'" if in_headers else f"'{parameter(root, held.path)}'"
    where = " for this address" if held.address else ""
    return InvalidRequest(_no_value_message(named, where), param=param, code="invalid_value")


def _no_value_message(named: str, where: str) -> str:
    return f"{named} reads '{REDACTED}', and no value is known{where}: send its real value."


def by_pointer(sealed: dict[str, Any], owners: Iterator[tuple[str, Path]]) -> dict[str, Any]:
    """Returns opened secrets of either format by JSON pointer; `owners` are the labels' paths.

    Secrets of a label without an owner are left out.
    """
    if all(key.startswith("/") for key in sealed):
        return sealed
    at = dict(owners)
    return {
        pointer((*at[label], "headers", name)): value
        for label, headers in sealed.items()
        if label in at
        for name, value in headers.items()
    }


def owners_of_method(method: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    """Yields the labels of `{"type": …, "reinforcement": {…}}`, each with its owner's path."""
    inner = method.get("reinforcement") or {}
    for index, tool in enumerate(inner.get("tools") or ()):
        yield f"tool:{tool['name']}", ("reinforcement", "tools", index)
    if inner.get("grader"):
        yield from owners_of_grader(inner["grader"], ("reinforcement", "grader"))


def owners_of_tool(tool: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    yield f"tool:{tool['name']}", ()


def owners_of_grader(grader: dict[str, Any], path: Path = ()) -> Iterator[tuple[str, Path]]:
    label = f"grader:{grader.get('name', grader.get('type'))}"
    yield label, path
    children = grader.get("graders")
    for name in children if isinstance(children, dict) else ():
        yield f"{label}/{name}", (*path, "graders", name)


def criteria_by_pointer(sealed: dict[str, Any], criteria: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns opened secrets of an eval, in either format, by JSON pointer into its criteria."""
    if all(key.startswith("/") for key in sealed):
        return sealed
    return {
        key: value
        for number, headers in sealed.items()
        for key, value in by_pointer(
            headers, owners_of_grader(criteria[int(number)], (int(number),))
        ).items()
    }
