"""`text_similarity` by `cosine` over HTTP: with an embedding endpoint, and without."""

from typing import Any

import pytest

from app.settings import EmbeddingSettings
from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS, changed
from tests.support.endpoints import Reply, endpoint
from tests.support.grading.embedding_server import embeds
from tests.support.registry.trials import FLAGS, RUN, VALIDATE, serving
from tests.support.stack import Database

COSINE = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "evaluation_metric": "cosine",
}


async def test_a_trial_scores_the_cosine_and_counts_the_tokens(database: Database) -> None:
    async with endpoint(embeds) as server:
        settings = EmbeddingSettings(model="embedder", base_url=server.url("/v1"))
        async with serving(database, embeddings=settings) as trials:
            answer = await trials.run(COSINE, "Ulm Ulm Bonn", item={"answer": "Ulm"})
            assert answer["reward"] == pytest.approx(2 / 5**0.5)
            assert answer["metadata"]["errors"] == FLAGS
            usage = answer["model_grader_token_usage_per_model"]
            assert usage["embedder"]["prompt_tokens"] == 6
            blank = await trials.run(COSINE, "  ", item={"answer": "Ulm"})
            assert (blank["reward"], blank["metadata"]["token_usage"]) == (0.0, None)
            assert len(server.received) == 1
            assert (await trials.post(VALIDATE, {"grader": COSINE}))["grader"]["name"] == "near"


async def test_an_endpoint_that_is_unavailable_raises_a_flag(database: Database) -> None:
    async with endpoint(lambda _: Reply(503)) as server:
        settings = EmbeddingSettings(model="embedder", base_url=server.url("/v1"))
        async with serving(database, embeddings=settings) as trials:
            answer = await trials.run(COSINE, "Ulm", item={"answer": "Ulm"})
    details = "embeddings: answered 503"
    assert answer["metadata"]["errors"] == {
        **FLAGS,
        "model_grader_server_error": True,
        "model_grader_server_error_details": details,
        "details": details,
    }


async def test_without_an_endpoint_it_is_refused_with_the_setting(
    api: Api, body: dict[str, Any]
) -> None:
    inner = {"type": "multi", "graders": {"near": COSINE}, "calculate_output": "near"}
    call = changed(body, ("grader",), inner)
    for path, sent, param in (
        (JOBS, call, "method.reinforcement.grader.graders.near.evaluation_metric"),
        (RUN, {"grader": COSINE, "model_sample": "x"}, "grader.evaluation_metric"),
        ("/v1/graders", {"name": "g", "grader": COSINE}, "grader.evaluation_metric"),
    ):
        refused = await api.call("POST", path, json=sent)
        error = refused.json()["error"]
        assert (refused.status_code, error["param"]) == (400, param)
        assert error["code"] == "embeddings_not_configured"
        assert "AGENT_RFT_EMBEDDINGS__BASE_URL" in error["message"]
    report = (await api.call("POST", f"{JOBS}/validate", json=call)).json()
    assert [
        fault["param"] for fault in report["errors"] if fault["code"] == "embeddings_not_configured"
    ] == ["method.reinforcement.grader.graders.near.evaluation_metric"]
