"""Rollouts and their tokens as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, fields, replace
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Double,
    Text,
    case,
    cast,
    func,
    insert,
    literal_column,
    not_,
    select,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, JSONPATH
from sqlalchemy.sql.elements import ColumnElement

from app.kit.errors import NotFound
from app.kit.ids import Split
from app.kit.sql import Keyset, ProjectRows, fitting, storable
from app.rollouts.before_after import PlayedRollout
from app.rollouts.rollouts import (
    BINS,
    PassCount,
    PlayedRow,
    RewardHistogram,
    RolloutCursor,
    RolloutFilter,
    RolloutOrder,
    RolloutRow,
    RowMean,
)
from app.rollouts.tables import REPEATED_CALL
from app.rollouts.tables import RolloutTable as Table
from app.rollouts.trajectory import UNKNOWN_TOOL, TokenRecord


def stored_record(record: TokenRecord | None) -> Any:
    if record is None:
        return None
    turns = [replace(turn, texts=_storable_texts(turn.texts)) for turn in record.turns]
    return replace(record, turns=turns).to_json()


def no_tokens(rollout_id: str, *, sampled: int) -> NotFound:
    reason = (
        "it was written before this installation stored them"
        if sampled
        else "it ended before the model sampled any"
    )
    return NotFound(f"Rollout {rollout_id} has no stored tokens: {reason}.", code="no_tokens")


def _storable_texts(texts: list[str]) -> list[str]:
    whole = "".join(texts)
    return texts if storable(whole) == whole else storable(texts)


_ORDER_KEY = (Table.split, Table.step, Table.prompt_index, Table.sample_index, Table.attempt)
_ORDERS: Final[dict[RolloutOrder, tuple[Any, ...]]] = {
    "step": _ORDER_KEY,
    "reward": (Table.reward, *_ORDER_KEY),
}
_INDEXED: Final = 200
_CALLS: Final = "$.turns[*].tool_calls[*]"
_FIELDS = tuple(field.name for field in fields(RolloutRow))


class RolloutStore(ProjectRows):
    async def insert_many(
        self,
        job_id: str,
        rows: Sequence[RolloutRow],
        tokens: Mapping[str, TokenRecord] = MappingProxyType({}),
    ) -> None:
        if rows:
            values = [
                {
                    **_values(row, project_id=self._project_id, job_id=job_id),
                    "tokens": stored_record(tokens.get(row.id)),
                }
                for row in rows
            ]
            await self._session.execute(insert(Table), values)

    async def page(
        self,
        job_id: str,
        where: RolloutFilter,
        *,
        after: str | None,
        limit: int,
        order_by: RolloutOrder = "step",
        descending: bool = False,
    ) -> tuple[list[RolloutRow], bool]:
        query = select(Table).where(Table.job_id == job_id, *_conditions(job_id, where))
        cursor = [Table.id == after, Table.job_id == job_id]
        if order_by == "reward":
            query = query.where(Table.reward.is_not(None))
            cursor.append(Table.reward.is_not(None))
        page, more = await Keyset(_ORDERS[order_by], descending=descending).page(
            self._session, query, after=after, cursor=cursor, limit=limit
        )
        return [to_rollout(row) for row in page], more

    async def batch(
        self, job_id: str, where: RolloutFilter, *, behind: RolloutCursor | None, limit: int
    ) -> list[RolloutRow]:
        """Returns rollouts in the order `step` after a cursor, cut below `limit` if their traces
        exceed `MAX_PAGE_BYTES`. Deleted rows shift nothing: the cursor needs no row.
        """
        query = (
            select(Table)
            .where(Table.job_id == job_id, *_conditions(job_id, where))
            .order_by(*_ORDER_KEY)
        )
        if behind is not None:
            query = query.where(tuple_(*_ORDER_KEY) > tuple_(*astuple(behind)))
        size = func.octet_length(cast(Table.trace, Text))
        sizes = (await self._session.scalars(query.with_only_columns(size).limit(limit))).all()
        rows = await self._session.scalars(query.limit(fitting(sizes, limit)))
        return [to_rollout(row) for row in rows]

    async def get(self, job_id: str, rollout_id: str) -> RolloutRow:
        row = await self._session.scalar(
            select(Table).where(Table.id == rollout_id, Table.job_id == job_id)
        )
        if row is None:
            raise NotFound(f"No rollout {rollout_id} in job {job_id}.")
        return to_rollout(row)

    async def tokens(self, job_id: str, rollout_id: str) -> TokenRecord:
        """Raises `NotFound` for a rollout without tokens too."""
        found = await self._session.execute(
            select(Table.tokens, Table.completion_tokens).where(
                Table.id == rollout_id, Table.job_id == job_id
            )
        )
        row = found.one_or_none()
        if row is None:
            raise NotFound(f"No rollout {rollout_id} in job {job_id}.")
        if row.tokens is None:
            raise no_tokens(rollout_id, sampled=row.completion_tokens)
        return TokenRecord.of_json(row.tokens)

    async def row_means(
        self,
        job_id: str,
        split: Split,
        *,
        steps: Sequence[int] | None = None,
        prompt_index: int | None = None,
    ) -> list[RowMean]:
        is_graded, row_key = Table.reward.is_not(None), (Table.prompt_index, Table.step)
        query = select(
            *row_key,
            func.count(),
            func.count(Table.reward),
            func.avg(Table.reward),
            func.avg(Table.tool_calls, type_=Double).filter(is_graded),
            func.stddev_pop(Table.reward),
            func.min(Table.reward),
            func.max(Table.reward),
            func.avg(Table.completion_tokens, type_=Double).filter(is_graded),
            func.avg(Table.finished_at - Table.started_at).filter(is_graded),
        ).where(Table.job_id == job_id, Table.split == split)
        if steps is not None:
            query = query.where(Table.step.in_(steps))
        if prompt_index is not None:
            query = query.where(Table.prompt_index == prompt_index)
        rows = await self._session.execute(query.group_by(*row_key).order_by(*row_key))
        return [RowMean(*row) for row in rows]

    async def steps(self, job_id: str, split: Split) -> list[int]:
        query = select(Table.step).where(Table.job_id == job_id, Table.split == split)
        return list(await self._session.scalars(query.distinct().order_by(Table.step)))

    async def played(
        self, job_id: str, split: Split, *, steps: Sequence[int]
    ) -> list[PlayedRollout]:
        """Returns graded rollouts. Of a trace, which holds every text, only names are fetched."""
        tools, errors, repeated = (
            func.jsonb_path_query_array(Table.trace, cast(f"{_CALLS}{path}", JSONPATH), type_=JSONB)
            for path in (".name", ".error", " ? (@.repeated == true)")
        )
        query = select(
            Table.prompt_index,
            Table.step,
            Table.reward,
            Table.completion_tokens,
            Table.finished_at - Table.started_at,
            tools,
            errors,
            func.jsonb_array_length(repeated),
        ).where(
            Table.job_id == job_id,
            Table.split == split,
            Table.step.in_(steps),
            Table.reward.is_not(None),
        )
        found = await self._session.execute(query)
        return [
            PlayedRollout(row, at, reward, tokens, seconds, _known_tools(names, faults), count)
            for row, at, reward, tokens, seconds, names, faults, count in found
        ]

    async def reward_histogram(
        self, job_id: str, split: Split, steps: Sequence[int]
    ) -> RewardHistogram | None:
        graded = (
            select(Table.step, Table.reward)
            .where(
                Table.job_id == job_id,
                Table.split == split,
                Table.step.in_(steps),
                Table.reward.is_not(None),
            )
            .cte("graded")
        )
        low, high = (select(end(graded.c.reward)).scalar_subquery() for end in (func.min, func.max))
        ends = select(low.label("low"), high.label("high")).cte("ends")
        bucket = func.width_bucket(graded.c.reward, ends.c.low, ends.c.high, BINS)
        bin_number = case((ends.c.low < ends.c.high, func.least(bucket, BINS)), else_=1)
        query = select(graded.c.step, bin_number, func.count(), ends.c.low, ends.c.high).join_from(
            graded, ends, true()
        )
        counts: dict[int, list[int]] = {}
        ends_of: tuple[float, float] | None = None
        for step, number, count, lowest, highest in await self._session.execute(
            query.group_by(graded.c.step, bin_number, ends.c.low, ends.c.high).order_by(
                graded.c.step
            )
        ):
            counts.setdefault(step, [0] * BINS)[number - 1] = count
            ends_of = lowest, highest
        return None if ends_of is None else RewardHistogram(*ends_of, counts)

    async def trained_rows(self, job_id: str, *, up_to: int) -> dict[int, list[PlayedRow]]:
        trained = Table.trace["trained_step"].as_integer()
        query = select(trained, Table.prompt_index, Table.reward).where(
            Table.job_id == job_id, Table.split == "train", trained <= up_to
        )
        found: dict[int, list[PlayedRow]] = {}
        for step, prompt_index, reward in await self._session.execute(query):
            found.setdefault(step, []).append(PlayedRow(prompt_index, reward))
        return found

    async def pass_counts(self, job_id: str, split: Split, *, at_least: float) -> list[PassCount]:
        row_key = (Table.prompt_index, Table.step)
        query = (
            select(
                *row_key, func.count(Table.reward), func.count().filter(Table.reward >= at_least)
            )
            .where(Table.job_id == job_id, Table.split == split)
            .group_by(*row_key)
            .order_by(*row_key)
        )
        return [PassCount(*row) for row in await self._session.execute(query)]


def _known_tools(called: Sequence[str], errors: Sequence[str | None]) -> list[str]:
    """A name that the model made up is no tool: there could be any number of them."""
    return [
        UNKNOWN_TOOL if error == "unknown_tool" else name
        for name, error in zip(called, errors, strict=True)
    ]


def _conditions(job_id: str, where: RolloutFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [
        getattr(Table, name) == value
        for name in ("split", "step", "prompt_index", "stop_reason", "failure_class")
        if (value := getattr(where, name)) is not None
    ]
    if where.failed is not None:
        lost = Table.failure_class.is_not(None)
        conditions.append(lost if where.failed else Table.failure_class.is_(None))
    if where.min_reward is not None:
        conditions.append(Table.reward >= where.min_reward)
    if where.max_reward is not None:
        conditions.append(Table.reward <= where.max_reward)
    if where.tool is not None:
        tools = func.rollout_tools(Table.job_id, Table.trace, type_=ARRAY(Text))
        conditions.append(tools.contains([f"{job_id} {where.tool[:_INDEXED]}"]))
    if where.repeated_call is not None:
        # Not a parameter: the planner compares the text with the condition of the index.
        repeated = literal_column(REPEATED_CALL, Boolean)
        conditions.append(repeated if where.repeated_call else not_(repeated))
    return conditions


def _values(row: RolloutRow, *, project_id: str, job_id: str) -> dict[str, Any]:
    values = asdict(row) | {"project_id": project_id, "job_id": job_id}
    for name in ("failure_message", "components", "trace"):
        values[name] = storable(values[name])
    return values


def to_rollout(row: Table) -> RolloutRow:
    return RolloutRow(**{name: getattr(row, name) for name in _FIELDS})
