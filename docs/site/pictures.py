"""Takes the pictures of the dashboard that the documentation shows.

Usage: python -m docs.site.pictures

Starts a service with a made-up job, opens its pages in Debian's Chromium in both themes, and writes
`docs/pictures`. Needs what the tests need.
"""

import asyncio
import io
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Final, get_args

import httpx
from PIL import Image

from app.settings import EgressSettings
from docs.site.pages import ROOT
from tests.support.api.application import Api
from tests.support.dashboard.browser import Tab, Theme, browsing, missing
from tests.support.dashboard.gallery import put_gallery_job
from tests.support.dashboard.scenes import create_job
from tests.support.patience import PATIENCE_S
from tests.support.stack import Database, running_services
from tests.support.web.api_server import ApiServer, running_api

FOLDER: Final = ROOT / "docs" / "pictures"
PAGES: Final = {
    "job": ("", "main", ".charts figure:nth-of-type(4)"),
    "rollouts": ("/rollouts?order_by=reward&newest=true", "main", "table"),
    "report": ("/report", "main", "#chart-quadrant"),
}
"""Path below the job, the pictured element, and the last one in it that the picture shows whole."""
EGRESS: Final = EgressSettings(allow_endpoints=("127.0.0.1:9",), allow_plain_http=True)
_WIDTH: Final = 1280
_MARGIN: Final = 16
_QUALITY: Final = 80


async def pictures(server: ApiServer, database: Database) -> None:
    root = server.base_url.removesuffix("/v1")
    async with httpx.AsyncClient(base_url=root, timeout=PATIENCE_S) as http:
        api = Api(http, server.key, server.other_key, server.admin_key)
        job = await create_job(api, suffix="rivers")
    put_gallery_job(database, job)
    async with browsing(root) as tab:
        await tab.sign_in(server.key)
        for name, (path, element, last) in PAGES.items():
            await tab.open(f"/jobs/{job}{path}")
            for theme in get_args(Theme):
                await tab.show(theme, _WIDTH)
                await _take(tab, (element, last), FOLDER / f"{name}-{theme}.webp")


async def _take(tab: Tab, elements: tuple[str, str], path: Path) -> None:
    await tab.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")
    whole, last = (tab.page.locator(element).first for element in elements)
    taken = await whole.screenshot()
    boxes = [await one.bounding_box() for one in (whole, last)]
    bottom = round(boxes[1]["y"] + boxes[1]["height"] - boxes[0]["y"]) + _MARGIN
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    picture = picture.crop((0, 0, picture.width, min(picture.height, bottom)))
    picture.save(path, quality=_QUALITY, method=6)


def main() -> int:
    if reason := missing():
        sys.exit(reason)
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        directory.chmod(0o755)  # Postgres runs as an ordinary user below it
        services = stack.enter_context(running_services(directory))
        database = stack.enter_context(services.database(directory / "pictures"))
        settings = database.settings.model_copy(update={"egress": EGRESS})
        server = stack.enter_context(running_api(settings))
        asyncio.run(pictures(server, database))
    return 0


if __name__ == "__main__":
    sys.exit(main())
