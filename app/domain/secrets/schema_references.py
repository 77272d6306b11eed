"""Finds the schemas that a `$ref` of the same document refers to.

Owns the reading of JSON pointers, anchors and ids. Ignores an URL before the `#`, and resolves a
pointer from every object around the reference: it rather finds too many schemas than misses one.
Imports the standard library only, so that a migration may import it.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from app.domain.documents.pointers import Path

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
