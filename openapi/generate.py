"""Writes `openapi.json` from the application, or checks that the committed one is current."""

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from app.http.specification import COMMITTED
from app.main import create_app

TARGET = COMMITTED
_OPEN_LEVELS: Final = 3


def document() -> str:
    """Returns the schema as committed: in stable order, one line for each operation and type."""
    return _text(create_app().openapi(), 1) + "\n"


def _text(value: Any, level: int) -> str:
    if level > _OPEN_LEVELS or not isinstance(value, Mapping) or not value:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    members = (f"{' ' * level}{json.dumps(key)}: {_text(value[key], level + 1)}" for key in value)
    return "{\n" + ",\n".join(members) + f"\n{' ' * (level - 1)}}}"


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
