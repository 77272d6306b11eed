"""Training and validation files for the example agent, one JSON object a line.

Owns the row format: Chat Completions messages ending with the user's question, the tools' function
schemas, and extra keys that only the grader reads. Run it as
`python -m examples.records_agent.dataset --out DIR --train N --valid M --seed S`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from examples.records_agent.records import (
    STORE_SEED,
    Catalogue,
    Question,
    Split,
    build_catalogue,
    questions,
)
from examples.records_agent.tools import SCHEMAS


def row(question: Question) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": question.text}],
        "tools": list(SCHEMAS),
        "reference_answer": question.answer,
        "reference_tools": list(question.tools),
        "kind": question.kind,
    }


def make_rows(catalogue: Catalogue, split: Split, count: int, *, seed: int) -> list[dict[str, Any]]:
    """`count` rows with different questions."""
    rows: dict[str, dict[str, Any]] = {}
    for question in questions(catalogue, split, seed):
        if len(rows) >= count:
            break
        rows.setdefault(question.text, row(question))
    return list(rows.values())


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


def write_dataset(out: Path, *, train: int, valid: int, seed: int) -> tuple[Path, Path]:
    """Writes `train.jsonl` and `valid.jsonl` under `out` and returns their paths."""
    catalogue = build_catalogue()
    out.mkdir(parents=True, exist_ok=True)
    paths = (out / "train.jsonl", out / "valid.jsonl")
    write_rows(paths[0], make_rows(catalogue, "train", train, seed=seed))
    write_rows(paths[1], make_rows(catalogue, "validation", valid, seed=seed))
    return paths


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--train", type=int, default=320)
    parser.add_argument("--valid", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    paths = write_dataset(options.out, train=options.train, valid=options.valid, seed=options.seed)
    print(json.dumps({"train": str(paths[0]), "valid": str(paths[1]), "store_seed": STORE_SEED}))


if __name__ == "__main__":
    main()
