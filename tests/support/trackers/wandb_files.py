"""Reads the file of an offline run of Weights & Biases, with the messages of its own library.

The file has the log format of LevelDB: blocks of 32 KiB with records of a checksum, a length, a
type (1 whole, 2 first, 3 middle, 4 last) and a body, after a header of seven bytes.
"""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from wandb.proto import wandb_internal_pb2 as pb

_BLOCK: Final = 32 * 1024
_FILE_HEADER: Final = 7
_HEAD: Final = struct.Struct("<IHB")
_FIRST_OR_WHOLE: Final = (1, 2)
_LAST_OR_WHOLE: Final = (1, 4)


def records(file: Path) -> Iterator[Any]:
    content, at, body = file.read_bytes(), _FILE_HEADER, b""
    while at + _HEAD.size <= len(content):
        if _BLOCK - at % _BLOCK < _HEAD.size:
            at += _BLOCK - at % _BLOCK
            continue
        _, length, kind = _HEAD.unpack_from(content, at)
        if kind in _FIRST_OR_WHOLE:
            body = b""
        body += content[at + _HEAD.size : at + _HEAD.size + length]
        at += _HEAD.size + length
        if kind in _LAST_OR_WHOLE:
            record = pb.Record()
            record.ParseFromString(body)
            yield record


def history(file: Path) -> list[dict[str, Any]]:
    """Returns the rows of a run."""
    return [
        {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in row}
        for row in (one.history.item for one in records(file) if one.HasField("history"))
    ]


def config(file: Path) -> dict[str, Any]:
    """Returns the config of a run, with its later changes."""
    found: dict[str, Any] = {}
    for record in records(file):
        for change in (record.config, record.run.config):
            for item in change.update:
                found[".".join(item.nested_key) or item.key] = json.loads(item.value_json)
    return found


def summary(file: Path) -> dict[str, Any]:
    return {
        ".".join(item.nested_key) or item.key: json.loads(item.value_json)
        for record in records(file)
        for item in record.summary.update
    }


def run_of(file: Path) -> Any:
    return next(record.run for record in records(file) if record.HasField("run"))
