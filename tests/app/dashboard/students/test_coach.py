"""The page of a student shows its session of the Coach, which is paused, resumed and cancelled."""

import json
from typing import Any

from tests.support.api.application import Api
from tests.support.dashboard.teaching import follow, make_student
from tests.support.dashboard.visits import Visit, visiting
from tests.support.registry.recipes import OWN, rows

CLERK = "/teach/students/clerk"
SESSIONS = "/v1/coach_sessions"


async def session(api: Api) -> str:
    lines = [json.dumps(row).encode() for row in rows(40)]
    files = [b"\n".join(part) for part in (lines[:20], lines[20:])]
    training, validation = [(await api.upload(part)).json()["id"] for part in files]
    body: dict[str, Any] = {"student": "clerk", "grader": OWN["options"]["grader"]}
    body |= {"training_file": training, "validation_file": validation}
    made = await api.call("POST", SESSIONS, json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def test_a_session_is_shown_paused_resumed_and_cancelled(visit: Visit, api: Api) -> None:
    await make_student(visit, "clerk")
    assert "<h2>Coach</h2>" not in (await visit.get(CLERK)).text
    coach = await session(api)
    page = (await visit.get(CLERK)).text
    assert "It measures what the student can do." in page
    assert coach in page
    for verb, status, shown in (
        ("pause", "paused", "Resume the Coach"),
        ("resume", "running", "Pause the Coach"),
        ("cancel", "cancelled", "Cancelled."),
    ):
        moved = await follow(visit, f"{CLERK}/coach/{coach}/{verb}", {})
        assert moved.status_code == 200, moved.text
        assert shown in moved.text
        assert (await api.call("GET", f"{SESSIONS}/{coach}")).json()["status"] == status
    assert "/coach/" not in (await visit.get(CLERK)).text
    again = await follow(visit, f"{CLERK}/coach/{coach}/resume", {})
    assert again.status_code == 400
    assert (await follow(visit, f"{CLERK}/coach/{coach}/delete", {})).status_code in {400, 404}


async def test_no_other_student_or_project_moves_a_session(visit: Visit, api: Api) -> None:
    await make_student(visit, "clerk")
    await make_student(visit, "other")
    coach = await session(api)
    for name in ("other", "never"):
        path = f"/teach/students/{name}/coach/{coach}/cancel"
        assert (await follow(visit, path, {})).status_code == 404, name
    async with visiting(api.http) as stranger:
        await stranger.sign_in(api.other_key)
        await make_student(stranger, "clerk")
        assert (await follow(stranger, f"{CLERK}/coach/{coach}/cancel", {})).status_code == 404
        assert coach not in (await stranger.get(CLERK)).text
    assert (await api.call("GET", f"{SESSIONS}/{coach}")).json()["status"] == "running"
