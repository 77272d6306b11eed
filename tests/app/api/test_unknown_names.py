"""Query parameters that take names: an unknown name is refused, with the known ones."""

import re
from typing import Any

from tests.support.api.application import Api
from tests.support.cases import cases
from tests.support.web.application import required_of, specification

_OPEN_TEXTS = {
    *("after", "before", "page", "metadata", "model", "models", "project_id", "project_ids"),
    *("author", "end_user", "completion_id", "rollout_id", "student", "tool"),
    *("api_key_ids", "job_ids", "actor_ids[]", "project_ids[]", "resource_ids[]"),
}
"""Parameters whose values are ids or a customer's own texts."""


def named_parameters() -> list[tuple[str, str]]:
    """Returns path and name of every text parameter of a list."""
    return [
        (re.sub(r"\{[^}]+\}", "x", path), parameter["name"])
        for path, item in specification()["paths"].items()
        for parameter in item.get("get", {}).get("parameters", [])
        if parameter["in"] == "query" and "string" in _types(parameter["schema"])
        if parameter["name"] not in _OPEN_TEXTS
    ]


def _types(schema: dict[str, Any]) -> set[str]:
    members = [schema, *schema.get("anyOf", [])]
    types = {member.get("type") for member in members}
    types |= {member["items"].get("type") for member in members if "items" in member}
    return types | ({"string"} if any("$ref" in member for member in members) else set())


def test_the_table_has_every_filter() -> None:
    assert {name for _, name in named_parameters()} == {
        "names",
        "split",
        "stop_reason",
        "failure_class",
        "format",
        "order_by",
        "order",
        "owner_project_access",
        "purpose",
        "status",
        "event_types[]",
        "bucket_width",
        "type",
        "group_by",
    }


async def test_an_unknown_name_is_refused_with_the_known_ones(api: Api) -> None:
    for path, name in named_parameters():
        key = api.admin_key if path.startswith("/v1/organization") else api.key
        reply = await api.call("GET", path, params={name: "zzz", **required_of(path)}, key=key)
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (400, "invalid_value"), (path, name)
        assert error["param"].removesuffix("[0]") == name, path
        reported = error["message"].removeprefix(f"Invalid value for '{error['param']}': ")
        assert reported.startswith(("it must be ", "no curve is called 'zzz'.")), reported


@cases(
    ("sent", "nearest"),
    [
        ("reward/maen", "reward/mean"),
        ("tool/search/call_mean", "tool/<tool>/calls_mean"),
        ("discarded/tool_timout", "discarded/<failure class>"),
        ("grader/c/errors/zzz", "grader/<child>/errors/<flag>"),
        ("x" * 10_000, None),
    ],
)
async def test_the_nearest_curve_is_named_first(api: Api, sent: str, nearest: str | None) -> None:
    path = "/v1/fine_tuning/jobs/x/metrics"
    error = (await api.call("GET", path, params={"names": f"reward/mean,{sent}"})).json()["error"]
    assert error["message"].startswith(
        f"Invalid value for 'names': no curve is called '{sent[:80]}'."
    )
    assert len(error["message"]) < 1200
    if "<failure class>" in (nearest or ""):
        assert "a failure class (tool_error, tool_timeout, " in error["message"]
    if "<tool>" in (nearest or ""):
        assert " Put a tool's name in place of '<tool>'." in error["message"]
    if nearest is not None:
        assert f"the nearest are '{nearest}'," in error["message"]
