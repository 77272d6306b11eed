"""A small parts catalogue: the static knowledge base behind the example agent.

Owns the records and the questions that can be asked about them. Promises that equal seeds give
equal catalogues and that training and validation questions concern different records. Parts point
at their supplier, so some questions need two look-ups. Must not know HTTP or the tools' wire.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

Split = Literal["train", "validation"]
Kind = Literal["arithmetic", "one_hop", "two_hop", "total"]

STORE_SEED: Final = 7
PARTS: Final = 480
SUPPLIERS: Final = 64
VALIDATION_SHARE: Final = 0.25

NUMBER_FIELDS: Final = ("price", "weight", "stock", "width")
PART_WORDS: Final = {
    "color": ("red", "green", "blue", "black", "white", "grey"),
    "material": ("steel", "brass", "oak", "glass", "nylon", "cork"),
}
CITIES: Final = ("Lima", "Oslo", "Rome", "Cairo", "Delhi", "Paris", "Quito", "Tunis")
ASKING: Final = (("What is the", "?"), ("Tell me the", "."))
ASKING_ARITHMETIC: Final = (("What is", "?"), ("Work out", "."))


@dataclass(frozen=True, slots=True)
class Question:
    """`tools` names the tools that a good answer needs; `records` those it concerns."""

    kind: Kind
    text: str
    answer: str
    tools: tuple[str, ...]
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Record id to field to value. Parts are `P` and three digits, suppliers `S` and two."""

    records: dict[str, dict[str, str]]
    splits: dict[str, Split]

    def named(self, prefix: str, split: Split) -> list[str]:
        return [r for r in self.records if r.startswith(prefix) and self.splits[r] == split]


def build_catalogue(seed: int = STORE_SEED) -> Catalogue:
    """Suppliers are dealt to a split first; a part stays on its supplier's side."""
    rng = random.Random(seed)
    suppliers = [f"S{n:02d}" for n in rng.sample(range(100), SUPPLIERS)]
    held_out = set(suppliers[: round(SUPPLIERS * VALIDATION_SHARE)])
    records: dict[str, dict[str, str]] = {}
    splits: dict[str, Split] = {}
    for supplier in suppliers:
        records[supplier] = {"city": rng.choice(CITIES), "days": _number(rng)}
        records[supplier]["rating"] = _number(rng)
        splits[supplier] = "validation" if supplier in held_out else "train"
    for number in rng.sample(range(1000), PARTS):
        part, supplier = f"P{number:03d}", rng.choice(suppliers)
        records[part] = {field: _number(rng) for field in NUMBER_FIELDS}
        records[part] |= {field: rng.choice(words) for field, words in PART_WORDS.items()}
        records[part]["supplier"] = supplier
        splits[part] = splits[supplier]
    return Catalogue(records, splits)


def questions(catalogue: Catalogue, split: Split, seed: int) -> Iterator[Question]:
    """Endless questions about one split's records, the four kinds in equal shares."""
    rng = random.Random(f"{split}:{seed}")
    makers = (_arithmetic, _one_hop, _two_hop, _total)
    while True:
        yield rng.choice(makers)(catalogue, split, rng)


def _number(rng: random.Random) -> str:
    return str(rng.randrange(10, 100))


def _arithmetic(_: Catalogue, split: Split, rng: random.Random) -> Question:
    opening, end = rng.choice(ASKING_ARITHMETIC)
    operator = rng.choice("+-*")
    while True:
        low, high = sorted((rng.randrange(10, 100), rng.randrange(10, 100)))
        # A quarter of all operand pairs is kept for validation.
        if ((low + high) % 4 == 0) == (split == "validation"):
            break
    answer = {"+": high + low, "-": high - low, "*": high * low}[operator]
    text = f"{opening} {high} {operator} {low}{end}"
    return Question("arithmetic", text, str(answer), ("calculator",), ())


def _one_hop(catalogue: Catalogue, split: Split, rng: random.Random) -> Question:
    opening, end = rng.choice(ASKING)
    noun, prefix = rng.choice((("part", "P"), ("part", "P"), ("supplier", "S")))
    record = rng.choice(catalogue.named(prefix, split))
    field = rng.choice([f for f in catalogue.records[record] if f != "supplier"])
    text = f"{opening} {field} of {noun} {record}{end}"
    return Question("one_hop", text, catalogue.records[record][field], ("lookup",), (record,))


def _two_hop(catalogue: Catalogue, split: Split, rng: random.Random) -> Question:
    opening, end = rng.choice(ASKING)
    part = rng.choice(catalogue.named("P", split))
    supplier = catalogue.records[part]["supplier"]
    field = rng.choice(list(catalogue.records[supplier]))
    text = f"{opening} {field} of the supplier of part {part}{end}"
    answer = catalogue.records[supplier][field]
    return Question("two_hop", text, answer, ("lookup",), (part, supplier))


def _total(catalogue: Catalogue, split: Split, rng: random.Random) -> Question:
    opening, end = rng.choice(ASKING)
    first, second = rng.sample(catalogue.named("P", split), 2)
    field = rng.choice(NUMBER_FIELDS)
    total = sum(int(catalogue.records[p][field]) for p in (first, second))
    text = f"{opening} {field} of parts {first} and {second} together{end}"
    return Question("total", text, str(total), ("lookup", "calculator"), (first, second))
