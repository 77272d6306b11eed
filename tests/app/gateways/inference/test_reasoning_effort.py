"""The reasoning effort of a chat, as engines receive it."""

from typing import Any

import pytest

from app.models.engine_http import HttpInference
from tests.support.engines.scripted_engine import ScriptedEngine


@pytest.mark.parametrize(
    ("effort", "variables"),
    [
        (None, None),
        ("medium", {"reasoning_effort": "medium"}),
        ("none", {"reasoning_effort": "none", "enable_thinking": False}),
        ("xhigh", {"reasoning_effort": "xhigh", "enable_thinking": True}),
    ],
)
async def test_an_engine_gets_an_effort_as_the_templates_variables(
    engine: ScriptedEngine,
    inference: HttpInference,
    effort: str | None,
    variables: dict[str, Any] | None,
) -> None:
    sent: dict[str, Any] = {"model": "base", "messages": [], "reasoning_effort": effort}
    await inference.chat(sent)
    async for _ in inference.chat_stream(sent):
        pass
    plain, streamed = (body for _, body, _ in engine.requests)
    expected: dict[str, Any] = {"model": "base", "messages": []}
    if variables is not None:
        expected["chat_template_kwargs"] = variables
    assert plain == {**expected, "stream": False}
    assert streamed == {**expected, "stream": True}
