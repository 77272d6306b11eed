"""Structured output of judges: only a server that refuses the format itself is asked without it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.graders.judge_calls import (
    EngineModel,
    EngineModels,
    JudgeFault,
    JudgeQuestion,
    JudgeReply,
    RoutedJudges,
)
from app.kit.endpoints import CallSigner
from app.kit.local_objects import LocalObjects
from app.models.engine import AdapterCache
from app.models.engine_http import HttpInference
from tests.support.endpoints import ReceivedRequest, Reply, Script, endpoint
from tests.support.engines.chat_engine import ChatEngine, chat_engine
from tests.support.rollout.rollouts import SECRET_KEY, egress_to, pool

FORMAT = {"type": "json_schema", "json_schema": {"name": "score", "schema": {}}}
GOOD = Reply(json={"choices": [{"message": {"role": "assistant", "content": "1"}}]})
WORDS = "response_format json_schema Structured output"
TOO_LONG = "the prompt is too long"


def question(text: str, response_format: dict[str, Any] | None = FORMAT) -> JudgeQuestion:
    messages = [{"role": "user", "content": text}]
    return JudgeQuestion("judge", messages, response_format, "grade_1", "trace_1")


async def answers(
    script: Script, directory: Path, *asked: JudgeQuestion, engine_url: str = "http://127.0.0.1:9"
) -> tuple[list[str], list[bool]]:
    """Returns the answers and faults of one judge, and which requests had a format."""

    async def find(name: str) -> EngineModel | None:
        return EngineModel(name, "base", None)

    async with endpoint(script) as server:
        egress, inference = egress_to(server), HttpInference(engine_url)
        engine = EngineModels(
            inference, AdapterCache(LocalObjects(directory), directory, max_bytes=1), find
        )
        judges = RoutedJudges(
            engine,
            configured=(),
            configured_endpoints=pool(egress),
            endpoints=pool(egress),
            signer=CallSigner(SECRET_KEY, project_id="proj_a"),
        )
        is_engine = engine_url != "http://127.0.0.1:9"
        base_url = None if is_engine else server.url("/v1")
        said = [await _answer(judges, one, base_url) for one in asked]
        await egress.aclose()
        await inference.aclose()
    return said, ["response_format" in one.json for one in server.received]


async def _answer(judges: RoutedJudges, asked: JudgeQuestion, base_url: str | None) -> str:
    try:
        reply: JudgeReply = await judges.ask(replace(asked, base_url=base_url))
    except JudgeFault as fault:
        return fault.message
    return reply.text


@pytest.mark.parametrize(
    "refusal",
    [
        lambda text: Reply(400, {"error": {"message": TOO_LONG}, "input": text}),
        lambda text: Reply(400, {"error": {"message": f"{TOO_LONG}: {text}"}}),
        lambda text: Reply(422, {"detail": [{"msg": TOO_LONG, "input": text}]}),
        lambda _: Reply(422, {"detail": [{"msg": TOO_LONG, "input": {"response_format": 1}}]}),
        lambda text: Reply(400, {"error": f"{TOO_LONG}: {text}"}),
        lambda text: Reply(400, body=text.encode()),
    ],
)
async def test_a_server_that_repeats_the_question_keeps_structured_output(
    refusal: Callable[[str], Reply], tmp_path: Path
) -> None:
    """The judged answer chooses the words of the question."""

    def script(request: ReceivedRequest) -> Reply:
        text = request.json["messages"][0]["content"]
        return refusal(text) if text == WORDS else GOOD

    said, formats = await answers(script, tmp_path, question(WORDS), question("?"))
    assert said == [said[0], "1"]
    assert said[0].startswith("answered 4")
    assert formats == [True, True]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "unknown field", "param": "response_format"}},
        {"error": {"message": "no", "code": "json_schema_unsupported"}},
        {"error": {"message": "Structured output is not supported"}},
        {"object": "error", "message": "json_schema is not supported"},
        {"error": "response_format is not supported"},
        [{"error": {"message": "Unknown name response_format"}}],
        {"error": None, "message": "This model does not support response format"},
        {"error": ["JSON schema is not supported"]},
        {"detail": "response_format is not supported"},
        {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]},
    ],
)
async def test_a_format_is_refused_in_the_fields_of_the_error(error: Any, tmp_path: Path) -> None:
    def script(request: ReceivedRequest) -> Reply:
        return Reply(400, error) if "response_format" in request.json else GOOD

    said, formats = await answers(script, tmp_path, question("?"), question("?"))
    assert said == ["1", "1"]
    assert formats == [True, False, False]


async def test_only_an_answer_without_a_format_ends_structured_output(tmp_path: Path) -> None:
    refusals: Iterator[Reply] = iter(
        [
            Reply(400, {"error": {"message": "a response_format is too much for this prompt"}}),
            Reply(400, {"error": {"message": TOO_LONG}}),
            GOOD,
        ]
    )
    asked = question("?"), question("?")
    said, formats = await answers(lambda _: next(refusals), tmp_path, *asked)
    assert said == ["answered 400", "1"]
    assert formats == [True, False, True]


LAST = replace(question("?"), drops_format_at_any_refusal=True)
GRAMMAR = "Failed to parse grammar"


async def test_the_last_form_is_dropped_after_any_refusal_and_for_itself_alone(
    tmp_path: Path,
) -> None:
    """A grammar that a server cannot compile loses no verdict, and no later question its form."""
    replies = iter([Reply(400, {"error": {"message": GRAMMAR}}), GOOD, GOOD])
    said, formats = await answers(lambda _: next(replies), tmp_path, LAST, question("?"))
    assert (said, formats) == (["1", "1"], [True, False, True])
    refused = Reply(400, {"error": {"message": GRAMMAR}})
    said, formats = await answers(lambda _: refused, tmp_path, LAST)
    assert (said, formats) == (["answered 400"], [True, False])


async def test_a_question_without_a_format_sends_none(tmp_path: Path) -> None:
    asked = question("?", None), question("?")
    said, formats = await answers(lambda _: GOOD, tmp_path, *asked)
    assert said == ["1", "1"]
    assert formats == [False, True]


@pytest.fixture
def engine() -> Iterator[ChatEngine]:
    with chat_engine("base") as running:
        yield running


async def test_an_engine_that_repeats_the_question_keeps_structured_output(
    engine: ChatEngine, tmp_path: Path
) -> None:
    engine.refusals.append((400, f"{TOO_LONG}: {WORDS}"))
    asked = question(WORDS), question("?")
    said, _ = await answers(lambda _: GOOD, tmp_path, *asked, engine_url=engine.url)
    assert said[0] == f"the engine refused: {TOO_LONG}: {WORDS}"
    assert ["response_format" in body for body in engine.bodies] == [True, True]


async def test_an_engine_that_refuses_the_last_form_is_called_without_it(
    engine: ChatEngine, tmp_path: Path
) -> None:
    engine.refusals += [(400, GRAMMAR)] * 3
    said, _ = await answers(lambda _: GOOD, tmp_path, LAST, LAST, engine_url=engine.url)
    assert said[0] == f"the engine refused: {GRAMMAR}"
    assert GRAMMAR not in said[1]
    assert ["response_format" in body for body in engine.bodies] == [True, False, True, False]
