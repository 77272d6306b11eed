"""Tuned models as rows, by the name that a tenant calls."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    cast,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONPATH, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from app.accounts.tables import ProjectTable
from app.evals.evals import OPEN_RUNS
from app.evals.tables import EvalRunTable as Runs
from app.evals.tables import EvalTable as Evals
from app.jobs.jobs import ENDED
from app.jobs.tables import CheckpointTable as Checkpoint
from app.jobs.tables import FineTuningJobTable as Jobs
from app.kit.errors import InvalidRequest, NotFound, WrongState
from app.kit.ids import new_id
from app.kit.sql import Keyset, ProjectRows, from_row, storable
from app.models.adapters import OPEN_EXPORTS
from app.models.chat import StoredCompletion
from app.models.export_store import model_dropped
from app.models.models import STUDENT, CheckpointPermission, ModelUser, TunedModel, used_by
from app.models.tables import CheckpointPermissionTable as Permission
from app.models.tables import ModelExportTable as Exports
from app.models.tables import StoredCompletionTable as Stored
from app.models.tables import TunedModelTable as Table
from app.teaching.students.tables import SkillTable as Skills
from app.teaching.students.tables import StudentTable as Students

_Text = ColumnElement[str] | InstrumentedAttribute[str]


class ModelStore(ProjectRows):
    async def insert(self, model: TunedModel) -> None:
        """Inserts a model; does nothing when the name exists, so that a commit can be repeated."""
        await self._session.execute(
            insert(Table)
            .values(
                name=model.name,
                project_id=self._project_id,
                job_id=model.job_id,
                base_model=model.base_model,
                engine_name=model.engine_name,
                object_key=model.object_key,
                step=model.step,
                reasoning_effort=model.reasoning_effort,
            )
            .on_conflict_do_nothing(index_elements=[Table.project_id, Table.name])
        )

    async def get(self, name: str) -> TunedModel | None:
        for query in (self._own(), self._shared()):
            row = await self._session.scalar(query.where(Table.name == name).limit(1))
            if row is not None:
                return from_row(TunedModel, row)
        return None

    async def all(self) -> list[TunedModel]:
        queries = (self._own(), self._shared())
        rows = [row for query in queries for row in await self._session.scalars(query)]
        rows.sort(key=lambda row: row.name)
        rows.sort(key=lambda row: row.created_at, reverse=True)
        return [from_row(TunedModel, row) for row in rows]

    async def owner_in(self, organization_id: str, name: str) -> str | None:
        """Returns the project that owns a model, to a unit in the context of the organization."""
        return await self._session.scalar(
            select(Table.project_id)
            .join(ProjectTable, ProjectTable.id == Table.project_id)
            .where(
                ProjectTable.organization_id == organization_id,
                Table.name == name,
                Table.deleted_at.is_(None),
            )
            .limit(1)
        )

    def _own(self) -> Select[Table]:
        return select(Table).where(
            Table.project_id == self._project_id, Table.deleted_at.is_(None), ~model_dropped()
        )

    def _shared(self) -> Select[Table]:
        permitted = and_(
            Permission.project_id == Table.project_id, Permission.model_name == Table.name
        )
        return (
            select(Table)
            .join(Permission, permitted)
            .where(
                Permission.target_project_id == self._project_id,
                Permission.project_id != self._project_id,
                Table.deleted_at.is_(None),
            )
        )

    async def mark_deleted(self, name: str) -> None:
        """Hides a model. Raises `WrongState` while something uses it."""
        own = (Table.project_id == self._project_id, Table.name == name)
        job_id = await self._session.scalar(select(Table.job_id).where(*own))
        # The deletion of a job locks its row first, too.
        await self._session.execute(
            update(Jobs)
            .where(Jobs.project_id == self._project_id, Jobs.id == job_id)
            .values(clean_after=func.now())
        )
        # The check behind this write sees each use that began under the lock of the model.
        await self._session.execute(update(Table).where(*own).values(deleted_at=func.now()))
        users = await users_of_model(self._session, self._project_id, name)
        if users:
            raise WrongState(f"Model '{name}' {used_by(users)}", param="model", code="model_in_use")

    async def lock(self, name: str) -> bool:
        """Keeps a model from deletion until the transaction ends; `False` if there is none."""
        query = self._own().where(Table.name == name).with_for_update(read=True)
        return await self._session.scalar(query) is not None


_OPEN: Final = [status.value for status in OPEN_RUNS]
_GRADER: Final = "$.reinforcement.grader"
_CRITERIA: Final = "$[*]"


def checkpoint_in_use() -> ColumnElement[bool]:
    """The condition that a checkpoint's model is shared or used."""
    name = Checkpoint.model_name
    shared = exists().where(
        Permission.project_id == Checkpoint.project_id, Permission.model_name == name
    )
    job = exists().where(Jobs.project_id == Checkpoint.project_id, open_job_uses(name))
    run = exists().where(
        Runs.project_id == Checkpoint.project_id,
        Evals.project_id == Runs.project_id,
        Evals.id == Runs.eval_id,
        open_run_uses(name),
    )
    export = exists().where(
        Exports.project_id == Checkpoint.project_id,
        Exports.model == name,
        Exports.status.in_(OPEN_EXPORTS),
    )
    return shared | job | run | export | _current_skills(Checkpoint.project_id, name).exists()


