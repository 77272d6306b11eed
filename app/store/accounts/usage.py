"""Records of usage as rows: written once each, and added up in buckets of time."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import BigInteger, cast, func, literal, select
from sqlalchemy import insert as plain_insert
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts.usage import (
    COUNTS,
    WIDTHS_S,
    Amounts,
    UsageBucket,
    UsageGrouping,
    UsageQuery,
    UsageRecord,
    UsageSum,
)
from app.domain.ids import new_id
from app.domain.jobs.usage import Usage
from app.store.schema.jobs import FineTuningJobTable as Job
from app.store.schema.usage import UsageRecordTable as Table
from app.store.times import moment

_MOST: Final = 2**62
_COLUMNS: Final[dict[UsageGrouping, Any]] = {
    "project_id": Table.project_id,
    "api_key_id": Table.key_id,
    "model": Table.model,
    "job_id": Table.job_id,
    "line_item": Table.kind,
}


class UsageStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def insert(
        self, records: Sequence[UsageRecord], *, organization_id: str, project_id: str
    ) -> None:
        """Writes records of the project; one that is written already is left as it is."""
        rows = [
            {
                "id": record.id,
                "organization_id": organization_id,
                "project_id": project_id,
                "kind": record.kind,
                "key_id": record.key_id,
                "model": record.model,
                "job_id": record.job_id,
                "used_at": moment(record.used_at),
                **asdict(record.amounts),
            }
            for record in records
        ]
        await self._session.execute(insert(Table).on_conflict_do_nothing(), rows)

    async def fill(self, query: UsageQuery, buckets: list[UsageBucket]) -> list[UsageBucket]:
        """Returns the buckets with their sums. Row-level security limits them to an organization,
        or to a project.
        """
        if not buckets:
            return []
        width = WIDTHS_S[query.width]
        second = cast(func.floor(func.extract("epoch", Table.used_at)), BigInteger)
        start = (second // width * width).label("start")
        names = tuple(dict.fromkeys(query.group_by))
        groups = [_COLUMNS[name].label(f"by_{name}") for name in names]
        currency = [Table.currency] if query.in_money else []
        keys = [start, *groups, *currency]
        rows = await self._session.execute(
            select(*keys, *_sums(in_money=query.in_money))
            .where(
                Table.used_at >= moment(buckets[0].start_s),
                Table.used_at < moment(buckets[-1].end_s),
                *_conditions(query),
            )
            .group_by(*keys)
            .order_by(*keys)
        )
        found: dict[int, list[UsageSum]] = {}
        for row in rows:
            found.setdefault(row.start, []).append(_to_sum(row, names))
        return [
            replace(bucket, sums=found.get(bucket.start_s // width * width, []))
            for bucket in buckets
        ]


async def record_step(session: AsyncSession, job_id: str, used: Usage) -> None:
    """Records what the commit of a run used, in the run's transaction."""
    values = {"id": new_id("usage_"), "kind": "fine_tuning", **asdict(amounts_of(used))}
    columns = ["organization_id", "project_id", "key_id", "model", "job_id", *values]
    source = select(
        *(Job.organization_id, Job.project_id, Job.key_id, Job.model, Job.id),
        *(literal(value, Table.__table__.c[name].type) for name, value in values.items()),
    ).where(Job.id == job_id)
    await session.execute(plain_insert(Table).inline().from_select(columns, source))


def amounts_of(used: Usage) -> Amounts:
    judged = [tokens for model in used.model_graders.values() for tokens in model.items()]
    return Amounts(
        input_tokens=used.prompt_tokens,
        output_tokens=used.completion_tokens,
        trained_tokens=used.trained_tokens,
        rollouts=used.rollouts,
        tool_calls=used.tool_calls,
        grader_calls=used.grader_calls,
        judge_input_tokens=_whole(n for key, n in judged if key.endswith("prompt_tokens")),
        judge_output_tokens=_whole(n for key, n in judged if key.endswith("completion_tokens")),
        training_s=used.training_time_s,
        gpu_s=used.gpu_seconds,
        cost=used.estimated_cost,
        currency=used.currency,
    )


def _whole(counts: Iterable[float]) -> int:
    """Returns a sum that a BIGINT holds: no server's counts make the commit of a step fail."""
    return round(min(sum(counts), _MOST))


def _sums(*, in_money: bool) -> list[Any]:
    columns = Table.__table__.c
    # The sum of a BIGINT is a NUMERIC, which has no largest value.
    sums = [func.sum(columns[name]).label(name) for name in COUNTS]
    return [*sums, func.sum(Table.cost).label("cost")] if in_money else sums


def _conditions(query: UsageQuery) -> list[Any]:
    conditions = [] if query.kind is None else [Table.kind == query.kind]
    filters = (
        (Table.project_id, query.project_ids),
        (Table.key_id, query.key_ids),
        (Table.model, query.models),
        (Table.job_id, query.job_ids),
    )
    return [*conditions, *(column.in_(wanted) for column, wanted in filters if wanted)]


def _to_sum(row: Any, names: Sequence[UsageGrouping]) -> UsageSum:
    counts = {name: _number(getattr(row, name)) for name in COUNTS}
    groups = {name: getattr(row, f"by_{name}") for name in names}
    cost, currency = (getattr(row, name, None) for name in ("cost", "currency"))
    amounts = Amounts(**counts, cost=cost, currency=currency)
    return UsageSum(amounts, **groups)


def _number(total: Decimal | float) -> Any:
    return int(total) if isinstance(total, Decimal) else total
