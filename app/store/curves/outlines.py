"""Reads curves of any length: summaries and outlines by their blocks, ends, and sums between steps.

A trigger on the points writes the blocks, so that they agree with the points in every
transaction. Promises that summaries, outlines and edges read a number of rows that does not
grow with the points; `whole` and `between` read all points of the curves that a caller names.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from sqlalchemy import (
    ARRAY,
    Integer,
    Select,
    Text,
    column,
    func,
    literal,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy import cast as cast_to
from sqlalchemy import values as row_values
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.ids import Split
from app.domain.jobs.curves.outlines import BLOCK_SIZES, CurveKey, CurveSummary
from app.domain.jobs.stop_rules.curve_detectors import Reduction
from app.domain.rollouts.metrics import MetricPoint, PackedCurve
from app.store.schema.metrics import JobMetricBlockTable as Block
from app.store.schema.metrics import JobMetricTable as Point

_MOST: Final = 1e200
_CURVE: Final = (Block.job_id, Block.name, Block.split)


class OutlineStore:
    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def summaries(
        self, job_ids: Sequence[str], names: Sequence[str] | None = None
    ) -> list[CurveSummary]:
        """Returns a summary of each curve of these jobs, by job, name and split."""
        ends = [
            func.array_agg(aggregate_order_by(value, order), type_=ARRAY(value.type))[1]
            for order, values in (
                (Block.block.asc(), (Block.first_step, Block.first)),
                (Block.block.desc(), (Block.last_step, Block.last)),
            )
            for value in values
        ]
        query = (
            select(*_CURVE, func.sum(Block.points), func.sum(Block.total), *ends)
            .where(Block.job_id.in_(job_ids), Block.size == BLOCK_SIZES[-1])
            .group_by(*_CURVE)
            .order_by(*_CURVE)
        )
        if names is not None:
            query = query.where(Block.name.in_(names))
        return [_summary(row) for row in await self._session.execute(query)]

    async def outlines(
        self, job_id: str, curves: Sequence[CurveKey], *, size: int
    ) -> list[PackedCurve]:
        """Returns of each block the lowest, the highest and the last point."""
        steps, values = (_joined(*columns) for columns in _DRAWN)
        query = (
            select(Block.name, Block.split, steps, values)
            .where(
                Block.job_id == job_id,
                Block.size == size,
                tuple_(Block.name, Block.split).in_(curves),
            )
            .group_by(Block.name, Block.split)
            .order_by(Block.name, Block.split)
        )
        return await self._read(query, every=size) if curves else []

    async def whole(self, job_id: str, curves: Sequence[CurveKey]) -> list[PackedCurve]:
        """Returns curves with all of their points."""
        query = _packed((Point.name, Point.split), Point.step, Point.value).where(
            Point.job_id == job_id, tuple_(Point.name, Point.split).in_(curves)
        )
        return await self._read(query) if curves else []

    async def edges(
        self, job_id: str, curves: Sequence[CurveKey], *, count: int
    ) -> list[PackedCurve]:
        """Returns so many first points of each curve, and as many last ones."""
        if not curves:
            return []
        wanted = row_values(column("name", Text), column("split", Text), name="wanted").data(
            list(curves)
        )
        ends = (
            select(Point.step, Point.value)
            .where(
                Point.job_id == job_id,
                Point.name == wanted.c.name,
                Point.split == wanted.c.split,
            )
            .correlate(wanted)
            .order_by(order)
            .limit(count)
            .subquery()
            for order in (Point.step.asc(), Point.step.desc())
        )
        edge = union_all(*(select(end) for end in ends)).lateral("edge")
        query = (
            _packed((wanted.c.name, wanted.c.split), edge.c.step, edge.c.value)
            .select_from(wanted)
            .join(edge, true())
        )
        return await self._read(query)

    async def steps(self, job_id: str, curve: CurveKey) -> list[int]:
        """Returns the steps of a curve's points, sorted."""
        query = select(Point.step).where(
            Point.job_id == job_id, tuple_(Point.name, Point.split) == curve
        )
        return list(await self._session.scalars(query.order_by(Point.step)))

    async def between(
        self, job_id: str, steps: Sequence[int], reductions: Mapping[str, Reduction]
    ) -> list[PackedCurve]:
        """Returns training curves with one value for each of these steps, over the points since the
        one before; a step without any is left out. The steps are sorted.
        """
        if not steps or not reductions:
            return []
        bounds = literal([step + 1 for step in steps], ARRAY(Integer))
        # Postgres takes an element of a function's value, and none of a bare parameter.
        ends = func.coalesce(literal(list(steps), ARRAY(Integer)), type_=ARRAY(Integer))
        interval = func.width_bucket(Point.step, bounds, type_=Integer)
        # A sum of doubles that overflows is an error: each is limited.
        limited = func.greatest(func.least(Point.value, _MOST), -_MOST)
        sums = (
            select(
                Point.name,
                ends[interval + 1].label("step"),
                func.avg(limited).label("mean"),
                func.min(Point.value).label("lowest"),
                func.max(Point.value).label("highest"),
            )
            .where(
                Point.job_id == job_id,
                Point.split == "train",
                Point.name.in_(reductions),
                Point.step <= steps[-1],
            )
            .group_by(Point.name, interval)
            .subquery()
        )
        found: list[PackedCurve] = []
        for name, reduction in reductions.items():
            query = _packed((sums.c.name, literal("train")), sums.c.step, sums.c[reduction])
            found += await self._read(query.where(sums.c.name == name))
        return found

    async def _read(self, query: Select[Any], *, every: int = 1) -> list[PackedCurve]:
        return [
            PackedCurve(name, cast("Split", split), steps, values, every)
            for name, split, steps, values in await self._session.execute(query)
        ]


_DRAWN: Final = (
    (Block.low_step, Block.high_step, Block.last_step),
    (Block.low, Block.high, Block.last),
)


def _joined(*columns: Any) -> Any:
    """Selects the values of some columns, row after row, as the text of one JSON list. It is faster
    than an aggregate of JSON over three rows made of each.
    """
    row = func.concat_ws(",", *columns)
    return func.concat("[", func.string_agg(row, literal(",")), "]", type_=Text)


def _summary(row: Any) -> CurveSummary:
    job_id, name, split, points, total, first_step, first, last_step, last = row
    return CurveSummary(
        job_id,
        name,
        split,
        points,
        total,
        first=MetricPoint(name, split, first_step, first),
        last=MetricPoint(name, split, last_step, last),
    )


def _packed(curve: tuple[Any, Any], step: Any, value: Any) -> Select[Any]:
    return (
        select(*curve, *(cast_to(func.json_agg(one), Text) for one in (step, value)))
        .group_by(*curve)
        .order_by(*curve)
    )
