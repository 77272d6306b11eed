"""Routes of the models that a project may call, and of the playground that asks two of them."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Final

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from app.dashboard.models.playground_forms import PlaygroundForm
from app.dashboard.models.side_by_side import ModelAnswer, Play, side_by_side
from app.dashboard.models.tool_loops import MOST_TURNS, ToolLoop
from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.formats import LONG_CUT_AT
from app.dashboard.rendering.pages import HEADERS, page
from app.dashboard.visitors import OwnForm, SignedIn, Streaming, Visitor
from app.domain.registry.registered_objects import RegisteredVersion
from app.domain.tools.served_tools import is_served
from app.domain.tools.tools import ToolSpec
from app.web.closing_response import ClosingResponse
from app.web.forms import LONGEST_TEXT
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_LISTED: Final = 200
_TOOLS: Final = 40
_TOOL: Final = TypeAdapter(ToolSpec)
_STREAMED: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}


@router.get("/models")
async def models_page(visitor: SignedIn, model: str | None = None) -> Response:
    """Shows the models. `model` is chosen in the playground, beside the model it was made of."""
    found = await visitor.services.models().all()
    names = [one.name for one in found]
    chosen = next((one for one in found if one.name == model), found[-1])
    tuned = chosen.tuned
    other = tuned.base_model if tuned is not None and tuned.base_model in names else names[0]
    return await _shown(visitor, PlaygroundForm((other, chosen.name)), ())


@router.post("/models/ask")
async def ask(request: Request, visitor: SignedIn, form: OwnForm) -> Response:
    """Asks two models the same, at the same time, and shows both answers. Both end with the
    browser's connection.
    """
    asked = PlaygroundForm.of(form)
    plays = await _plays(visitor, asked)
    answers = await unless_client_hangs_up(request, _answers(asked.models, plays))
    return await _shown(visitor, asked, answers)


@router.post("/models/stream")
async def stream(visitor: Streaming, form: OwnForm) -> Response:
    """Asks as `ask` does, and sends each text while it is sampled, for the script of the page."""
    plays = await _plays(visitor, PlaygroundForm.of(form))
    return ClosingResponse(
        _sent(plays), media_type="text/event-stream", headers={**HEADERS, **_STREAMED}
    )


async def _sent(plays: Sequence[Play]) -> AsyncGenerator[bytes, None]:
    async with aclosing(side_by_side(plays)) as events:
        async for number, event in events:
            yield f"data: {json.dumps({'side': number, **asdict(event)})}\n\n".encode()


async def _answers(models: Sequence[str], plays: Sequence[Play]) -> list[ModelAnswer]:
    return await asyncio.gather(
        *(ModelAnswer(model).fill(play) for model, play in zip(models, plays, strict=True))
    )


async def _plays(visitor: Visitor, asked: PlaygroundForm) -> list[Play]:
    """Returns a chat for each of the two models. Raises `InvalidRequest`, and `NotFound` for an
    unknown tool.
    """
    options = asked.options()
    registered = [await visitor.services.tools().get(one) for one in asked.tools]
    tools = [
        _TOOL.validate_python(await visitor.services.tools().usable(one))
        for one in registered
        if not is_served(one.definition)
    ]
    return [
        ToolLoop(visitor.services, model, asked.prompt, options=options, tools=tools).play()
        for model in asked.models
    ]


async def _callable_tools(visitor: Visitor) -> list[RegisteredVersion]:
    """Returns the newest tools with an endpoint of their own; an MCP server's need a session."""
    rows, _ = await visitor.services.tools().page(after=None, limit=_TOOLS)
    return [one for one in rows if not is_served(one.definition)]


async def _shown(
    visitor: Visitor, asked: PlaygroundForm, answers: Sequence[ModelAnswer]
) -> Response:
    found = await visitor.services.models().all()
    tuned = [one.tuned for one in found if one.tuned is not None]
    newest = sorted(tuned, key=lambda one: (-one.created_at, -one.step))
    tools = await _callable_tools(visitor)
    return await visitor.on_thread(
        lambda: page(
            "models/models.html",
            form_token=visitor.form_token,
            base=[one for one in found if one.tuned is None],
            tuned=newest[:_LISTED],
            more=max(0, len(newest) - _LISTED),
            names=[one.name for one in found],
            project_id=visitor.owner.tenant.project_id,
            asked=asked,
            answers=answers,
            tools=tools,
            most_turns=MOST_TURNS,
            longest=LONGEST_TEXT,
            long_cut_at=LONG_CUT_AT,
        )
    )
