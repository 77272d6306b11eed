"""Long prompts: refused unencoded, or encoded while the loop serves others."""

import asyncio
from typing import Any

import pytest

from app.kit.errors import InvalidRequest
from app.models.chat import CHARACTERS_PER_TOKEN, check_messages
from app.rollouts.chat_template import THREAD_FROM
from app.rollouts.renderer import Renderer, fitting_prompt_ids
from tests.support.models.tiny_model import KEEPS_THINKING, build_tokenizer

CONTEXT = 100_000
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "x" * 33}}


@pytest.fixture(scope="module")
def renderer(tmp_path_factory: pytest.TempPathFactory) -> Renderer:
    directory = tmp_path_factory.mktemp("tokenizer")
    build_tokenizer(KEEPS_THINKING).save_pretrained(directory)
    (directory / "config.json").write_text('{"max_position_embeddings": 512}')
    return Renderer(str(directory), tool_parser="hermes", chat_template=None)


def _user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        (_user("x" * (CHARACTERS_PER_TOKEN + 1)), None),
        ([{"role": "user", "content": [{"type": "text", "text": "x" * 20}] * 2}], None),
        ([*_user("hi"), {"role": "assistant", "content": None, "tool_calls": [CALL]}], None),
        (
            _user("x" * 8),
            [{"type": "function", "function": {"name": "f", "description": "y" * 32}}],
        ),
    ],
)
async def test_a_prompt_that_cannot_fit_is_not_encoded(
    renderer: Renderer,
    monkeypatch: pytest.MonkeyPatch,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]] | None,
) -> None:
    encoded: list[str] = []
    monkeypatch.setattr(Renderer, "encode", lambda _, text: encoded.append(text))
    with pytest.raises(InvalidRequest, match="maximum context length is 1 tokens") as refused:
        await fitting_prompt_ids(renderer, messages, tools, context_length=1)
    assert (refused.value.param, refused.value.code) == ("messages", "context_length_exceeded")
    assert encoded == []


def test_messages_up_to_the_limit_pass_and_odd_shapes_count_as_nothing() -> None:
    check_messages(_user("x" * CHARACTERS_PER_TOKEN), 1)
    check_messages([None, "x" * 99, {"content": 7, "tool_calls": [None, {"function": 3}]}], 1)
    with pytest.raises(InvalidRequest, match="33 characters, more than the 32"):
        check_messages([*_user("x" * 20), *_user("x" * 13)], 1)


async def test_the_loop_serves_others_while_a_long_prompt_is_encoded(renderer: Renderer) -> None:
    """Counts the loop's turns during the encoding, which takes a second of processor time. With
    the interpreter lock held there would be a handful.
    """
    text = "The weight of part P017 is 42. " * (CONTEXT * CHARACTERS_PER_TOKEN // 40)
    encoding = asyncio.ensure_future(
        fitting_prompt_ids(renderer, _user(text), None, context_length=CONTEXT)
    )
    turns = 0
    while not encoding.done():
        await asyncio.sleep(0)
        turns += 1
    with pytest.raises(InvalidRequest, match="resulted in 800009 tokens"):
        encoding.result()
    assert turns > 500


def test_long_and_short_texts_have_the_same_ids(renderer: Renderer) -> None:
    line = "Part P017 <tool_call> é weighs 42.\n"
    lines = THREAD_FROM // len(line) + 1
    assert renderer.encode(line * lines) == renderer.encode(line * (lines // 2)) + renderer.encode(
        line * (lines - lines // 2)
    )
