"""Usage and costs over HTTP: what rows of usage add up to, by bucket and group."""

from typing import Any

from tests.support.api.application import Api
from tests.support.api.organization import Admin, execute
from tests.support.cases import cases
from tests.support.stack import Database

CHATS = "/v1/organization/usage/completions"
TRAINING = "/v1/organization/usage/fine_tuning"
COSTS = "/v1/organization/costs"
DAY = 86_400
START = 20_000 * DAY


def put(database: Database, project: str, name: str, at: int, **values: Any) -> None:
    """Inserts a record of a project by its name in an organization."""
    slug, kind, model = project, values.pop("kind", "completions"), values.pop("model", "m")
    columns = "".join(f", {column}" for column in values)
    execute(
        database,
        "INSERT INTO usage_records"
        f" (id, organization_id, project_id, kind, key_id, model, used_at{columns})"
        " SELECT %s, organization_id, id, %s, 'key_' || %s, %s, to_timestamp(%s)"
        f"{', %s' * len(values)}"
        " FROM projects WHERE organization_id = (SELECT id FROM organizations WHERE slug = %s)",
        *(name, kind, model, model, at, *values.values(), slug),
    )


async def results(admin: Admin, path: str, **params: Any) -> list[list[dict[str, Any]]]:
    page = await admin(
        "GET", path, params={"start_time": START, "end_time": START + 2 * DAY} | params
    )
    return [bucket["results"] for bucket in page["data"]]


async def test_chats_are_added_up_by_bucket_and_group(admin: Admin, database: Database) -> None:
    used = {"requests": 1, "input_tokens": 10, "output_tokens": 3, "cached_tokens": 4}
    put(database, "first", "a", START, **used)
    put(database, "first", "b", START + 5, **used, model="n")
    put(database, "first", "c", START + DAY, **used)
    put(database, "first", "late", START + 2 * DAY, **used)
    put(database, "first", "early", START - 1, **used)
    put(database, "first", "run", START, kind="fine_tuning", rollouts=1)
    first, second = await results(admin, CHATS)
    assert first == [
        {
            "object": "organization.usage.completions.result",
            "input_tokens": 20,
            "output_tokens": 6,
            "input_cached_tokens": 8,
            "input_audio_tokens": 0,
            "output_audio_tokens": 0,
            "num_model_requests": 2,
            **dict.fromkeys(("project_id", "user_id", "api_key_id", "model", "batch")),
            "service_tier": None,
        }
    ]
    assert [one["num_model_requests"] for one in second] == [1]
    for brackets in ("", "[]"):
        [both, _] = await results(admin, CHATS, **{f"group_by{brackets}": ["model", "api_key_id"]})
        assert [(one["model"], one["api_key_id"]) for one in both] == [
            ("m", "key_m"),
            ("n", "key_n"),
        ]
        [only, _] = await results(admin, CHATS, **{f"models{brackets}": "n"})
        assert [one["num_model_requests"] for one in only] == [1]
    assert await results(admin, CHATS, project_ids="proj_never") == [[], []]
    assert await results(admin, CHATS, api_key_ids="key_n", bucket_width="1h", limit=1) == [
        [{**first[0], "input_tokens": 10, "output_tokens": 3, "input_cached_tokens": 4}
         | {"num_model_requests": 1}]
    ]  # fmt: skip


async def test_pages_cover_every_bucket_once(admin: Admin, database: Database) -> None:
    for minute in range(5):
        put(database, "first", f"m{minute}", START + 60 * minute + 30, requests=minute + 1)
    span = {"start_time": START + 30, "end_time": START + 270, "bucket_width": "1m", "limit": 2}
    found: list[tuple[int, int, int]] = []
    page: dict[str, Any] = {"next_page": None}
    for _ in range(3):
        page = await admin("GET", CHATS, params=span | {"page": page["next_page"] or ""})
        assert page["object"] == "page"
        for bucket in page["data"]:
            count = sum(one["num_model_requests"] for one in bucket["results"])
            found.append((bucket["start_time"] - START, bucket["end_time"] - START, count))
    assert (page["has_more"], page["next_page"]) == (False, None)
    spans = [(0, 60), (60, 120), (120, 180), (180, 240), (240, 300)]
    counts = [1, 2, 3, 4, 5]
    assert found == [(*span, count) for span, count in zip(spans, counts, strict=True)]


