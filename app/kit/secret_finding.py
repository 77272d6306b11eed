"""Finds secrets in free-form JSON by the names of keys, at any depth.

Imports the standard library only, so that a migration may import it.

- Every text at or below a key that `secret_name_class` accepts is a secret; so is every number, if
  the name is unambiguous.
- Query values, fragment and user information of an URL are secrets, also of an URL inside a text.
- A text that is JSON and contains a secret is hidden as a whole.
- Keys below `properties` and similar keywords of a JSON Schema name schemas, not values: a property
  called `token` keeps its `type` and `description`; its `default`, `const`, `enum` and `examples`
  are secrets, also inside `anyOf`, `items` and similar keywords, and in the target of its `$ref`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

from app.kit.fields import Path
from app.kit.secret_echoes import REDACTED, shown_text
from app.kit.secrets import SecretNameClass, secret_name_class
from app.kit.strict_json import has_too_many_values

Found = tuple[Path, Any, str]
"""The path of a secret, its value, and the text that replaces it."""

_SCHEMA_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_SCHEMA_PARTS: Final = frozenset(
    {
        "items", "prefixItems", "additionalItems", "additionalProperties", "anyOf", "oneOf",
        "allOf", "not", "if", "then", "else", "contains", "unevaluatedItems",
        "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords whose value is a schema, or a list of schemas, for the same value."""
_SCHEMA_KEYS: Final = frozenset(
    {
        "type", "title", "description", "format", "pattern", "required", "$ref", "$dynamicRef",
        "$recursiveRef", "$id", "$schema", "$anchor", "$dynamicAnchor", "nullable", "deprecated",
        "readOnly", "writeOnly", "minLength", "maxLength", "minimum", "maximum", "minItems",
        "maxItems", "uniqueItems", "strict", "multipleOf", "minProperties", "maxProperties",
        "exclusiveMinimum", "exclusiveMaximum", "contentEncoding", "contentMediaType",
    }
)  # fmt: skip
"""Keywords that describe a value but do not contain one."""
_SCHEMA_URLS: Final = frozenset(["$id", "$ref", "$dynamicRef", "$recursiveRef", "$schema"])
_REFERENCES: Final = frozenset(["$ref", "$dynamicRef", "$recursiveRef"])


def secrets_in(
    value: Any, path: Path, *, credential: SecretNameClass = SecretNameClass.NOTHING
) -> Iterator[Found]:
    """Yields the secrets at or below `value`; `credential` is the class of values that a parent's
    name announces.

    A schema that a credential's schema refers to is walked again, as part of that credential.
    """
    walk = _SecretWalk()
    found = {secret[0]: secret for secret in walk.below(value, path, credential)}
    schemas = LocalSchemas(value)
    walked: set[tuple[Path, SecretNameClass]] = set()
    while walk.references:
        reference, at, level = walk.references.pop()
        for below, schema in schemas.of(reference, at[len(path) :]):
            inner_path = (*path, *below)
            if (inner_path, level) not in walked:
                walked.add((inner_path, level))
                for secret in walk.in_schema(schema, inner_path, level):
                    if secret[2] == REDACTED or secret[0] not in found:
                        found[secret[0]] = secret
    yield from found.values()


class _SecretWalk:
    """One walk over a document. It collects the references in schemas of credentials."""

    def __init__(self) -> None:
        self.references: list[tuple[str, Path, SecretNameClass]] = []
        """Each `$ref` with the path of its object and its level."""
        self._walked: dict[tuple[Path, bool], SecretNameClass] = {}
        """The highest level at which each object or list was walked, as a value or as a schema."""

    def below(self, value: Any, path: Path, credential: SecretNameClass) -> Iterator[Found]:
        if not isinstance(value, dict | list | tuple):
            yield from _in_scalar(value, path, credential)
        elif self._was_walked(path, credential, whole=True):
            return
        elif len(path) > MAX_DEPTH:
            yield path, value, REDACTED
        elif isinstance(value, dict):
            yield from self._in_object(value, path, credential)
        else:
            for index, item in enumerate(value):
                yield from self.below(item, (*path, index), credential)

    def _in_object(
        self, value: dict[str, Any], path: Path, credential: SecretNameClass
    ) -> Iterator[Found]:
        for key, below in value.items():
            inner_path = (*path, key)
            if not credential and _is_schema_name(key, below):
                continue
            if key in _SCHEMA_MAPS and isinstance(below, dict) and not credential:
                for name, schema in below.items():
                    yield from self.in_schema(schema, (*inner_path, name), secret_name_class(name))
            else:
                yield from self.below(below, inner_path, max(credential, secret_name_class(key)))

    def _was_walked(self, path: Path, credential: SecretNameClass, *, whole: bool) -> bool:
        """Records a walk, and returns whether an earlier one at this level or above covered it.

        Without this check, objects that refer to each other would be walked without end.
        """
        if not credential:
            return False
        if self._walked.get((path, True), SecretNameClass.NOTHING) >= credential:
            return True
        if self._walked.get((path, whole), SecretNameClass.NOTHING) >= credential:
            return True
        self._walked[(path, whole)] = credential
        return False

    def _schema_items(
        self, schema: dict[str, Any], path: Path, credential: SecretNameClass
    ) -> Iterable[tuple[str, Any]]:
        return () if self._was_walked(path, credential, whole=False) else schema.items()

    def in_schema(self, schema: Any, path: Path, credential: SecretNameClass) -> Iterator[Found]:
        """Walks the schema of one property: if its name announces a credential, the values in it
        are secrets.
        """
        if not credential or not isinstance(schema, dict) or len(path) > MAX_DEPTH:
            yield from self.below(schema, path, credential)
            return
        for key, below in self._schema_items(schema, path, credential):
            inner_path = (*path, key)
            if key in _REFERENCES and isinstance(below, str):
                self.references.append((below, path, credential))
            if key in _SCHEMA_MAPS and isinstance(below, dict):
                for name, inner in below.items():
                    level = max(credential, secret_name_class(name))
                    yield from self.in_schema(inner, (*inner_path, name), level)
            elif key in _SCHEMA_PARTS:
                parts = enumerate(below) if isinstance(below, list) else [(None, below)]
                for index, part in parts:
                    at = inner_path if index is None else (*inner_path, index)
                    yield from self.in_schema(part, at, credential)
            elif _is_schema_name(key, below):
                continue
            elif key in _SCHEMA_KEYS and not isinstance(below, dict):
                yield from self.below(below, inner_path, SecretNameClass.NOTHING)
            else:
                yield from self.below(below, inner_path, credential)