async def users_of_model(session: AsyncSession, project_id: str, name: str) -> list[ModelUser]:
    jobs = select(Jobs.id).where(
        Jobs.project_id == project_id, Jobs.deleted_at.is_(None), open_job_uses(literal(name))
    )
    runs = (
        select(Runs.eval_id, Runs.id)
        .join(Evals, and_(Evals.project_id == Runs.project_id, Evals.id == Runs.eval_id))
        .where(Runs.project_id == project_id, open_run_uses(literal(name)))
    )
    exports = select(Exports.id).where(
        Exports.project_id == project_id, Exports.model == name, Exports.status.in_(OPEN_EXPORTS)
    )
    students = _current_skills(literal(project_id), literal(name)).order_by(Students.name)
    return [
        *(
            ModelUser(one, "job", f"POST /v1/fine_tuning/jobs/{one}/cancel")
            for one in await session.scalars(jobs.order_by(Jobs.id))
        ),
        *(
            ModelUser(run_id, "eval run", f"POST /v1/evals/{eval_id}/runs/{run_id}/cancel")
            for eval_id, run_id in await session.execute(runs.order_by(Runs.id))
        ),
        *(
            ModelUser(one, "export", f"DELETE /v1/models/{name}/exports/{one}")
            for one in await session.scalars(exports.order_by(Exports.id))
        ),
        *(
            ModelUser(one, STUDENT, f"POST /v1/students/{one}/roll_back")
            for one in await session.scalars(students)
        ),
    ]


def open_job_uses(name: _Text) -> ColumnElement[bool]:
    return and_(
        Jobs.status.not_in(ENDED), or_(Jobs.model == name, _names(Jobs.method, _GRADER, name))
    )


def open_run_uses(name: _Text) -> ColumnElement[bool]:
    return and_(
        Runs.status.in_(_OPEN),
        or_(Runs.model == name, _names(Evals.testing_criteria, _CRITERIA, name)),
    )


def _current_skills(project_id: _Text, name: _Text) -> Select[str]:
    return (
        select(Students.name)
        .join(
            Skills,
            and_(Skills.project_id == Students.project_id, Skills.id == Students.current_skill),
        )
        .where(Students.project_id == project_id, Skills.model == name)
    )


def _names(document: InstrumentedAttribute[Any], path: str, model: _Text) -> ColumnElement[bool]:
    path_of_model = cast(f"{path}.**.model ? (@ == $model)", JSONPATH)
    return func.jsonb_path_exists(document, path_of_model, func.jsonb_build_object("model", model))


