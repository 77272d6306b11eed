"""The bodies of `calibrate`, and the words of a rule about a whole body; without a database."""

from difflib import get_close_matches
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.graders.schemas import CalibrateGrader
from app.http import error_replies as errors
from app.kit import faults as values
from tests.support.cases import cases

SAMPLE = {"model_sample": "Ulm"}
EITHER = "Invalid request body: send one of 'samples', 'file_id' and 'job_id'."
NO_OBJECT = "The request body must be a JSON object (application/json)."


async def answer(**sent: Any) -> tuple[int, Any]:
    app = FastAPI()
    errors.install(app)

    @app.post("/")
    async def _(body: CalibrateGrader) -> int:
        return len(body.inline)

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        reply = await client.post("/", **sent)
    return reply.status_code, reply.json()


@cases("body", [{}, {"samples": [SAMPLE], "file_id": "file-1"}, {"file_id": "f", "job_id": "j"}])
async def test_a_rule_about_the_whole_body_is_reported(body: dict[str, Any]) -> None:
    status, reply = await answer(json=body)
    error = reply["error"]
    assert (status, error["message"], error["code"]) == (400, EITHER, "invalid_value")


@cases("sent", [{}, {"json": []}, {"json": 7}, {"json": None}])
async def test_a_body_that_is_no_object_is_called_so(sent: dict[str, Any]) -> None:
    status, reply = await answer(**sent)
    assert (status, reply["error"]["message"]) == (400, NO_OBJECT)


async def test_an_unknown_key_of_a_sample_is_refused_with_its_path() -> None:
    status, reply = await answer(json={"samples": [SAMPLE, {**SAMPLE, "itme": {}}]})
    error = reply["error"]
    assert (status, error["param"]) == (400, "samples[1].itme")
    assert error["message"] == "Unknown parameter: 'samples[1].itme'. Did you mean 'item'?"


async def test_the_number_of_samples_is_left_to_the_one_check_of_the_service() -> None:
    assert await answer(json={"samples": [SAMPLE] * 501}) == (200, 501)


@pytest.mark.parametrize(
    ("samples", "param"),
    [
        ([{f"modelsample{n}": 1} for n in range(2_000)], "samples[0].modelsample0"),
        ([{"quite_unlike": 1}] * 2_000, "samples[0].model_sample"),
        ([{**SAMPLE, "itme": 1}] * 2_000, "samples[0].itme"),
    ],
)
async def test_only_the_first_of_very_many_faults_is_compared_with_names(
    samples: list[Any], param: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = list[str]()

    def close_matches(word: str, *args: Any, **options: Any) -> list[str]:
        compared.append(word)
        return get_close_matches(word, *args, **options)

    monkeypatch.setattr(values, "get_close_matches", close_matches)
    status, reply = await answer(json={"samples": samples})
    assert (status, reply["error"]["param"]) == (400, param)
    assert len(compared) == 1
