"""A job in each built-in environment: its tasks are those of the seed, its rewards those that the
answers earn.
"""

import json
import re
from typing import Any
import pytest
from app.domain.environments.environments import read_environment, training_numbers, validation_numbers

from tests.support.installation import Installation, wait_until_final


def run(live: Installation, environment: dict[str, Any], **options: Any) -> Any:
    client = live.client()
    method: Any = {
        "type": "reinforcement",
        "reinforcement": {
            "environment": {"training_tasks": 16, "validation_tasks": 10, **environment},
            "hyperparameters": {"n_epochs": 1, "batch_size": 8},
            **options,
        },
    }
    created = client.fine_tuning.jobs.create(
        model="tiny-agent", training_file=None, seed=3, method=method  # type: ignore[arg-type]  # the client requires it, an environment replaces it
    )
    return wait_until_final(client, created.id)

@pytest.mark.parametrize("env", [
  {"type":"arithmetic","max_operand":2,"operands":3, "operations":["subtract"]},
  {"type":"arithmetic","max_operand":9, "operations":["multiply"],"format_penalty":0.25},
  {"type":"gsm8k","max_steps":1},{"type":"code_execution"}])
def test_x(live, env):
    job = run(live, env, max_episode_steps=None) if False else run(live, env)
    print(job.status, job.error)
    rows = live.rollouts(job.id)
    from collections import Counter
    print(Counter(r["reward"] for r in rows))
    for r in rows[:12]:
        print(repr(r["trace"]["messages"][-2]["content"])[:90], repr(r["trace"]["messages"][-1]["content"])[:150], r["reward"], r["step"])