async def test_training_and_its_costs(admin: Admin, database: Database) -> None:
    run = {"kind": "fine_tuning", "rollouts": 8, "tool_calls": 5, "grader_calls": 8}
    run |= {"trained_tokens": 100, "training_s": 1.5, "gpu_s": 3.0, "judge_input_tokens": 7}
    put(database, "first", "a", START, **run, job_id="j1", cost=0.25, currency="EUR")
    put(database, "first", "b", START, **run, job_id="j2")
    put(database, "first", "chat", START, input_tokens=3, output_tokens=4, requests=1)
    [one], _ = await results(admin, TRAINING)
    assert one["object"] == "organization.usage.fine_tuning.result"
    assert (one["num_rollouts"], one["num_tool_calls"], one["num_grader_calls"]) == (16, 10, 16)
    assert (one["trained_tokens"], one["judge_input_tokens"]) == (200, 14)
    assert (one["training_seconds"], one["gpu_seconds"]) == (3.0, 6.0)
    by_job, _ = await results(admin, TRAINING, group_by="job_id", job_ids="j1")
    assert [(line["fine_tuning_job_id"], line["num_rollouts"]) for line in by_job] == [("j1", 8)]
    costs, _ = await results(admin, COSTS, group_by="line_item")
    shown = {(line["line_item"], str(line["amount"])): line for line in costs}
    paid = shown["fine_tuning", "{'value': 0.25, 'currency': 'eur'}"]
    assert (paid["quantity"], paid["quantity_unit"]) == (1.5, "duration_seconds")
    unpaid = shown["completions", "None"]
    assert (unpaid["quantity"], unpaid["quantity_unit"]) == (7.0, "tokens")
    assert ("fine_tuning", "None") in shown
    page = await admin("GET", COSTS, params={"start_time": START, "end_time": START + DAY})
    assert "AGENT_RFT_PRICING__PER_HOUR" in page["unpriced"]


async def test_sums_have_no_largest_value(admin: Admin, database: Database) -> None:
    most = 2**63 - 1
    for name in ("a", "b"):
        put(database, "first", name, START, kind="fine_tuning", judge_input_tokens=most)
        put(database, "first", f"chat-{name}", START, input_tokens=most, output_tokens=1)
    [run], _ = await results(admin, TRAINING)
    [chats], _ = await results(admin, CHATS)
    assert (run["judge_input_tokens"], chats["input_tokens"]) == (2 * most, 2 * most)
    costs, _ = await results(admin, COSTS, group_by="line_item")
    assert {line["quantity"] for line in costs} == {0.0, 2.0**64}


@cases(
    ("path", "params", "param"),
    [
        (CHATS, {"start_time": ""}, "start_time"),
        (CHATS, {"end_time": START}, "end_time"),
        (CHATS, {"bucket_width": "2d"}, "bucket_width"),
        (CHATS, {"limit": 1441, "bucket_width": "1m"}, "limit"),
        (CHATS, {"page": "page_1"}, "page"),
        (CHATS, {"group_by": "user_id"}, "group_by"),
        (TRAINING, {"group_by": "line_item"}, "group_by"),
        (COSTS, {"bucket_width": "1h"}, "bucket_width"),
    ],
)
async def test_wrong_parameters_are_named(
    admin: Admin, path: str, params: dict[str, Any], param: str
) -> None:
    error = await admin.refused(400, "GET", path, params={"start_time": START} | params)
    assert error["param"].startswith(param)


async def test_an_organization_sees_its_own_usage_only(
    api: Api, admin: Admin, stranger: Admin, database: Database
) -> None:
    put(database, "first", "a", START, requests=1)
    put(database, "first", "r", START, kind="fine_tuning", rollouts=1, cost=1.0, currency="USD")
    for path in (CHATS, TRAINING, COSTS):
        assert (await results(admin, path))[0] != []
        assert await results(stranger, path) == [[], []]
        assert (await api.call("GET", path, params={"start_time": START})).status_code == 403
