"""Reads the validations of a job from its rollouts, as the runs and items of an eval.

Only reads. A validation's rollouts are committed together with their step, so a validation that
can be read is always complete.
"""

from typing import assert_never

from sqlalchemy import Double, Select, and_, false, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.elements import ColumnElement

from app.evals.evals import EvalRunStatus, ItemStatus
from app.evals.job_runs import ValidationCounts
from app.jobs.tables import CheckpointTable
from app.kit.sql import Keyset, cut
from app.rollouts.rollouts import RolloutRow
from app.rollouts.store import to_rollout
from app.rollouts.tables import RolloutTable as Table

_ORDER = (Table.prompt_index, Table.sample_index, Table.attempt)


class ValidationRunStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def page(
        self,
        job_id: str,
        threshold: float | None,
        *,
        status: EvalRunStatus | None,
        after: int | None,
        limit: int,
        descending: bool,
    ) -> tuple[list[ValidationCounts], bool]:
        """Returns a page by step; `after` is the last step of the page before."""
        query = self._validations(job_id, threshold)
        if status is not None:
            query = query.having(_ended_as(status))
        if after is not None:
            query = query.where(Table.step < after if descending else Table.step > after)
        query = query.order_by(Table.step.desc() if descending else Table.step)
        rows = (await self._session.execute(query.limit(limit + 1))).all()
        page, more = cut(rows, limit)
        return [ValidationCounts(*row) for row in page], more

    async def get(self, job_id: str, threshold: float | None, step: int) -> ValidationCounts | None:
        query = self._validations(job_id, threshold).where(Table.step == step)
        row = (await self._session.execute(query)).one_or_none()
        return None if row is None else ValidationCounts(*row)

    async def items(
        self,
        job_id: str,
        step: int,
        threshold: float | None,
        *,
        status: ItemStatus | None,
        after: str | None,
        limit: int,
        descending: bool,
        index: int | None = None,
    ) -> tuple[list[RolloutRow], bool]:
        """Returns a page in the order of prompt and sample, of one prompt if `index` names it;
        `after` is a rollout's id.
        """
        query = select(Table).where(*_of(job_id), Table.step == step)
        if index is not None:
            query = query.where(Table.prompt_index == index)
        if status is not None:
            query = query.where(_has_status(status, threshold))
        page, more = await Keyset(_ORDER, descending=descending).page(
            self._session,
            query,
            after=after,
            cursor=[Table.id == after, *_of(job_id), Table.step == step],
            limit=limit,
        )
        return [to_rollout(row) for row in page], more

    @staticmethod
    def _validations(
        job_id: str, threshold: float | None
    ) -> Select[int, int, int, int, int, int, float, str, str]:
        of_step = and_(CheckpointTable.job_id == job_id, CheckpointTable.step == Table.step)
        return (
            select(
                Table.step,
                func.count(),
                func.count().filter(_passes(threshold)),
                func.count().filter(Table.reward.is_(None)),
                func.sum(Table.prompt_tokens),
                func.sum(Table.completion_tokens),
                func.max(Table.finished_at, type_=Double),
                func.max(CheckpointTable.model_name),
                _first_fault(),
            )
            .join(CheckpointTable, of_step, isouter=True)
            .where(*_of(job_id))
            .group_by(Table.step)
        )


def _first_fault() -> ColumnElement[str]:
    """Returns the message of the first lost rollout, in the order in which items are listed."""
    messages = aggregate_order_by(Table.failure_message, *_ORDER)
    return func.array_agg(messages).filter(Table.reward.is_(None))[1]


def _ended_as(status: EvalRunStatus) -> ColumnElement[bool]:
    """Returns the condition of a validation with this status; a validation that can be read has
    ended.
    """
    scored = func.count(Table.reward)
    match status:
        case EvalRunStatus.COMPLETED:
            return scored > 0
        case EvalRunStatus.FAILED:
            return scored == 0
        case EvalRunStatus.QUEUED | EvalRunStatus.IN_PROGRESS | EvalRunStatus.CANCELED:
            return false()
        case _:
            assert_never(status)


def _of(job_id: str) -> tuple[ColumnElement[bool], ...]:
    return (Table.job_id == job_id, Table.split == "valid")


def _passes(threshold: float | None) -> ColumnElement[bool]:
    """Returns the condition that the reward reaches the threshold, or without a threshold is above
    0.
    """
    return Table.reward > 0 if threshold is None else Table.reward >= threshold


def _has_status(status: ItemStatus, threshold: float | None) -> ColumnElement[bool]:
    match status:
        case "pass":
            return _passes(threshold)
        case "fail":
            return ~_passes(threshold)
        case "error":
            return Table.reward.is_(None)
        case _:
            assert_never(status)
