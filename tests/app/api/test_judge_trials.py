"""Trial runs of graders that ask a judge: a base model, or a server of the operator's."""

import json

from app.settings.graders import JudgeSettings
from tests.support.endpoints import Reply, endpoint
from tests.support.engines.chat_engine import chat_engine
from tests.support.registry.trials import FLAGS, judge, serving
from tests.support.stack import Database


async def test_a_base_model_as_judge(database: Database) -> None:
    with chat_engine("tiny-agent-2026-11-23") as engine:
        engine.answer = json.dumps({"steps": [], "result": 7})
        async with serving(database, engine_url=engine.url) as trials:
            answer = await trials.run(judge("tiny-agent", range=[0, 5]))
    assert answer["reward"] == 5.0
    assert answer["metadata"]["errors"] == FLAGS
    assert answer["metadata"]["sampled_model_name"] == "tiny-agent"
    assert answer["metadata"]["token_usage"] == 4
    assert answer["model_grader_token_usage_per_model"] == {
        "tiny-agent": {
            "prompt_tokens": 3,
            "completion_tokens": 1,
            "total_tokens": 4,
            "cached_tokens": 0,
        }
    }
    assert engine.bodies[0]["model"] == "tiny-agent-2026-11-23"
    assert engine.bodies[0]["messages"][1]["content"] == "Is it 42? 42"


async def test_a_judge_of_the_operators_that_is_unavailable(database: Database) -> None:
    async with endpoint(lambda _: Reply(503)) as server:
        settings = JudgeSettings(models=("judge-1",), base_url=server.url("/v1"))
        async with serving(database, judges=(settings,)) as trials:
            answer = await trials.run(judge("judge-1"))
    errors = answer["metadata"]["errors"]
    assert answer["reward"] == 0.0
    assert errors["model_grader_server_error"] is True
    assert errors["model_grader_server_error_details"] == "answered 503"


async def test_an_answer_without_a_label_is_paid_for(database: Database) -> None:
    labels = {
        **judge("tiny-agent"),
        "type": "label_model",
        "labels": ["yes", "no"],
        "passing_labels": ["yes"],
    }
    whole = {"type": "multi", "name": "m", "graders": {"j": labels}, "calculate_output": "j"}
    with chat_engine("tiny-agent-2026-11-23") as engine:
        engine.answer = json.dumps({"steps": [], "result": "maybe"})
        async with serving(database, engine_url=engine.url) as trials:
            answers = [await trials.run(grader) for grader in (labels, whole)]
    for answer in answers:
        metadata = answer["metadata"]
        assert (answer["reward"], metadata["errors"]["model_grader_parse_error"]) == (0.0, True)
        assert "maybe" in metadata["errors"]["details"]
        assert (metadata["token_usage"], metadata["sampled_model_name"]) == (4, "tiny-agent")
        assert list(answer["model_grader_token_usage_per_model"]) == ["tiny-agent"]
