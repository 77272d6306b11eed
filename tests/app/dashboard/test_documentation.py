"""The pages of documentation: every link of them is answered, and nothing but their files is."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from typing_extensions import override

from app.pages.rendering import HEADERS
from tests.support.dashboard.documentation import built_site, serve
from tests.support.dashboard.visits import ORIGIN, Visit

BASE = f"{ORIGIN}/docs/"
LOADED = {"script": "src", "link": "href", "img": "src"}
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".txt": "text/plain; charset=utf-8",
}


class Page(HTMLParser):
    """Reads what a page loads and links to, and what runs inside it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads = list[str]()
        self.links = list[str]()
        self.inside = list[str]()
        self.feed(text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.inside += [f"{tag} {name}" for name in given if name == "style" or name[:2] == "on"]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inside.append(tag)
        target = given.get(LOADED.get(tag, "href")) or ""
        if tag in LOADED and given.get("rel") not in ("next", "prev"):
            self.loads.append(target)
        elif target:
            self.links.append(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory)


@pytest.fixture(scope="module")
def files(site: Path) -> dict[str, bytes]:
    """Returns the contents of all files, by their paths below `/docs/`."""
    found = [path for path in site.rglob("*") if path.is_file()]
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def _served(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(site, monkeypatch)


@pytest.mark.usefixtures("_served")
async def test_every_page_loads_files_of_the_service_and_every_link_is_answered(
    guest: Visit, files: dict[str, bytes]
) -> None:
    pages = {name: Page(text.decode()) for name, text in files.items() if name.endswith(".html")}
    assert len(pages) > 30
    assert {name: page.inside for name, page in pages.items() if page.inside} == {}
    loaded = {urljoin(BASE, each) for page in pages.values() for each in page.loads}
    linked = {urldefrag(urljoin(BASE, each)).url for page in pages.values() for each in page.links}
    assert {urlsplit(each).netloc for each in loaded} == {"test"}
    ours = {each for each in linked if urlsplit(each).netloc == "test"}
    assert {f"{ORIGIN}/", f"{BASE}reference/", f"{BASE}quickstart.html"} <= ours
    for address in loaded | ours:
        reply = await guest.get(address)
        # The list of jobs leads a visitor without a session to the sign-in page.
        assert reply.status_code == (303 if address == f"{ORIGIN}/" else 200), address


@pytest.mark.usefixtures("_served")
async def test_each_file_is_served_with_its_type_and_the_policy_of_pages(
    guest: Visit, files: dict[str, bytes]
) -> None:
    assert {Path(name).suffix for name in files} == set(TYPES)
    for name, content in files.items():
        address = f"/docs/{name}"
        reply = await guest.get(address)
        assert (reply.status_code, reply.content) == (200, content)
        assert reply.headers["content-type"] == TYPES[Path(name).suffix], address
        strict = HEADERS["content-security-policy"]
        policy = reply.headers["content-security-policy"]
        assert policy == strict.replace("img-src 'self'", "img-src 'self' data:")
        assert "unsafe" not in policy
        assert reply.headers["cache-control"] == "no-cache"
        again = await guest.get(address, **{"if-none-match": reply.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    head = await guest.http.head("/docs/metrics.html")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(files["metrics.html"])


@pytest.mark.usefixtures("_served")
async def test_the_first_page_has_one_address_and_programs_get_it_too(guest: Visit) -> None:
    led = await guest.get("/docs")
    assert (led.status_code, led.headers["location"]) == (307, "docs/")
    for accept in ("text/html", "*/*", "application/json"):
        first = await guest.get("/docs/", accept=accept)
        assert first.status_code == 200
        assert '<a class="reference internal" href="quickstart.html">' in first.text


@pytest.mark.usefixtures("_served")
@pytest.mark.parametrize(
    "path",
    [
        "nope.html",
        "_static",
        "_static/",
        "%2e%2e/documentation.py",
        "_static/%2e%2e/%2e%2e/documentation.py",
        "index.html%00",
    ],
)
async def test_nothing_beside_the_pages_is_served(guest: Visit, path: str) -> None:
    reply = await guest.get(f"/docs/{path}")
    assert reply.status_code in {400, 404}
    assert reply.text.startswith("<!doctype html>")
    assert "APIRouter" not in reply.text
    assert "root:" not in reply.text


async def test_a_checkout_without_built_pages_names_the_command_that_builds_them(
    guest: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(tmp_path / "site", monkeypatch)
    reply = await guest.get("/docs/")
    assert reply.status_code == 200
    assert "<code>make docs</code>" in reply.text
    assert re.findall(r'href="(/docs/\w+/)"', reply.text) == ["/docs/reference/"]
    assert (await guest.get("/docs/metrics.html")).status_code == 404
