"""The secrets of a customer's definition: sealed by JSON pointer, shown as `[redacted]`, and put
back for `[redacted]` that is sent again.

The type of a field decides what is a secret. Free-form JSON, such as metadata, schemas and rows, is
stored as sent and not searched.
"""

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from typing import Any, Final
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from pydantic import BaseModel

from app.kit.errors import InvalidRequest, SecretsLost
from app.kit.fields import (
    FieldKind,
    Models,
    Path,
    WalkedField,
    parameter,
    pointer,
    replace_at,
    walk_fields,
    walk_with_nulls,
)

MAX_SEALED: Final = 1000
"""Sealed values of one definition at most. Each costs time whenever the definition is read."""
SecretValues = dict[str, Any]
"""Secrets by JSON pointer."""


class SecretsMissing(SecretsLost):
    """A document shows a redacted value that its sealed part does not contain."""


def bound_faults(walked: Iterable[tuple[str, WalkedField]]) -> Iterator[InvalidRequest]:
    sealed = 0
    for root, field in walked:
        sealed += len(list(secrets_in(field)))
        if sealed > MAX_SEALED:
            where = f"'{root}'" if root else "The definition"
            yield InvalidRequest(
                f"{where} contains more than {MAX_SEALED} values that are sealed: headers and "
                "addresses with a query. Send fewer.",
                param=root or None,
                code="invalid_value",
            )
            return


def secrets_in(field: WalkedField) -> Iterator[tuple[Path, str, str]]:
    """Yields the secrets of one field: path, value, and the text that replaces it."""
    if field.kind is FieldKind.SECRET:
        yield from ((path, text, REDACTED) for path, text in _texts(field) if text)
    elif field.kind is FieldKind.ADDRESS and (shown := shown_url(field.value)) != field.value:
        yield field.path, field.value, shown


def _texts(field: WalkedField) -> Iterator[tuple[Path, str]]:
    waiting: list[tuple[Path, Any]] = [(field.path, field.value)]
    while waiting:
        at, inner = waiting.pop()
        if isinstance(inner, str):
            yield at, inner
        elif isinstance(inner, dict):
            waiting += [((*at, key), below) for key, below in inner.items()]
        elif isinstance(inner, list | tuple):
            waiting += [((*at, index), below) for index, below in enumerate(inner)]


def redact_in_place(models: Models, document: Any, path: Path = ()) -> SecretValues:
    sealed: SecretValues = {}
    for field in list(walk_with_nulls(models, _at(document, path), path)):
        if field.kind is FieldKind.UNKNOWN:
            del _at(document, field.path[:-1])[field.path[-1]]
        for at, value, shown in secrets_in(field):
            _at(document, at[:-1])[at[-1]] = shown
            sealed[pointer(at)] = value
    return sealed


def _at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def split(models: Models, document: Any, path: Path = ()) -> tuple[Any, SecretValues]:
    copy = deepcopy(document)
    return copy, redact_in_place(models, copy, path)


def redacted_json(value: BaseModel) -> dict[str, Any]:
    document: dict[str, Any] = value.model_dump(mode="json")
    redact_in_place(type(value), document)
    return document


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
    for field in walk_fields(models, _at(document, path), path):
        shown = field.kind is FieldKind.ADDRESS and url_has_placeholder(field.value)
        lost = [field.path] if shown else [at for at, value, to in secrets_in(field) if value == to]
        for at in lost:
            if pointer(at) not in sealed:
                raise SecretsMissing(pointer(at))


@dataclass(frozen=True, slots=True)
class _OwnedSecret:
    """An address, or a secret that is sent to the address of the same object."""

    field: WalkedField
    path: Path
    value: str
    shown: str
    address: str | None
    """`None`: it is sent to no address, so its value stays in its place."""

    @property
    def key(self) -> tuple[str | None, Path, str]:
        """What is equal where the same secret is sent to the same address."""
        return self.address, self.path[len(self.field.path) - 1 :], self.shown

    @property
    def is_placeholder(self) -> bool:
        is_address = self.field.kind is FieldKind.ADDRESS
        return (url_has_placeholder if is_address else has_placeholder)(self.value)


