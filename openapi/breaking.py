"""Compares the working specification with that of the last git tag, refuses what breaks a client.

Breaking: an operation, a successful status, a media type, a parameter or a field of a reply gone; a
parameter, a body or a field newly required; a request's types or values narrowed; a reply's types
widened (null among them), or a field of it no longer promised. New operations, new optional fields
and new values in replies are fine. Without a tag nothing is released, and nothing can break.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from openapi.operations import Operation, operations
from openapi.shapes import ANY, Reader, Schema, Shape

ROOT = Path(__file__).parents[1]
SCHEMA = "openapi/openapi.json"
Seen = frozenset[tuple[int, int]]


class Check:
    """Compares one pair of documents; `breaks()` is sorted and without repetition."""

    def __init__(self, released: Mapping[str, Any], working: Mapping[str, Any]) -> None:
        self._before, self._after = released, working
        self._readers = Reader(released), Reader(working)

    def breaks(self) -> list[str]:
        after = operations(self._after)
        found: set[str] = set()
        for key, before in operations(self._before).items():
            if key in after:
                found |= set(self._operation(before, after[key]))
            else:
                found.add(f"{key}: operation removed")
        return sorted(found)

    def _operation(self, before: Operation, after: Operation) -> Iterator[str]:
        name = before.key
        if before.id != after.id:
            yield f"{name}: operation id changed from {before.id} to {after.id}"
        for parameter, (_, schema) in before.query.items():
            if parameter not in after.query:
                yield f"{name}: parameter {parameter} removed"
            else:
                now = after.query[parameter][1]
                yield from self._request(f"{name} ?{parameter}", schema, now, frozenset())
        for parameter, (required, _) in after.query.items():
            if required and not before.query.get(parameter, (False, {}))[0]:
                yield f"{name}: parameter {parameter} newly required"
        if after.body_required and not before.body_required:
            yield f"{name}: body newly required"
        for kind, schema in before.body.items():
            if kind not in after.body:
                yield f"{name}: request as {kind} removed"
            else:
                yield from self._request(f"{name} request", schema, after.body[kind], frozenset())
        yield from self._replies(before, after)

    def _replies(self, before: Operation, after: Operation) -> Iterator[str]:
        for status, contents in before.replies.items():
            if status not in after.replies:
                yield f"{before.key}: reply {status} removed"
                continue
            for kind, schema in contents.items():
                now = after.replies[status].get(kind)
                if now is None:
                    yield f"{before.key}: reply as {kind} removed"
                else:
                    yield from self._reply(f"{before.key} reply", schema, now, frozenset())

    def _request(self, where: str, before: Schema, after: Schema, seen: Seen) -> Iterator[str]:
        if (pair := self._pair(before, after)) in seen:
            return
        seen |= {pair}
        old, new = self._readers[0].shape(before), self._readers[1].shape(after)
        yield from _narrowed(where, old, new)
        for name in new.required - old.required if _describes(old) else ():
            yield f"{where}.{name}: newly required"
        for name, schema in old.fields.items() if new.fields else ():
            if name in new.fields:
                yield from self._request(f"{where}.{name}", schema, new.fields[name], seen)
            else:
                yield f"{where}.{name}: request field removed"
        for tag, schema in old.variants.items() if new.variants else ():
            if tag in new.variants:
                yield from self._request(f"{where}({tag})", schema, new.variants[tag], seen)
            else:
                yield f"{where}({tag}): variant removed"
        if old.items is not None and new.items is not None:
            yield from self._request(f"{where}[]", old.items, new.items, seen)

    def _pair(self, before: Schema, after: Schema) -> tuple[int, int]:
        return id(self._readers[0].resolved(before)), id(self._readers[1].resolved(after))

    def _reply(self, where: str, before: Schema, after: Schema, seen: Seen) -> Iterator[str]:
        if (pair := self._pair(before, after)) in seen:
            return
        seen |= {pair}
        old, new = self._readers[0].shape(before), self._readers[1].shape(after)
        yield from _widened(where, old, new)
        for name, schema in old.fields.items():
            if name not in new.fields:
                yield f"{where}.{name}: reply field removed"
                continue
            if name in old.required and name not in new.required:
                yield f"{where}.{name}: reply field no longer promised"
            yield from self._reply(f"{where}.{name}", schema, new.fields[name], seen)
        for tag, schema in old.variants.items():
            if tag in new.variants:
                yield from self._reply(f"{where}({tag})", schema, new.variants[tag], seen)
        if old.items is not None and new.items is not None:
            yield from self._reply(f"{where}[]", old.items, new.items, seen)


def _describes(shape: Shape) -> bool:
    """Returns whether an object of a request had fields. An object without fields meant any object,
    so that its fields are now described for the first time.
    """
    return bool(shape.fields or shape.variants)


def _narrowed(where: str, old: Shape, new: Shape) -> Iterator[str]:
    if lost := _beyond(old, new):
        yield f"{where}: type narrowed, no longer {', '.join(sorted(lost))}"
    if new.values is not None and "string" in old.types:
        if old.values is None:
            yield f"{where}: any text before, an enumeration now"
        elif old.values - new.values:
            yield f"{where}: values removed: {', '.join(sorted(old.values - new.values))}"


def _widened(where: str, old: Shape, new: Shape) -> Iterator[str]:
    if added := _beyond(new, old):
        yield f"{where}: type widened to {', '.join(sorted(added))}"
    if old.values is not None and new.values is None and "string" in new.types:
        yield f"{where}: an enumeration before, any text now"


def _beyond(shape: Shape, other: Shape) -> frozenset[str]:
    """Returns the types of the first that the second lacks."""
    if ANY in other.types:
        return frozenset()
    known = other.types | ({"integer"} if "number" in other.types else set())
    return shape.types - known


def last_tag(root: Path) -> str | None:
    """Returns the newest tag that the checkout builds on; a source archive has none."""
    if not (root / ".git").exists():
        return None
    if not _git(root, "tag", "--list", "--merged", "HEAD"):
        return None
    return _git(root, "describe", "--tags", "--abbrev=0").strip()


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def main(root: Path = ROOT) -> int:
    tag = last_tag(root)
    if tag is None:
        sys.stdout.write("openapi.breaking: no git tag, so nothing is released yet\n")
        return 0
    released = json.loads(_git(root, "show", f"{tag}:{SCHEMA}"))
    working = json.loads((root / SCHEMA).read_text(encoding="utf-8"))
    found = Check(released, working).breaks()
    for line in found:
        sys.stderr.write(f"breaks clients of {tag}: {line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
