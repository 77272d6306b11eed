"""Chooses the grader of a call whose grader is `auto`, from its files, before a job exists.

Owns the access to the files. Must not know the rules of the choice.
"""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NotFound
from app.domain.graders.auto import AutoGrader
from app.domain.graders.choice.choice import GraderChoice
from app.gateways.objects import Objects, local_copy
from app.services.files.inspections import Inspections, content_gone
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class ChoicePorts:
    objects: Objects
    work_dir: Path
    inspections: Inspections
    """Limits the files that are read at once in this process; shared by all tenants."""


class GraderChoiceService:
    def __init__(self, database: Database, ports: ChoicePorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def choose(
        self,
        auto: AutoGrader,
        training_file: str,
        validation_file: str | None,
        *,
        response_format: Any,
    ) -> GraderChoice:
        """Returns the choice. Raises `InvalidRequest` if rows lack a key or a file cannot be
        read.
        """
        from app.preflight.grader_choice import (  # noqa: PLC0415 - a call without `auto` needs none
            choose_from_files,
        )

        training = await self._object_key(training_file, "training_file")
        validation = None
        if validation_file is not None:
            validation = await self._object_key(validation_file, "validation_file")
        try:
            async with AsyncExitStack() as stack:
                paths = [
                    None if key is None else await stack.enter_async_context(self._fetched(key))
                    for key in (training, validation)
                ]
                return await self._ports.inspections.run(
                    self._tenant, choose_from_files, *paths, auto, response_format
                )
        except FileNotFoundError as error:
            raise content_gone() from error

    def _fetched(self, key: str) -> AbstractAsyncContextManager[Path]:
        return local_copy(self._ports.objects, key, self._ports.work_dir)

    async def _object_key(self, file_id: str, param: str) -> str:
        try:
            async with self._database.tenant(self._tenant) as unit:
                row = await unit.files.get(file_id)
        except NotFound as error:
            message = f"{param} {file_id} does not exist."
            raise InvalidRequest(message, param=param, code="file_not_found") from error
        if row.purpose != "fine-tune":
            raise InvalidRequest(
                f"{param} {file_id} has purpose '{row.purpose}', but must have 'fine-tune'.",
                param=param,
                code="invalid_value",
            )
        return row.object_key
