"""No value at any path of a plan, or of a job to be read, is an error of the service."""

import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from app.teaching.plans.plans import leaves, with_value
from tests.support.api.application import Api

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 1.5, 10**30, 1e308, "", "a", "auto", "\u0000", "9" * 400),
    *([], [None], [[]], {}, {"type": "x"}, {"type": None}, {"id": "x"}, {"": 1}),
)
CASES: Final = 75


def hostile(body: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Yields bodies with one to three values replaced, at leaves and at whole objects."""
    chance = random.Random(seed)
    for _ in range(CASES):
        changed = body
        for _ in range(chance.choice((1, 1, 2, 3))):
            names = chance.choice(list(leaves(changed)) or ["model"]).split(".")
            path = ".".join(names[: chance.randint(1, len(names))])
            changed = with_value(changed, path, chance.choice(VALUES))
        yield changed


@pytest.mark.parametrize("noun", ["compile", "explain"])
async def test_no_value_of_a_plan_is_a_500(api: Api, call: dict[str, Any], noun: str) -> None:
    own = call["method"]["reinforcement"]
    own |= {"objective": {"kl_coefficient": 0.1}, "stop": {"plateau": {"action": "off"}}}
    plan = {
        **{name: call[name] for name in ("model", "training_file", "validation_file")},
        "recipe": "reasoning",
        "method": "reinforcement",
        "grader": own["grader"],
        "tools": [],
        "knobs": {"drift_guard": 1, "effort": "light", "target": 0.5, "practice_mode": "quick"},
        "metadata": {"a": "b"},
    }
    body = plan if noun == "compile" else {"job": call}
    statuses = set()
    for changed in hostile(body, seed=72):
        reply = await api.call("POST", f"/v1/improvement_plans/{noun}", json=changed)
        assert reply.status_code in {200, 400, 404}, (changed, reply.text)
        statuses.add(reply.status_code)
        if reply.status_code != 200:
            assert set(reply.json()["error"]) == {"message", "type", "param", "code"}
    assert {200, 400} <= statuses
