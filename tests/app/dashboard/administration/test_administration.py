"""Pages of administrators: projects and keys, made, replaced, deleted and archived by forms."""

import re
from collections.abc import AsyncIterator

import pytest

from tests.support.api.application import Api
from tests.support.api.organization import Admin, opens, status
from tests.support.dashboard.scenes import HOSTILE, execute
from tests.support.dashboard.visits import Visit, rows_of, texts_of, visiting
from tests.support.stack import Database


@pytest.fixture
async def admin(api: Api) -> AsyncIterator[Visit]:
    """A visit with the admin key of the first organization."""
    async with visiting(api.http) as visit:
        reply = await visit.sign_in(api.admin_key)
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
        first = await visit.get("/")
        assert (first.status_code, first.headers["location"]) == (303, "/projects")
        yield visit


async def press(visit: Visit, page: str, action: str, **fields: str) -> str:
    """Sends a form of a page. Returns the page that it leads to."""
    token = await visit.form_token(page)
    reply = await visit.post(action, {"form_token": token, **fields})
    if reply.status_code == 303:
        reply = await visit.get(reply.headers["location"])
    assert reply.status_code == 200, reply.text
    assert reply.headers["cache-control"] == "no-store"
    return reply.text


def value_of(page: str) -> str:
    assert "Shown once." in page
    return texts_of(page, "code")[0]


def row_id(page: str, action: str) -> str:
    found = re.findall(rf'/([^/"]+)/{action}"', page)
    return str(found[-1])


async def test_a_project_and_its_keys_live_by_forms(api: Api, admin: Visit) -> None:
    made = await press(admin, "/projects", "/projects", name=HOSTILE)
    assert "<script>alert" not in made
    [listed] = [
        row for row in rows_of((await admin.get("/projects")).text, "Projects") if "evil" in row[0]
    ]
    here = f"/projects/{listed[1]}"
    assert "No key." in made
    value = value_of(await press(admin, here, f"{here}/keys", name="ci", days="7"))
    assert await status(api, value) == 200
    page = (await admin.get(here)).text
    assert value not in page
    [key] = rows_of(page, "Keys")[1:]
    assert (key[0], key[1], key[2]) == ("ci", f"art_project_{value[12:16]}...{value[-12:-8]}", "ci")
    assert key[5].endswith("UTC")
    old = row_id(page, "rotate")
    newer = value_of(await press(admin, here, f"{here}/keys/{old}/rotate", keep_old="yes"))
    assert [await status(api, one) for one in (value, newer)] == [200, 200]
    ends = {row[1]: row[5] for row in rows_of((await admin.get(here)).text, "Keys")[1:]}
    assert ends[f"art_project_{newer[12:16]}...{newer[-12:-8]}"] == "–"
    assert len(set(ends.values())) == 2
    third = value_of(await press(admin, here, f"{here}/keys/{old}/rotate"))
    assert [await status(api, one) for one in (value, newer, third)] == [401, 200, 200]
    last = row_id((await admin.get(here)).text, "delete")
    await press(admin, here, f"{here}/keys/{last}/delete")
    assert sorted([await status(api, newer), await status(api, third)]) == [200, 401]
    limits = {"scope_read": "yes", "scope_serve": "yes"}
    limited = value_of(await press(admin, here, f"{here}/keys", name="app", **limits))
    page = (await admin.get(here)).text
    assert rows_of(page, "Keys")[-1][0] == "app may only read, serve"
    replaced = value_of(
        await press(admin, here, f"{here}/keys/{row_id(page, 'rotate')}/rotate", keep_old="yes")
    )
    for one in (limited, replaced):
        assert await status(api, one) == 200
        assert (await api.call("POST", "/v1/evals", key=one, json={})).status_code == 403
    renamed = await press(admin, here, f"{here}/rename", name="asleep")
    assert texts_of(renamed, "h1") == ["asleep"]
    archived = await press(admin, here, f"{here}/archive")
    assert "its keys are refused" in archived
    assert "/rotate" not in archived
    assert await status(api, newer) == await status(api, third) == 401
    assert "asleep" not in (await admin.get("/projects")).text
    assert "asleep" in (await admin.get("/projects?archived=true")).text


async def test_admin_keys_replace_one_another_and_the_last_one_stays(
    api: Api, admin: Visit
) -> None:
    page = (await admin.get("/admin-keys")).text
    assert "signed in with it" in page
    own = row_id(page, "delete")
    token = await admin.form_token("/admin-keys")
    refused = await admin.post(f"/admin-keys/{own}/delete", {"form_token": token})
    assert refused.status_code == 400
    assert "last admin key" in refused.text
    second = value_of(await press(admin, "/admin-keys", "/admin-keys", name="night"))
    assert await opens(api, second)
    assert second not in (await admin.get("/admin-keys")).text
    third = value_of(await press(admin, "/admin-keys", f"/admin-keys/{own}/rotate"))
    assert (await opens(api, api.admin_key), await opens(api, third)) == (False, True)
    gone = await admin.get("/admin-keys")  # the session ended with its key
    assert gone.headers["location"].startswith("/sign-in")


async def test_forms_are_read_before_anything_is_made(admin: Visit) -> None:
    token = await admin.form_token("/projects")
    elsewhere = {"origin": "https://evil.example"}
    sent = {"form_token": token, "name": "n"}
    assert (await admin.post("/projects", sent, elsewhere)).status_code == 403
    assert (await admin.post("/projects", {**sent, "form_token": "0"})).status_code == 403
    for wrong in ({"name": " "}, {"name": "n" * 257}):
        assert (await admin.post("/projects", {**sent, **wrong})).status_code == 400
    for days in ("0", "366", "١"):
        reply = await admin.post("/admin-keys", {**sent, "days": days})
        assert reply.status_code == 400, days
    assert len(rows_of((await admin.get("/projects")).text, "Projects")) == 2
    assert len(rows_of((await admin.get("/admin-keys")).text, "Keys")) == 2
    [project] = [row[1] for row in rows_of((await admin.get("/projects")).text, "Projects")[1:]]
    operators = (await admin.get(f"/projects/{project}")).text
    assert "/rotate" not in operators  # a key of the operator has no service account
    key = row_id(operators, "delete")
    reply = await admin.post(f"/projects/{project}/keys/{key}/rotate", sent)
    assert reply.status_code == 400
    assert "no service account" in reply.text


async def test_sign_in_and_out_of_administrators_are_audited(
    api: Api, admin: Visit, database: Database
) -> None:
    reply = await admin.post("/sign-out", {"form_token": await admin.form_token("/projects")})
    assert reply.headers["location"] == "/sign-in"
    assert (await admin.get("/projects")).status_code == 303
    found = (await Admin(api, api.admin_key)("GET", "/v1/organization/audit_logs"))["data"]
    assert [one["type"] for one in found[:2]] == ["logout.succeeded", "login.succeeded"]
    execute(database, "DELETE FROM dashboard_sessions")
