"""What a key may do: each operation of the API, and each page, with and without its scope."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from html import unescape
from typing import Any, Final

from fastapi.routing import iter_route_contexts

from app.kit.callers import ALL_SCOPES
from app.pages import routes as pages
from tests.support.api.application import Api
from tests.support.api.organization import PROJECTS, Admin, execute, status
from tests.support.dashboard.visits import Visit, visiting
from tests.support.stack import Database
from tests.support.web.application import specification

SERVE: Final = {"createChatCompletion", "updateChatCompletion", "createFeedback", "chatWithStudent"}
ADMIN: Final = {
    *("retrieveSigningSecret", "createModelExport", "downloadModelExport", "downloadAdapter"),
    *("createFineTuningCheckpointPermission", "createWebhookEndpoint", "updateWebhookEndpoint"),
    *("rotateWebhookEndpointSecret", "testWebhookEndpoint", "redeliverWebhookEvent"),
}
FORMS: Final = {
    "serve": r"/models/(ask|stream)|/teach/students/x/(chat|feedback)",
    "admin": r"/webhooks.*",
    "train": r".*",
}
OF_NO_PROJECT: Final = (
    *("/v1/organization/", "/healthz", "/readyz"),
    *("/projects", "/admin-keys", "/sign-", "/assets/", "/docs"),
)
MISSING: Final = "You have insufficient permissions for this operation. Missing scopes: {}."


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in specification()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), re.sub(r"{\w+}", "x", path), operation


def needed(method: str, operation: str) -> str:
    if operation in SERVE:
        return "serve"
    if method == "DELETE" or operation in ADMIN:
        return "admin"
    return "read" if method == "GET" else "train"


async def keys_of(admin: Admin) -> dict[frozenset[str], str]:
    """Returns a key of each scope alone, and one of all others."""
    [project] = (await admin("GET", PROJECTS))["data"]
    sets = [frozenset({scope}) for scope in ALL_SCOPES]
    sets += [frozenset(ALL_SCOPES) - one for one in sets]
    made = {each: await admin.account(project["id"], scopes=sorted(each)) for each in sets}
    return {each: account["api_key"]["value"] for each, account in made.items()}


async def test_each_operation_needs_its_scope_and_no_other(api: Api, admin: Admin) -> None:
    keys = await keys_of(admin)
    counted = Counter[str]()
    for method, path, operation in operations():
        if path.startswith(OF_NO_PROJECT):
            assert operation.get("security", [{}])[0].get("HTTPBearer", []) == [], path
            counted["none"] += 1
            continue
        scope = needed(method, operation["operationId"])
        assert operation["security"] == [{"HTTPBearer": [scope]}], (method, path)
        others, alone = keys[frozenset(ALL_SCOPES) - {scope}], keys[frozenset({scope})]
        sent: dict[str, Any] = {"json": {}} if method == "POST" else {}
        for headers in ({}, {"Idempotency-Key": path}) if sent else ({},):
            refused = await api.call(method, path, key=others, headers=headers, **sent)
            assert refused.status_code == 403, (method, path, refused.text)
            error = {"message": MISSING.format(scope), "type": "invalid_request_error"}
            assert refused.json() == {"error": error | {"param": None, "code": "missing_scope"}}
        taken = await api.call(method, path, key=alone, **sent)
        assert "Missing scopes" not in taken.text, (method, path)
        assert taken.status_code < 500
        counted[scope] += 1
    assert counted.keys() == {*ALL_SCOPES, "none"}
    assert counted.total() == len(list(operations())) > 150


async def test_each_page_needs_the_scope_of_its_sessions_key(api: Api, admin: Admin) -> None:
    async with AsyncExitStack() as stack:
        visits = dict[frozenset[str], Visit]()
        for scopes, key in (await keys_of(admin)).items():
            visits[scopes] = await stack.enter_async_context(visiting(api.http))
            assert (await visits[scopes].sign_in(key)).status_code == 303
        counted = Counter[str]()
        for method, path in pages_of_projects():
            forms = (each for each, form in FORMS.items() if re.fullmatch(form, path))
            scope = "read" if method == "GET" else next(forms)
            for scopes in (frozenset({scope}), frozenset(ALL_SCOPES) - {scope}):
                visit = visits[scopes]
                reply = await (visit.get(path) if method == "GET" else visit.post(path, {}))
                is_refused = MISSING.format(scope) in unescape(reply.text)
                assert is_refused is (scope not in scopes), (method, path)
                assert reply.status_code == 403 or not is_refused, (method, path)
            counted[scope] += 1
    assert counted.keys() == set(ALL_SCOPES)
    assert counted.total() > 50


def pages_of_projects() -> Iterator[tuple[str, str]]:
    for route in iter_route_contexts(pages.router.routes):
        path = re.sub(r"{[^}]+}", "x", route.path or "")
        if not path.startswith(OF_NO_PROJECT):
            for method in sorted(route.methods or ()):
                yield method, path


async def test_a_keys_scopes_are_shown_and_change(
    api: Api, admin: Admin, database: Database
) -> None:
    project = await admin.project("a")
    made = await admin.account(project, scopes=["train", "read", "train"])
    key, of_project = made["api_key"], f"{PROJECTS}/{project}"
    path = f"{of_project}/api_keys/{key['id']}"
    shown = await admin("GET", path)
    assert key["scopes"] == shown["scopes"] == ["read", "train"]
    assert [one["scopes"] for one in (await admin("GET", f"{of_project}/api_keys"))["data"]] == [
        ["read", "train"]
    ]
    assert await status(api, key["value"]) == 200
    changed = await admin("POST", path, json={"scopes": ["serve"]})
    assert changed == shown | {"scopes": ["serve"], "last_used_at": changed["last_used_at"]}
    assert await status(api, key["value"]) == 403
    await admin("POST", path, json={"expires_in_seconds": 60})
    assert await status(api, key["value"]) == 403
    assert (await admin.refused(400, "POST", path, json={"scopes": []}))["param"] == "scopes"
    assert await status(api, key["value"]) == 403
    everything = ["read", "serve", "train", "admin"]
    assert (await admin("POST", path, json={"scopes": everything}))["scopes"] == everything
    assert await status(api, key["value"]) == 200
    noted = "SELECT type, details->'scopes' FROM audit_logs WHERE resource_id = %s ORDER BY seq"
    assert execute(database, noted, key["id"]) == [
        ("api_key.created", ["read", "train"]),
        *(("api_key.updated", scopes) for scopes in (["serve"], ["serve"], everything)),
    ]
