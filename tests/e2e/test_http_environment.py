"""The example of an HTTP environment as a small job: the environment's own log is the ledger, also
where worker and environment are killed in the middle of an episode.
"""

import json
import os
import signal
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from typing_extensions import override

from examples.environments.http.server import RecordsWorld, serve
from tests.support.e2e.main_job import Endpoints
from tests.support.embedded.installation import Installation, child_pid, wait_until_final
from tests.support.embedded.jobs import upload_dataset
from tests.support.patience import PATIENCE_S

EXAMPLE = Path(__file__).parents[2] / "examples" / "environments" / "http" / "job.json"
TRAIN, VALID, BATCH, GROUP = 16, 10, 8, 4
STEPS = TRAIN // BATCH
HELD = 90
"""The call whose answer the worker does not live to read: one of the first training step."""


@dataclass
class InterruptedWorld(RecordsWorld):
    """Answers one call only after `released`, and can forget all that it knows."""

    sent: list[tuple[str, Any]] = field(default_factory=list)
    """Key and body of every call, repeated ones too."""
    held: Event = field(default_factory=Event)
    released: Event = field(default_factory=Event)

    @override
    def answer(self, call: Any, key: str) -> Any:
        answered = super().answer(call, key)
        with self.lock:
            self.sent.append((key, call))
            is_held = len(self.sent) == HELD
        if is_held:
            self.held.set()
            self.released.wait(PATIENCE_S)
        return answered

    def start_again(self) -> None:
        """Forgets the episodes and the answers, as a process that was killed."""
        with self.lock:
            self.episodes.clear()
            self.answered.clear()


@pytest.mark.long
def test_a_job_earns_what_its_environment_gave_though_both_are_killed(
    live: Installation, endpoints: Endpoints, tmp_path: Path
) -> None:
    world = InterruptedWorld()
    server = serve(world, port=int(endpoints.hook.rpartition(":")[2]))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        job = run(live, endpoints, world, tmp_path)
    finally:
        world.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
    rollouts = live.rollouts(job.id)
    # Two steps, a validation after each and before the first one, and the report's two.
    assert len(rollouts) == STEPS * BATCH * GROUP + (STEPS + 1 + 2) * VALID
    logged = {entry["rollout_id"]: entry["reward"] for entry in world.log}
    # An episode whose end was not heard is played again, with the same end.
    assert all(entry["reward"] == logged[entry["rollout_id"]] for entry in world.log)
    check_calls(world)
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


def check_calls(world: InterruptedWorld) -> None:
    """A key has one body, and a turn one message, however often it is sent. Some episodes were
    begun anew under another key.
    """
    bodies, turns = dict[str, Any](), dict[tuple[str, int], Any]()
    resets = defaultdict[str, set[str]](set)
    for key, call in world.sent:
        assert bodies.setdefault(key, call) == call
        if call["type"] == "step":
            turn = (call["rollout_id"], call["turn"])
            assert turns.setdefault(turn, call["message"]) == call["message"]
        if call["type"] == "reset":
            resets[call["rollout_id"]].add(key)
    assert len(bodies) < len(world.sent), "a call whose answer was lost is sent again"
    assert max(len(keys) for keys in resets.values()) == 2, "episodes that were lost"


def run(live: Installation, endpoints: Endpoints, world: InterruptedWorld, directory: Path) -> Any:
    call = json.loads(EXAMPLE.read_text())
    inner = call["method"]["reinforcement"]
    inner["environment"]["url"] = endpoints.hook
    inner["hyperparameters"] |= {
        "compute_multiplier": GROUP / 8, "eval_interval": 1, "eval_greedy": False,
    }  # fmt: skip
    files = upload_dataset(live.client(), directory, train=TRAIN, valid=VALID)
    call |= {"training_file": files[0], "validation_file": files[1], "seed": 3}
    created = live.client().fine_tuning.jobs.create(**call)
    assert world.held.wait(PATIENCE_S)
    pid = child_pid(created.id)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    world.start_again()
    world.released.set()
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
