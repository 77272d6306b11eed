"""Errors outside of the API are pages with the headers of pages; those of the API are JSON."""

import httpx
import pytest

from app.dashboard.pages import HEADERS
from tests.support.api.application import Api
from tests.support.dashboard.visits import ORIGIN, Visit

BROWSER = {"accept": "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"}
FORM = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN}


def is_page(reply: httpx.Response) -> bool:
    policies = {name: reply.headers.get(name) for name in HEADERS}
    whole = reply.text.startswith("<!doctype html>") and reply.text.endswith("</html>")
    return (
        policies == dict(HEADERS)
        and whole
        and reply.headers["content-type"].startswith("text/html")
    )


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "/nope", 404, "Invalid URL (GET /nope)"),
        ("GET", "/jobs", 404, "Invalid URL (GET /jobs)"),
        ("GET", "/<script>alert(1)</script>", 404, "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("GET", "/assets/none.js", 404, "Invalid URL"),
        ("GET", "/docs/none.js", 404, "Invalid URL"),
        ("DELETE", "/sign-in", 405, "Not allowed to DELETE on /sign-in"),
        ("POST", "/", 405, "Not allowed to POST on /"),
        ("GET", "/jobs/a%00b", 400, "NUL is not allowed in a URL."),
    ],
)
async def test_an_error_outside_of_the_api_is_a_page(
    guest: Visit, method: str, path: str, status: int, said: str
) -> None:
    for headers in ({}, BROWSER):
        reply = await guest.http.request(method, path, headers=headers)
        assert (reply.status_code, is_page(reply)) == (status, True), reply.text
        assert said in reply.text
        assert "<script>alert" not in reply.text
        assert reply.headers["x-request-id"].startswith("req_")


async def test_a_form_that_is_too_large_is_refused_by_a_page(guest: Visit) -> None:
    reply = await guest.http.post("/sign-in", content=b"a" * 20_000, headers=FORM)
    assert (reply.status_code, is_page(reply)) == (413, True)
    assert "The body is larger than 16384 bytes." in reply.text


async def test_clients_that_ask_for_json_get_json(api: Api, guest: Visit) -> None:
    for headers in ({"accept": "application/json"}, {"authorization": f"Bearer {api.key}"}):
        reply = await guest.http.get("/responses", headers=headers)
        assert reply.status_code == 404
        assert reply.json()["error"]["message"] == "Invalid URL (GET /responses)"
    for path in ("/v1", "/v1/nope", "/readyz/nope"):
        reply = await guest.http.get(path, headers=BROWSER)
        assert (reply.status_code, "error" in reply.json()) == (404, True), path


async def test_every_answer_outside_of_the_api_has_the_policy(guest: Visit, visit: Visit) -> None:
    for path in ("/", "/sign-in", "/assets/style.css", "/nope", "/jobs/never", "/docs"):
        for there in (guest, visit):
            for method in ("GET", "HEAD"):
                reply = await there.http.request(method, path)
                assert "default-src 'none'" in reply.headers["content-security-policy"], path
                assert reply.headers["x-content-type-options"] == "nosniff", path
