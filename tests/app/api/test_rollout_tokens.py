"""The tokens of a rollout are read by their own route alone."""

import json

from tests.support.api.application import Api
from tests.support.api.job_calls import JOBS
from tests.support.dashboard.scenes import create_job, put_rollout, trace
from tests.support.dashboard.tokens import put_tokens
from tests.support.stack import Database

CANARY = "canary-of-a-token"


async def test_a_rollout_gives_its_tokens(api: Api, database: Database) -> None:
    job = await create_job(api)
    put_rollout(database, job, "ro", trace=trace("Q", "A"))
    put_tokens(database, "ro", omitted=7)
    reply = await api.call("GET", f"{JOBS}/{job}/rollouts/ro/tokens")
    assert reply.status_code == 200
    assert reply.json() == {
        "object": "fine_tuning.job.rollout.tokens",
        "rollout_id": "ro",
        "turns": [
            {
                "texts": ["The", " Nile", ""],
                "log_probs": [-0.0051, -2.3026, -0.1],
                "ratios": [1.0, 1.3, None],
            },
            {"texts": ["\n", "!"], "log_probs": [-6.9078, None], "ratios": [0.25, 0.9]},
        ],
        "omitted_tokens": 7,
    }


async def test_the_absence_of_tokens_has_its_reason(api: Api, database: Database) -> None:
    job, other = await create_job(api), await create_job(api)
    put_rollout(database, job, "early", trace=trace("Q", "A"))
    put_rollout(
        database, job, "silent", step=2, completion_tokens=0, trace={"messages": [], "turns": []}
    )
    paths = {
        f"{job}/rollouts/early": "was written before this installation stored them",
        f"{job}/rollouts/silent": "ended before the model sampled any",
        f"{job}/rollouts/never": "No rollout never",
        f"{other}/rollouts/early": "No rollout early",
        "ftjob-never/rollouts/early": "ftjob-never",
    }
    for path, reason in paths.items():
        reply = await api.call("GET", f"{JOBS}/{path}/tokens")
        error = reply.json()["error"]
        assert (reply.status_code, error["type"]) == (404, "invalid_request_error"), path
        assert reason in error["message"], path
    put_tokens(database, "early")
    foreign = await api.call("GET", f"{JOBS}/{job}/rollouts/early/tokens", key=api.other_key)
    assert foreign.status_code == 404


async def test_no_other_read_has_tokens(api: Api, database: Database) -> None:
    job = await create_job(api)
    put_rollout(database, job, "ro", trace=trace("Q", "A"))
    put_tokens(database, "ro", [[(CANARY, -0.5, 1.0)]])
    for path in ("rollouts", "rollouts/ro", "rollouts/export"):
        reply = await api.call("GET", f"{JOBS}/{job}/{path}")
        assert reply.status_code == 200, path
        assert CANARY not in reply.text, path
        assert '"tokens": {' not in json.dumps(reply.text), path
    tokens = await api.call("GET", f"{JOBS}/{job}/rollouts/ro/tokens")
    assert CANARY in tokens.text
