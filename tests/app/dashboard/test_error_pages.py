"""Errors outside of the API are pages with the headers of pages; those of the API are JSON."""

import httpx

from app.pages.rendering import HEADERS
from tests.support.api.application import Api
from tests.support.cases import cases
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


def error_of(reply: httpx.Response) -> str:
    """Returns the message of an error in the envelope of the API."""
    return str(reply.json()["error"]["message"])


@cases(
    ("method", "path", "status", "said"),
    [
        ("GET", "/nope", 404, "Invalid URL (GET /nope)"),
        ("GET", "/<script>alert(1)</script>", 404, "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("GET", "/assets/none.js", 404, "Invalid URL"),
        ("DELETE", "/sign-in", 405, "Not allowed to DELETE on /sign-in"),
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


async def test_clients_that_request_json_get_json(api: Api, guest: Visit) -> None:
    for headers in (
        {"accept": "application/json"},
        {"accept": "application/json, text/html;q=0.9"},
        {"accept": "*/*"},
        {**BROWSER, "authorization": f"Bearer {api.key}"},
    ):
        reply = await guest.http.get("/responses", headers=headers)
        assert reply.status_code == 404
        assert reply.json()["error"]["message"] == "Invalid URL (GET /responses)"
    for path in ("/v1", "/v1/nope", "/readyz/nope"):
        reply = await guest.http.get(path, headers=BROWSER)
        assert (reply.status_code, "error" in reply.json()) == (404, True), path


async def test_a_page_answers_a_program_with_json_and_without_a_redirect(
    api: Api, guest: Visit, visit: Visit
) -> None:
    for headers in (
        {**BROWSER, "authorization": f"Bearer {api.key}"},
        {"accept": "application/json"},
        {"accept": "*/*"},
        {"accept": "text/html;q=0, */*"},
        {"accept": ""},
    ):
        shown = ("/sign-in",) if headers.get("accept") != BROWSER["accept"] else ()
        for path in ("/jobs/ftjob-1", "/jobs/ftjob-1/report", "/", "/jobs/a/stream", *shown):
            reply = await guest.http.get(path, headers=headers)
            assert reply.status_code == 401, path
            assert "The API, which takes an API key, is below /v1" in error_of(reply)
        wrong = await guest.http.post(
            "/sign-in", content="api_key=art_wrong", headers={**FORM, **headers}
        )
        assert (wrong.status_code, "API key" in error_of(wrong)) == (401, True)
        typo = await visit.http.get("/?statsu=failed", headers=headers)
        assert (typo.status_code, "statsu" in error_of(typo)) == (400, True)
    for accept in (BROWSER["accept"], "text/html", "text/html, application/json"):
        led = await guest.http.get("/jobs/ftjob-1", headers={"accept": accept})
        to = "/sign-in?next=%2Fjobs%2Fftjob-1"
        assert (led.status_code, led.headers["location"]) == (303, to)
    part = await guest.http.get("/jobs/x", headers={"accept": "*/*", "hx-request": "true"})
    assert (part.status_code, part.headers["hx-refresh"]) == (401, "true")


async def test_a_page_refuses_a_query_that_it_does_not_read(visit: Visit) -> None:
    for path in ("/?statsu=failed", "/jobs/never/report?foo=1", "/jobs/never/rollouts?stp=1"):
        reply = await visit.get(path)
        assert (reply.status_code, is_page(reply)) == (400, True), path
        assert "Unknown query parameter:" in reply.text
    reply = await visit.get("/?status=failed&status=queued")
    assert (reply.status_code, "it was sent more than once" in reply.text) == (400, True)


async def test_every_answer_outside_of_the_api_has_the_policy(guest: Visit, visit: Visit) -> None:
    for path in ("/", "/sign-in", "/assets/style.css", "/nope", "/jobs/never", "/docs"):
        for there in (guest, visit):
            for method in ("GET", "HEAD"):
                reply = await there.http.request(method, path)
                assert "default-src 'none'" in reply.headers["content-security-policy"], path
                assert reply.headers["x-content-type-options"] == "nosniff", path


@cases("path", ["/", "/nope"])
@cases("headers", [BROWSER, {"accept": "application/json"}])
async def test_no_cache_gives_a_reply_to_another_client(
    guest: Visit, path: str, headers: dict[str, str]
) -> None:
    reply = await guest.http.get(path, headers=headers)
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers.get_list("vary") == ["Accept, Authorization, HX-Request, Cookie"]


@cases("scheme", ["Basic YTpi", "Negotiate abc"])
async def test_credentials_of_a_proxy_in_front_do_not_make_a_browser_a_program(
    guest: Visit, scheme: str
) -> None:
    headers = {"accept": BROWSER["accept"], "authorization": scheme}
    led = await guest.http.get("/jobs/ftjob-1", headers=headers)
    assert (led.status_code, led.headers["location"]) == (303, "/sign-in?next=%2Fjobs%2Fftjob-1")
    form = await guest.http.get("/sign-in", headers=headers)
    assert (form.status_code, is_page(form)) == (200, True)
    wrong = await guest.http.post("/sign-in", content="api_key=art_no", headers={**FORM, **headers})
    assert (wrong.status_code, is_page(wrong)) == (401, True)


async def test_the_form_is_shown_to_whoever_requests_html(guest: Visit) -> None:
    for scheme in ("Bearer art_of_the_proxy", "Basic YTpi"):
        reply = await guest.http.get(
            "/sign-in", headers={"accept": "text/html", "authorization": scheme}
        )
        assert (reply.status_code, is_page(reply)) == (200, True)
        assert 'name="api_key"' in reply.text