def with_earlier_values(
    models: Models, definition: dict[str, Any], before: dict[str, Any], *, root: str
) -> dict[str, Any]:
    copy: dict[str, Any] = deepcopy(definition)
    known = list(walk_fields(models, before))
    for kind in (_addresses, _secrets):  # addresses first: a secret belongs to its whole address
        here: dict[tuple[Path, Any], str] = {}
        alike = defaultdict[Any, set[str]](set)
        for held in kind(known):
            here[held.path, held.key] = held.value
            alike[held.key].add(held.value)
        for held in kind(list(walk_fields(models, copy))):
            if held.is_placeholder:
                value = here.get((held.path, held.key))
                if value is None and held.address is not None and len(alike[held.key]) == 1:
                    (value,) = alike[held.key]
                if value is None:
                    raise _no_value(held, root)
                replace_at(copy, pointer(held.path), value)
    return copy


def with_earlier_url(url: str, before: str | None, *, param: str) -> str:
    """Returns `before` if its shown form was sent. Raises `InvalidRequest` for a placeholder."""
    if before is not None and url == shown_url(before):
        return before
    if url_has_placeholder(url):
        raise InvalidRequest(
            _no_value_message(f"'{param}'", " for this address"), param=param, code="invalid_value"
        )
    return url


def placeholder_faults(walked: Sequence[WalkedField], root: str) -> Iterator[InvalidRequest]:
    for held in (*_addresses(walked), *_secrets(walked)):
        if held.is_placeholder:
            yield _no_value(held, root)