class PermissionStore(ProjectRows):
    async def grant(
        self, model_name: str, target_project_ids: Sequence[str], *, organization_id: str
    ) -> list[CheckpointPermission]:
        """Inserts missing rows; returns all in the order of the ids, or grants none."""
        for target in target_project_ids:
            statement = insert(Permission).values(
                id=new_id("cp_"),
                organization_id=organization_id,
                project_id=self._project_id,
                model_name=model_name,
                target_project_id=target,
                created_at=func.clock_timestamp(),
            )
            try:
                await self._session.execute(statement.on_conflict_do_nothing())
            except IntegrityError as error:
                raise InvalidRequest(
                    f"Project '{target}' does not exist in this organization.",
                    param="project_ids",
                    code="project_not_found",
                ) from error
        rows = await self._session.scalars(
            select(Permission).where(
                *self._of(model_name), Permission.target_project_id.in_(target_project_ids)
            )
        )
        granted = {row.target_project_id: _to_permission(row) for row in rows}
        return [granted[target] for target in dict.fromkeys(target_project_ids)]

    async def page(
        self,
        model_name: str,
        *,
        project_id: str | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[CheckpointPermission], bool]:
        query = select(Permission).where(*self._of(model_name))
        if project_id is not None:
            query = query.where(Permission.target_project_id == project_id)
        keyset = Keyset((Permission.created_at, Permission.id), descending=descending)
        page, more = await keyset.page(
            self._session,
            query,
            after=after,
            cursor=[*self._of(model_name), Permission.id == after],
            limit=limit,
        )
        return list(map(_to_permission, page)), more

    async def revoke(self, model_name: str, permission_id: str) -> None:
        deleted_id = await self._session.scalar(
            delete(Permission)
            .where(*self._of(model_name), Permission.id == permission_id)
            .returning(Permission.id)
        )
        if deleted_id is None:
            raise NotFound(f"No such permission: {permission_id}", param="permission_id")

    def _of(self, model_name: str) -> tuple[ColumnElement[bool], ...]:
        return Permission.project_id == self._project_id, Permission.model_name == model_name


def _to_permission(row: Permission) -> CheckpointPermission:
    return from_row(CheckpointPermission, row, project_id=row.target_project_id)


class StoredCompletionStore(ProjectRows):
    async def insert(self, new: StoredCompletion, *, size: int) -> None:
        await self._session.execute(
            insert(Stored).values(
                id=new.id,
                project_id=self._project_id,
                model=new.model,
                end_user=storable(new.end_user),
                completion_metadata=storable(new.metadata),
                request=storable({"messages": new.messages, "tools": new.tools}),
                reply=storable(new.reply),
                bytes=size,
            )
        )

    async def get(self, completion_id: str) -> StoredCompletion:
        row = await self._session.scalar(select(Stored).where(Stored.id == completion_id))
        if row is None:
            raise _no_completion(completion_id)
        return to_completion(row)

    async def page(
        self,
        *,
        after: str | None,
        limit: int,
        descending: bool,
        model: str | None,
        metadata: dict[str, str] | None,
    ) -> tuple[list[StoredCompletion], bool]:
        query = select(Stored)
        if model is not None:
            query = query.where(Stored.model == model)
        if metadata:
            query = query.where(Stored.completion_metadata.contains(metadata))
        keyset = Keyset((Stored.created_at, Stored.id), descending=descending)
        rows, more = await keyset.page(
            self._session, query, after=after, cursor=[Stored.id == after], limit=limit
        )
        return [to_completion(row) for row in rows], more

    async def set_metadata(self, completion_id: str, metadata: dict[str, str] | None) -> None:
        changed = await self._session.scalar(
            update(Stored)
            .where(Stored.id == completion_id)
            .values(completion_metadata=storable(metadata))
            .returning(Stored.id)
        )
        if changed is None:
            raise _no_completion(completion_id)

    async def delete(self, completion_id: str) -> None:
        """Deletes a completion and, by foreign keys, its feedback. Raises `NotFound`."""
        removed = await self._session.scalar(
            delete(Stored).where(Stored.id == completion_id).returning(Stored.id)
        )
        if removed is None:
            raise _no_completion(completion_id)


def to_completion(row: Stored) -> StoredCompletion:
    request: dict[str, Any] = row.request
    return from_row(
        StoredCompletion,
        row,
        metadata=row.completion_metadata,
        messages=request["messages"],
        tools=request["tools"],
    )


def _no_completion(completion_id: str) -> NotFound:
    return NotFound(f"Chat completion {completion_id} not found.", param="completion_id")
