"""A person's browser in front of the dashboard, as far as HTTP goes: a cookie, pages and forms."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from html.parser import HTMLParser
from urllib.parse import urlencode

import httpx
from typing_extensions import override

ORIGIN = "http://test"
FORM = "application/x-www-form-urlencoded"


class Visit:
    """Sends what a browser sends that shows pages of this service."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=headers)

    async def part(self, path: str) -> httpx.Response:
        """Asks for the part of a page that renews itself."""
        return await self.http.get(path, headers={"HX-Request": "true"})

    async def post(
        self, path: str, fields: dict[str, str], headers: dict[str, str] | None = None
    ) -> httpx.Response:
        sent = {"content-type": FORM, **({"origin": ORIGIN} if headers is None else headers)}
        return await self.http.post(path, content=urlencode(fields), headers=sent)

    async def sign_in(self, key: str, to: str = "/") -> httpx.Response:
        return await self.post("/sign-in", {"api_key": key, "next": to})

    async def form_token(self, path: str = "/") -> str:
        return token_of((await self.get(path)).text)

    async def press(self, job_id: str, action: str) -> httpx.Response:
        """Presses a button of a job's page."""
        token = await self.form_token(f"/jobs/{job_id}")
        return await self.post(f"/jobs/{job_id}/{action}", {"form_token": token})


@asynccontextmanager
async def visiting(http: httpx.AsyncClient, *, base_url: str = ORIGIN) -> AsyncIterator[Visit]:
    """Yields a visit with cookies of its own, to the application behind another client."""
    accept = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    async with httpx.AsyncClient(
        transport=http._transport, base_url=base_url, headers=accept
    ) as own:
        yield Visit(own)


def token_of(html: str) -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]+)"', html)
    assert found is not None, html
    return found[1]


def texts_of(html: str, tag: str) -> list[str]:
    """Returns the text of each element, without its tags."""
    inner = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", html, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", "", one)).split()) for one in inner]


def rows_of(html: str, label: str) -> list[list[str]]:
    """Returns the cells of the table in the region with this label, headings included."""
    region = re.search(rf'aria-label="{re.escape(label)}">(.*?)</table>', html, re.DOTALL)
    assert region is not None, f"no table {label}"
    rows = re.findall(r"<tr\b.*?</tr>", region[1], re.DOTALL)
    return [texts_of(row, "t[hd]") for row in rows]


class Markup(HTMLParser):
    """Collects what a page would load, run and style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []
        self._in_script = False
        self.feed(html)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._in_script = tag == "script"
        for name in ("src", "href", "action"):
            if values.get(name):
                self.addresses.append(str(values[name]))
        if values.get("id"):
            self.ids.append(str(values["id"]))
        self.inline += [f"{tag} {name}" for name in values if name.startswith("on")]
        self.inline += [f"{tag} style"] * ("style" in values or tag == "style")

    @override
    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    @override
    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.inline.append(f"script: {data[:40]}")
