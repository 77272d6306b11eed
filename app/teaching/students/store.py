"""Students as rows, by the name that a project gave them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, cast, delete, func, select, update
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert

from app.accounts.store import refuse_archived
from app.kit.errors import InvalidRequest
from app.kit.sql import Keyset, ProjectRows, from_row, storable
from app.models.models import StudentVersion
from app.teaching.students.students import (
    BASE,
    Comparison,
    GateRuns,
    RegressionRows,
    Skill,
    SkillStatus,
    Student,
    no_skill,
    no_student,
)
from app.teaching.students.tables import SkillTable
from app.teaching.students.tables import StudentTable as Table

_IS_CURRENT: Final = and_(
    SkillTable.project_id == Table.project_id, SkillTable.id == Table.current_skill
)
_EDITED: Final = Table.edited_instructions[func.coalesce(Table.current_skill, BASE)].astext
_INSTRUCTIONS: Final = func.nullif(func.coalesce(_EDITED, SkillTable.instructions), "")


class StudentStore(ProjectRows):
    async def insert(self, student: Student) -> None:
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
        [student] = await self._told([row])
        return student

    async def page(self, *, after: str | None, limit: int) -> tuple[list[Student], bool]:
        page, more = await Keyset((Table.created_at, Table.name), descending=True).page(
            self._session,
            select(Table).where(Table.project_id == self._project_id),
            after=after,
            cursor=[Table.project_id == self._project_id, Table.name == after],
            limit=limit,
        )
        return await self._told(page), more

    async def _told(self, rows: Sequence[Table]) -> list[Student]:
        """Returns students with the instructions of the version that answers."""
        query = select(Table.name, _INSTRUCTIONS).join(SkillTable, _IS_CURRENT, isouter=True)
        names = Table.name.in_([row.name for row in rows])
        found = await self._session.execute(
            query.where(Table.project_id == self._project_id, names)
        )
        told: dict[str, str | None] = dict(found.all())
        return [_to_student(row, told[row.name]) for row in rows]

    async def answering(self, name: str) -> StudentVersion | None:
        """Returns the version that answers now; `None` for an unknown student."""
        query = select(func.coalesce(SkillTable.model, Table.base_model), _INSTRUCTIONS)
        query = query.select_from(Table).join(SkillTable, _IS_CURRENT, isouter=True)
        found = await self._session.execute(
            query.where(Table.project_id == self._project_id, Table.name == name)
        )
        row = found.one_or_none()
        return None if row is None else StudentVersion(*row)

    async def set_current(self, name: str, skill_id: str | None) -> None:
        of = (Table.project_id == self._project_id, Table.name == name)
        await self._session.execute(update(Table).where(*of).values(current_skill=skill_id))

    async def set_regression_sets(self, name: str, sets: tuple[RegressionRows, ...]) -> None:
        of = (Table.project_id == self._project_id, Table.name == name)
        stored = [asdict(each) for each in sets]
        await self._session.execute(update(Table).where(*of).values(regression_sets=stored))

    async def instruct(self, name: str, instructions: str | None) -> None:
        """Sets the instructions of the version that answers; `None`: those of its examples."""
        of = (Table.project_id == self._project_id, Table.name == name)
        version = func.coalesce(Table.current_skill, BASE)
        kept = Table.edited_instructions.op("-", return_type=JSONB())(version)
        said = func.jsonb_build_object(version, storable(instructions), type_=JSONB)
        edited = kept if instructions is None else kept.concat(said)
        await self._session.execute(update(Table).where(*of).values(edited_instructions=edited))

    async def delete(self, name: str) -> None:
        of = (Table.project_id == self._project_id, Table.name == name)
        if await self._session.scalar(delete(Table).where(*of).returning(Table.name)) is None:
            raise no_student(name)


def _to_student(row: Table, instructions: str | None) -> Student:
    sets = tuple(RegressionRows(**each) for each in row.regression_sets)
    return from_row(Student, row, regression_sets=sets, instructions=instructions)


class SkillStore(ProjectRows):
    async def insert(self, skill: Skill) -> None:
        await self._session.execute(
            insert(SkillTable).values(
                project_id=self._project_id,
                id=skill.id,
                student=skill.student,
                job_id=skill.job_id,
                model=skill.model,
                baseline=skill.baseline,
                status=skill.status.value,
                runs=[asdict(pair) for pair in skill.runs],
                comparisons=[],
                instructions=storable(skill.instructions),
            )
        )

    async def get(self, student: str, skill_id: str) -> Skill:
        query = select(SkillTable).where(*self._of(student), SkillTable.id == skill_id)
        row = await self._session.scalar(query.execution_options(populate_existing=True))
        if row is None:
            raise no_skill(skill_id)
        return _to_skill(row)

    async def page(
        self, student: str, *, after: str | None, limit: int
    ) -> tuple[list[Skill], bool]:
        page, more = await Keyset((SkillTable.created_at, SkillTable.id), descending=True).page(
            self._session,
            select(SkillTable).where(*self._of(student)).execution_options(populate_existing=True),
            after=after,
            cursor=[*self._of(student), SkillTable.id == after],
            limit=limit,
        )
        return [_to_skill(row) for row in page], more

    async def running(self, student: str) -> list[Skill]:
        query = select(SkillTable).where(
            *self._of(student), SkillTable.status == SkillStatus.RUNNING.value
        )
        rows = await self._session.scalars(query.execution_options(populate_existing=True))
        return [_to_skill(row) for row in rows]

    async def gate_runs(self, eval_id: str) -> set[str]:
        path = cast("$[*] ? (@.eval_id == $eval_id).*", JSONPATH)
        found = func.jsonb_path_query(
            SkillTable.runs, path, func.jsonb_build_object("eval_id", eval_id), type_=JSONB
        )
        query = select(found).where(SkillTable.project_id == self._project_id)
        return set(await self._session.scalars(query)) - {eval_id}

    async def decide(
        self, skill: Skill, status: SkillStatus, reason: str, comparisons: list[Comparison]
    ) -> Skill:
        """Writes the decision unless another reader wrote one; returns what is stored."""
        await self._session.execute(
            update(SkillTable)
            .where(
                *self._of(skill.student),
                SkillTable.id == skill.id,
                SkillTable.status == SkillStatus.RUNNING.value,
            )
            .values(
                status=status.value,
                reason=reason,
                comparisons=[asdict(each) for each in comparisons],
            )
        )
        return await self.get(skill.student, skill.id)

    async def mark_promoted(self, skill: Skill) -> None:
        await self._session.execute(
            update(SkillTable)
            .where(*self._of(skill.student), SkillTable.id == skill.id)
            .values(promoted_at=func.now())
        )

    def _of(self, student: str) -> tuple[ColumnElement[bool], ...]:
        return (SkillTable.project_id == self._project_id, SkillTable.student == student)


def _to_skill(row: SkillTable) -> Skill:
    return from_row(
        Skill,
        row,
        status=SkillStatus(row.status),
        runs=tuple(GateRuns(**pair) for pair in row.runs),
        comparisons=tuple(_to_comparison(each) for each in row.comparisons),
    )


def _to_comparison(stored: dict[str, Any]) -> Comparison:
    ends = stored["interval"]
    return Comparison(**{**stored, "interval": None if ends is None else (ends[0], ends[1])})
