"""Rows and graders of eval runs."""

from typing import Any

from tests.support.evals.world import ANSWER, QUESTION, World

RIGHT = {"question": QUESTION, "answer": ANSWER}
WRONG = {"question": QUESTION, "answer": "41"}


def endpoint_grader(world: World, **changes: Any) -> dict[str, Any]:
    return {
        "type": "endpoint",
        "name": "mine",
        "url": world.grader.url("/grade"),
        "headers": {"X-Customer-Key": "canary-header-value"},
        "pass_threshold": 0.5,
        **changes,
    }
