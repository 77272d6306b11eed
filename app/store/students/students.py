"""Students as rows, by the name that a project gave them."""

from dataclasses import asdict

from sqlalchemy import and_, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.errors import InvalidRequest
from app.domain.students.students import RegressionSet, Student, no_student
from app.store.accounts.projects import refuse_archived
from app.store.paging import Keyset
from app.store.schema.students import SkillTable
from app.store.schema.students import StudentTable as Table
from app.store.times import unix


class StudentStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, student: Student) -> None:
        """Raises `InvalidRequest` for a name that the project already uses."""
        await refuse_archived(self._session, self._project_id)
        inserted = await self._session.scalar(
            insert(Table)
            .values(
                project_id=self._project_id,
                name=student.name,
                base_model=student.base_model,
                regression_sets=[asdict(each) for each in student.regression_sets],
            )
            .on_conflict_do_nothing(index_elements=[Table.project_id, Table.name])
            .returning(Table.name)
        )
        if inserted is None:
            raise InvalidRequest(
                f"The project already has a student '{student.name}'.",
                param="name",
                code="name_taken",
            )

    async def get(self, name: str, *, locked: bool = False) -> Student:
        """Raises `NotFound`. A locked row keeps its current skill until the transaction ends."""
        query = select(Table).where(Table.project_id == self._project_id, Table.name == name)
        query = query.execution_options(populate_existing=True)
        row = await self._session.scalar(query.with_for_update() if locked else query)
        if row is None:
            raise no_student(name)
        return _to_student(row)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[Student], bool]:
        """Returns a page, newest first; `after` is a name."""
        page, more = await Keyset((Table.created_at, Table.name), descending=True).page(
            self._session,
            select(Table).where(Table.project_id == self._project_id),
            after=after,
            cursor=[Table.project_id == self._project_id, Table.name == after],
            limit=limit,
        )
        return [_to_student(row) for row in page], more

    async def answering_model(self, name: str) -> str | None:
        """Returns the model that answers for a student: that of its current skill, or its base
        model. Returns `None` for a student that the project does not have.
        """
        of = and_(SkillTable.project_id == Table.project_id, SkillTable.id == Table.current_skill)
        return await self._session.scalar(
            select(func.coalesce(SkillTable.model, Table.base_model))
            .select_from(Table)
            .join(SkillTable, of, isouter=True)
            .where(Table.project_id == self._project_id, Table.name == name)
        )

    async def set_current(self, name: str, skill_id: str | None) -> None:
        of = (Table.project_id == self._project_id, Table.name == name)
        await self._session.execute(update(Table).where(*of).values(current_skill=skill_id))

    async def set_regression_sets(self, name: str, sets: tuple[RegressionSet, ...]) -> None:
        of = (Table.project_id == self._project_id, Table.name == name)
        stored = [asdict(each) for each in sets]
        await self._session.execute(update(Table).where(*of).values(regression_sets=stored))

    async def delete(self, name: str) -> None:
        """Deletes a student with its history; its models stay. Raises `NotFound`."""
        of = (Table.project_id == self._project_id, Table.name == name)
        if await self._session.scalar(delete(Table).where(*of).returning(Table.name)) is None:
            raise no_student(name)


def _to_student(row: Table) -> Student:
    return Student(
        name=row.name,
        base_model=row.base_model,
        regression_sets=tuple(RegressionSet(**each) for each in row.regression_sets),
        current_skill=row.current_skill,
        created_at=unix(row.created_at),
    )
