"""Replaces references in a create call by the registered objects.

Owns the places where a job may name a registered object by its id. The result is complete, real
headers included, so that the create path seals them for the job, and no later version or
deletion of the object changes it. Must not know what else a create call holds.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from app.domain.errors import InvalidRequest, NotFound
from app.domain.registry.curricula import SPLITS, Split
from app.domain.registry.registered_objects import Noun, Registered
from app.services.registry.curricula import CurriculumService
from app.services.registry.registered_graders import RegisteredGraderService
from app.services.registry.registered_objects import RegistryService
from app.services.registry.tools import ToolService

MAX_REFERENCES: Final = 128
"""Tools of one call; each is looked up by itself."""
_METHOD: Final = "method.reinforcement"
_REFERENCE_KEYS: Final = frozenset({"id", "version"})
_MAX_VERSION: Final = 2**31 - 1
_MAX_ID: Final = 128


@dataclass(frozen=True, slots=True)
class ReferencePorts:
    tools: ToolService
    graders: RegisteredGraderService
    curricula: CurriculumService


class RegisteredReferences:
    def __init__(self, ports: ReferencePorts) -> None:
        self._ports = ports

    @asynccontextmanager
    async def resolved(self, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """Yields the create call with each reference replaced by its definition.

        Tools and grader keep `id` and `version`; a curriculum becomes `training_file` and
        `validation_file`, and inline rows become files of the project, deleted again when the
        block fails. Raises `InvalidRequest` naming the parameter. Other keys are
        not checked here.
        """
        made: list[str] = []
        done = False
        try:
            yield await self._resolve(body, made)
            done = True
        finally:
            if not done:
                await self._ports.curricula.discard(made)

    @asynccontextmanager
    async def readable(
        self, body: dict[str, Any]
    ) -> AsyncIterator[tuple[dict[str, Any], InvalidRequest | None]]:
        """For a block of work that only looks: the call resolved, or as sent with what is wrong
        with its references. Nothing that was written for it stays.
        """
        made: list[str] = []
        try:
            fault = None
            try:
                resolved = await self._resolve(body, made)
            except InvalidRequest as error:
                resolved, fault = body, error
            yield resolved, fault
        finally:
            await self._ports.curricula.discard(made)

    async def _resolve(self, body: dict[str, Any], made: list[str]) -> dict[str, Any]:
        resolved = {**body}
        method = body.get("method")
        inner = method.get("reinforcement") if isinstance(method, dict) else None
        if isinstance(method, dict) and isinstance(inner, dict):
            resolved["method"] = {**method, "reinforcement": await self._method(inner)}
        if body.get("curriculum") is not None:
            resolved.update(await self._data(body, made))
        return resolved

    async def _method(self, inner: dict[str, Any]) -> dict[str, Any]:
        resolved, tools, grader = {**inner}, inner.get("tools"), inner.get("grader")
        if isinstance(tools, list):
            if sum(_is_reference(tool, "server_url") for tool in tools) > MAX_REFERENCES:
                raise _invalid(f"{_METHOD}.tools", f"more than {MAX_REFERENCES} are referred to")
            resolved["tools"] = [
                await self._one(tool, self._ports.tools, f"{_METHOD}.tools[{index}]")
                for index, tool in enumerate(tools)
            ]
        if isinstance(grader, dict):
            resolved["grader"] = await self._one(grader, self._ports.graders, f"{_METHOD}.grader")
        return resolved

    async def _one(self, sent: Any, service: RegistryService, param: str) -> Any:
        spelled_out = "server_url" if service.noun is Noun.TOOL else "type"
        if not _is_reference(sent, spelled_out):
            return sent
        registered = await _find(sent, service, param)
        definition = service.reveal(registered)
        return {**definition, "id": registered.id, "version": registered.version}

    async def _data(self, body: dict[str, Any], made: list[str]) -> dict[str, Any]:
        for split in SPLITS:
            if body.get(f"{split}_file") is not None:
                raise InvalidRequest(
                    f"Send 'curriculum' or '{split}_file', not both.",
                    param="curriculum",
                    code="invalid_value",
                )
        sent = body["curriculum"]
        if isinstance(sent, dict) and "id" not in sent:
            return await self._inline(sent, made)
        reference = {"id": sent} if isinstance(sent, str) else sent
        if not isinstance(reference, dict):
            raise _invalid("curriculum", "it is an id, an object with an id, or rows")
        registered = await _find(reference, self._ports.curricula, "curriculum")
        held = {split: registered.definition.get(split) for split in SPLITS}
        return {
            "curriculum": {"id": registered.id, "version": registered.version},
            **{f"{split}_file": part["file_id"] for split, part in held.items() if part},
        }

    async def _inline(self, sent: dict[str, Any], made: list[str]) -> dict[str, Any]:
        for key in sent:
            if key not in SPLITS:
                raise _invalid(f"curriculum.{key[:80]}", "it is not a part of a curriculum")
        rows = {split: _rows(sent, split) for split in SPLITS}
        files: dict[str, Any] = {}
        for split in SPLITS:
            if rows[split]:
                file = await self._ports.curricula.write(rows[split], split)
                made.append(file.id)
                files[f"{split}_file"] = file.id
        return {"curriculum": None, **files}


def _is_reference(sent: Any, spelled_out: str) -> bool:
    """An object with an id and without the key that every definition has."""
    return isinstance(sent, dict) and "id" in sent and spelled_out not in sent


async def _find(sent: dict[str, Any], service: RegistryService, param: str) -> Registered:
    for key in sent:
        if key not in _REFERENCE_KEYS:
            raise _invalid(f"{param}.{key[:80]}", "a reference holds 'id' and 'version' only")
    object_id, version = sent.get("id"), sent.get("version")
    if not isinstance(object_id, str) or len(object_id) > _MAX_ID:
        raise _invalid(f"{param}.id", "it is not an id")
    if version is not None and not _is_version(version):
        raise _invalid(f"{param}.version", "it is not a version")
    place = "curriculum" if service.noun is Noun.CURRICULUM else f"{param}.id"
    newest = await _found(service.get, object_id, None, place)
    if version is None or version == newest.version:
        return newest
    return await _found(service.get, object_id, version, f"{param}.version")


async def _found(
    get: Callable[..., Any], object_id: str, version: int | None, param: str
) -> Registered:
    try:
        registered: Registered = await get(object_id, version=version)
    except NotFound as error:
        raise InvalidRequest(error.message, param=param, code=error.code) from error
    return registered


def _is_version(version: Any) -> bool:
    return (
        isinstance(version, int) and not isinstance(version, bool) and 1 <= version <= _MAX_VERSION
    )


def _rows(sent: dict[str, Any], split: Split) -> list[dict[str, Any]]:
    rows = sent.get(split)
    if rows is None and split == "validation":
        return []
    if not isinstance(rows, list) or not rows:
        raise _invalid(f"curriculum.{split}", "it is a list of rows, with one at least")
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise _invalid(f"curriculum.{split}[{index}]", "a row is an object")
    return rows


def _invalid(param: str, reason: str) -> InvalidRequest:
    return InvalidRequest(
        f"Invalid value for '{param}': {reason}.", param=param, code="invalid_value"
    )
