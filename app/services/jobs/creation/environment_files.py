"""Writes the tasks of a job's built-in environment as files of the project.

Owns the conversion of a problem file to rows. Must not know how tasks are generated.
"""

from typing import TYPE_CHECKING

from app.domain.accounts.tenants import Tenant
from app.domain.environments.environments import FILE_PARAM, BuiltIn
from app.domain.errors import InvalidRequest, NotFound
from app.domain.registry.curricula import CURRICULUM_SPLITS
from app.services.files.inspections import Inspections
from app.services.files.row_files import RowFiles
from app.store.database import Database

if TYPE_CHECKING:
    from app.preflight.environment_tasks import EnvironmentTasks


class EnvironmentFiles:
    def __init__(
        self,
        database: Database,
        inspections: Inspections,
        *,
        row_files: RowFiles,
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._inspections = inspections
        self._row_files = row_files
        self._tenant = tenant

    async def write(self, environment: BuiltIn, made: list[str]) -> dict[str, str]:
        """Returns the ids as `{"training_file": id, "validation_file": id}`, and adds each to
        `made` as it is written. Raises `InvalidRequest`.
        """
        tasks = await self._tasks(environment)
        rows = {"training": tasks.training, "validation": tasks.validation}
        files: dict[str, str] = {}
        for split in CURRICULUM_SPLITS:
            name = f"{environment.type}-{split}.jsonl"
            file = await self._row_files.write(rows[split], name)
            made.append(file.id)
            files[f"{split}_file"] = file.id
        return files

    async def _tasks(self, environment: BuiltIn) -> "EnvironmentTasks":
        from app.preflight.environment_tasks import tasks_of  # noqa: PLC0415 - for few calls

        if environment.problem_file is None:
            return await self._inspections.run(self._tenant, tasks_of, environment, None)
        key = await self._object_key(environment.problem_file)
        gone = InvalidRequest(
            f"The content of the environment's file {environment.problem_file} is gone: "
            "upload the file again.",
            param=FILE_PARAM,
            code="file_not_found",
        )
        async with self._inspections.copy(key, gone=gone) as path:
            return await self._inspections.run(self._tenant, tasks_of, environment, path)

    async def _object_key(self, file_id: str) -> str:
        try:
            async with self._database.tenant(self._tenant) as unit:
                row = await unit.files.get(file_id)
        except NotFound as error:
            message = f"The environment's file {file_id} does not exist."
            raise InvalidRequest(message, param=FILE_PARAM, code="file_not_found") from error
        return row.object_key
