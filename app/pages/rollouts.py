"""Routes of a job's rollouts: the list, one rollout among its siblings, one row at two steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from app.kit.errors import NotFound
from app.kit.ids import Split
from app.pages.rendering import HEADERS
from app.pages.transcripts import answer, grader_notes, transcript
from app.pages.visitors import PageRoute, Reward, SignedIn, Visitor
from app.rollouts.metrics import SPLITS
from app.rollouts.rollouts import RolloutFilter, RolloutOrder, RolloutRow
from app.rollouts.trajectory import FailureClass, StopReason

router = APIRouter(include_in_schema=False, route_class=PageRoute, prefix="/jobs/{job_id}")
_SIBLINGS: Final = 100
"""Limit of shown siblings; a step samples at most 80 rollouts of a row."""
_Number = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Filter(BaseModel):
    """The fields of the filter form; an unknown one is refused."""

    model_config = ConfigDict(extra="forbid")

    split: Split | None = None
    step: _Number | None = None
    row: _Number | None = None
    min_reward: Reward | None = None
    max_reward: Reward | None = None
    stop_reason: StopReason | None = None
    failure_class: FailureClass | None = None
    failed: bool | None = None
    tool: str | None = Field(default=None, max_length=200)
    repeated_call: bool | None = None
    order_by: RolloutOrder = "step"
    newest: bool = False
    after: str | None = Field(default=None, max_length=128)

    def to_filter(self) -> RolloutFilter:
        return RolloutFilter(
            split=self.split,
            step=self.step,
            prompt_index=self.row,
            min_reward=self.min_reward,
            max_reward=self.max_reward,
            stop_reason=self.stop_reason,
            failure_class=self.failure_class,
            failed=self.failed,
            tool=self.tool or None,
            repeated_call=self.repeated_call,
        )

    def query(self, **changed: object) -> str:
        values = {**self.model_dump(mode="json", exclude_defaults=True), **changed}
        return urlencode({name: value for name, value in values.items() if value is not None})


@router.get("/rollouts")
async def rollouts_page(
    job_id: str, visitor: SignedIn, sent: Annotated[Filter, Query()]
) -> Response:
    job = await visitor.services.jobs().get(job_id)
    rows, more = await visitor.services.rollouts().page(
        job_id,
        sent.to_filter(),
        after=sent.after,
        limit=20,
        order_by=sent.order_by,
        descending=sent.newest,
    )
    return await visitor.page(
        "rollouts.html",
        lambda: {"listed": [(row, answer(row)) for row in rows]},
        job=job,
        more=more,
        filter=sent,
        splits=list(SPLITS),
        stop_reasons=list(StopReason),
        failure_classes=list(FailureClass),
    )


@router.get("/rollouts/{rollout_id}")
async def rollout_page(job_id: str, rollout_id: str, visitor: SignedIn) -> Response:
    job = await visitor.services.jobs().get(job_id)
    row = await visitor.services.rollouts().get(job_id, rollout_id)
    siblings = await _group(visitor, job_id, split=row.split, step=row.step, row=row.prompt_index)
    earlier, later = await _neighbours(visitor, row)
    sources = await visitor.services.held_out_rows().sources(job, row)
    order = [one["row"].id for one in siblings]
    position = order.index(row.id) if row.id in order else -1
    return await visitor.page(
        "rollout.html",
        lambda: {
            "transcript": transcript(row),
            "notes": grader_notes(row),
            "requests": {request.call_id: request for request in sources.tools},
        },
        job=job,
        row=row,
        siblings=siblings,
        sources=sources,
        earlier=earlier,
        later=later,
        previous=order[position - 1] if position > 0 else None,
        following=order[position + 1] if 0 <= position < len(order) - 1 else None,
    )


async def _neighbours(visitor: Visitor, row: RolloutRow) -> list[RolloutRow | None]:
    means = await visitor.services.rollouts().row_means(
        row.job_id, row.split, prompt_index=row.prompt_index
    )
    steps = [mean.step for mean in means]
    before = max((step for step in steps if step < row.step), default=None)
    after = min((step for step in steps if step > row.step), default=None)
    found = list[RolloutRow | None]()
    for step in (before, after):
        group: Sequence[Mapping[str, Any]] = ()
        if step is not None:
            group = await _group(
                visitor, row.job_id, split=row.split, step=step, row=row.prompt_index
            )
        found.append(group[0]["row"] if group else None)
    return found


@router.get("/rollouts/{rollout_id}/raw.json")
async def raw(job_id: str, rollout_id: str, visitor: SignedIn) -> Response:
    row = await visitor.services.rollouts().get(job_id, rollout_id)
    return await visitor.on_thread(lambda: _raw(row))


def _raw(row: RolloutRow) -> Response:
    shown = asdict(row)
    del shown["project_id"]
    return JSONResponse(shown, headers={**HEADERS, "cache-control": "no-store"})


@router.get("/rows/{split}/{index}")
async def row_page(
    job_id: str,
    split: Split,
    index: _Number,
    visitor: SignedIn,
    before: _Number | None = None,
    now: _Number | None = None,
) -> Response:
    job = await visitor.services.jobs().get(job_id)
    means = await visitor.services.rollouts().row_means(job_id, split, prompt_index=index)
    if not means:
        raise NotFound(f"Job {job_id} has no {split} rollouts of row {index}.")
    steps = [mean.step for mean in means]
    chosen = (steps[0] if before is None else before, steps[-1] if now is None else now)
    groups = [
        (step, await _group(visitor, job_id, split=split, step=step, row=index)) for step in chosen
    ]
    return await visitor.page(
        "row.html",
        lambda: {"sides": [_side(step, group) for step, group in groups]},
        job=job,
        split=split,
        index=index,
        means=means,
    )


def _side(step: int, group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    rows: list[RolloutRow] = [one["row"] for one in group]
    first = min(rows, key=lambda row: row.sample_index, default=None)
    shown = None if first is None else (first, transcript(first))
    return {"step": step, "group": group, "shown": shown}


async def _group(
    visitor: Visitor, job_id: str, *, split: Split, step: int, row: int
) -> Sequence[Mapping[str, Any]]:
    rows, _ = await visitor.services.rollouts().page(
        job_id,
        RolloutFilter(split=split, step=step, prompt_index=row),
        after=None,
        limit=_SIBLINGS,
        order_by="step",
        descending=False,
    )
    rewards = [one.reward for one in rows if one.reward is not None]
    mean = fmean(rewards) if rewards else 0.0
    ordered = sorted(rows, key=lambda one: (one.reward is None, -(one.reward or 0.0)))
    return [
        {
            "row": one,
            "relative": None if one.reward is None else one.reward - mean,
            "answer": answer(one),
        }
        for one in ordered
    ]
