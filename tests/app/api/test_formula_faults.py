"""A `multi` grader that can never give a score is refused wherever it is sent."""

from typing import Any

from tests.support.api.application import Api
from tests.support.cases import cases

CHILD = {"type": "json_valid", "name": "a"}
JOBS = "/v1/fine_tuning/jobs"


@cases(
    ("change", "field", "clause"),
    [
        ({"calculate_output": "a / 0"}, "calculate_output", "(division by zero)"),
        ({"calculate_output": "log(0 - 1) + a"}, "calculate_output", "(math domain error)"),
        ({"invalid_grade": 1e10}, "invalid_grade", "a score must be between -1e+09 and 1e+09"),
    ],
)
async def test_a_grader_without_any_score_is_refused(
    api: Api, body: dict[str, Any], change: dict[str, Any], field: str, clause: str
) -> None:
    grader = {"type": "multi", "name": "m", "graders": {"a": CHILD}, "calculate_output": "a"}
    grader |= change
    made = await api.call("POST", "/v1/graders", json={"name": "g", "grader": grader})
    assert (made.status_code, made.json()["error"]["param"]) == (400, f"grader.{field}")
    assert clause in made.json()["error"]["message"]
    body["method"]["reinforcement"]["grader"] = grader
    param = f"method.reinforcement.grader.{field}"
    created = await api.call("POST", JOBS, json=body)
    assert (created.status_code, created.json()["error"]["param"]) == (400, param)
    report = (await api.call("POST", f"{JOBS}/validate", json=body)).json()
    assert param in [each["param"] for each in report["errors"]]


async def test_a_substitute_within_the_limit_is_accepted(api: Api) -> None:
    grader = {
        "type": "multi",
        "name": "m",
        "graders": {"a": CHILD, "b": CHILD},
        "calculate_output": "a / b",
        "invalid_grade": -1e9,
    }
    made = await api.call("POST", "/v1/graders", json={"name": "g", "grader": grader})
    assert made.status_code == 200, made.text
