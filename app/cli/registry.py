"""Adds, lists, shows and tests registered objects of any noun."""

import json
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from rich.text import Text

from app.cli.client import parse_reply, path_of
from app.cli.output import columns, console, fields, note
from app.cli.printable import moment, printable
from app.cli.remote import Remote, read_body
from app.cli.terminal import ServiceError
from app.kit.processes import TEST_FAILED, WRONG_OPTIONS

_TEST_TIMEOUT_S: Final = 300.0
"""Timeout of a test, which calls endpoints for a minute, each of which may be slow."""


class RegisteredReply(BaseModel):
    id: str
    name: str
    version: int
    created_at: float | None
    """`None` for a recipe that ships with the service."""
    warnings: list[dict[str, Any]] | None = None


class _Check(BaseModel):
    name: str
    status: str
    detail: str


class _Fault(BaseModel):
    severity: str
    code: str
    message: str


class _Test(BaseModel):
    """A test result: checks for a tool or an environment, faults for a curriculum."""

    passed: bool
    checks: list[_Check] = []
    faults: list[_Fault] = []


class _GradeMetadata(BaseModel):
    errors: dict[str, Any] = {}
    reasons: dict[str, str] = {}


class _GraderRun(BaseModel):
    reward: float | None
    metadata: _GradeMetadata


def add_object(remote: Remote, noun: str, path: Path) -> None:
    body = read_body(path)
    with remote.service() as service:
        reply = service.create(noun, body)
    added = parse_reply(RegisteredReply, reply)
    for warning in added.warnings or []:
        note(printable(str(warning.get("message"))))
    remote.out.result(reply, lambda: print(printable(added.id)))


def list_objects(remote: Remote, noun: str, *, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(noun, limit=limit)
    found = [parse_reply(RegisteredReply, row) for row in rows.data]

    def show() -> None:
        cells = [(one.id, one.name, one.version, _shown_moment(one.created_at)) for one in found]
        console().print(columns(("ID", "NAME", "VERSION", "CREATED"), cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def show_object(remote: Remote, noun: str, object_id: str, *, version: int | None) -> None:
    with remote.service() as service:
        reply = service.get(f"{noun}/{path_of(object_id)}", version=version)
    parse_reply(RegisteredReply, reply)
    remote.out.result(reply, lambda: console().print(fields(_named(reply))))


def run_object_test(remote: Remote, noun: str, object_id: str, body: Path | None) -> int:
    """Returns `TEST_FAILED` if the test found a fault."""
    sent = None if body is None else read_body(body)
    with remote.service() as service:
        path = f"{noun}/{path_of(object_id)}/test"
        reply = service.post(path, sent, timeout_s=_TEST_TIMEOUT_S)
    if noun == "graders":
        return _show_grade(remote, reply)
    result = parse_reply(_Test, reply)

    def show() -> None:
        out = console()
        for check in result.checks:
            out.print(Text(printable(f"{check.status:7}  {check.name}: {check.detail}")))
        for fault in result.faults:
            out.print(Text(printable(f"{fault.severity:7}  {fault.code}: {fault.message}")))
        out.print("passed" if result.passed else "not passed")

    remote.out.result(reply, show)
    return 0 if result.passed else TEST_FAILED


def _show_grade(remote: Remote, reply: dict[str, Any]) -> int:
    run = parse_reply(_GraderRun, reply)
    flags = run.metadata.errors
    raised = sorted(name for name, value in flags.items() if value is True)

    def show() -> None:
        reasons = [(f"reason {name}", text) for name, text in run.metadata.reasons.items()]
        faults = ("errors", ", ".join(raised) or None)
        details = [
            (name.replace("_", " "), printable(str(flags[name])))
            for name in sorted(flags)
            if name.endswith("details") and flags[name]
        ]
        console().print(fields([("reward", run.reward), faults, *details, *reasons]))

    remote.out.result(reply, show)
    return TEST_FAILED if raised else 0


def _shown_moment(created_at: float | None) -> str:
    return "ships" if created_at is None else moment(created_at)


def _named(reply: dict[str, Any]) -> list[tuple[str, object]]:
    times = ("created_at", "updated_at")
    return [
        (printable(name), _shown_moment(value) if name in times else value)
        for name, value in reply.items()
        if name != "object"
    ]


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
