"""The page of the reference works without a network; the specification has two addresses."""

import hashlib
import json
import re
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import app.pages.documentation
from tests.support.api.application import Api
from tests.support.web.application import specification

PAGE = Path(app.pages.documentation.__file__).with_name("reference_page")


async def test_the_page_loads_nothing_from_another_host(api: Api) -> None:
    base = "http://service.test/docs/reference/"
    page = await api.http.get("/docs/reference/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    addresses = [urlsplit(urljoin(base, name)) for name in named]
    assert {address.netloc for address in addresses} == {"service.test"}
    paths = sorted(address.path for address in addresses)
    assert paths == [
        "/docs/reference/favicon-32x32.png",
        "/docs/reference/reference.js",
        "/docs/reference/swagger-ui-bundle.js",
        "/docs/reference/swagger-ui.css",
        "/openapi.json",
    ]
    kinds = []
    for path in paths:
        reply = await api.http.get(path)
        assert reply.status_code == 200, path
        kinds.append(reply.headers["content-type"].partition(";")[0])
        if path.startswith("/docs/"):
            assert reply.content == (PAGE / path.removeprefix("/docs/reference/")).read_bytes()
            again = await api.http.get(path, headers={"if-none-match": reply.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
    assert kinds == [
        "image/png", "text/javascript", "text/javascript", "text/css", "application/json",
    ]  # fmt: skip
    style = (await api.http.get("/docs/reference/swagger-ui.css")).text
    assert [url for url in re.findall(r"url\(\"?([^)]{5})", style) if url != "data:"] == []
    assert "@import" not in style


async def test_the_policy_of_the_page_admits_its_own_files_only(api: Api) -> None:
    for path in ("/docs/reference/", "/docs/reference/reference.js"):
        policy = (await api.http.get(path)).headers["content-security-policy"]
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert parts["default-src"] == "'none'"
        assert parts["script-src"] == parts["connect-src"] == "'self'"
        sources = {source for value in parts.values() for source in value.split()}
        assert sources <= {"'none'", "'self'", "'unsafe-inline'", "data:"}


async def test_the_address_without_a_slash_leads_to_the_page(api: Api) -> None:
    reply = await api.http.get("/docs/reference")
    assert (reply.status_code, reply.headers["location"]) == (307, "reference/")
    assert (await api.http.get("/docs/reference", follow_redirects=True)).status_code == 200


async def test_other_names_and_the_old_page_are_not_found(api: Api) -> None:
    for path in ("/docs/reference/main.py", "/docs/reference/..%2freference.py", "/redoc"):
        reply = await api.http.get(path, headers={"Accept": "application/json"})
        assert reply.status_code == 404, path
        assert reply.json()["error"]["type"] == "invalid_request_error"


def test_the_files_of_others_are_unchanged_and_have_their_licence() -> None:
    lines = (PAGE / "SHA256SUMS").read_text().splitlines()
    sums = {line.split()[1]: line.split()[0] for line in lines if not line.startswith("#")}
    own = {"index.html", "reference.js", "SHA256SUMS"}
    assert sums.keys() | own == {path.name for path in PAGE.iterdir()}
    for name, digest in sums.items():
        assert hashlib.sha256((PAGE / name).read_bytes()).hexdigest() == digest, name
    assert "Apache License" in (PAGE / "LICENSE.swagger-ui.txt").read_text()


async def test_the_specification_is_served_at_both_addresses(api: Api) -> None:
    """And to callers without a key, as the page is: what is committed, as the routes are."""
    replies = [await api.http.get(path) for path in ("/openapi.json", "/v1/openapi.json")]
    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[0].content == replies[1].content
    assert replies[0].json() == json.loads(json.dumps(specification()))
