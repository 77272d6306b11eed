"""`agent-rft curricula generate`: rows of a curriculum that a model writes."""

import json
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from app.cli.service.client import parse_reply
from app.cli.service.json_files import read_body
from app.cli.service.remote import Remote
from app.cli.terminal.output import note
from app.cli.terminal.printable import printable
from app.cli.terminal.service_errors import ServiceError
from app.domain.processes.exit_codes import WRONG_OPTIONS

_PATH: Final = "fine_tuning/alpha/scenarios/generate"
_TIMEOUT_S: Final = 300.0
"""The service asks the model for two minutes."""


class _Curriculum(BaseModel):
    training: list[dict[str, Any]]
    validation: list[dict[str, Any]]


class _GenerationReply(BaseModel):
    curriculum: _Curriculum
    faults: list[str]
    duplicates: int
    unusable: int


def generate(remote: Remote, body: Path, out: Path) -> None:
    """Writes the rows of each part that has some as `training.jsonl` and `validation.jsonl`, and
    prints their paths. Replaces no file.
    """
    sent = read_body(body)
    paths = {part: out / f"{part}.jsonl" for part in _Curriculum.model_fields}
    taken = next((path for path in paths.values() if path.exists()), None)
    if taken is not None:
        raise ServiceError(f"{taken} exists already", exit_code=WRONG_OPTIONS)
    with remote.service() as service:
        reply = service.post(_PATH, sent, timeout_s=_TIMEOUT_S)
    generated = parse_reply(_GenerationReply, reply)
    for fault in generated.faults:
        note(printable(fault))
    if generated.duplicates or generated.unusable:
        note(f"left out: {generated.duplicates} repeats, {generated.unusable} unusable entries")
    try:
        written = _write(generated.curriculum, paths)
    except OSError as error:
        raise ServiceError(f"{out}: {error.strerror}", exit_code=WRONG_OPTIONS) from error
    remote.out.result(reply, lambda: print("\n".join(printable(str(path)) for path in written)))


def _write(curriculum: _Curriculum, paths: dict[str, Path]) -> list[Path]:
    written = []
    for part, path in paths.items():
        rows = getattr(curriculum, part)
        if rows:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
            written.append(path)
    return written
