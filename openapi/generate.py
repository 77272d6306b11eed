"""Writes `openapi.json` from the application, or checks that the committed one is current."""

import json
import sys
from pathlib import Path

from app.main import create_app

TARGET = Path(__file__).with_name("openapi.json")


def document() -> str:
    """Returns the schema as committed: stable order, two-space indent, final newline."""
    return json.dumps(create_app().openapi(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    current = document()
    if "--check" not in arguments:
        TARGET.write_text(current, encoding="utf-8")
        return 0
    if not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != current:
        sys.stderr.write("openapi/openapi.json is stale: run `make openapi` and commit it\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
