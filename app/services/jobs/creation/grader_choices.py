"""Chooses the grader of a call whose grader is `auto`, from its files, before a job exists.

Owns the access to the files. Must not know the rules of the choice.
"""

from typing import Any

from app.domain.accounts.tenants import Tenant
from app.domain.errors import InvalidRequest, NotFound
from app.domain.graders.auto import AutoGrader
from app.domain.graders.choice.choice import GraderChoice
from app.services.files.inspections import Inspections
from app.store.database import Database


class GraderChoiceService:
    def __init__(self, database: Database, inspections: Inspections, tenant: Tenant) -> None:
        self._database = database
        self._inspections = inspections
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
        async with self._inspections.copies((training, validation)) as paths:
            return await self._inspections.run(
                self._tenant, choose_from_files, *paths, auto, response_format
            )

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
