"""Skills as rows: proposals, the gate's decisions, and promotions."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, cast, func, select, update
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.students.gate import Comparison
from app.domain.students.students import RunPair, Skill, SkillStatus, no_skill
from app.store.paging import Keyset
from app.store.schema.students import SkillTable as Table
from app.store.times import unix, unix_or_none


class SkillStore:
    def __init__(self, session: AsyncSession, project_id: str) -> None:
        self._session = session
        self._project_id = project_id

    async def insert(self, skill: Skill) -> None:
        await self._session.execute(
            insert(Table).values(
                project_id=self._project_id,
                id=skill.id,
                student=skill.student,
                job_id=skill.job_id,
                model=skill.model,
                baseline=skill.baseline,
                status=skill.status.value,
                runs=[asdict(pair) for pair in skill.runs],
                comparisons=[],
            )
        )

    async def get(self, student: str, skill_id: str) -> Skill:
        """Raises `NotFound`."""
        query = select(Table).where(*self._of(student), Table.id == skill_id)
        row = await self._session.scalar(query.execution_options(populate_existing=True))
        if row is None:
            raise no_skill(skill_id)
        return _to_skill(row)

    async def page(
        self, student: str, *, after: str | None, limit: int
    ) -> tuple[list[Skill], bool]:
        """Returns a page, newest first."""
        page, more = await Keyset((Table.created_at, Table.id), descending=True).page(
            self._session,
            select(Table).where(*self._of(student)).execution_options(populate_existing=True),
            after=after,
            cursor=[*self._of(student), Table.id == after],
            limit=limit,
        )
        return [_to_skill(row) for row in page], more

    async def running(self, student: str) -> list[Skill]:
        """Returns the skills of a student whose gate is open."""
        query = select(Table).where(*self._of(student), Table.status == SkillStatus.RUNNING.value)
        rows = await self._session.scalars(query.execution_options(populate_existing=True))
        return [_to_skill(row) for row in rows]

    async def gate_runs(self, eval_id: str) -> set[str]:
        """Returns the ids of the eval's runs that gates started."""
        path = cast("$[*] ? (@.eval_id == $eval_id).*", JSONPATH)
        found = func.jsonb_path_query(
            Table.runs, path, func.jsonb_build_object("eval_id", eval_id), type_=JSONB
        )
        query = select(found).where(Table.project_id == self._project_id)
        return set(await self._session.scalars(query)) - {eval_id}

    async def decide(
        self, skill: Skill, status: SkillStatus, reason: str, comparisons: list[Comparison]
    ) -> Skill:
        """Writes the gate's decision unless another reader has written one; returns what is
        stored.
        """
        await self._session.execute(
            update(Table)
            .where(
                *self._of(skill.student),
                Table.id == skill.id,
                Table.status == SkillStatus.RUNNING.value,
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
            update(Table)
            .where(*self._of(skill.student), Table.id == skill.id)
            .values(promoted_at=func.now())
        )

    def _of(self, student: str) -> tuple[ColumnElement[bool], ...]:
        return (Table.project_id == self._project_id, Table.student == student)


def _to_skill(row: Table) -> Skill:
    return Skill(
        id=row.id,
        student=row.student,
        job_id=row.job_id,
        model=row.model,
        baseline=row.baseline,
        status=SkillStatus(row.status),
        reason=row.reason,
        runs=tuple(RunPair(**pair) for pair in row.runs),
        comparisons=tuple(_to_comparison(each) for each in row.comparisons),
        promoted_at=unix_or_none(row.promoted_at),
        created_at=unix(row.created_at),
    )


def _to_comparison(stored: dict[str, Any]) -> Comparison:
    ends = stored["interval"]
    return Comparison(**{**stored, "interval": None if ends is None else (ends[0], ends[1])})
