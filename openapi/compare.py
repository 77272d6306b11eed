"""Compares the mirrored part of the hosted API with this one, structure against structure.

A difference is anything that can affect a client written for the hosted API: a missing or untyped
part, a refused request, an unexpected reply. Replies with stronger promises than the hosted ones,
and requests that accept more, are no differences; extension fields are, because they must be
explained. Each has a stable id, and `DEVIATIONS.md` holds a row for each or for a pattern (`*`
stands for anything) under its heading "Structure". A row that matches nothing is stale.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from openapi.operations import Operation, operations
from openapi.shapes import ANY, Reader, Schema, Shape

HERE = Path(__file__).parent
UPSTREAM, OURS, DEVIATIONS = (
    HERE / name for name in ("upstream.yaml", "openapi.json", "DEVIATIONS.md")
)
_HEADING = "## Structure"
_ROW = re.compile(r"^\| `([^`]+)` \|(?P<reason>.*)\|(?P<test>.*)\|$")


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    id: str
    """`<operation>.<request|response|query>.<path>:<kind>`"""
    detail: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares two documents; `differences()` is sorted and without repetition."""

    upstream: Mapping[str, Any]
    ours: Mapping[str, Any]
    _readers: tuple[Reader, Reader] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_readers", (Reader(self.upstream), Reader(self.ours)))

    def differences(self) -> list[Difference]:
        have = operations(self.ours)
        found: set[Difference] = set()
        for key, theirs in operations(self.upstream).items():
            if key in have:
                found |= set(self._operation(theirs, have[key]))
            else:
                found.add(Difference(f"{theirs.id}:missing", key))
        return sorted(found)

    def _operation(self, theirs: Operation, ours: Operation) -> Iterator[Difference]:
        name = theirs.id
        if ours.id != name:
            yield Difference(f"{name}:operation-id", ours.id)
        for field_name in theirs.query.keys() | ours.query.keys():
            yield from self._parameter(f"{name}.query.{field_name}", field_name, theirs, ours)
        yield from self._contents(f"{name}.request", theirs.body, ours.body, sent=True)
        if ours.body_required and not theirs.body_required:
            yield Difference(f"{name}.request:required")
        for status in theirs.replies:
            if status not in ours.replies:
                yield Difference(f"{name}.response:status", f"{status} expected")
            else:
                yield from self._contents(
                    f"{name}.response", theirs.replies[status], ours.replies[status], sent=False
                )

    def _parameter(
        self, where: str, name: str, theirs: Operation, ours: Operation
    ) -> Iterator[Difference]:
        if name not in ours.query:
            yield Difference(f"{where}:missing")
        elif name not in theirs.query:
            yield Difference(f"{where}:extra")
        else:
            (_, wanted), (required, have) = theirs.query[name], ours.query[name]
            if required and not theirs.query[name][0]:
                yield Difference(f"{where}:required")
            yield from self._schemas(where, wanted, have, sent=True, seen=frozenset())

    def _contents(
        self, where: str, theirs: Mapping[str, Schema], ours: Mapping[str, Schema], *, sent: bool
    ) -> Iterator[Difference]:
        for kind, schema in theirs.items():
            if kind in ours:
                yield from self._schemas(where, schema, ours[kind], sent=sent, seen=frozenset())
            else:
                yield Difference(f"{where}:media-type", kind)

    def _schemas(
        self,
        where: str,
        wanted: Schema,
        have: Schema,
        *,
        sent: bool,
        seen: frozenset[tuple[int, int]],
    ) -> Iterator[Difference]:
        upstream, mine = self._readers
        pair = (id(upstream.resolved(wanted)), id(mine.resolved(have)))
        if pair in seen:
            return
        seen |= {pair}
        theirs, ours = upstream.shape(wanted), mine.shape(have)
        if _untyped(theirs, ours):
            yield Difference(f"{where}:untyped")
            return
        yield from _scalars(where, theirs, ours, sent=sent)
        if theirs.variants or ours.variants:
            yield from self._variants(where, (wanted, theirs), (have, ours), sent=sent, seen=seen)
        elif theirs.fields:
            yield from self._fields(where, theirs, ours, sent=sent, seen=seen)
        if theirs.items is not None and ours.items is not None:
            yield from self._schemas(f"{where}[]", theirs.items, ours.items, sent=sent, seen=seen)

    def _fields(
        self,
        where: str,
        theirs: Shape,
        ours: Shape,
        *,
        sent: bool,
        seen: frozenset[tuple[int, int]],
    ) -> Iterator[Difference]:
        for name in theirs.fields.keys() - ours.fields.keys():
            yield Difference(f"{where}.{name}:missing")
        for name in ours.fields.keys() - theirs.fields.keys():
            yield Difference(f"{where}.{name}:extra")
        stricter, laxer = (ours, theirs) if sent else (theirs, ours)
        for name in theirs.fields.keys() & ours.fields.keys():
            if name in stricter.required and name not in laxer.required:
                yield Difference(f"{where}.{name}:{'required' if sent else 'optional'}")
            yield from self._schemas(
                f"{where}.{name}", theirs.fields[name], ours.fields[name], sent=sent, seen=seen
            )

    def _variants(
        self,
        where: str,
        upstream: tuple[Schema, Shape],
        mine: tuple[Schema, Shape],
        *,
        sent: bool,
        seen: frozenset[tuple[int, int]],
    ) -> Iterator[Difference]:
        theirs, ours = self._tagged(0, *upstream), self._tagged(1, *mine)
        if theirs is None or ours is None:
            yield Difference(f"{where}:untagged")
            return
        for tag in theirs.keys() - ours.keys():
            yield Difference(f"{where}({tag}):missing")
        for tag in ours.keys() - theirs.keys():
            yield Difference(f"{where}({tag}):extra")
        for tag in theirs.keys() & ours.keys():
            yield from self._schemas(
                f"{where}({tag})", theirs[tag], ours[tag], sent=sent, seen=seen
            )

    def _tagged(self, side: int, schema: Schema, shape: Shape) -> Mapping[str, Schema] | None:
        """Returns the variants; a single object with a constant is one variant."""
        if shape.variants:
            return shape.variants
        reader = self._readers[side]
        tag = reader.tag({"properties": shape.fields})
        whole = {"type": "object", "properties": shape.fields, "required": sorted(shape.required)}
        del schema
        return None if tag is None else {tag: whole}