def _addresses(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    """Yields addresses by their shown form; a placeholder is matched by the text that was sent."""
    for field in walked:
        if field.kind is FieldKind.ADDRESS:
            value = field.value
            shown = value if url_has_placeholder(value) else shown_url(value)
            yield _OwnedSecret(field, field.path, value, shown, "")


def _secrets(walked: Sequence[WalkedField]) -> Iterator[_OwnedSecret]:
    addresses = {
        field.path[:-1]: field.value for field in walked if field.kind is FieldKind.ADDRESS
    }
    for field in walked:
        if field.kind is FieldKind.SECRET:
            for path, text in _texts(field):
                shown = text if has_placeholder(text) and not is_placeholder(text) else REDACTED
                yield _OwnedSecret(field, path, text, shown, addresses.get(field.path[:-1]))


def _no_value(held: _OwnedSecret, root: str) -> InvalidRequest:
    param = parameter(root, held.field.path)
    in_headers = held.field.path[-1] == "headers" and held.path != held.field.path
    last = str(held.path[-1])[:80]
    named = f"The header '{last}'" if in_headers else f"'{parameter(root, held.path)}'"
    where = " for this address" if held.address else ""
    return InvalidRequest(_no_value_message(named, where), param=param, code="invalid_value")


def _no_value_message(named: str, where: str) -> str:
    return f"{named} reads '{REDACTED}', and no value is known{where}: send its real value."


REDACTED: Final = "[redacted]"
MAX_SHOWN: Final = 2000
"""Largest length of a shown URL that includes the names of its query; a longer one hides them too.
"""
_USER: Final = re.compile(r"^([^/?#]*//)?[^/?#]*@")
_PLACEHOLDER: Final = re.compile(r"\[redacted\]|%5Bredacted%5D", re.IGNORECASE)


def shown_url(url: str) -> str:
    if "?" not in url and "#" not in url and "@" not in url:
        return url
    rest, hash_mark, fragment = url.partition("#")
    rest, question_mark, query = rest.partition("?")
    rest = _USER.sub(rf"\g<1>{REDACTED}@", rest)
    tail = f"#{REDACTED}" if fragment else hash_mark
    shown = "&".join(_shown_pair(pair) for pair in query.split("&"))
    whole = f"{rest}{question_mark}{shown}{tail}"
    return whole if len(whole) <= MAX_SHOWN else f"{rest}?{REDACTED}{tail}"


def _shown_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals:
        return f"{name}={REDACTED}" if value else pair
    return REDACTED if pair else pair


def has_placeholder(text: str) -> bool:
    """Returns whether a text contains `[redacted]`, in any letter case, percent-encoded or not."""
    return _PLACEHOLDER.search(text) is not None


def is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def url_has_placeholder(url: str) -> bool:
    masked = _PLACEHOLDER.sub("x", url)
    return masked != url and shown_url(masked) != masked


LEAST: Final = 8
"""Characters of a credential at least: a shorter one may be an ordinary word."""
MAX_CREDENTIALS: Final = 32
"""Credentials that are sent to one address at most: a reply is searched for each."""
_LONG: Final = 20
"""Characters from which a value with a digit and no space is a credential under any name."""
_NAMES: Final = re.compile(
    "auth|cookie|credential|key|passw|pwd|secret|session|signature|token", re.IGNORECASE
)
"""Headers whose values are searched for. A reply may repeat a word in any other."""
_ESCAPED: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([2-7][0-9A-Fa-f])")
_PARAMETER: Final = re.compile(r"(?<=[=:])[\"']?([^\s\"',;]+)")


class Echoes:
    """Searches replies for the credentials in the headers and the URL query that were sent: as they
    are, and escaped for JSON, HTML or an URL. Of a value with a scheme, such as `Bearer …`, the
    part after the scheme counts too, and so does the password of `Basic`.
    """

    def __init__(self, headers: Mapping[str, str], url: str) -> None:
        sent = credentials_of(headers, url)
        parts = {part for value in sent for part in _parts(value) if len(part) >= LEAST}
        forms = {form for part in parts for form in _forms(part)}
        self._forms = sorted(forms, key=len, reverse=True)

    def hidden_in(self, text: str) -> str:
        shown = self._replaced(text)
        if "\\u" in shown:  # a reader of JSON would restore the letters
            plain = _ESCAPED.sub(_with_letter, shown)
            hidden = self._replaced(plain)
            return shown if hidden == plain else hidden
        return shown

    def _replaced(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def hidden_in_json(self, text: str) -> str:
        if not self._forms:
            return text
        read = json.loads(text)
        hidden = self._hidden(read)
        return text if hidden == read else json.dumps(hidden, ensure_ascii=False)

    def _hidden(self, value: Any) -> Any:
        match value:
            case str():
                return self.hidden_in(value)
            case dict():
                return {self.hidden_in(key): self._hidden(inner) for key, inner in value.items()}
            case list():
                return [self._hidden(inner) for inner in value]
            case _:
                return value


def credentials_of(headers: Mapping[str, str], url: str) -> set[str]:
    """Returns the values that count as credentials; a query may be a value without a name."""
    query = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    sent = [*headers.items(), *((name, value) if value else ("", name) for name, value in query)]
    return {value for name, value in sent if _NAMES.search(name) or _is_long(value)}


def _with_letter(found: re.Match[str]) -> str:
    letter = chr(int(found[2], 16))
    return found[0] if letter in '"\\' else found[1] + letter


def _is_long(value: str) -> bool:
    return len(value) >= _LONG and " " not in value and any(char.isdigit() for char in value)


def _parts(value: str) -> Iterator[str]:
    """Yields a value, the part after its scheme, and parameters, as in `Token token="…"`."""
    yield value.strip()
    scheme, *rest = value.split(maxsplit=1) or [""]
    for credential in rest:
        yield credential.strip()
        yield from _PARAMETER.findall(credential)
        if scheme.lower() == "basic":
            encoded = credential.strip().rstrip("=")
            with suppress(NotBase64, ValueError):
                pair = b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode()
                yield from (pair, pair.partition(":")[2])


def _forms(value: str) -> tuple[str, ...]:
    sent, quoted = value.encode("utf-8", "surrogatepass"), json.dumps(value)[1:-1]
    return (
        value,
        quoted,
        quoted.replace("/", "\\/"),  # as PHP does
        json.dumps(value, ensure_ascii=False)[1:-1],
        escape(value),
        quote(sent),
        quote(sent, safe=""),
        quote(sent, safe="!'()*"),  # as encodeURIComponent does
        quote_plus(sent),
    )
