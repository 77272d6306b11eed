"""The example of an HTTP environment as a small job: the environment's own log is the ledger."""

import json
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from examples.environments.http.server import RecordsWorld, serve
from tests.support.e2e.main_job import Endpoints
from tests.support.installation import Installation, wait_until_final
from tests.support.jobs import upload_dataset

EXAMPLE = Path(__file__).parents[2] / "examples" / "environments" / "http" / "job.json"
TRAIN, VALID, BATCH, GROUP = 16, 10, 8, 4
STEPS = TRAIN // BATCH


def test_a_job_earns_what_its_environment_gave(
    live: Installation, endpoints: Endpoints, tmp_path: Path
) -> None:
    world = RecordsWorld()
    server = serve(world, port=int(endpoints.hook.rpartition(":")[2]))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        job = run(live, endpoints, tmp_path)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    rollouts = live.rollouts(job.id)
    # Two steps, a validation after each and before the first one, and the report's two.
    assert len(rollouts) == STEPS * BATCH * GROUP + (STEPS + 1 + 2) * VALID
    logged = {entry["rollout_id"]: entry["reward"] for entry in world.log}
    assert len(logged) == len(world.log), "no rollout ended twice"
    for rollout in rollouts:
        assert rollout["reward"] == pytest.approx(logged.get(rollout["trace_id"], 0.0))
        check_steps(rollout)
    assert world.episodes == {}, "every episode is closed"
    trained = [one for one in rollouts if one["split"] == "train"]
    assert len({one["reward"] for one in trained}) > 1
    for step in range(1, STEPS + 1):
        of_step = [one for one in trained if one["step"] == step]
        mean = sum(one["reward"] for one in of_step) / len(of_step)
        assert live.curve(job.id, "reward/mean")[step] == pytest.approx(mean)
        assert live.curve(job.id, "environment/reward_mean")[step] == pytest.approx(mean)
        played = sum(len(steps_of(one)) for one in of_step) / len(of_step)
        assert live.curve(job.id, "environment/steps_mean")[step] == pytest.approx(played)
        assert live.curve(job.id, "environment/errors")[step] == 0
    assert live.curve(job.id, "tool/lookup/calls_mean")[1] > 0
    assert live.curve(job.id, "reward/component/correct")


def run(live: Installation, endpoints: Endpoints, directory: Path) -> Any:
    call = json.loads(EXAMPLE.read_text())
    inner = call["method"]["reinforcement"]
    inner["environment"]["url"] = endpoints.hook
    inner["hyperparameters"] |= {
        "compute_multiplier": GROUP / 8, "eval_interval": 1, "eval_greedy": False,
    }  # fmt: skip
    files = upload_dataset(live.client(), directory, train=TRAIN, valid=VALID)
    call |= {"training_file": files[0], "validation_file": files[1], "seed": 3}
    created = live.client().fine_tuning.jobs.create(**call)
    job = wait_until_final(live.client(), created.id)
    assert job.status == "succeeded", job.error
    return job


def steps_of(rollout: dict[str, Any]) -> list[dict[str, Any]]:
    return [turn["environment"] for turn in rollout["trace"]["turns"] if "environment" in turn]


def check_steps(rollout: dict[str, Any]) -> None:
    """The trace has the steps, and their sums are the rollout's reward and components."""
    steps, whole = steps_of(rollout), rollout["trace"]["environment"]
    rewards = [step["reward"] for step in steps if step["reward"] is not None]
    assert rollout["reward"] == pytest.approx(sum(rewards))
    assert (whole["steps"], whole["done"]) == (len(steps), any(step["done"] for step in steps))
    assert whole["done"] == (rollout["stop_reason"] == "final_answer")
    # Steps before the last one have zeros, so that an episode of a limit has the components too.
    assert rollout["components"] == (steps[-1]["components"] if steps else {})
    assert not steps or rollout["components"].keys() == {"correct", "wasted_calls"}