def _in_scalar(value: Any, path: Path, credential: SecretNameClass) -> Iterator[Found]:
    if isinstance(value, str):
        shown = REDACTED if credential or _json_with_secrets(value, path) else shown_text(value)
        if value and (credential or shown != value):
            yield path, value, shown
    elif isinstance(value, bool) or credential is not SecretNameClass.ALL:
        return
    elif isinstance(value, int | float):
        yield path, value, REDACTED


def _json_with_secrets(text: str, path: Path) -> bool:
    """Returns whether a text is a JSON object or list that contains a secret, or is too large or
    too deep to check.
    """
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    if has_too_many_values(text):
        return True
    try:
        inner = json.loads(text)
    except RecursionError:
        return True
    except ValueError:
        return False
    return any(True for _ in secrets_in(inner, (*path, 0)))


def _is_schema_name(key: str, value: Any) -> bool:
    """Returns whether a keyword's value names schemas or properties, so that it is not a secret.

    The URL of a schema may have a fragment, but with a query or user information it is treated like
    any URL.
    """
    if key == "dependentRequired":
        return isinstance(value, dict) and all(isinstance(names, list) for names in value.values())
    if key not in _SCHEMA_URLS or not isinstance(value, str):
        return False
    url = value.partition("#")[0]
    return shown_text(url) == url


_NAMING = ("$id", "id", "$anchor", "$dynamicAnchor")
MAX_DEPTH: Final = 200
"""Deeper values and schemas are hidden whole, so no name in them matters."""


class LocalSchemas:
    """The schemas of one document, found by reference."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._named: dict[str, list[Path]] | None = None

    def of(self, reference: str, path: Path) -> Iterator[tuple[Path, Any]]:
        """Yields the schemas that a reference inside the object at `path` refers to, with their
        paths.

        `#`, the document itself, is left out, because its parts are checked by their own names.
        """
        base, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        if fragment.startswith("/"):
            tokens = [_plain(token) for token in fragment.split("/")[1:]]
            yield from self._from_objects_around(path, tokens)
        for name in (base, fragment):
            for at in self._by_name(name) if name else ():
                yield at, self._at(at)

    def _from_objects_around(self, path: Path, tokens: list[str]) -> Iterator[tuple[Path, Any]]:
        holder = self._document
        for depth, part in enumerate((*path, None)):
            if (found := _resolved(holder, tokens)) is not None:
                yield (*path[:depth], *found[0]), found[1]
            if part is not None:
                holder = holder[part]

    def _by_name(self, name: str) -> list[Path]:
        if self._named is None:
            self._named = defaultdict(list)
            for at, schema in _objects(self._document):
                for key in _NAMING:
                    if isinstance(schema.get(key), str):
                        self._named[schema[key].rstrip("#")].append(at)
        return self._named.get(name, [])

    def _at(self, path: Path) -> Any:
        found = self._document
        for part in path:
            found = found[part]
        return found


def _plain(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _resolved(holder: Any, tokens: list[str]) -> tuple[Path, Any] | None:
    path: list[str | int] = []
    for token in tokens:
        if isinstance(holder, dict) and token in holder:
            path.append(token)
            holder = holder[token]
        elif isinstance(holder, list) and token.isdecimal() and int(token[:9]) < len(holder):
            path.append(int(token[:9]))
            holder = holder[int(token[:9])]
        else:
            return None
    return tuple(path), holder


def _objects(document: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    waiting: list[tuple[Path, Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if len(path) > MAX_DEPTH:
            continue
        if isinstance(value, dict):
            yield path, value
            waiting += [((*path, key), below) for key, below in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [((*path, index), below) for index, below in enumerate(value)]
