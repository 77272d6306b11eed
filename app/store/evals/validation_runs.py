"""The validations of a job, read from its ledger as an eval's runs and items. Nothing is written.

A validation's rollouts are committed with their step, so what is seen is always complete.
"""

from dataclasses import dataclass

from sqlalchemy import Double, Select, and_, func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.domain.evals.evals import ItemStatus
from app.domain.evals.validation_runs import Validation
from app.domain.rollouts.rollouts import RolloutRow
from app.store.jobs.rollouts import to_rollout
from app.store.paging import cut, unknown_cursor
from app.store.schema.checkpoints import CheckpointTable
from app.store.schema.rollouts import RolloutTable as Table

_PLACE = (Table.prompt_index, Table.sample_index, Table.attempt)


@dataclass(frozen=True, slots=True)
class Bar:
    """What passes: a reward of at least `least`, or any above 0."""

    least: float | None

    def holds(self) -> ColumnElement[bool]:
        return Table.reward > 0 if self.least is None else Table.reward >= self.least


class ValidationRunStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def page(
        self, job_id: str, bar: Bar, *, after: int | None, limit: int, descending: bool
    ) -> tuple[list[Validation], bool]:
        """By step; `after` is the step last seen."""
        query = self._validations(job_id, bar)
        if after is not None:
            query = query.where(Table.step < after if descending else Table.step > after)
        query = query.order_by(Table.step.desc() if descending else Table.step)
        rows = (await self._session.execute(query.limit(limit + 1))).all()
        page, more = cut(rows, limit)
        return [Validation(*row) for row in page], more

    async def get(self, job_id: str, bar: Bar, step: int) -> Validation | None:
        query = self._validations(job_id, bar).where(Table.step == step)
        row = (await self._session.execute(query)).one_or_none()
        return None if row is None else Validation(*row)

    async def items(
        self,
        job_id: str,
        step: int,
        bar: Bar,
        *,
        status: ItemStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[RolloutRow], bool]:
        """In the order of prompt and sample; `after` is a rollout's id."""
        query = select(Table).where(*_of(job_id), Table.step == step)
        if status == "error":
            query = query.where(Table.reward.is_(None))
        elif status is not None:
            query = query.where(bar.holds() if status == "pass" else ~bar.holds())
        if after is not None:
            cursor = (
                await self._session.execute(
                    select(*_PLACE).where(Table.id == after, *_of(job_id), Table.step == step)
                )
            ).one_or_none()
            if cursor is None:
                raise unknown_cursor(after)
            place, seen = tuple_(*_PLACE), tuple_(*cursor)
            query = query.where(place < seen if descending else place > seen)
        order = [column.desc() for column in _PLACE] if descending else _PLACE
        rows = (await self._session.scalars(query.order_by(*order).limit(limit + 1))).all()
        page, more = cut(rows, limit)
        return [to_rollout(row) for row in page], more

    @staticmethod
    def _validations(job_id: str, bar: Bar) -> Select[int, int, int, int, int, int, float, str]:
        of_step = and_(CheckpointTable.job_id == job_id, CheckpointTable.step == Table.step)
        return (
            select(
                Table.step,
                func.count(),
                func.count().filter(bar.holds()),
                func.count().filter(Table.reward.is_(None)),
                func.sum(Table.prompt_tokens),
                func.sum(Table.completion_tokens),
                func.max(Table.finished_at, type_=Double),
                func.max(CheckpointTable.model_name),
            )
            .join(CheckpointTable, of_step, isouter=True)
            .where(*_of(job_id))
            .group_by(Table.step)
        )


def _of(job_id: str) -> tuple[ColumnElement[bool], ...]:
    return (Table.job_id == job_id, Table.split == "valid")