def _untyped(theirs: Shape, ours: Shape) -> bool:
    """Returns whether this schema leaves open a shape that the hosted one describes."""
    described = theirs.types != {ANY}
    described_fields = bool(ours.fields or ours.variants)
    deep = bool(theirs.fields or theirs.variants)
    return described and ((ours.types == {ANY}) or (deep and not described_fields))


def _scalars(where: str, theirs: Shape, ours: Shape, *, sent: bool) -> Iterator[Difference]:
    wide, narrow = (ours, theirs) if sent else (theirs, ours)
    if ANY not in wide.types:
        surplus = {
            name
            for name in narrow.types - wide.types
            if not (name == "integer" and "number" in wide.types)
        }
        if "null" in surplus:
            yield Difference(f"{where}:{'not-null' if sent else 'nullable'}")
        if surplus - {"null"}:
            yield Difference(f"{where}:type", f"{sorted(theirs.types)} / {sorted(ours.types)}")
    if wide.values is not None and "string" in narrow.types:
        unknown = None if narrow.values is None else narrow.values - wide.values
        if unknown is None or unknown:
            yield Difference(f"{where}:enum", f"{_shown(theirs)} / {_shown(ours)}")


def _shown(shape: Shape) -> str:
    return "any" if shape.values is None else ", ".join(sorted(shape.values))


def listed(text: str) -> list[str]:
    """Returns the patterns of the rows under the heading, in order."""
    table = text.partition(_HEADING)[2].partition("\n## ")[0]
    rows = (_ROW.match(line) for line in table.splitlines())
    return [row[1] for row in rows if row and row["reason"].strip() and row["test"].strip()]


def judge(found: Sequence[Difference], patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns differences without a row, and rows without a difference."""
    readers = {pattern: _pattern(pattern) for pattern in patterns}
    unexplained = [
        f"{difference.id}  {difference.detail}".rstrip()
        for difference in found
        if not any(reader.fullmatch(difference.id) for reader in readers.values())
    ]
    stale = [
        name
        for name, reader in readers.items()
        if not any(reader.fullmatch(difference.id) for difference in found)
    ]
    return unexplained, stale


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\*", ".*"))


def main() -> int:
    with UPSTREAM.open(encoding="utf-8") as file:
        upstream = yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe loaders
    ours = json.loads(OURS.read_text(encoding="utf-8"))
    found = Comparison(upstream, ours).differences()
    unexplained, stale = judge(found, listed(DEVIATIONS.read_text(encoding="utf-8")))
    for line in unexplained:
        sys.stderr.write(f"not in DEVIATIONS.md: {line}\n")
    for line in stale:
        sys.stderr.write(f"stale row in DEVIATIONS.md: {line}\n")
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main())
