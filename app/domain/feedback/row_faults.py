"""Checks a built row as the job that reads it does. Pure."""

import json

from app.domain.data.chat_rows import DatasetError
from app.domain.data.row_formats import check_row
from app.domain.documents.json_object import Json


def first_fault(row: Json) -> DatasetError | None:
    """Returns the first fault of a pair or of a conversation; `None` for a usable row."""
    line = json.dumps(row, ensure_ascii=False).encode()
    try:
        check_row("supervised" if "messages" in row else "dpo", line, 1)
    except DatasetError as error:
        return error
    return None
