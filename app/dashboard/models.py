"""Routes of the models that a project may call, and of the playground that asks two of them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from app.dashboard.refusals import PageRoute
from app.dashboard.rendering.pages import page
from app.dashboard.visitors import OwnForm, SignedIn, Visitor
from app.domain.errors import InvalidRequest, RequestError
from app.web.forms import LONGEST_TEXT, text_of
from app.web.hang_up import unless_client_hangs_up

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_LISTED: Final = 200
_MOST_TOKENS: Final = 4096
_TOKENS: Final = 256
_HOTTEST: Final = 2.0


@dataclass(frozen=True, slots=True)
class PlaygroundForm:
    """A form of the playground; `None` for a value that is not a number."""

    models: tuple[str, str]
    prompt: str
    max_tokens: str = str(_TOKENS)
    temperature: str = "1"

    def body(self, model: str) -> dict[str, Any]:
        """Returns the body of a chat completion. Raises `InvalidRequest`."""
        return {
            "model": model,
            "messages": [{"role": "user", "content": self.prompt}],
            "max_completion_tokens": int(_number(self.max_tokens, "max_tokens", 1, _MOST_TOKENS)),
            "temperature": _number(self.temperature, "temperature", 0, _HOTTEST),
            "stream": False,
        }


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer, or the reason why there is none."""

    model: str
    text: str = ""
    reasoning: str = ""
    calls: Sequence[Mapping[str, Any]] = ()
    tokens: int | None = None
    is_cut: bool = False
    error: str = ""


@router.get("/models")
async def models_page(visitor: SignedIn, model: str | None = None) -> Response:
    """Shows the models. `model` is chosen in the playground, beside the model it was made of."""
    found = await visitor.services.models().all()
    names = [one.name for one in found]
    chosen = next((one for one in found if one.name == model), found[-1])
    tuned = chosen.tuned
    other = tuned.base_model if tuned is not None and tuned.base_model in names else names[0]
    return await _shown(visitor, PlaygroundForm((other, chosen.name), ""), ())


@router.post("/models/ask")
async def ask(request: Request, visitor: SignedIn, form: OwnForm) -> Response:
    """Asks two models the same, at the same time, and shows both answers. Both end with the
    browser's connection.
    """
    asked = PlaygroundForm(
        (form.get("first", ""), form.get("second", "")),
        text_of(form, "prompt", longest=LONGEST_TEXT),
        form.get("max_tokens", ""),
        form.get("temperature", ""),
    )
    if not asked.prompt.strip():
        raise InvalidRequest("The prompt is empty.", param="prompt")
    bodies = [asked.body(model) for model in asked.models]
    answers = await unless_client_hangs_up(request, _answers(visitor, bodies))
    return await _shown(visitor, asked, answers)


async def _answers(visitor: Visitor, bodies: Sequence[dict[str, Any]]) -> list[ModelAnswer]:
    return await asyncio.gather(*(_answer(visitor, body) for body in bodies))


async def _answer(visitor: Visitor, body: dict[str, Any]) -> ModelAnswer:
    try:
        reply = await visitor.services.completions().chat(body)
    except RequestError as error:
        return ModelAnswer(body["model"], error=error.message)
    choice = reply["choices"][0]
    message = choice["message"]
    return ModelAnswer(
        body["model"],
        message.get("content") or "",
        message.get("reasoning") or message.get("reasoning_content") or "",
        [call["function"] for call in message.get("tool_calls") or ()],
        (reply.get("usage") or {}).get("completion_tokens"),
        choice.get("finish_reason") == "length",
    )


async def _shown(
    visitor: Visitor, asked: PlaygroundForm, answers: Sequence[ModelAnswer]
) -> Response:
    found = await visitor.services.models().all()
    tuned = [one.tuned for one in found if one.tuned is not None]
    newest = sorted(tuned, key=lambda one: (-one.created_at, -one.step))
    return await visitor.on_thread(
        lambda: page(
            "models.html",
            form_token=visitor.form_token,
            base=[one for one in found if one.tuned is None],
            tuned=newest[:_LISTED],
            more=max(0, len(newest) - _LISTED),
            names=[one.name for one in found],
            project_id=visitor.owner.tenant.project_id,
            asked=asked,
            answers=answers,
            longest=LONGEST_TEXT,
        )
    )


def _number(sent: str, param: str, least: float, most: float) -> float:
    try:
        value = float(sent)
    except ValueError as error:
        raise InvalidRequest(f"'{param}' is not a number.", param=param) from error
    if not least <= value <= most:
        raise InvalidRequest(f"'{param}' must be from {least:g} to {most:g}.", param=param)
    return value
